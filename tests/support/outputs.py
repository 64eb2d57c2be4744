"""Captured outputs and weights with wanted properties."""

from collections.abc import Mapping, Sequence

import numpy as np

from deviate.model.records import CapturedSet, CapturedWeights, OutputKind


def scored(
    outputs: object,
    truth: object = None,
    *,
    name: str = "test",
    step: int | None = None,
    kind: OutputKind = "logits",
    columns: Mapping[str, Sequence[object]] | None = None,
    replicates: Sequence[int] | None = None,
) -> CapturedSet:
    """A set of scores, (R, N, C), or of values, (R, N)."""
    array = np.asarray(outputs)
    labels = None if kind == "values" else array.argmax(axis=-1)
    return _set(array, labels, truth, name, step, kind, columns, replicates)


def labelled(
    labels: object,
    truth: object = None,
    *,
    name: str = "test",
    columns: Mapping[str, Sequence[object]] | None = None,
) -> CapturedSet:
    """A set of predicted classes alone, (R, N)."""
    return _set(None, np.asarray(labels), truth, name, None, "labels", columns, None)


def drawn(
    seed: int = 0, *, n_runs: int = 6, n: int = 60, n_classes: int = 3, kind: OutputKind = "logits", **more: object
) -> CapturedSet:
    """Runs of one model whose scores differ by noise, and are right more often than not."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    base = rng.normal(size=(n, n_classes))
    base[np.arange(n), truth] += 1.0
    outputs = base + 0.7 * rng.normal(size=(n_runs, n, n_classes))
    if kind != "logits":
        outputs = np.exp(outputs) / np.exp(outputs).sum(axis=-1, keepdims=True)
    if kind == "log-probabilities":
        outputs = np.log(outputs)
    return scored(outputs, truth, kind=kind, **more)  # type: ignore[arg-type]


def weights(layers: Mapping[str, object], step: int | None = None) -> CapturedWeights:
    arrays = {name: np.asarray(layer, dtype=np.float64) for name, layer in layers.items()}
    n_runs = len(next(iter(arrays.values())))
    return CapturedWeights(step, tuple(range(n_runs)), arrays)


def _set(
    outputs: np.ndarray | None,
    labels: np.ndarray | None,
    truth: object,
    name: str,
    step: int | None,
    kind: OutputKind,
    columns: Mapping[str, Sequence[object]] | None,
    replicates: Sequence[int] | None,
) -> CapturedSet:
    array = outputs if outputs is not None else labels
    if array is None:
        raise ValueError("neither scores nor labels")
    return CapturedSet(
        name=name,
        step=step,
        replicates=tuple(range(len(array)) if replicates is None else replicates),
        kind=kind,
        outputs=outputs,
        labels=labels,
        truth=None if truth is None else np.asarray(truth),
        columns={key: np.asarray(column) for key, column in (columns or {}).items()},
        positions=np.arange(array.shape[1]),
        alignment="position",
    )
