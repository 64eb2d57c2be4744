"""A walk with scripted answers: what each answer does, and what the file says afterwards."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from deviate.errors import InputError
from deviate.model.analysis import Place
from deviate.project.command import locate
from deviate.project.config import MetricConfig, load
from deviate.project.prepare import analyze_target, review_analysis, save_analysis

SCRIPT = """\
def evaluate(model, loader):
    acc = accuracy(model, loader)
    return acc
for epoch in range(3):
    loss = criterion(model(x), y)
    loss.backward()
    print(f"train acc {evaluate(model, train_loader):.4f}")
    print(f"test acc {evaluate(model, test_loader):.4f}")
    print(epoch, "loss", loss)
    hidden = combine(a, b[0])
"""
FIRST, LAST = ("",), ("f", "")


class Script:
    """Answers from a list; ends the input behind it."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.stream = io.StringIO()
        self.console = Console(file=self.stream, width=80)

    def show(self, shown: RenderableType) -> None:
        self.console.print(shown)

    def ask(self, question: str) -> str:
        self.stream.write(question)
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)


Walk = Callable[..., str]


@pytest.fixture
def path(project: Path) -> Path:
    (project / "train.py").write_text(SCRIPT)
    return project / "deviate.toml"


@pytest.fixture
def walk(path: Path) -> Walk:
    """Goes through a review with these answers; what was shown."""

    def run(*answers: str) -> str:
        screen = Script(*answers)
        review_analysis(analyze_target(locate(["train.py"], path.parent)), screen)
        assert not screen.answers, f"not asked for: {screen.answers}"
        return screen.stream.getvalue()

    return run


def sections(path: Path) -> dict[str, MetricConfig]:
    return {section.name: section for section in load(path).metrics or ()}


def test_going_on_everywhere_is_the_same_as_saving(path: Path, walk: Walk) -> None:
    shown = walk("", "", "", "", "", "", "")
    by_review = path.read_text()
    path.unlink()
    save_analysis(analyze_target(locate(["train.py"], path.parent)))
    assert path.read_text() == by_review
    assert "Main loop" in shown
    assert "train.py:4" in shown
    assert "for epoch in range(3):" in shown
    assert 'print(f"train acc {evaluate(model, train_loader):.4f}")' in shown


def test_another_main_loop_can_be_taken(path: Path, walk: Walk) -> None:
    script = path.parent / "train.py"
    script.write_text(SCRIPT + "for step in range(2):\n    loss.backward()\n    print('more loss', loss)\n")
    shown = walk("1", *LAST)
    assert "or 1" in shown
    assert load(path).main_loop == Place("train.py", 11)
    script.write_text("import os\n" + script.read_text())
    walk("", *LAST)
    assert load(path).main_loop == Place("train.py", 12)
    script.write_text(SCRIPT)
    walk("", *LAST)
    assert load(path).main_loop is None, "it is gone"


def test_every_setting_can_be_changed_by_letter_or_word(path: Path, walk: Walk) -> None:
    walk(
        *FIRST,
        *("n", "first", "direction lower", "a at:2", "role other", "u %", "p", "margin 0.5", ""),
        *("p", "d none", "m 1", "m", "", ""),
        *LAST,
    )
    first, second, _ = sections(path).values()
    assert (first.name, first.direction, first.aggregate, first.role) == ("first", "min", "at:2", "other")
    assert (first.unit, first.margin, first.is_primary) == ("%", 0.5, False)
    assert (second.name, second.direction, second.margin, second.is_primary) == ("test_acc", "none", None, True)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("n test_acc", "another metric is named test_acc"),
        ("n \x07", "printable"),
        ("d up", "'up' is not a direction"),
        ("a first", "'first' is not an aggregate"),
        ("r main", "'main' is not a role"),
        ("m -1", "'-1' is not a margin"),
        ("m nan", "'nan' is not a margin"),
        ("w train", "'train' is not a place"),
        ("w 9 loss", "this is loss, which is already listed"),
        ("w 99 loss", "beyond the end"),
        ("what", "exclude"),
    ],
)
def test_an_answer_that_cannot_be_used_is_told_and_asked_again(path: Path, walk: Walk, answer: str, told: str) -> None:
    shown = " ".join(walk(*FIRST, answer, *LAST).split())
    assert told in shown
    assert list(sections(path)) == ["train_acc", "test_acc", "loss"]


def test_what_is_left_out_stands_in_the_file_as_a_comment(path: Path, walk: Walk) -> None:
    walk(*FIRST, "x", *LAST)
    assert list(sections(path)) == ["test_acc", "loss"]
    assert "# [metrics.train_acc]\n" in path.read_text()
    shown = walk("", "", "", "k", *LAST)  # sections of the file come first
    assert "3/3  train_acc  excluded" in shown
    assert list(sections(path)) == ["test_acc", "loss", "train_acc"]


