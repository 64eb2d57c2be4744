"""Findings as pandas DataFrames: figures as plain numbers, and a reason where there is none."""

import importlib
import math
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from deviate.errors import InputError
from deviate.model.comparisons import Comparison, Description, SpreadVerdict, Verdict
from deviate.model.estimates import NOT_ASKED, NOT_SHOWN, Interval, Test, Unavailable
from deviate.model.findings import Findings
from deviate.model.plan import SelectedMetric
from deviate.model.records import CapturedSet, Experiment
from deviate.registry import wing
from deviate.report.format import SURROGATE
from deviate.report.verdicts import verdict_reason

if TYPE_CHECKING:
    import pandas as pd

TYPES = {float: "Float64", int: "Int64", bool: "boolean", str: "string"}
"""Column types with a missing value, which is not NaN."""
LEAVES: dict[type, tuple[str, ...]] = {
    Interval: ("low", "high"),
    Test: ("statistic", "p_value", "df"),
}
WHOLE = (Description, SelectedMetric)
"""Values whose fields are separate columns."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One cell: its column, the type of that, and its value."""

    column: str
    kind: type
    value: object


@dataclass(frozen=True, slots=True)
class _Remark:
    """Why a figure is missing, or how it was computed: `field: text`, for the column of that name."""

    column: Literal["reasons", "remarks"]
    text: str


Cells = list[_Entry | _Remark]


def findings_frame(findings: Findings) -> "pd.DataFrame":
    """A row per metric and candidate, or per metric and experiment where nothing is compared."""
    if findings.pairs:
        return _frame(
            [
                _comparison_row(pair.baseline, pair.candidate, comparison)
                for pair in findings.pairs
                for comparison in pair.comparisons
            ]
        )
    return _frame(
        [
            _description_row(item.experiment.name, item.experiment.variant, description)
            for item in findings.experiments
            for description in item.descriptions
        ]
    )


def scores_frame(findings: Findings) -> "pd.DataFrame":
    """A row per experiment, metric and run that ended."""
    rows: list[tuple[object, ...]] = []
    for item in findings.experiments:
        for description in item.descriptions:
            cells: dict[int, tuple[float | None, str]] = {
                score.replicate: (score.value, "") for score in description.scores
            }
            cells |= {replicate: (None, reason) for replicate, reason in description.missing}
            whose = item.experiment.name, item.experiment.variant, description.metric.name
            rows += [(*whose, replicate, *cells[replicate]) for replicate in sorted(cells)]
    names = ("experiment", "variant", "metric", "replicate", "score", "reason")
    kinds = (str, str, str, int, float, str)
    columns: list[tuple[object, ...]] = list(zip(*rows, strict=True)) or [()] * len(names)
    return _pandas_frame({name: (kind, list(column)) for name, kind, column in zip(names, kinds, columns, strict=True)})


def _comparison_row(baseline: str, candidate: str, comparison: Comparison) -> Cells:
    one, other = comparison.baseline, comparison.candidate
    return [
        _Entry("metric", str, comparison.metric.name),
        _Entry("baseline", str, baseline),
        _Entry("candidate", str, candidate),
        _Entry("verdict", str, comparison.verdict.word),
        _Entry("verdict_reason", str, verdict_reason(comparison)),
        _Entry("n_baseline", int, one.n),
        _Entry("n_candidate", int, other.n),
        *_entries("baseline_mean", _hints(Description)["mean"], one.mean),
        *_entries("baseline_sd", _hints(Description)["sd"], one.sd),
        *_entries("candidate_mean", _hints(Description)["mean"], other.mean),
        *_entries("candidate_sd", _hints(Description)["sd"], other.sd),
        *(entry for entry in _entries_of(comparison) if not entry.column.startswith("verdict")),
    ]


def _description_row(experiment: str, variant: str, description: Description) -> Cells:
    return [
        _Entry("metric", str, description.metric.name),
        _Entry("experiment", str, experiment),
        _Entry("variant", str, variant),
        _Entry("n", int, description.n),
        *_entries_of(description),
    ]


def _entries_of(value: Any) -> Iterator[_Entry | _Remark]:
    for name, hint in _hints(value.__class__).items():
        yield from _entries(name, hint, getattr(value, name))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The fields of a class with their types."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.name not in NOT_SHOWN}


def _entries(name: str, hint: Any, value: object) -> Iterator[_Entry | _Remark]:
    """The columns of one field; those of something that is not there are the same, and empty."""
    kind = _kind(hint)
    reason = value.reason if isinstance(value, Unavailable) and value != NOT_ASKED else ""
    if reason:
        yield _Remark("reasons", f"{name}: {reason}")
    present = None if isinstance(value, Unavailable) else value
    if kind in TYPES:
        yield _number(name, kind, present)
    elif kind is tuple:
        low, high = present if isinstance(present, tuple) else (None, None)
        yield _number(f"{name}_low", float, low)
        yield _number(f"{name}_high", float, high)
    elif kind in {Verdict, SpreadVerdict}:
        yield _Entry(name, str, getattr(present, "word", None))
        yield _Entry(f"{name}_reason", str, getattr(present, "reason", None))
    elif kind in LEAVES:
        for leaf in LEAVES[kind]:
            yield _number(f"{name}_{leaf}", float, getattr(present, leaf, None))
        note = getattr(present, "note", "")
        if note:
            yield _Remark("remarks", f"{name}: {note}")
    elif hasattr(kind, "__dataclass_fields__") and kind not in WHOLE:
        for inner, inner_hint in _hints(kind).items():
            yield from _entries(f"{name}_{inner}", inner_hint, None if present is None else getattr(present, inner))


