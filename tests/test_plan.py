import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in the project folder."""
    return deviate_in(project)


def test_runs_for_an_effect_are_told_before_anything_ran(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    answer = deviate("plan", "--effect", "0.5", "--power", "0.8")
    assert answer.code == 0, answer.both
    assert answer.out.startswith("Runs       64 of each\n")
    assert "Seeds " not in answer.out
    first, *lines = deviate("plan").out.splitlines()
    assert first == (
        "Seeds      5 of each find a difference of 2.1 SD, 10 of 1.3 SD, 20 of 0.9 SD; "
        "fewer than 5 give a description, no"
    )
    assert [line.split()[1:3] for line in lines if line.startswith(("3 ", "5 "))] == [["no", "verdict"], ["2.11", "SD"]]
    assert not (project / ".deviate").exists()


def test_a_pilot_gives_the_spread_in_units_of_the_metric(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "pilot.csv").write_text("run,test_acc\n0,0.90\n1,0.91\n2,0.89\n3,0.92\n4,0.905\n")
    answer = deviate("plan", "--pilot", "pilot.csv", "--difference", "0.01", "--format", "json")
    assert answer.code == 0, answer.both
    document = json.loads(answer.out)
    assert document["pilot"]["metric"] == "test_acc"
    assert document["pilot"]["sd"] == pytest.approx(0.0111803, rel=1e-5)
    assert document["question"]["effect"] == pytest.approx(0.01 / 0.0111803, rel=1e-5)
    low, high = document["runs_range"]
    assert low < document["runs"] < high
    assert [n for n, _ in document["usual"]] == [5, 10, 20]
    told = deviate("plan", "pilot.csv").out.splitlines()[0]
    assert told.startswith("Seeds      5 of each find a difference of 0.0236 in test_acc, 10 of 0.0148, 20 of 0.0102; ")
    asked = deviate("plan", "pilot.csv", "--difference", "0.01").out.splitlines()[0]
    assert asked == "Runs       21 of each: 16 more of pilot, 21 of the other method"


def test_two_experiments_tell_how_many_more_runs_of_each_by_their_pooled_spread(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "one.csv").write_text("run,test_acc\n0,0.90\n1,0.91\n2,0.89\n3,0.92\n4,0.905\n")
    (project / "two.csv").write_text("run,test_acc\n0,0.94\n1,0.90\n2,0.92\n3,\n4,0.93\n")
    answer = deviate("plan", "one.csv", "two.csv", "--difference", "0.01")
    assert answer.code == 0, answer.both
    assert answer.out.splitlines()[0] == (
        "Runs       32 of each: 27 more of one, 28 more of two (about 35 more starts of two at its 20 % failure rate)"
    )
    assert "SD 0.0140 [" in answer.out
    assert "of test_acc in one and two, n = 5 + 4" in answer.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--difference", "0.3"), "add --pilot NAME or --sd X"),
        (("--effect", "1", "--difference", "0.3", "--sd", "1"), "leave one of them out"),
        (("--sd", "-1", "--difference", "0.3"), "give a positive number"),
        (("--effect", "1", "--correlation", "0.5"), "add --paired"),
        (("--effect", "1", "--looks", "often"), "write --looks 4"),
        (("--pilot", "nothing"), "no experiment named 'nothing'"),
        (("a", "--pilot", "b"), "both tell the spread"),
        (("a", "b", "c"), "name a baseline and one candidate"),
    ],
)
def test_what_makes_no_sense_gets_one_message(deviate, arguments: tuple[str, ...], message: str) -> None:  # type: ignore[no-untyped-def]
    answer = deviate("plan", *arguments)
    assert answer.code == 1
    assert message in answer.err
    assert "Traceback" not in answer.err


def test_a_full_standard_output_gets_one_message(project: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "deviate", "plan", "--effect", "1"],
            cwd=project,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (1, "Error: writing to standard output: No space left on device\n")
