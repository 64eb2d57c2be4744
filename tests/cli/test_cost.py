"""What runs take: the line before and after the first run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deviate.cli.cost import Outlook, RunCost, Side
from deviate.model.plan import Settings

HOUR = 3600.0
TRAIN = """\
import os, random, time
for epoch in range(2):
    acc = random.random()
    print("acc", acc)
time.sleep(0.2)
"""


def side(runs: int = 10, done: int = 0, *, hours: float = 9.0, n_work: int = 2_000_000_000) -> Side:
    return Side("base", "algo", runs, done, RunCost(hours * HOUR, 100_000_000, n_work))


def outlook(*sides: Side, **settings: Any) -> Outlook:
    return Outlook(sides, Settings(**settings), Path.cwd())


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (outlook(side(), gpus=("0",)), "10 runs: 90 h, 21 GB, 1 GPU"),
        (outlook(side(), jobs=4), "10 runs: 27 h, 21 GB, 4 at a time"),
        (outlook(side(done=7)), "3 more runs: 27 h, 6.3 GB, 1 at a time"),
        (outlook(side(done=9)), "1 more run: 9 h, 2.1 GB, 1 at a time"),
        (outlook(side(), keep="none"), "10 runs: 90 h, 1.0 GB, 1 at a time"),
        (outlook(side(), keep="best"), "10 runs: 90 h, 5.0 GB, 1 at a time"),
        (outlook(side(2), side(2, hours=1)), "4 runs: 20 h, 8.4 GB, 1 at a time"),
        (outlook(side(2), executor="slurm"), "2 runs: 18 h, 4.2 GB, on slurm"),
        (outlook(side(2), side(2, hours=1), jobs=3), "4 runs: 10 h, 8.4 GB, 3 at a time"),
        (outlook(side(4, 4)), ""),
        (outlook(Side("base", "algo", 3, 0, None)), "known after the first run"),
    ],
)
def test_one_line_tells_time_space_and_machines(told: Outlook, text: str) -> None:
    assert told.text() == text


def test_a_disk_that_has_not_enough_space_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 20_000_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert "the runs leave 21 GB on " in outlook(side()).shortage()
    assert "which has 20 GB free: try --keep none" in outlook(side()).shortage()
    assert outlook(side(9)).shortage() == ""
    assert outlook(side(), keep="none").shortage() == ""


@pytest.mark.slow
def test_the_first_run_tells_what_runs_take(project: Path, deviate_in: Callable[..., Any]) -> None:
    (project / "train.py").write_text(TRAIN)
    deviate = deviate_in(project)
    first = deviate("run", "train.py", "--runs", "3", "--jobs", "1", "--name", "base")
    assert "Cost       known after the first run" in first.out
    assert "\ncost: 3 runs: " in first.out
    other = deviate("run", "train.py", "--runs", "2", "--jobs", "1", "--name", "other", "--dry-run")
    assert "Cost       2 runs: " in other.out
