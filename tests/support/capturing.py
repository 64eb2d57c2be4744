"""Runs a script with and without its outputs and weights being kept, and reads what was."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import Child, Result

CAPTURE = {"predictions": "on", "weights": "on"}


@dataclass(frozen=True)
class Kept:
    """A run whose outputs and weights were kept, and its twin in which nothing was."""

    folder: Path
    on: Result
    off: Result

    def artifacts(self, kind: str) -> list[tuple[str, int]]:
        """Names and steps of what was kept, in the order in which it was written."""
        return [(name, step) for of, name, step, *_ in self.on.of("artifact") if of == kind]

    def arrays(self, name: str, kind: str = "predictions") -> dict[str, np.ndarray]:
        """Of the last artifact of this name."""
        files = [file for of, own, _, _, file, _ in self.on.of("artifact") if (of, own) == (kind, name)]
        with np.load(self.folder / "attempt-1" / "artifacts" / files[-1]) as archive:
            return dict(archive)

    def accuracy(self, name: str) -> float:
        """From the outputs of a set and the true labels beside them."""
        arrays = self.arrays(name)
        outputs = arrays["outputs"]
        labels = outputs.argmax(-1) if outputs.ndim > 1 else outputs
        return float(np.mean(labels == arrays["truth"]))

    def printed(self, name: str) -> float:
        """The number that the script prints last after this name."""
        return float(re.findall(rf"^{name} (\S+)$", self.on.stdout, re.MULTILINE)[-1])


def kept(folder: Path, prepare: Callable[[Path], Child], **environment: str | None) -> Kept:
    def run(name: str) -> Result:
        child = prepare(folder / name)
        result = child.run(capture=CAPTURE if name == "on" else None, environment=environment)
        assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
        return result

    with ThreadPoolExecutor(2) as pool:
        on, off = pool.map(run, ("on", "off"))
    return Kept(folder / "on", on, off)
