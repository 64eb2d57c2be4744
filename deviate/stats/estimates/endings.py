"""Imported runs that end before the others: the files rarely distinguish a crash from a finished run."""

from collections import Counter
from collections.abc import Sequence

from deviate.model import IMPORTED_AS, Experiment, Run
from deviate.stats.estimates.sample import count

MOST_NAMED = 3


def ending_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """Imported runs that count as completed although they end before the step at which most of them end.

    There is no warning if most runs have no common last step, as with early stopping.
    """
    warnings = []
    for experiment, label in zip(experiments, labels, strict=True):
        ends = {
            run.replicate: _last_step(run)
            for run in experiment.runs
            if experiment.imported and run.status == "completed"
        }
        if not ends:
            continue
        last, n = Counter(ends.values()).most_common(1)[0]
        early = [run for run in experiment.runs if ends.get(run.replicate, last) < last]
        if early and 2 * n > len(ends) and last == max(ends.values()):
            stops = [f"{run_label(run)} at step {ends[run.replicate]}" for run in early[:MOST_NAMED]]
            more = [f"{len(early) - MOST_NAMED} more"] if len(early) > MOST_NAMED else []
            warnings.append(
                f"{len(early)} of {count(len(experiment.runs), 'run')} of {label} end before the others, which end at "
                f"step {last}: {', '.join([*stops, *more])}. They count as completed, with the values at which they "
                "end; if they crashed or still go on, leave them out."
            )
    return warnings


def run_label(run: Run) -> str:
    """The label of an imported run, otherwise its replicate."""
    return run.environment.get(IMPORTED_AS) or f"replicate {run.replicate}"


def _last_step(run: Run) -> int:
    return max((step for series in run.series.values() for step in series.steps[-1:] if step is not None), default=-1)
