"""Importer `monitor`: episodes as the Monitor of Gym and Stable-Baselines3 writes them, `*.monitor.csv`.

A row is an episode: reward `r`, length `l`, and `t`, seconds since the start; the step is the number of environment
steps up to its end. Each file is a run. Nothing says how it ended.
"""

import itertools
from pathlib import Path

from deviate.errors import InputError
from deviate.model.records import Series
from deviate.records.importers import Imported, ImportedRun, importer
from deviate.records.importers.tables import head, number, read_table


def _claims(path: Path) -> bool:
    lines = head(path).splitlines()[:2]
    return len(lines) == 2 and lines[0].startswith("#") and '"t_start"' in lines[0] and lines[1].startswith("r,l,t")


@importer("monitor", claims=_claims, rank=30)
def read_monitor(path: Path) -> tuple[Imported, ...]:
    """Read the episodes of one run. Raises InputError for another file."""
    if not _claims(path):
        raise InputError(f"{path} is not a Monitor log", "name one with the columns r, l and t")
    table = read_table(path)
    cells = zip(*(map(number, table.columns[name]) for name in "rlt"), strict=True)
    whole = [(r, n, t) for r, n, t in cells if r is not None and n is not None and t is not None]
    steps = tuple(itertools.accumulate(int(n) for _, n, _ in whole))
    times = tuple(t for _, _, t in whole)
    series = {
        "episode_reward": Series(steps, tuple(r for r, _, _ in whole), times),
        "episode_length": Series(steps, tuple(n for _, n, _ in whole), times),
    }
    run = ImportedRun(path.name, series, wall_time_s=max(times, default=0.0))
    note = f"{path.name}: {len(whole)} episodes, step = environment steps so far (l), episode_reward = r, time = t"
    name = path.name.removesuffix(".csv").removesuffix(".monitor")
    return (Imported(name, "monitor", (path,), (run,), notes=(note,)),)
