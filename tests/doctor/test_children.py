import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from deviate.doctor.children import ChildQuestion, ask


def python(name: str, text: str) -> ChildQuestion:
    return ChildQuestion(name, (sys.executable, "-c", text))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until_dead(pid: int) -> None:
    while is_alive(pid):
        time.sleep(0.01)


def test_answers_come_by_name(tmp_path: Path) -> None:
    ended = ask([python("a", "print(1)"), python("b", "import sys; sys.exit('no')")], tmp_path, jobs=1, timeout_s=60)
    assert (ended["a"].code, ended["a"].stdout) == (0, "1\n")
    assert (ended["b"].code, ended["b"].stderr) == (1, "no\n")


def test_variables_of_a_question_are_its_own(tmp_path: Path) -> None:
    text = "import os; print(os.environ.get('ASKED'))"
    asked = ChildQuestion("asked", (sys.executable, "-c", text), {"ASKED": "yes"})
    ended = ask([asked, python("other", text)], tmp_path, jobs=2, timeout_s=60)
    assert (ended["asked"].stdout, ended["other"].stdout) == ("yes\n", "None\n")


def test_never_more_than_asked_for_run_at_a_time(tmp_path: Path) -> None:
    seen: list[int] = []
    questions = [python(str(number), "pass") for number in range(5)]
    ask(questions, tmp_path, jobs=2, timeout_s=60, on_change=lambda names, _n_left: seen.append(len(names)))
    assert max(seen) == 2


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("text", ["time.sleep(600)", "os._exit(0)"], ids=["hangs", "leaves a process behind"])
def test_what_a_child_started_ends_with_it(text: str, tmp_path: Path) -> None:
    started = "child = subprocess.Popen(['sleep', '600']); print(child.pid, flush=True)"
    question = python("a", f"import os, subprocess, time\n{started}\n{text}")
    for patience in (2, 10, 50):  # on a busy machine it may take longer to begin than the shortest
        ended = ask([question], tmp_path, jobs=1, timeout_s=patience)
        if ended["a"].stdout:
            break
    wait_until_dead(int(ended["a"].stdout))


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
def test_an_interruption_ends_all_of_them(tmp_path: Path) -> None:
    questions = [python(name, "import os, time; print(os.getpid(), flush=True); time.sleep(600)") for name in "ab"]

    def interrupt() -> None:
        while not all((tmp_path / f"{name}.out").exists() and (tmp_path / f"{name}.out").read_text() for name in "ab"):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        ask(questions, tmp_path, jobs=2, timeout_s=60)
    watcher.join()
    for name in "ab":
        wait_until_dead(int((tmp_path / f"{name}.out").read_text()))
