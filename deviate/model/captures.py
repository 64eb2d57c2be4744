"""What was captured of runs beside their metrics: outputs of evaluations and weights, as files and as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # a command that only lists or shows waits for no NumPy
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.floating]
    IntArray = npt.NDArray[np.integer]

OutputKind = Literal["logits", "log-probabilities", "probabilities", "labels", "values"]
"""What a model put out for an example: a score per class; a class alone; or numbers that are no scores of classes."""
Alignment = Literal["position", "input"]
"""How the examples of runs were put beside each other: by their order, which was the same, or by a hash of their input.
Examples with the same input count in the order in which they came."""


ArtifactKind = Literal["predictions", "weights", "profile"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that the guest kept.

    Attributes:
        name: of the evaluation set, or, of weights, the moment: "step", "loop" (the main loop ended) or "exit"; of a
            profile, the framework.
        step: of the main loop after or in which it was kept, None outside of it; the first one that was profiled.
        n: examples, arrays, or kernels.
        rank: of the process that kept it, None where it had none.
    """

    kind: ArtifactKind
    name: str
    step: int | None
    framework: str
    path: Path
    n: int
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class NotCaptured:
    """What was asked for and could not be kept.

    Attributes:
        kind: as in `Artifact`. name: of the evaluation set or the framework; None where nothing of the kind was seen.
    """

    kind: str
    name: str | None
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.name is None else f"{self.kind} of {self.name}: {self.reason}"


@dataclass(frozen=True, slots=True, eq=False)
class CapturedSet:
    """The outputs of several runs on one evaluation set, examples aligned. R runs, N examples, C classes.

    Attributes:
        step: of the main loop, None for the last evaluation of every run.
        replicates: of the runs, in rising order; all below has a first dimension R in this order unless it says else.
        outputs: (R, N, C) float, or (R, N) where the kind is "values"; None where the kind is "labels". A model with
            one output per example, a score of the second of two classes, has been given C = 2.
        labels: (R, N) predicted classes from 0, the first of the largest outputs; None where the kind is "values".
        truth: (N,) true classes, or true values; None where no run had them.
        columns: what was logged with the examples under a name of its own, such as groups; (N,) each.
        positions: (N,) place of each example in the order of the first run, from 0.
        notes: sentences on what was left out or taken for granted, for the reader.
        n_seen: examples of the first run before any was left out, None where that is not known.
    """

    name: str
    step: int | None
    replicates: tuple[int, ...]
    kind: OutputKind
    outputs: FloatArray | None
    labels: IntArray | None
    truth: npt.NDArray[np.generic] | None
    columns: Mapping[str, npt.NDArray[np.generic]]
    positions: IntArray
    alignment: Alignment
    notes: tuple[str, ...] = ()
    n_seen: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CapturedWeights:
    """The trainable weights of several runs at one moment: by name, each run's array.

    Attributes:
        step: of the main loop after which they were kept, None for the end.
        layers: name to (R, n) float64: the weights of that name, flat. Only names and shapes that all runs share.
    """

    step: int | None
    replicates: tuple[int, ...]
    layers: Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """What was captured of one experiment's completed runs.

    Attributes:
        sets: the last evaluation of each set, in the order in which they came first in the first run.
        by_step: the same sets at steps of the main loop that all runs have, steps rising within a name.
        weights: at the end; None where none were kept. weights_by_step: steps rising.
        reasons: sentences, why something that was asked for is not there.
    """

    sets: tuple[CapturedSet, ...] = ()
    by_step: tuple[CapturedSet, ...] = ()
    weights: CapturedWeights | None = None
    weights_by_step: tuple[CapturedWeights, ...] = ()
    reasons: tuple[str, ...] = ()
