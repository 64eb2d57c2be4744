"""Findings as pandas DataFrames: figures as plain numbers, and a reason where there is none."""

import importlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deviate.errors import InputError
from deviate.model.findings import Findings
from deviate.model.records import CapturedSet, Experiment
from deviate.registry import wing
from deviate.report.data.rows import comparison_rows, description_rows, score_rows
from deviate.report.format import SURROGATE

if TYPE_CHECKING:
    import pandas as pd

TYPES = {float: "Float64", int: "Int64", bool: "boolean", str: "string"}
"""Column types with a missing value, which is not NaN."""


def findings_frame(findings: Findings) -> "pd.DataFrame":
    """A row per metric and candidate, or per metric and experiment where nothing is compared."""
    rows = comparison_rows(findings) if findings.pairs else description_rows(findings)
    columns = {name: (kind, [row[name][1] for row in rows]) for name, (kind, _) in rows[0].items()} if rows else {}
    return _pandas_frame(columns)


def scores_frame(findings: Findings) -> "pd.DataFrame":
    """A row per experiment, metric and run that ended."""
    kinds = {"experiment": str, "variant": str, "metric": str, "replicate": int, "score": float, "reason": str}
    rows = [row for row in score_rows(findings) if row.score is not None or row.reason]
    return _pandas_frame({name: (kind, [getattr(row, name) for row in rows]) for name, kind in kinds.items()})


def _pandas_frame(columns: dict[str, tuple[type, list[object]]]) -> "pd.DataFrame":
    pd = _import_pandas()
    return pd.DataFrame(
        {
            name: pd.array([_whole(value) for value in values], dtype=TYPES[kind])
            for name, (kind, values) in columns.items()
        }
    )


def _whole(value: object) -> object:
    """Text without halves of characters, which arrays of text refuse, and no end that an interval does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
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