def _kind(hint: Any) -> Any:
    """The type of a field where it has a value; `tuple` for two numbers, None for what is no figure."""
    options = get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)
    (kind, *_) = [option for option in options if option not in {Unavailable, type(None)}]
    if get_origin(kind) is Literal:
        return str
    if get_origin(kind) is tuple:
        return tuple if get_args(kind) == (float, float) else None
    return kind


def _number(name: str, kind: type, value: object) -> _Entry:
    """An end that an interval does not have is missing; its remark says so."""
    if isinstance(value, float) and not math.isfinite(value):
        return _Entry(name, kind, None)
    return _Entry(name, kind, value)


def _frame(rows: Sequence[Cells]) -> "pd.DataFrame":
    columns: dict[str, tuple[type, list[object]]] = {}
    for row in rows:
        for entry in row:
            if isinstance(entry, _Entry):
                columns.setdefault(entry.column, (entry.kind, []))[1].append(entry.value)
    for name in ("reasons", "remarks"):
        texts = (
            "; ".join(cell.text for cell in row if isinstance(cell, _Remark) and cell.column == name) for row in rows
        )
        columns[name] = str, list(texts)
    return _pandas_frame(columns)


def _pandas_frame(columns: dict[str, tuple[type, list[object]]]) -> "pd.DataFrame":
    pd = _import_pandas()
    return pd.DataFrame(
        {
            name: pd.array([_whole(value) for value in values], dtype=TYPES[kind])
            for name, (kind, values) in columns.items()
        }
    )


def _whole(value: object) -> object:
    """Text without halves of characters, which arrays of text refuse."""
    return SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value


# Captured predictions, a row per run and example.


def predictions_frame(experiments: Sequence[Experiment], name: str | None, step: int | None) -> "pd.DataFrame":
    """What runs predicted on one evaluation set.

    Args:
        name: of the set; None where there is only one.
        step: of the main loop; None for the last evaluation of each run.

    Raises:
        InputError: there is no such set, or several and none was named.
    """
    pd = _import_pandas()
    captures = [
        (experiment, captured)
        for experiment in experiments
        for captured in (wing("stability.captures.collect").captured_of(experiment),)
    ]
    captured_sets = [
        (experiment, one)
        for experiment, captured in captures
        for one in (captured.sets if step is None else captured.by_step)
        if step in {None, one.step}
    ]
    names = list(dict.fromkeys(one.name for _, one in captured_sets))
    if not names:
        reasons = [reason for _, captured in captures for reason in captured.reasons]
        at = "" if step is None else f" of step {step}"
        raise InputError(
            f"no predictions{at} were captured",
            reasons[0] if reasons else "run with --capture predictions, under another --name",
        )
    if (name is None and len(names) > 1) or (name is not None and name not in names):
        raise InputError(
            "there are several evaluation sets" if name is None else f"there is no evaluation set {name!r}",
            f"there are: {', '.join(names)}",
        )
    chosen = names[0] if name is None else name
    frames = [_predictions_of(experiment, one) for experiment, one in captured_sets if one.name == chosen]
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def _predictions_of(experiment: Experiment, captured_set: CapturedSet) -> "pd.DataFrame":
    """Examples run by run; `position` is the place of an example in the order of the first run."""
    import numpy as np

    pd = _import_pandas()
    n_runs, n = len(captured_set.replicates), len(captured_set.positions)
    columns: dict[str, Any] = {
        "experiment": pd.Categorical([experiment.name]).repeat(n_runs * n),
        "variant": pd.Categorical([experiment.variant]).repeat(n_runs * n),
        "replicate": np.repeat(captured_set.replicates, n),
        "position": np.tile(captured_set.positions, n_runs),
    }
    if captured_set.truth is not None:
        columns["truth"] = np.tile(captured_set.truth, n_runs)
    if captured_set.labels is not None:
        columns["predicted"] = captured_set.labels.reshape(-1)
    if captured_set.outputs is not None and captured_set.outputs.ndim == 2:
        columns["value"] = captured_set.outputs.reshape(-1)
    elif captured_set.outputs is not None:
        columns |= {
            f"output_{index}": captured_set.outputs[..., index].reshape(-1)
            for index in range(captured_set.outputs.shape[2])
        }
    columns |= {name: np.tile(column, n_runs) for name, column in captured_set.columns.items() if name not in columns}
    return pd.DataFrame(columns)


def _import_pandas() -> Any:
    """Import pandas for a table: it takes half a second, and results that are only shown do without it.

    Raises:
        InputError: it is not installed.
    """
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise InputError(
            f"a DataFrame needs the package pandas, which cannot be imported: {error}",
            "run pip install 'pandas>=2' in this environment, or use results.findings",
        ) from error
