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
    lines = head(path).splitlines()[:2] if path.is_file() else []
    return len(lines) == 2 and lines[0].startswith("#") and '"t_start"' in lines[0] and lines[1].startswith("r,l,t")


@importer("monitor", description="Monitor of Gym and Stable-Baselines3: *.monitor.csv", claims=_claims, rank=30)
def read_monitor(path: Path) -> tuple[Imported, ...]:
    """Read the episodes of one run. Raises InputError for a damaged file."""
    table = read_table(path)
    try:
        facts = json.loads(head(path).partition("\n")[0].lstrip("# "))
        rewards, lengths, times = ([number(cell) for cell in table.columns[name]] for name in "rlt")
        started = float(facts["t_start"])
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(
            f"{path} is not a Monitor log: {error!r}", "name a file with the columns r, l and t"
        ) from error
    whole = [(r, n, t) for r, n, t in zip(rewards, lengths, times, strict=True) if None not in {r, n, t}]
    steps = tuple(itertools.accumulate(int(n or 0) for _, n, _ in whole))
    at = tuple(float(t or 0) for _, _, t in whole)
    series = {
        "episode_reward": Series(steps, tuple(float(r or 0) for r, _, _ in whole), at),
        "episode_length": Series(steps, tuple(float(n or 0) for _, n, _ in whole), at),
    }
    environment = {"environment": str(facts["env_id"])} if facts.get("env_id") else {}
    run = ImportedRun(path.name, series, started=started, wall_time_s=max(at, default=0.0), environment=environment)
    note = (
        f"{path.name}: Monitor, {len(whole)} episodes: one run, step = environment steps so far (l), metrics = r as "
        "episode_reward, l as episode_length, time = t"
    )
    return (
        Imported(path.name.removesuffix(".csv").removesuffix(".monitor"), "monitor", (path,), (run,), notes=(note,)),
    )
