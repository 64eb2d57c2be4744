"""A statement is known by what it says, wherever it stands."""

from pathlib import Path

import pytest

from deviate.analysis.resolve.statements import Statements, read_statements

SCRIPT = """\
class Trainer:
    def fit(self):
        for epoch in range(3):
            print("loss",
                  self.loss)
            print("loss", self.loss)

    @property
    def loss(self): return 1

def evaluate(): print("loss", self.loss)
total = {"a": (acc := f(x))}
"""


def statements(tmp_path: Path, text: str) -> Statements:
    path = tmp_path / "some.py"
    path.write_text(text, encoding="utf-8")
    return read_statements(path)


def test_each_statement_has_a_text_of_its_own_with_what_is_around_it(tmp_path: Path) -> None:
    assert statements(tmp_path, SCRIPT).texts == {
        1: "class Trainer:",
        2: "Trainer: def fit(self):",
        3: "Trainer.fit: for epoch in range(3):",
        4: "Trainer.fit: print('loss', self.loss)",
        6: "Trainer.fit: print('loss', self.loss) (2)",
        9: "Trainer: def loss(self):",
        11: "def evaluate():",
        12: "total = {'a': (acc := f(x))}",
    }


def test_a_text_does_not_depend_on_lines_and_layout(tmp_path: Path) -> None:
    moved = "import os\n\n" + SCRIPT.replace('"loss",\n                  ', "'loss',   ").replace(
        "range(3)", "range( 3 )"
    )
    before, after = statements(tmp_path, SCRIPT), statements(tmp_path, moved)
    assert list(before.texts.values()) == [text for text in after.texts.values() if text != "import os"]
    text = before.text_at(4)
    assert text is not None
    assert after.line_of(text) == 6
    below = before.text_at(5)
    assert below == f"{text} +1"
    assert before.line_of(below) == 5
    assert after.line_of("Trainer.fit: nothing +1") is None
    assert after.line_of("Trainer.fit: print('loss')") is None


def test_expressions_are_found_where_they_are_evaluated(tmp_path: Path) -> None:
    found = statements(tmp_path, SCRIPT)
    assert found.lines_with("self . loss") == [4, 6, 12 - 1]
    assert found.lines_with("f(x)") == [12]
    assert found.lines_with("acc") == [], "a name that is bound is no value"
    assert found.lines_with("no (python") == []


def test_a_long_statement_is_cut_and_still_told_from_others(tmp_path: Path) -> None:
    long = "print({})\n".format(", ".join(f"value_{number}" for number in range(60)))
    first, second = statements(tmp_path, long + long.replace("value_59", "value_60")).texts.values()
    assert first != second
    assert len(first) <= 120


@pytest.mark.parametrize("text", ["print loss\nx = 1\n", "def f(:\n    print(loss)\n"])
def test_what_this_python_cannot_parse_is_told_line_by_line(tmp_path: Path, text: str) -> None:
    found = statements(tmp_path, text)
    line, *_ = found.lines_with("loss")
    said = found.text_at(line)
    assert said == text.splitlines()[line - 1].strip()
    assert found.line_of(said) == line


def test_a_file_that_is_not_there_has_none(tmp_path: Path) -> None:
    found = read_statements(tmp_path / "no.py")
    assert (found.texts, found.text_at(3), found.lines_with("x")) == ({}, None, [])
