"""How a run ended, told from its exit."""

from pathlib import Path

import pytest

from deviate.replay.outcomes import has_reported, judge, silence


@pytest.mark.parametrize(
    ("code", "reported", "status", "exit_code", "signal"),
    [
        (0, True, "completed", 0, None),
        (1, True, "crashed", 1, None),
        (-11, True, "crashed", None, "SIGSEGV"),
        (-6, True, "crashed", None, "SIGABRT"),
        (-9, True, "lost", None, "SIGKILL"),
        (-15, False, "lost", None, "SIGTERM"),
        (137, True, "lost", 137, "SIGKILL"),
        (139, True, "crashed", 139, None),
        (0, False, "silent", 0, None),
        (127, False, "silent", 127, None),
    ],
)
def test_the_exit_tells_the_status(
    code: int, status: str, exit_code: int | None, signal: str | None, *, reported: bool
) -> None:
    ending = judge(code, stopped=None, has_reported=reported, timeout_s=0)
    assert (ending.status, ending.exit_code, ending.signal) == (status, exit_code, signal)


def test_what_we_ended_ourselves_is_no_crash_and_not_lost() -> None:
    assert judge(-15, stopped="timeout", has_reported=True, timeout_s=1.5).reason == "took longer than 1.5 s"
    assert judge(-9, stopped="cancel", has_reported=False, timeout_s=0).status == "cancelled"


@pytest.mark.parametrize(
    ("text", "expected"),
    [('["start", 1, {}]\n', True), ('["start",1,{}]\n', True), ("", False), ("{}\n", False), ('["sta', False)],
)
def test_the_guest_was_there_when_a_file_begins_with_its_start(tmp_path: Path, text: str, *, expected: bool) -> None:
    (tmp_path / "events-1-1.jsonl").write_text(text)
    assert has_reported(tmp_path) is expected


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        (("python3", "-I", "train.py"), "leave -I"),
        (("/usr/bin/python3.11", "-sE", "train.py"), "leave -I"),
        (("env", "-i", "PATH=/bin", "python", "train.py"), "env -i"),
        (("docker", "run", "image", "python", "train.py"), "docker hides"),
        (("./run.sh", "-I"), "no Python 3.8"),
        (("python", "train.py", "--Silent"), "no Python 3.8"),
        (("python", "train.py", "-S"), "no Python 3.8"),
        (("python", "-m", "ISE"), "no Python 3.8"),
    ],
)
def test_the_cause_of_silence_is_read_from_the_command(tmp_path: Path, command: tuple[str, ...], cause: str) -> None:
    assert cause in silence(command, tmp_path, None).hint
