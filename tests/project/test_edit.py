"""`deviate analyze --edit` at a real terminal; the editor is a program that does one step each time it opens."""

import os
import pty
import re
import select
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.model.analysis import Place
from deviate.project.config import MetricConfig, load

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
EDITOR = """\
import sys
from pathlib import Path

folder, draft = Path(sys.argv[1]), Path(sys.argv[2])
number = len(list(folder.glob("opened-*")))
(folder / f"opened-{number:02}").write_bytes(draft.read_bytes())
text, first = (
    place.read_bytes().decode(errors="surrogateescape") for place in (draft, folder / "opened-00")
)
namespace = {"text": text, "first": first, "draft": draft, "config": Path("deviate.toml")}
exec((folder / f"step-{number:02}").read_text(), namespace)
if draft.exists():
    draft.write_bytes(namespace["text"].encode(errors="surrogateescape"))
"""
AS_IT_IS = ""
EMPTY = 'text = ""'
INTERRUPT = b"\x03"


class Session:
    """What came of an editing: exit code, screen, and the text that the editor was opened with each time."""

    def __init__(self, code: int, screen: str, opened: list[str]) -> None:
        self.code = code
        self.screen = " ".join(screen.split())
        self.opened = opened
        self.notes = [" ".join(line[3:] for line in text.splitlines() if line.startswith("#>")) for text in opened]


Edit = Callable[..., Session]


@pytest.fixture
def path(project: Path) -> Path:
    (project / "train.py").write_text(SCRIPT)
    return project / "deviate.toml"


