"""One experiment per value of an argument, and the measures against it: from the command line to the page."""

import csv
import json
import math
import statistics
from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.project.sweep import Sweep, parse_sweep, with_value

TRAIN = """\
import os, random, sys
options = dict(word.lstrip("-").split("=") for word in sys.argv[1:] if "=" in word)
size = int(options.get("batch_size") or os.environ.get("BATCH") or sys.argv[sys.argv.index("--batch-size") + 1])
random.seed(1)
for epoch in range(2):
    order = random.sample(range(64), 64)
    print("test_acc", 90 + sum(order[:size]) / size / 64)
"""


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in a project whose script has a batch size."""
    (project / "train.py").write_text(TRAIN)
    return deviate_in(project)


@pytest.mark.parametrize(
    ("words", "argument", "swept"),
    [
        ("train.py", "--size", "train.py --size 4"),
        ("train.py --size 1 -v", "--size", "train.py --size 4 -v"),
        ("train.py --size=1 -v", "--size", "train.py --size=4 -v"),
        ("train.py --sizes 1", "--size", "train.py --sizes 1 --size 4"),
        ("train.py --size 1 --size 2", "--size", "train.py --size 1 --size 4"),
        ("train.py -s 1", "-s", "train.py -s 4"),
        ("train.py --size", "--size", "train.py --size --size 4"),
        ("train.py", "opt.size", "train.py opt.size=4"),
        ("train.py +opt.size=1 lr=2", "opt.size", "train.py +opt.size=4 lr=2"),
        ("train.py size", "size", "train.py size size=4"),
    ],
)
def test_a_value_goes_where_the_argument_stands_or_to_the_end(words: str, argument: str, swept: str) -> None:
    assert " ".join(with_value(words.split(), argument, "4")) == swept


def test_a_sweep_is_an_argument_with_two_values_at_least() -> None:
    assert parse_sweep("--lr=0.1, 1,0.1") == Sweep("--lr", ("0.1", "1"))
    assert parse_sweep("env:LR=a,b") == Sweep("env:LR", ("a", "b"))
    for text in ("--lr", "--lr=1", "--lr=1,1", "=1,2", "--=1,2", "env:=1,2"):
        with pytest.raises(InputError, match="--sweep"):
            parse_sweep(text)


def test_each_value_is_an_experiment_and_all_together_are_one_report(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    first = ("run", "train.py", "--runs", "3", "--variants", "shuffle", "--seed", "4")
    answer = deviate(*first, "--sweep", "--batch-size=64,8,1", "--json", "out.json", "--csv", "out.csv",
                     "--latex", "out.tex", "--markdown", "out.md", "--", "--batch-size", "2")  # fmt: skip
    assert answer.code == 0, answer.both
    found = json.loads((project / "out.json").read_text())
    assert (found["argument"], found["values"], found["scale"]) == ("--batch-size", ["1", "8", "64"], "log")
    assert [row["experiment"] for row in found["rows"]] == [f"train-batch-size-{value}" for value in (1, 8, 64)]
    one, _, whole = found["rows"]
    assert one["mean"] == pytest.approx(statistics.fmean(one["scores"]))
    assert one["sd"] == pytest.approx(statistics.stdev(one["scores"])) != 0
    assert whole["sd"] == 0, "all examples in one batch: their order does not matter"
    table = (project / "out.csv").read_text().splitlines()
    scores = [row for row in csv.DictReader(table) if row["quantity"] == "test_acc" and row["value"] == "1"]
    assert [float(row["estimate"]) for row in scores] == one["scores"]
    for text in (answer.out, (project / "out.md").read_text(), (project / "out.tex").read_text()):
        assert f"{one['mean']:.2f}" in text
    page = (project / ".deviate/reports/train/sweep.html").read_text()
    assert page.count("<svg") == 2
    listed = deviate("list").out
    assert "train-batch-size-8" in listed
    assert "--batch-size 8" in listed
    assert "changed nothing" not in answer.both
    _reported_again(project, deviate, found)
    _goes_on(project, deviate, first)


def _reported_again(project: Path, deviate, before: dict) -> None:  # type: ignore[no-untyped-def]
    """From what is on record, without running anything."""
    assert deviate("report", "train", "--json", "again.json").code == 0
    again = json.loads((project / "again.json").read_text())
    assert again == before
    assert deviate("report", "train", "--sweep", "--json", "-").out == (project / "again.json").read_text()
    unknown = deviate("report", "other", "--sweep")
    assert unknown.code == 1
    assert "recorded sweeps: train" in unknown.err


def _goes_on(project: Path, deviate, first) -> None:  # type: ignore[no-untyped-def]
    """More runs and more values are added to what is there."""
    more = deviate(*first[:3], "4", *first[4:], "--sweep", "--batch-size=8,64,16", "--json", "more.json", "--",
                   "--batch-size", "2")  # fmt: skip
    assert more.code == 0, more.both
    assert "6 of 12 runs were on record already" in more.out
    rows = json.loads((project / "more.json").read_text())["rows"]
    assert [(row["value"], len(row["scores"])) for row in rows] == [("1", 3), ("8", 4), ("16", 4), ("64", 4)]


def test_overrides_and_variables_are_swept_and_words_stand_side_by_side(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    override = deviate("run", "train.py", "--runs", "2", "--sweep", "batch_size=2,3", "--name", "o", "--json", "-",
                       "--", "batch_size=1")  # fmt: skip
    assert override.code == 0, override.both
    found = json.loads(override.out)
    assert (found["scale"], found["command"][-1]) == ("linear", "batch_size=2")
    variable = deviate("run", "train.py", "--runs", "2", "--sweep", "env:BATCH=4,04", "--name", "v", "--json", "-")
    assert variable.code == 0, variable.both
    scores = [row["scores"] for row in json.loads(variable.out)["rows"]]
    assert scores[0] == scores[1], "4 and 04 are the same batch size"
    assert all(math.isfinite(score) for score in scores[0])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--looks", "5,9"), "--looks are for comparisons"),
        (("--paper", "paper"), "--paper is for the report"),
        (("--python", "python", "--python", "python3"), "cannot stand beside"),
    ],
)
def test_what_makes_no_sense_of_a_sweep_is_refused_before_anything_runs(  # type: ignore[no-untyped-def]
    project: Path, deviate, more: tuple[str, ...], said: str
) -> None:
    answer = deviate("run", "train.py", "--sweep", "--batch-size=1,2", *more)
    assert answer.code == 1
    assert said in answer.err
    assert not (project / ".deviate/experiments").exists()


def test_an_experiment_that_was_run_by_itself_does_not_become_part_of_a_sweep(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    alone = ("run", "train.py", "--runs", "2", "--name", "t-batch-size-1", "-q", "--", "--batch-size", "1")
    assert deviate(*alone).code == 0
    answer = deviate("run", "train.py", "--runs", "2", "--name", "t", "--sweep", "--batch-size=1,2")
    assert answer.code == 1
    assert "belong to no sweep" in answer.err
