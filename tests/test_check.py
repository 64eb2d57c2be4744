"""The gate by its command: every exit code, both sides in one job, a committed baseline, what CI systems read."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gates import TRAIN, commit_all, git, junit_cases

Deviate = Callable[..., object]


def write(project: Path, *, shift: float = 0.0) -> None:
    (project / "train.py").write_text(TRAIN.format(shift=shift))


@pytest.fixture
def deviate(project: Path, deviate_in, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in a project in git, on a machine that is none of GitHub's."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    write(project)
    (project / ".gitignore").write_text("data/\n*.bin\n")
    commit_all(project)
    return deviate_in(project)


def leftovers(project: Path) -> list[str]:
    """Checkouts that are still there, by git and on disk."""
    worktrees = git(project, "worktree", "list", "--porcelain").split("\n\n")
    return [*worktrees[1:], *map(str, (project / ".deviate/cache").glob("ref-*"))]


def test_a_worse_working_tree_is_stopped_and_its_runs_are_on_record(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    write(project, shift=-3)
    commit = git(project, "rev-parse", "HEAD")
    asked = ("check", "train.py", "--ref", "main", "--metric", "acc", "--margin", "1")
    first = deviate(*asked, "--runs", "6")
    assert first.code == 4, first.both
    assert f"Baseline train.py at main, commit {commit[:10]}" in first.out
    assert "worse by more than 1   −3.00" in first.out
    assert "Result: worse" in first.out
    assert leftovers(project) == []
    assert git(project, "status", "--porcelain") == "M train.py"
    again = deviate(*asked, "--runs", "6", "--quiet")
    assert again.code == 4
    runs = list((project / f".deviate/experiments/train@main-{commit[:10]}/runs").glob("*/attempt-*"))
    assert len(runs) == 6, "runs of the same commit are not made again"


def test_a_better_one_passes_and_equal_code_is_identical(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    same = deviate("check", "train.py", "--ref", "main", "--runs", "5", "--metric", "acc", "--margin", "0.1", "-q")
    assert same.code == 0, same.both
    assert "nothing has changed: all 5 runs have the scores of those with the same seeds" in same.out
    write(project, shift=2)
    better = deviate("check", "train.py", "--ref", "main", "--runs", "5", "--metric", "acc", "--metric", "loss", "-q")
    assert better.code == 0, better.both
    assert "Result: passed" in better.out


def test_what_is_not_shown_is_undecided_and_fails_only_where_it_is_asked_to(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    write(project, shift=-0.05)
    asked = ("check", "train.py", "--ref", "main", "--runs", "5", "--metric", "acc", "--margin", "0.1", "-q")
    passes = deviate(*asked)
    assert passes.code == 0, passes.both
    assert "Result: undecided" in passes.out
    assert "runs of each side a candidate that is as good as the baseline passes in 80% of cases" in passes.out
    assert deviate(*asked, "--undecided", "fail").code == 5
    more = deviate(*asked, "--runs", "6")
    assert "6/6 completed" in more.out
    assert "unplanned look" not in more.both, "more runs are no look at the former ones"
    assert (project / ".deviate/experiments/train-2").exists()


def test_too_few_runs_are_said_to_be_so_before_the_first_one(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    write(project, shift=-3)
    few = deviate("check", "train.py", "--ref", "main", "--runs", "2", "--metric", "acc", "-q")
    assert few.code == 0
    assert "2 runs cannot decide: below 5 runs of each side a check is always undecided" in few.err
    assert "needs 5 runs in each, has 2 and 2" in few.out


@pytest.mark.slow
def test_missing_runs_are_no_pass(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    slow = TRAIN.format(shift=0) + "import time\ntime.sleep(0.6)\n"
    (project / "slow.py").write_text(slow)
    stopped = deviate("run", "slow.py", "--runs", "12", "--jobs", "1", "--budget", "6s", "--name", "new", "-q")
    assert stopped.code == 0, stopped.both
    assert deviate("run", "train.py", "--runs", "6", "--name", "old", "-q").code == 0
    missing = deviate("check", "old", "new", "--metric", "acc", "--margin", "5")
    assert missing.code == 3, missing.both
    assert "What to do: Run them: deviate resume new." in missing.out
    assert deviate("check", "new", "--save", "x.json").code == 1
    assert deviate("resume", "new", "-q").code == 0
    assert deviate("check", "old", "new", "--metric", "acc", "--margin", "5").code == 0


def test_a_candidate_whose_runs_fail_is_worse_whatever_its_scores(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN.format(shift=0) + "sys.exit('out of luck')\n")
    failed = deviate("check", "train.py", "--ref", "main", "--runs", "5", "--metric", "acc", "--margin", "5", "-q")
    assert failed.code == 4, failed.both
    assert "worse, 5/5 v 0/5: fewer of its runs completed (Boschloo's exact test)" in failed.out


def test_a_broken_control_goes_before_everything_else(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    intact = deviate("run", "train.py", "--runs", "5", "--variants", "algo+impl,control", "--name", "old", "-q")
    assert intact.code == 0, intact.both
    (project / "train.py").write_text(
        TRAIN.format(shift="-3 + os.getpid() % 1000 / 1e6").replace("random,", "random, os,")
    )
    assert deviate("run", "train.py", "--runs", "5", "--variants", "algo+impl,control", "--name", "new", "-q").code == 0
    broken = deviate("check", "old", "new", "--metric", "acc")
    assert broken.code == 6, broken.both
    assert "new: broken: " in broken.out
    assert "differs at main-loop step 0" in broken.out
    assert "old: intact: identical, 5 runs bitwise equal" in broken.out
    assert "acc of new against old: worse" in broken.out


def test_an_absent_control_is_told_in_one_line_and_fails_where_it_is_required(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    for name, shift in (("old", 0), ("new", 2)):
        write(project, shift=shift)
        assert deviate("run", "train.py", "--runs", "5", "--name", name, "-q").code == 0
    absent = deviate("check", "old", "new", "--metric", "acc")
    assert absent.code == 0, absent.both
    assert absent.out.count("Control ") == 1
    assert deviate("check", "old", "new", "--metric", "acc", "--require-control").code == 6
    write(project)
    assert deviate("run", "train.py", "--runs", "2", "--name", "proof", "--variants", "control", "-q").code == 0
    assert deviate("check", "old", "new", "--metric", "acc", "--require-control", "--control", "proof").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "there is nothing to check"),
        (("a.csv",), "nothing to be checked against"),
        (("a.csv", "a.csv"), "cannot be checked against itself"),
        (("a.csv", "b.csv", "--metric", "it"), "no metric 'it'"),
        (("a.csv", "b.csv", "--metric", "thing"), "the direction of thing is unknown"),
        (("a.csv", "b.csv", "--metric", "acc", "--margin", "0"), "--margin 0: a margin must be positive"),
        (("a.csv", "b.csv", "--metric", "acc", "--margin", "much"), "'much' is no number"),
        (("a.csv", "b.csv", "--metric", "acc", "--margin", "thing=1"), "thing is not checked"),
        (("a.csv", "b.csv", "--metric", "acc", "--metric", "loss", "--margin", "1"), "could belong to acc or loss"),
        (("a.csv", "b.csv", "--metric", "acc", "--margin", "1", "--margin", "acc=2"), "acc has two margins, 1 and 2"),
        (("train.py", "--ref", "main", "--metric", "acc", "--margin", "-1"), "--margin -1: a margin must be positive"),
        (("train.py", "--ref", "main", "--metric", "acc", "--margin", "loss=1"), "loss is not checked"),
        (("train.py", "--ref", "main", "--metric", "acc", "--aggregate", "lasst"), "lasst"),
        (("train.py", "--ref", "main", "--format", "csv"), "--format is for files"),
        (("a.csv", "b.csv", "--runs", "5"), "--runs is for --ref"),
        (("a.csv", "b.csv", "--undecided", "maybe"), "--undecided maybe is none of pass, fail"),
        (("a.csv", "b.csv", "--json", "-", "--junit", "-"), "--json and --junit cannot both go to standard output"),
        (("a.csv", "other.csv", "--metric", "acc"), "other has no metric acc"),
        (("train.py", "--ref", "nowhere"), "there is no such branch, tag or commit here"),
        (("new.py", "--ref", "main", "--metric", "acc"), "at main ("),
    ],
)
def test_what_cannot_be_checked_is_refused_with_what_to_do(
    project: Path,
    deviate,
    arguments: tuple[str, ...],
    message: str,  # type: ignore[no-untyped-def]
) -> None:
    header = "acc,loss,thing\n"
    (project / "a.csv").write_text(header + "".join(f"0.{i}1,0.{i}2,{i}\n" for i in range(5, 10)))
    (project / "b.csv").write_text(header + "".join(f"0.{i}2,0.{i}1,{i}\n" for i in range(4, 9)))
    (project / "other.csv").write_text("accuracy\n0.5\n0.6\n0.7\n")
    (project / "new.py").write_text(TRAIN.format(shift=0))
    refused = deviate("check", *arguments)
    assert (refused.code, message in refused.err) == (1, True), refused.both
    assert refused.err.startswith("Error: ")
    assert len(refused.err.splitlines()) == 2
    assert not (project / ".deviate/experiments").exists(), "nothing is run for a question that cannot be answered"


def test_data_that_git_ignores_is_there_at_the_commit_and_stays_as_it_was(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    script = """\
import pathlib, random
data = pathlib.Path("data/inner/numbers.txt")
large = pathlib.Path("large.bin")
base = float(data.read_text()) + large.stat().st_size * 0 + len(pathlib.Path("outside").read_text()) * 0
for epoch in range(2):
    acc = base + random.random()
    print("acc", acc)