@pytest.fixture
def edit(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Edits with these steps, each a few lines of Python that change `text`."""
    folder = tmp_path / "editor"
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "1000")

    def run(*steps: str, typed: bytes = b"", **variables: str) -> Session:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "editor.py").write_text(EDITOR)
        for number, step in enumerate(steps):
            (folder / f"step-{number:02}").write_text(step)
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f"{sys.executable} -S {folder}/editor.py {folder}")
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(path.parent)
            os.execv(sys.executable, [sys.executable, "-m", "deviate", "analyze", "train.py", "--edit"])
        screen = _screen(terminal, typed, folder / "opened-00")
        os.close(terminal)
        _, status = os.waitpid(child, 0)
        opened = [place.read_bytes().decode(errors="replace") for place in sorted(folder.glob("opened-*"))]
        assert "Traceback" not in screen, screen
        return Session(os.waitstatus_to_exitcode(status), screen, opened)

    return run


def _screen(terminal: int, typed: bytes, once: Path) -> str:
    """What is shown up to the end of the program; `typed` is typed every second once a file is there."""
    shown = b""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the other side has closed
                break
        elif typed and once.exists():
            os.write(terminal, typed)
    return shown.decode()


def sections(path: Path) -> dict[str, MetricConfig]:
    return {section.name: section for section in load(path).metrics or ()}


def drafts(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("deviate-*/deviate.toml"))


def test_closing_without_a_change_is_the_same_as_saving(path: Path, edit: Edit, deviate_in, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    session = edit(AS_IT_IS)
    assert session.code == 0, session.screen
    assert "Saved deviate.toml Next deviate run train.py" in session.screen
    by_editor = path.read_text()
    path.unlink()
    deviate_in(path.parent)("analyze", "train.py", "--save")
    assert path.read_text() == by_editor
    assert session.opened[0].endswith(by_editor)
    assert session.notes == [
        "Save and close to write deviate.toml; empty the file to write nothing. Lines with #> are removed."
    ]
    assert not list(tmp_path.glob("deviate-*"))


def test_the_list_is_corrected_before_anything_is_modified(path: Path, edit: Edit) -> None:
    script = path.parent / "train.py"
    session = edit(
        """
before, _, rest = text.partition("[metrics.train_acc]")
text = before + rest[rest.index("[metrics.test_acc]"):]
text = text.replace("[metrics.loss]", "[metrics.cost]").replace("# [metrics.epoch]", "[metrics.step]")
text = text.replace('# where = "train.py:9"', 'where = "train.py:9"').replace("# expression", "expression")
text += '\\n[metrics.half]\\nwhere = "train.py:10"\\nexpression = "b[0]"\\nunit = "%"\\n'
"""
    )
    assert session.code == 0, session.screen
    assert list(sections(path)) == ["test_acc", "cost", "step", "half"]
    half = sections(path)["half"]
    assert (half.where, half.expression, half.unit) == (Place("train.py", 10), "b[0]", "%")
    assert script.read_text() == SCRIPT
    script.write_text("import os\n" + SCRIPT)
    session = edit(AS_IT_IS)
    assert "Changes: moved with the script: test_acc, cost, step, half; still excluded: train_acc" in session.notes[0]
    assert sections(path)["half"].where == Place("train.py", 11), "its statement is remembered since it was added"


FAULTS = (
    ("[metrics.loss]", "[metrics.test_acc]", "not valid TOML: Cannot declare ('metrics', 'test_acc') twice"),
    ("[metrics.loss]", "[metrics.loss", "not valid TOML"),
    ("[metrics.loss]", '[metrics.loss]\nunits = "%"', "[metrics.loss] has the unknown key 'units'"),
    ("[metrics.loss]", "[snapshots]\nfresh = []\n[metrics.loss]", "snapshots"),
    ('direction = "min"', 'direction = "up"', "direction = 'up' is invalid Use one of max, min, none"),
    ('direction = "min"', 'aggregate = "first"', "'first' is not an aggregate"),
    ('direction = "min"', 'role = "main"', "role = 'main' is invalid"),
    ('direction = "min"', 'direction = "none"\naggregate = "best"', 'the aggregate "best" needs a direction'),
    ('direction = "min"', "margin = -1", "margin = -1 is invalid Use a number, at least 0"),
    ('direction = "min"', "margin = nan", "margin = nan is invalid"),
    ('direction = "min"', 'primary = "yes"', "primary = 'yes' is invalid Use true or false"),
    ('where = "train.py:9"', 'where = "train"', "[metrics.loss]: 'train' is not a place"),
    ('where = "train.py:9"', 'where = "gone.py:9"', "[metrics.loss] names gone.py:9, but the project has no such file"),
    ('where = "train.py:9"', 'where = "train.py:99"', "beyond the end"),
    ('where = "train.py:9"', 'where = "train.py:10"', "loss does not stand in the statement at train.py:10"),
    ("[metrics.loss]", '[metrics.x]\nwhere = "train.py:9"\nexpression = "loss"\n\n[metrics.loss]', "two sections"),
    ("[experiment]", '[experiment]\nmain_loop = "train.py:5"', "train.py:5 is not a loop"),
    ('train = "train.py"', 'train = "other.py"', "is for other.py, not for train.py"),
    ("[metrics.loss]", '[variants.mine]\nvary = ["luck"]\n\n[metrics.loss]', "luck"),
)


def test_a_text_that_cannot_be_used_is_opened_again_with_the_reason(path: Path, edit: Edit) -> None:
    steps = [f"assert {old!r} in first\ntext = first.replace({old!r}, {new!r}, 1)" for old, new, _ in FAULTS]
    session = edit(*steps, "text = first")
    assert session.code == 0, session.screen
    for (_, new, told), text, note in zip(FAULTS, session.opened[1:], session.notes[1:], strict=True):
        assert told in note
        assert new in text, "the text is the user's"
        for line in re.findall(r"line (\d+)", note if "valid TOML" in note else ""):
            assert text.splitlines()[int(line) - 1] == new, "lines are counted in what the editor shows"
    assert list(sections(path)) == ["train_acc", "test_acc", "loss"]
    assert "#>" not in path.read_text()


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ((EMPTY,), "nothing was written: the file was emptied"),
        (("draft.unlink()",), "nothing was written: the file was emptied"),
        (("raise SystemExit(3)",), "failed with code 3"),
    ],
)
def test_giving_up_writes_nothing(path: Path, edit: Edit, tmp_path: Path, steps: tuple[str, ...], told: str) -> None:
    path.write_text("# mine\n")
    session = edit(*steps)
    assert session.code == 1
    assert told in session.screen
    assert path.read_text() == "# mine\n"
    assert not list(tmp_path.glob("deviate-*"))


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (
            ("text += '# hours of work\\n[metrics.loss]\\n'", AS_IT_IS),
            "nothing was written: deviate.toml is not valid TOML",
        ),
        (("draft.write_text(text + '# hours of work\\n')\nraise SystemExit(1)",), "failed with code 1"),
        (("text += '# hours of work\\n'\nconfig.write_text('# other\\n')",), "was changed by something else meanwhile"),
        (("text += '# hours of work\\n# \\udcff\\n'", AS_IT_IS), "it is not UTF-8"),
    ],
)
def test_a_changed_text_that_is_not_written_is_kept(
    path: Path, edit: Edit, tmp_path: Path, steps: tuple[str, ...], told: str
) -> None:
    session = edit(*steps)
    assert session.code == 1
    assert told in session.screen
    (draft,) = drafts(tmp_path)
    assert f"Your text is kept in {draft}." in session.screen
    assert b"# hours of work\n" in draft.read_bytes()
    assert not path.exists() or path.read_text() == "# other\n"


def test_an_interruption_is_for_the_editor(path: Path, edit: Edit) -> None:
    ignoring = "import signal, time\nsignal.signal(signal.SIGINT, lambda *_: heard.append(1))\nheard = []\n"
    session = edit(f"{ignoring}while not heard:\n    time.sleep(0.1)\ntext += '# after\\n'", typed=INTERRUPT)
    assert session.code == 0, session.screen
    assert path.read_text().endswith("# after\n")


def test_a_file_with_faults_is_opened_with_them(path: Path, edit: Edit) -> None:
    path.write_text(
        '[experiment]\ntrain = "train.py"\nmain_loop = "train.py:5"\n'
        '[metrics.a]\nwhere = "train.py:3"\nexpression = "bb"\n'
    )
    session = edit(
        'text = text.replace(\'main_loop = "train.py:5"\\n\', "")', "text = text.replace('\"bb\"', '\"acc\"')"
    )
    assert session.code == 0, session.screen
    assert "train.py:5 is not a loop" in session.notes[0]
    assert "bb" in session.notes[1]
    assert sections(path)["a"].where == Place("train.py", 3)
    assert load(path).main_loop is None


def test_a_script_without_metrics_offers_what_it_reports(path: Path, edit: Edit) -> None:
    (path.parent / "train.py").write_text("for epoch in range(3):\n    loss.backward()\n    print(epoch)\n")
    session = edit("text = text.replace('# [', '[').replace('# where', 'where').replace('# expression', 'expression')")
    assert session.code == 0, session.screen
    assert "no metric of train.py would be recorded" in session.notes[0]
    assert list(sections(path)) == ["epoch"]


def test_the_main_loop_that_is_named_is_followed(path: Path, edit: Edit) -> None:
    script = path.parent / "train.py"
    script.write_text(SCRIPT + "for step in range(2):\n    loss.backward()\n    print('more loss', loss)\n")
    edit("text = text.replace('[experiment]\\n', '[experiment]\\nmain_loop = \"train.py:11\"\\n')")
    assert load(path).main_loop == Place("train.py", 11)
    script.write_text("import os\n" + script.read_text())
    edit(AS_IT_IS)
    assert load(path).main_loop == Place("train.py", 12)


def test_marks_and_line_ends_of_the_file_are_kept(path: Path, edit: Edit) -> None:
    path.write_bytes(b"\xef\xbb\xbf# mine\r\n")
    session = edit(AS_IT_IS)
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf# mine\r\n")
    assert content.count(b"\n") == content.count(b"\r\n") > 10
    assert session.opened[0].count("\n") == session.opened[0].count("\r\n")


def test_the_editor_is_that_of_the_variables(edit: Edit) -> None:
    session = edit(EMPTY, VISUAL="/no/such/editor")
    assert "cannot start the editor /no/such/editor" in session.screen
    assert "Set VISUAL or EDITOR" in session.screen
    assert "cannot start the editor 'vi" in edit(EMPTY, EDITOR="'vi").screen
    assert "the file was emptied" in edit(EMPTY, VISUAL="").screen


def test_a_file_for_another_script_is_refused_before_the_editor(path: Path, edit: Edit) -> None:
    path.write_text('[experiment]\ntrain = "other.py"\n')
    session = edit()
    assert session.code == 1
    assert "other.py" in session.screen
    assert session.opened == []


def test_without_a_terminal_there_is_one_message(path: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    answer = deviate_in(path.parent)("analyze", "train.py", "--edit")
    assert answer.code == 1
    assert "needs a terminal" in answer.err
    assert "--save" in answer.err
    assert answer.out == ""
