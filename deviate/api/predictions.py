"""Captured predictions as a pandas DataFrame: a row per experiment, run and example."""

from collections.abc import Sequence
from typing import Any

from deviate.errors import InputError
from deviate.model import CapturedSet, Experiment
from deviate.registry import wing


def predictions_frame(experiments: Sequence[Experiment], name: str | None, step: int | None) -> Any:
    """What runs predicted on one evaluation set.

    Args:
        name: of the set; None where there is only one.
        step: of the main loop; None for the last evaluation of each run.

    Raises:
        InputError: there is no such set, or several and none was named.
    """
    import pandas as pd

    kept = [(it, captured) for it in experiments for captured in (wing("stability").captured_of(it),)]
    found = [
        (it, one)
        for it, captured in kept
        for one in (captured.sets if step is None else captured.by_step)
        if step in {None, one.step}
    ]
    names = list(dict.fromkeys(one.name for _, one in found))
    if not names:
        reasons = [reason for _, captured in kept for reason in captured.reasons]
        at = "" if step is None else f" of step {step}"
        raise InputError(
            f"no predictions{at} are on record",
            reasons[0] if reasons else "run with --capture predictions, under another --name",
        )
    if (name is None and len(names) > 1) or (name is not None and name not in names):
        raise InputError(
            "there are several evaluation sets" if name is None else f"there is no evaluation set {name!r}",
            f"there are: {', '.join(names)}",
        )
    chosen = names[0] if name is None else name
    frames = [_frame(it, one) for it, one in found if one.name == chosen]
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


def _frame(experiment: Experiment, found: CapturedSet) -> Any:
    """Examples run by run; `position` is the place of an example in the order of the first run."""
    import numpy as np
    import pandas as pd

    n_runs, n = len(found.replicates), len(found.positions)
    columns: dict[str, Any] = {
        "experiment": pd.Categorical([experiment.name]).repeat(n_runs * n),
        "variant": pd.Categorical([experiment.variant]).repeat(n_runs * n),
        "replicate": np.repeat(found.replicates, n),
        "position": np.tile(found.positions, n_runs),
    }
    if found.truth is not None:
        columns["truth"] = np.tile(found.truth, n_runs)
    if found.labels is not None:
        columns["predicted"] = found.labels.reshape(-1)
    if found.outputs is not None and found.outputs.ndim == 2:
        columns["value"] = found.outputs.reshape(-1)
    elif found.outputs is not None:
        columns |= {f"output_{index}": found.outputs[..., index].reshape(-1) for index in range(found.outputs.shape[2])}
    columns |= {name: np.tile(column, n_runs) for name, column in found.columns.items() if name not in columns}
    return pd.DataFrame(columns)
