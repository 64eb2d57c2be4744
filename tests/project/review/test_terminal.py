"""A review at a real terminal, from the command line."""

import os
import pty
import select
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

SCRIPT = """\
import random
for epoch in range(3):
    loss = random.random()
    print("epoch", epoch, "loss %.4f" % loss)
"""
INTERRUPT = b"\x03"
Typed = Callable[[Sequence[bytes]], tuple[int, str]]


@pytest.fixture
def typed(project: Path) -> Typed:
    """Starts a review at a terminal of its own, and types each of these at a prompt; exit code and what was shown."""
    (project / "train.py").write_text(SCRIPT)

    def run(answers: Sequence[bytes]) -> tuple[int, str]:
        child, terminal = pty.fork()
        if child == 0:
            os.execv(sys.executable, [sys.executable, "-m", "deviate", "analyze", "train.py", "--review"])
        shown = b""
        for answer in answers:
            shown += _until(terminal, b"> ")
            os.write(terminal, answer)
        shown += _until(terminal, None, again=answers[-1] if answers[-1] == INTERRUPT else b"")
        os.close(terminal)  # who still waits for an answer has none
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), shown.decode()

    return run


def _until(terminal: int, end: bytes | None, again: bytes = b"") -> bytes:
    """What is shown up to a prompt, or up to the end of the program; `again` is typed every second until then.

    An interruption between Python's last look for signals and its reading is heard with the next one.
    """
    shown = b""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not (end and shown.endswith(end)):
        if select.select([terminal], [], [], 1)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the other side has closed
                break
        elif again:
            os.write(terminal, again)
    return shown


def test_a_whole_pass_writes_the_file(project: Path, typed: Typed) -> None:
    code, shown = typed([b"\n", b"n cost\n", b"p\n", b"\n", b"1\n", b"\n", b"\n", b"\n"])
    assert code == 0, shown
    assert "Saved      deviate.toml" in shown
    text = (project / "deviate.toml").read_text()
    assert "[metrics.cost]\n# " in text
    assert 'direction = "min"\nprimary = true\n\n[metrics.epoch]\n' in text


@pytest.mark.parametrize("last", [INTERRUPT, b"\x04"], ids=["interruption", "end of input"])
def test_what_ends_the_walk_leaves_the_file_as_it_was(project: Path, typed: Typed, last: bytes) -> None:
    (project / "deviate.toml").write_text("# mine\n")
    code, shown = typed([b"\n", b"x\n", last])
    assert code == 130, shown
    assert "Nothing was written." in shown
    assert "Traceback" not in shown
    assert (project / "deviate.toml").read_text() == "# mine\n"
    assert sorted(path.name for path in project.iterdir()) == ["deviate.toml", "train.py"]


def test_without_a_terminal_there_is_one_message(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(SCRIPT)
    answer = deviate_in(project)("analyze", "train.py", "--review")
    assert answer.code == 1
    assert "needs a terminal" in answer.err
    assert "--save" in answer.err
    assert answer.out == ""