def test_a_section_that_is_left_out_is_commented_out_where_it_stands(path: Path, walk: Walk) -> None:
    path.write_text("[metrics.loss] # mine\n# keep me\n\n[metrics.test_acc]\n")
    walk(*FIRST, "x", "n best", *LAST)
    text = path.read_text()
    assert text.startswith("# Excluded in a review.\n# [metrics.loss] # mine\n# keep me\n\n[metrics.best]\n")
    assert sections(path)["best"].where == Place("train.py", 8), "a name alone would not find it any more"


def test_the_call_path_that_the_user_wrote_is_shown(path: Path, walk: Walk) -> None:
    path.write_text('[metrics.mine]\nwhere = "train.py:3"\nexpression = "acc"\npath = ["train.py:8"]\n')
    shown = walk("", *LAST)
    assert "Called" in shown
    assert sections(path)["mine"].path == (Place("train.py", 8),)


def test_one_step_back_comes_again(path: Path, walk: Walk) -> None:
    walk("b", "", "x", "b", "k", "b", "b", "", "", "n cost", *LAST)
    assert list(sections(path)) == ["train_acc", "cost", "loss"]


def test_near_misses_and_places_become_metrics_and_are_looked_at_next(path: Path, walk: Walk) -> None:
    shown = walk("", "", "", "", "9", "1", "n step", "", "10 b[0]", "", "b", "n half", "", "train.py:5 y", "", "", "")
    assert "4/4  epoch" in shown
    assert "Reported, but not selected as metrics" in shown
    listed = sections(path)
    assert list(listed) == ["train_acc", "test_acc", "loss", "step", "half", "y"]
    assert (listed["half"].where, listed["half"].expression) == (Place("train.py", 10), "b[0]")
    assert "# [metrics.epoch]" not in path.read_text()


def test_a_place_without_such_a_value_shows_what_is_there(path: Path, walk: Walk) -> None:
    shown = " ".join(walk("", "", "", "", "", "10 b[1]", "nonsense", "9 loss", "", "").split())
    assert "it holds:" in shown
    assert "'nonsense' is not a place" in shown
    assert "this is loss, which is already listed" in shown
    assert list(sections(path)) == ["train_acc", "test_acc", "loss"]


def test_a_section_that_no_longer_fits_can_be_given_another_place(path: Path, walk: Walk) -> None:
    walk(*FIRST, *LAST)
    script = path.parent / "train.py"
    script.write_text(SCRIPT.replace('print(epoch, "loss", loss)', "report(epoch, cost)"))
    shown = walk("", "", "", "w 9 cost", *LAST)
    assert "Problem" in shown
    assert sections(path)["loss"].expression == "cost"
    script.write_text(SCRIPT.replace('    print(epoch, "loss", loss)\n', ""))
    walk(*FIRST, *LAST)
    assert list(sections(path)) == ["train_acc", "test_acc"]
    assert "no longer has it:\n# [metrics.loss]" in path.read_text()


def test_a_choice_that_cannot_be_recorded_is_not_written(path: Path, walk: Walk) -> None:
    shown = " ".join(walk("", "x", "x", "x", "f", "", "q").split())
    assert "no metric would be recorded" in shown
    shown = " ".join(walk("", "d none", "a best", "f", "", "q").split())
    assert 'the aggregate "best" needs a direction' in shown
    assert not path.exists()


@pytest.mark.parametrize("answers", [("q",), ("", "x", "n a", "q"), ("", "", "", "", "q"), ("f", "quit")])
def test_quitting_writes_nothing(path: Path, walk: Walk, answers: tuple[str, ...]) -> None:
    path.write_text("# mine\n")
    walk(*answers)
    assert path.read_text() == "# mine\n"


def test_the_end_of_the_input_writes_nothing(path: Path, walk: Walk) -> None:
    path.write_text("# mine\n")
    with pytest.raises(EOFError):
        walk("", "x", "n")
    assert path.read_text() == "# mine\n"


def test_a_file_that_was_edited_meanwhile_is_left_alone(
    path: Path, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(script: Script, question: str) -> str:
        path.write_text("[metrics.loss]\n")
        return script.answers.pop(0)

    monkeypatch.setattr(Script, "ask", edit)
    with pytest.raises(InputError, match="changed during the review"):
        walk(*FIRST, *LAST)
    assert path.read_text() == "[metrics.loss]\n"


def test_a_file_for_another_script_is_refused_before_the_walk(path: Path, walk: Walk) -> None:
    path.write_text('[experiment]\ntrain = "other.py"\n')
    with pytest.raises(InputError, match=r"other\.py"):
        walk()
