"""The folder of a report: the page that is kept, its data beside it, and what it tells of the code."""

import csv
import json
import re
import subprocess
from pathlib import Path

import pytest

TRAIN = """\
import random

for epoch in range(3):
    acc = 90 + epoch + random.random()
    print("epoch", epoch, "acc %.4f" % acc)
"""


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    return deviate_in(project)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_data_lie_beside_the_page_with_every_bit(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    answer = deviate("run", "train.py", "--runs", "3", "--jobs", "2", "--name", "base", "--json", "out.json")
    assert answer.code == 0, answer.both
    folder = project / ".deviate" / "reports" / "base"
    assert {it.name for it in folder.iterdir()} == {
        "report.html",
        "scores.csv",
        "descriptions.csv",
        "curves.csv",
        "stability.csv",
    }
    document = json.loads((project / "out.json").read_text())
    curves = [row for row in rows(folder / "curves.csv") if row["metric"] == "acc"]
    assert len(curves) == 9
    last = {row["replicate"]: float(row["value"]) for row in curves if row["step"] == "2"}
    assert {
        row["replicate"]: float(row["score"]) for row in rows(folder / "scores.csv") if row["metric"] == "acc"
    } == last
    (described,) = (row for row in rows(folder / "descriptions.csv") if row["metric"] == "acc")
    (told,) = (it for it in document["experiments"][0]["metrics"] if it["metric"] == "acc")
    assert float(described["sd"]) == told["sd"]
    page = (folder / "report.html").read_text()
    for name in ("computed", "data", "absences"):
        assert f'<details id="{name}"' in page


def test_files_that_the_new_report_has_not_are_removed(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "--runs", "2", "--name", "base").code == 0
    folder = project / ".deviate" / "reports" / "base"
    (folder / "comparisons.csv").write_text("old")
    (folder / "mine.txt").write_text("a note of the user's")
    assert deviate("report", "base").code == 0
    assert not (folder / "comparisons.csv").exists()
    assert (folder / "mine.txt").exists()


def test_the_page_tells_the_commit_and_what_was_put_into_the_script(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True, text=True).stdout

    git("init", "-q", "-b", "main")
    git("add", "train.py")
    git("commit", "-q", "-m", "first")
    (project / "train.py").write_text(TRAIN.replace("90", "91"))
    assert deviate("run", "train.py", "--runs", "2", "--name", "base").code == 0
    place = project / ".deviate" / "reports" / "base" / "report.html"
    assert git("rev-parse", "HEAD").strip() in place.read_text()
    assert "__deviate_log__" not in place.read_text()
    assert deviate("report", "base", "--full").code == 0
    page = place.read_text()
    assert git("rev-parse", "HEAD").strip() in page
    assert "on branch main; with changes that were not committed" in page
    assert "+    acc = 91 + epoch + random.random()" in page
    assert re.search(r'<span class="add">\+.*__deviate_log__', page)


def test_the_full_page_has_every_quantity_wherever_it_is_written(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "--runs", "2", "--name", "base").code == 0
    place, own = project / ".deviate" / "reports" / "base" / "report.html", project / "own.html"
    heading = '<details id="quantities"'
    assert heading not in place.read_text()
    assert deviate("report", "base", "--full").code == 0
    assert heading in place.read_text()
    assert deviate("report", "base", "--html", "own.html").code == 0
    assert heading not in own.read_text()
    assert deviate("report", "base", "--full", "--html", "own.html").code == 0
    assert own.read_text() == place.read_text()
