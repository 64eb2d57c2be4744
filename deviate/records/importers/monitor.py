"""Importer `monitor`: episodes as the Monitor of Gym and Stable-Baselines3 writes them, `*.monitor.csv`.

A row is an episode: reward `r`, length `l`, and `t`, seconds since the start; the step is the number of environment
steps up to its end. Each file is a run. Nothing says how it ended.
"""

import itertools
import json
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
    """Read the episodes of one run. Raises InputError for a damaged file."""
    table = read_table(path)
    try:
        facts = json.loads(head(path).partition("\n")[0].lstrip("# "))
        cells = zip(*(map(number, table.columns[name]) for name in "rlt"), strict=True)
        started = float(facts["t_start"])
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{path} is not a Monitor log: {error!r}", "name one with the columns r, l and t") from error
    whole = [(r, n, t) for r, n, t in cells if r is not None and n is not None and t is not None]
    steps = tuple(itertools.accumulate(int(n) for _, n, _ in whole))
    times = tuple(t for _, _, t in whole)
    series = {
        "episode_reward": Series(steps, tuple(r for r, _, _ in whole), times),
        "episode_length": Series(steps, tuple(n for _, n, _ in whole), times),
    }
    environment = {"environment": str(facts["env_id"])} if facts.get("env_id") else {}
    run = ImportedRun(path.name, series, "completed", started, max(times, default=0.0), environment)
    note = f"{path.name}: {len(whole)} episodes, step = environment steps so far (l), episode_reward = r, time = t"
    name = path.name.removesuffix(".csv").removesuffix(".monitor")
    return (Imported(name, "monitor", (path,), (run,), notes=(note,)),)
