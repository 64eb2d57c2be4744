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

    captures = [
        (experiment, captured)
        for experiment in experiments
        for captured in (wing("stability").captured_of(experiment),)
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
            f"no predictions{at} are on record",
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


def _predictions_of(experiment: Experiment, captured_set: CapturedSet) -> Any:
    """Examples run by run; `position` is the place of an example in the order of the first run."""
    import numpy as np
    import pandas as pd

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
