"""Places are found again after the script has changed, or left as they are where that is no clear case."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.analysis.resolve.statements import read_statements
from deviate.model.analysis import Analysis, Place
from deviate.project.config import MetricConfig
from deviate.project.selection import places_now, relocate

SCRIPT = """\
from helper import evaluate
for epoch in range(3):
    loss = step()
    loss.backward()
    print("loss", loss)
    total = first(loss)
    other = second(loss)
    print("total", total)
    evaluate(model, train)
    evaluate(model, test)
"""
HELPER = """\
def evaluate(model, data):
    acc = model(data)
    print("acc", acc)
"""
Followed = Callable[..., list[str]]


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    """The places of a section now, after a change of the script or of the other file; remembered from before it."""

    def run(
        section: MetricConfig,
        *,
        before: str = SCRIPT,
        script: str = SCRIPT,
        helper: str = HELPER,
        remembers: bool = True,
    ) -> list[str]:
        write(before, HELPER)
        places = [place for place in (section.where, *(section.path or ())) if place]
        texts = {place: read_statements(tmp_path / place.file).text_at(place.line) or "" for place in places}
        analysis = write(script, helper)
        (now,) = relocate(analysis, [section], texts if remembers else {})
        return [str(place) for place in (now.where, *(now.path or ())) if place]

    def write(script: str, helper: str) -> Analysis:
        (tmp_path / "train.py").write_text(script)
        (tmp_path / "helper.py").write_text(helper)
        return analyze(tmp_path / "train.py", tmp_path)

    return run


def section(
    line: int, expression: str | None = None, *, file: str = "train.py", path: tuple[int, ...] = ()
) -> MetricConfig:
    return MetricConfig("x", Place(file, line), expression, tuple(Place("train.py", step) for step in path) or None)


def test_a_script_that_is_the_same_keeps_its_places(followed: Followed) -> None:
    assert followed(section(3, "acc", file="helper.py", path=(9,))) == ["helper.py:3", "train.py:9"]


def test_lines_above_move_a_place_and_the_calls_that_lead_there(followed: Followed) -> None:
    moved = followed(
        section(3, "acc", file="helper.py", path=(9,)), script="import os\n" + SCRIPT, helper="\n\n" + HELPER
    )
    assert moved == ["helper.py:5", "train.py:10"]


def test_a_call_that_goes_on_below_the_first_line_of_its_statement_is_followed(followed: Followed) -> None:
    script = SCRIPT.replace("    evaluate(model, train)\n", "    run(\n        1\n    ).on(evaluate(model, train))\n")
    script = script.replace('    print("total", total)\n', "")
    assert followed(section(3, "acc", file="helper.py", path=(10,)), script=script, before=script) == [
        "helper.py:3",
        "train.py:10",
    ]
    moved = followed(section(3, "acc", file="helper.py", path=(10,)), script="import os\n" + script, before=script)
    assert moved == ["helper.py:3", "train.py:11"]


def test_a_statement_is_told_from_one_with_the_same_expression_that_came_to_its_line(followed: Followed) -> None:
    script = SCRIPT.replace("    loss = step()\n", "    loss = step()\n    check()\n")
    assert followed(section(6, "loss"), script=script) == ["train.py:7"]
    assert followed(section(6, "loss"), script=script, remembers=False) == ["train.py:6"]


def test_a_statement_that_went_to_another_file_is_followed(followed: Followed) -> None:
    gone = HELPER.replace('    print("acc", acc)\n', "    return acc\n")
    script = 'def evaluate(model, data):\n    acc = model(data)\n    print("acc", acc)\n' + SCRIPT
    assert followed(section(3, "acc", file="helper.py"), script=script, helper=gone) == ["train.py:3"]


def test_a_rewritten_statement_keeps_its_place_where_it_did_not_move(followed: Followed) -> None:
    rewritten = SCRIPT.replace('print("loss", loss)', 'print("mean loss", loss)')
    assert followed(section(5, "loss"), script=rewritten) == ["train.py:5"]
    assert followed(section(5, "loss"), script=f"\n\n{rewritten}") == ["train.py:5"], "moved and rewritten: gone"


def test_without_memory_the_only_place_is_taken(followed: Followed) -> None:
    assert followed(section(3, "loss"), remembers=False) == ["train.py:5"]
    assert followed(section(2, "acc", file="helper.py"), remembers=False) == ["helper.py:3"]
    close = SCRIPT.replace("    total", '    print("again", loss)\n    total')
    assert followed(section(20, "loss"), script=close, remembers=False) == ["train.py:20"], "no clear case"


def test_what_is_gone_stays_as_it_was_written(followed: Followed) -> None:
    script = SCRIPT.replace("total", "sum")
    assert followed(section(8, "total"), script=script) == ["train.py:8"]
    assert followed(section(8), script=script) == ["train.py:8"]
    assert followed(section(3, "acc", file="nowhere.py")) == ["nowhere.py:3"]
    assert followed(MetricConfig("loss")) == []


def test_places_of_statements_that_are_gone_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("for epoch in range(3):\n    print(x)\n")
    analysis = analyze(tmp_path / "train.py", tmp_path)
    assert places_now(analysis, {Place("train.py", 9): "print(x)", Place("train.py", 8): "print(y)"}) == {
        Place("train.py", 2)
    }
