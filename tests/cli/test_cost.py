"""What runs take: the line before and after the first run, and budgets that give too few of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.cli.cost import Outlook, RunCost, Side, budget_text, refuse_short_budget
from deviate.cli.options import seconds
from deviate.errors import InputError
from deviate.model.plan import Settings

HOUR = 3600.0
TRAIN = """\
import os, random, time
for epoch in range(2):
    acc = random.random()
    print("acc", acc)
time.sleep(0.7)
"""


def side(
    runs: int = 10, done: int = 0, *, most: int = 0, hours: float = 9.0, n_work: int | None = 2_000_000_000
) -> Side:
    return Side("base", "algo", runs, done, most or runs, RunCost("old", hours * HOUR, 100_000_000, n_work, 5))


def outlook(*sides: Side, budget_s: float | None = None, **settings: Any) -> Outlook:
    return Outlook(sides, Settings(**settings), Path.cwd(), budget_s)


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (outlook(side(), gpus=("0",)), "one run 9 h, 2.1 GB kept; 10 runs 90 h on 1 GPU, 21 GB"),
        (outlook(side(), jobs=4), "one run 9 h, 2.1 GB kept; 10 runs 27 h, 4 at a time, 21 GB"),
        (outlook(side(done=7)), "one run 9 h, 2.1 GB kept; 7 on record, 3 more runs 27 h, 6.3 GB"),
        (outlook(side(done=9)), "one run 9 h, 2.1 GB kept; 9 on record, 1 more run 9 h, 2.1 GB"),
        (outlook(side(), keep="none"), "one run 9 h, 100 MB kept; 10 runs 90 h, 1.0 GB"),
        (outlook(side(), keep="best"), "one run 9 h, 100 MB kept; 10 runs 90 h, 5.0 GB"),
        (outlook(side(n_work=None)), "one run 9 h; 10 runs 90 h"),
        (outlook(side(2), side(2, hours=1)), "one run 1 h to 9 h, 2.1 GB kept; 4 runs 20 h, 8.4 GB"),
        (outlook(side(2), executor="slurm"), "one run 9 h, 2.1 GB kept; 2 runs 18 h of computing, 4.2 GB"),
        (outlook(side(1), budget_s=HOUR), "one run 9 h, 2.1 GB kept; --budget 1h gives no run, and a verdict takes 5"),
        (
            outlook(side(2, most=3, hours=1)),
            "one run 1 h, 2.1 GB kept; 2 runs 2 h, 4.2 GB; at most 3 runs 3 h, 6.3 GB",
        ),
        (outlook(side(4, 4)), "none: 4 on record, no more runs"),
        (outlook(Side("base", "algo", 3, 0, 3, None)), "known after the first run"),
        (
            outlook(Side("base", "algo", 3, 0, 3, None), timeout_s=HOUR),
            "known after the first run; --timeout ends each after 1 h, all within 3 h",
        ),
    ],
)
def test_one_line_tells_time_and_space_of_one_run_and_of_all(told: Outlook, text: str) -> None:
    assert told.text() == text


@given(
    done=st.lists(st.integers(0, 6), min_size=1, max_size=3), hours=st.lists(st.floats(0.1, 9), min_size=3, max_size=3),
    jobs=st.integers(1, 4), wanted=st.integers(1, 6),
)  # fmt: skip
def test_a_budget_gives_exactly_what_it_is_said_to_give(
    done: list[int], hours: list[float], jobs: int, wanted: int
) -> None:
    sides = [side(6, n, hours=time_h) for n, time_h in zip(done, hours, strict=False)]
    needed_s = outlook(*sides, jobs=jobs).needed_s(wanted)
    assert outlook(*sides, jobs=jobs, budget_s=needed_s).affordable() >= wanted
    if min(done) < wanted:
        assert outlook(*sides, jobs=jobs, budget_s=needed_s * 0.999).affordable() < wanted


@given(st.floats(0.1, 1e6))
def test_a_budget_is_written_as_the_option_takes_it_and_never_less(time_s: float) -> None:
    read = seconds(budget_text(time_s), "--budget")
    assert read is not None
    assert time_s <= read <= max(1.05 * time_s + 1, time_s + 60)


def test_a_budget_that_gives_fewer_than_a_verdict_takes_is_refused_unless_so_few_were_asked_for() -> None:
    with pytest.raises(InputError) as refused:
        refuse_short_budget(outlook(side(), side(), budget_s=50 * HOUR))
    assert refused.value.message == (
        "--budget 50h gives 2 runs of each, and a verdict takes 5: one run takes 9 h (by 5 runs of old on record)"
    )
    assert refused.value.hint == "write --budget 99h, or --runs 2 for a description without a verdict"
    for enough in (
        outlook(side(2), side(2), budget_s=50 * HOUR),
        outlook(side(done=4), budget_s=10 * HOUR),
        outlook(side(), budget_s=46 * HOUR),
        outlook(side(), jobs=5, budget_s=10 * HOUR),
    ):
        refuse_short_budget(enough)
    other_code = Side("base", "algo", 10, 0, 10, RunCost("old", 9 * HOUR, is_current=False))
    refuse_short_budget(outlook(other_code, budget_s=HOUR))


def test_a_disk_that_has_not_enough_space_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 20_000_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    told = outlook(side()).shortage()
    assert "10 runs will take 21 GB on the disk of" in told
    assert "which has 20 GB free; --keep none keeps no work copies" in told
    assert outlook(side(9)).shortage() == ""
    assert outlook(side(), keep="none").shortage() == ""


@pytest.mark.slow
def test_the_first_run_tells_what_runs_take_and_a_budget_below_five_of_them_stops_there(
    project: Path, deviate_in: Callable[..., Any]
) -> None:
    (project / "train.py").write_text(TRAIN)
    deviate = deviate_in(project)
    command = ("run", "train.py", "--runs", "6", "--jobs", "1", "--name", "base")
    first = deviate(*command, "--budget", "2s")
    assert first.code == 0, first.both
    assert "Cost     known after the first run" in first.out
    assert "No new runs: --budget 2s gives" in first.out
    assert "and a verdict takes 5: one run takes" in first.out
    assert "Go on: deviate resume base --budget " in first.out
    assert "1/6 completed" in first.out
    again = deviate(*command, "--budget", "2s", "--dry-run")
    assert (again.code, "(by 1 run of base on record)" in again.err) == (1, True), again.both
    resumed = deviate("resume", "base")
    assert "Cost     one run " in resumed.out
    assert "; 1 on record, 5 more runs " in resumed.out
    assert "6/6 completed" in resumed.out
    other = deviate("run", "train.py", "--runs", "3", "--jobs", "1", "--name", "other", "--dry-run")
    assert "; 3 runs " in other.out
    assert "(by 6 runs of base)" in other.out
    (project / "train.py").write_text(TRAIN.replace("0.7", "0.1"))
    faster = deviate("run", "train.py", "--runs", "5", "--jobs", "1", "--budget", "4s", "--name", "faster")
    assert "(by 6 runs of base, of other code)" in " ".join(faster.out.split())
    assert "\ncost: one run " in faster.out
    assert "5/5 completed" in faster.out
