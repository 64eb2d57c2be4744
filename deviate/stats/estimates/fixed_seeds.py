"""Seeds that no variant replaces: their draws are the same in all runs, and missing from every spread."""

from collections.abc import Iterator, Sequence

from deviate.model import Experiment
from deviate.stats.estimates.proof import select_completed
from deviate.stats.estimates.sample import first_of

MOST_NAMED = 5
"""Number of seeds that the warning names; it counts the rest."""


def fixed_seed_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """One sentence for all experiments with the same fixed seeds; none for seeds whose values differ."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for experiment, label in zip(experiments, labels, strict=True):
        seeds = tuple(fixed_seeds(experiment))
        if seeds:
            groups.setdefault(seeds, []).append(label)
    return [
        f"Not varied by deviate{_where(those, labels)}: {first_of(seeds, MOST_NAMED)}. The value is the same in all "
        "runs, so the spread leaves out what is drawn from it. To include that, give each run another: "
        "--seed {replicate}."
        for seeds, those in groups.items()
    ]


def fixed_seeds(experiment: Experiment) -> Iterator[str]:
    """Call, value and place of each unreplaced seed that was the same in all completed runs."""
    by_run: list[dict[tuple[str, str, int], list[str]]] = []
    for run in select_completed(experiment):
        by_run.append({})
        for event in run.seed_events:
            if event.action == "fixed":
                by_run[-1].setdefault((event.call, event.file, event.line), []).append(event.value)
    for key in dict.fromkeys(key for values in by_run for key in values):
        together = zip(*(values[key] for values in by_run if key in values), strict=False)
        if all(len(set(values)) == 1 for values in together):
            values = list(dict.fromkeys(next(values[key] for values in by_run if key in values)))
            more = ", …" if len(values) > 1 else ""
            call, file, line = key
            yield f"{call} = {values[0]}{more} ({file}:{line})"


def _where(those: Sequence[str], labels: Sequence[str]) -> str:
    return "" if len(those) == len(labels) else f" in {', '.join(those)}"
