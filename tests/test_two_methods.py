"""Two methods at once, and how many runs there are: pairs, budgets, precision, looks, and runs that are added."""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

TRAIN = """\
import random, sys, time
better = 3 if "--better" in sys.argv else 0
for epoch in range(2):
    acc = 90 + better + random.random()
    print("acc", acc)
time.sleep(float(sys.argv[-1]) if sys.argv[-1][0].isdigit() else 0)
"""


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in a project with a script that can be made better."""
    (project / "train.py").write_text(TRAIN)
    return deviate_in(project)


def versus(*more: str) -> tuple[str, ...]:
    return ("--versus", f"base={' '.join(('python train.py', *more))}", "--versus",
            f"new={' '.join(('python train.py --better', *more))}")  # fmt: skip


def order(project: Path, *names: str) -> list[tuple[str, int]]:
    """Experiments and replicates in the order in which they were started."""
    found = []
    for name in names:
        for result in (project / ".deviate/experiments" / name / "runs").glob("*/attempt-*/result.json"):
            document, spec = json.loads(result.read_text()), json.loads((result.parents[1] / "spec.json").read_text())
            found.append((document["started"], name, spec["replicate"]))
    return [(name, replicate) for _, name, replicate in sorted(found)]


def test_two_methods_run_in_pairs_of_random_order_and_are_compared(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    answer = deviate("run", *versus(), "--runs", "6", "--jobs", "1")
    assert answer.code == 0, answer.both
    assert "Verdict: better   new is better than base: acc +3.00" in answer.out
    started = order(project, "base", "new")
    assert [replicate for _, replicate in started] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    firsts = [name for name, _ in started[::2]]
    assert set(firsts) == {"base", "new"}, "neither of them always goes first"
    other = deviate(
        "run", "--versus", "b=python train.py", "--versus", "n=python train.py --better", "--runs", "6", "-q"
    )
    assert other.code == 0
    again = [{"b": "base", "n": "new"}[name] for name, _ in order(project, "b", "n")[::2]]
    assert again == firsts, "the order comes from the experiment seed"


@pytest.mark.slow
def test_a_budget_stops_with_nearly_equal_numbers_and_the_same_command_goes_on(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    command = ("run", *versus("0.8"), "--runs", "30", "--jobs", "2")
    stopped = deviate(*command, "--budget", "10s")
    assert stopped.code == 0, stopped.both
    assert "No new runs:" in stopped.out
    numbers = Counter(name for name, _ in order(project, "base", "new"))
    assert 1 <= numbers["base"] < 30
    assert abs(numbers["base"] - numbers["new"]) <= 2
    n_more = max(numbers.values()) + 1
    whole = deviate(*command[:-4], "--runs", str(n_more), "--jobs", "2")
    assert f"Baseline   base · algo+impl (training varies: seeds and kernels) · {n_more}/30 completed" in whole.out
    assert f"Candidate  new · algo+impl · {n_more}/30 completed" in whole.out


def test_runs_are_added_until_the_interval_is_narrow_enough(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    narrow = deviate("run", "train.py", "--until", "acc ±0.35", "--max-runs", "30", "--name", "narrow")
    assert narrow.code == 0, narrow.both
    n_runs = len(order(project, "narrow"))
    assert 5 <= n_runs < 30
    assert "number of runs decided by precision, ±0.35" in " ".join(narrow.out.split())
    never = deviate(
        "run", "train.py", "--until", "acc ±0.01", "--min-runs", "3", "--max-runs", "4", "--name", "never", "--quiet"
    )
    assert "(not reached)" in never.out
    assert len(order(project, "never")) == 4


def test_declared_looks_stop_at_the_first_that_decides(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    clear = deviate("run", *versus(), "--looks", "5,8", "--quiet")
    assert clear.code == 0, clear.both
    assert "look 1 of 2" in clear.out
    assert len(order(project, "base")) == len(order(project, "new")) == 5
    same = deviate(
        "run", "--versus", "a=python train.py", "--versus", "b=python train.py x", "--looks", "5,8", "--quiet"
    )
    assert "Verdict: undecided" in same.out
    assert "look 2 of 2" in same.out
    assert len(order(project, "a")) == len(order(project, "b")) == 8


def test_runs_are_added_only_to_what_is_the_same(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "--runs", "1", "--name", "x", "--quiet").code == 0
    for change, told in {
        ("--env", "A=1"): "with another --env: none",
        ("--seed", "1"): "with another experiment seed: 0",
        ("--then", "python -V"): "with another --then: none",
        ("--", "--better"): "with another command",
    }.items():
        answer = deviate("run", "train.py", "--runs", "2", "--name", "x", *change)
        assert (answer.code, told in answer.err) == (1, True), answer.both
        assert len(order(project, "x")) == 1


def test_runs_that_are_added_say_where_the_environment_has_changed(
    project: Path, deviate, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    assert deviate("run", "train.py", "--runs", "1", "--quiet").code == 0
    assert "another environment" not in deviate("run", "train.py", "--runs", "2").out
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    refused = deviate("run", "train.py", "--runs", "3", "--strict")
    assert refused.code == 1
    assert "--strict: runs are added in another environment than those on record" in refused.err
    assert len(order(project, "train")) == 2
    assert deviate("run", "train.py", "--runs", "2", "--strict").code == 0, "nothing is added"
    added = deviate("run", "train.py", "--runs", "3")
    assert added.code == 0
    assert "Note     runs are added in another environment" in added.out
    assert "XLA_FLAGS" in added.out
    assert "another environment" not in deviate("resume", "train").out, "there is nothing to run"


def test_precision_declared_after_a_comparison_makes_no_planned_look_of_it(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(
        "import random, sys\nfor epoch in range(2):\n    loss = float(sys.argv[1]) + random.random()\n"
        "    print(f'loss {loss:.4f}')\n"
    )
    methods = ("--versus", "a=python train.py 1", "--versus", "b=python train.py 3", "--quiet")
    assert "Verdict: " in deviate("run", *methods, "--runs", "5").out
    answer = deviate("run", *methods, "--until", "loss ±0.001", "--min-runs", "6", "--max-runs", "7")
    assert "Verdict: withheld" in answer.out, answer.both


def test_where_one_method_cannot_begin_none_does(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text("for epoch in range(2):\n    loss = 1 / (epoch + 1)\n    print(f'loss {loss}')\n")
    assert deviate("run", "train.py", "--name", "old", "--runs", "2", "--quiet").code == 0
    answer = deviate("run", "--versus", "new=python train.py", "--versus", "old=python train.py 3", "--quiet")
    assert (answer.code, "experiment named old exists already" in answer.err) == (1, True), answer.both
    missing = deviate("run", "train.py", "--then", "no-such-program --token secret-of-mine", "--quiet")
    assert "there is no program 'no-such-program'" in missing.err
    assert "secret-of-mine" not in missing.both
    assert sorted(path.name for path in (project / ".deviate/experiments").iterdir()) == ["old"]


def test_an_interrupted_resume_says_that_what_ran_is_on_record(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(
        "import time\nfor epoch in range(2):\n    time.sleep(1)\n"
        "    loss = 1 / (epoch + 1)\n    print(f'loss {loss}')\n"
    )
    assert deviate("run", "train.py", "--plan-only", "--runs", "3").code == 0
    child = subprocess.Popen(
        [sys.executable, "-m", "deviate", "resume", "train"], cwd=project, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    while not list(project.glob(".deviate/experiments/train/runs/*/attempt-1/events-*")):
        assert child.poll() is None
        time.sleep(0.05)
    child.terminate()
    _, said = child.communicate(timeout=300)
    assert (child.returncode, "What ran is on record" in said) == (130, True), said
    assert deviate("worker", "train", "--index", "0").code == 0