data.write_text("0")
with large.open("ab") as file:
    file.write(b"more")
"""
    (project / "data/inner").mkdir(parents=True)
    (project / "data/inner/numbers.txt").write_text("90")
    (project / "large.bin").write_bytes(bytes(3 << 20))
    (project.parent / "beside.txt").write_text("beside")
    (project / "outside").symlink_to("../beside.txt")
    (project / "train.py").write_text(script)
    commit_all(project)
    (project / "train.py").write_text(script + "# changed\n")
    answer = deviate("check", "train.py", "--ref", "main", "--runs", "5", "--metric", "acc", "-q")
    assert answer.code == 0, answer.both
    assert answer.out.count("5/5 completed") == 2
    assert (project / "data/inner/numbers.txt").read_text() == "90"
    assert (project / "large.bin").stat().st_size == 3 << 20
    assert leftovers(project) == []


def test_a_module_that_is_not_committed_is_no_part_of_the_commit(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "helper.py").write_text("shift = 0\n")
    (project / "train.py").write_text("import helper\n" + TRAIN.format(shift="helper.shift"))
    answer = deviate("check", "train.py", "--ref", "main", "--runs", "5", "--metric", "acc", "-q")
    assert answer.code == 0, answer.both
    snapshots = {path.name: path / "snapshot/tree" for path in (project / ".deviate/experiments").iterdir()}
    held = {name: (tree / "helper.py").exists() for name, tree in snapshots.items()}
    assert held == {"train": True, next(it for it in held if "@" in it): False}


def test_an_interruption_leaves_no_checkout_behind(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    write(project, shift=1)
    command = [sys.executable, "-m", "deviate", "check", "train.py", "--ref", "main", "--runs", "5", "--metric", "acc"]
    child = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list((project / ".deviate/cache").glob("ref-*")) and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate()
    assert child.returncode == 130, told
    assert "Traceback" not in told
    assert leftovers(project) == []
    assert not list((project / ".git/worktrees").glob("*"))


def test_a_baseline_is_small_exact_and_the_same_whenever_it_is_saved(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "--runs", "10", "--name", "old", "-q").code == 0
    saved = deviate("check", "old", "--save", "baseline.json", "--metric", "acc", "--margin", "0.5")
    assert saved.code == 0, saved.both
    assert (
        deviate("check", "old", "--save", "-", "--metric", "acc", "--margin", "0.5").out
        == (project / "baseline.json").read_text()
    )
    document = json.loads((project / "baseline.json").read_text())
    assert document["commit"] == git(project, "rev-parse", "HEAD")
    assert document["metrics"] == {
        "acc": {
            "aggregate": "last", "direction": "max", "margin": 0.5, "primary": True, "role": "quality", "unit": "",
        }
    }  # fmt: skip
    assert len(document["runs"]) == 10
    assert (project / "baseline.json").stat().st_size < 20_000
    same = deviate("check", "baseline.json", "old")
    assert same.code == 0, same.both
    assert "nothing has changed: all 10 runs have the scores of those with the same seeds" in same.out


def test_a_committed_baseline_is_compared_pair_by_pair_and_tells_of_another_machine(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "--runs", "6", "--name", "old", "-q").code == 0
    assert deviate("check", "old", "--save", "baseline.json", "--metric", "acc").code == 0
    write(project, shift=-1)
    assert deviate("run", "train.py", "--runs", "6", "--name", "new", "-q").code == 0
    worse = deviate("check", "baseline.json", "new")
    assert worse.code == 4
    assert "Not compared" not in worse.both, "what was not to be kept is not missed"
    paired = deviate("check", "baseline.json", "new", "--paired", "--margin", "0.5", "--json", "-")
    (metric,) = json.loads(paired.out)["metrics"]
    assert metric["outcome"] == "worse", "each run met the one with its seeds"
    assert metric["reason"].startswith("constant difference -1 in 6 pairs, no spread of the differences observed")
    assert "ran elsewhere" not in paired.err
    compared = deviate("compare", "baseline.json", "new")
    assert "Verdict: worse" in compared.out
    document = json.loads((project / "baseline.json").read_text())
    document["environment"]["CPU"] = "abacus"
    (project / "baseline.json").write_text(json.dumps(document))
    elsewhere = deviate("check", "baseline.json", "new")
    assert elsewhere.code == 4
    assert "ran elsewhere than old-baseline, so machines are compared too: CPU: abacus, then" in (
        " ".join(elsewhere.out.split())
    )
    other = deviate("check", "baseline.json", "new", "--aggregate", "best")
    assert other.code == 1
    assert "holds scores of acc by last, but new is read by best" in " ".join(other.err.split())


def test_ci_systems_are_told_in_their_own_forms(project: Path, deviate, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    for name, shift in (("old", 0), ("new", -3)):
        write(project, shift=shift)
        assert deviate("run", "train.py", "--runs", "5", "--name", name, "-q").code == 0
    summary = project.parent / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    answer = deviate("check", "old", "new", "--metric", "acc", "--margin", "1", "--junit", "out/gate.xml")
    assert answer.code == 4, answer.both
    assert "::error title=deviate check%3A acc not worse by more than 1,file=train.py,line=6::acc of new" in answer.out
    begin, *told, end, _ = answer.out[: answer.out.index("::error title")].split("\n")
    assert (begin.removeprefix("::stop-commands::"), told[0][:7]) == (end.strip(":"), "Result:"), answer.out
    assert len(end) > 32, "the end of what GitHub does not obey cannot be foreseen"
    assert summary.read_text().startswith("before\n## deviate check: new is worse than old: acc −3.000 [")
    assert "| **fail** | acc not worse by more than 1 | new |" in summary.read_text()
    cases = junit_cases((project / "out/gate.xml").read_text())
    assert cases["deviate check.new: acc not worse by more than 1"] == "failure"
    assert cases["deviate check.new: records of new are complete"] == "passed"
    quiet = deviate("check", "old", "new", "--metric", "acc", "--no-github", "--markdown", "-")
    assert "::error" not in quiet.both
    assert quiet.out.startswith("## deviate check: new is worse than old: acc")


def test_files_from_elsewhere_are_checked_as_experiments_are(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "old.csv").write_text("test_acc\n" + "".join(f"0.9{i}\n" for i in range(8)))
    (project / "new.csv").write_text("test_acc\n" + "".join(f"0.8{i}\n" for i in range(8)))
    assert deviate("check", "old.csv", "new.csv").code == 4
    assert deviate("check", "new.csv", "old.csv").code == 0
    assert deviate("check", "old.csv", "new.csv", "--margin", "0.5").code == 0
    for name, tens in (("much", 9), ("little", 8)):
        (project / f"{name}.csv").write_text("thing\n" + "".join(f"0.{tens}{i}\n" for i in range(8)))
    assert deviate("check", "much.csv", "little.csv", "--direction", "thing=max").code == 4, "the only one with one"
    assert deviate("check", "much.csv", "little.csv", "--direction", "thing=min").code == 0
    (project / "third.csv").write_text("test_acc\n" + "".join(f"0.9{i}\n" for i in range(8)))
    both = deviate("check", "old.csv", "new.csv", "third.csv", "--margin", "0.05", "--json", "-")
    found = json.loads(both.out)["metrics"]
    assert (both.code, [(it["candidate"], it["outcome"], it["n_family"]) for it in found]) == (
        4, [("new", "worse", 2), ("third", "passed", 2)],
    )  # fmt: skip


@pytest.mark.slow
def test_the_smallest_example_passes_its_own_gate(project: Path, deviate, examples: Path) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text((examples / "tiny.py").read_text())
    commit_all(project)
    (project / "train.py").write_text((examples / "tiny.py").read_text() + "# a remark\n")
    answer = deviate(
        "check", "train.py", "--ref", "HEAD", "--runs", "5", "--metric", "accuracy", "--margin", "0.01", "-q",
        "--variants", "algo+impl,control", "--require-control", "--", "--epochs", "1",
    )  # fmt: skip
    assert answer.code == 0, answer.both
    assert "train: intact" in answer.out
    assert os.environ.get("GITHUB_ACTIONS") is None
