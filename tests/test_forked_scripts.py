"""Scripts that tests fork from a process that has imported their frameworks are the scripts of a new interpreter."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import forked
import pytest

SCRIPTS = {
    "what it was begun with": (
        "import os, sys\n"
        "print(sys.argv, sys.orig_argv, sys.path, sys.executable, os.getcwd(), sys.stdin.read())\n"
        "print(__name__, __file__, __spec__, __doc__, sorted(globals()), type(__loader__), __builtins__)\n"
        "print(sorted(os.environ.items()), sys.modules['__main__'].__dict__ is globals(), sys.flags)\n"
        "print(os.sched_getaffinity(0), os.getpgid(0), os.umask(0), len(os.listdir('/proc/self/task')))\n"
        "print(sys.stdout.name, sys.stdout.encoding, sys.stdout.line_buffering, sys.stderr.line_buffering)\n"
        "print(sorted(int(it) for it in os.listdir('/proc/self/fd'))[:4])"
    ),
    "modules": (
        "import sys, numpy.linalg\n"
        "print(sorted(sys.modules), numpy.linalg.__spec__.name, numpy.linalg.__spec__.origin, numpy.linalg.__package__)"
    ),
    "modules beside it": "import beside, numpy\nprint(beside.NUMBER, beside.__file__)",
    "a hook of imports": (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(name, path=None, target=None): asked.append((name, bool(path), target))\n"
        "asked = []\n"
        "sys.meta_path.insert(0, Finder)\n"
        "import json, numpy\n"
        "print([it for it in asked if it[0] in sys.modules])\n"  # what could not be imported is not asked for again
    ),
    "a code": "import sys\nprint('written late', end='')\nsys.exit(7)",
    "a text on its way out": "raise SystemExit('stopped')",
    "an exit at once": "import os\nprint('lost')\nos._exit(3)",
    "an error": "def divide(x):\n    return 1 / x\ntry:\n    divide(0)\nfinally:\n    print(missing)",
    "an error of the syntax": "for x in\n",
    "an error in a hook": "import sys\nsys.excepthook = lambda *told: print('hook', told[0], told[2].tb_lineno)\n1 / 0",
    "an interruption": "import atexit\natexit.register(print, 'at exit')\nraise KeyboardInterrupt",
    "an interruption from outside": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)",
    "a signal": "import os, signal\nprint('before', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)",
    "a handler": "import os, signal\nsignal.signal(15, lambda *_: print('told'))\nos.kill(os.getpid(), 15)",
    "what is registered": "import atexit\nfor it in 'ab': atexit.register(print, it)\nprint('c')\n1 / 0",
    "a thread": "import threading, time\nthreading.Thread(target=lambda: [time.sleep(0.1), print('after')]).start()",
    "a process": (
        "import multiprocessing, subprocess, sys\n"
        "def double(x): return 2 * x\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn'):\n"
        "        with multiprocessing.get_context(method).Pool(1) as pool: print(pool.map(double, [1, 2]))\n"
        "    subprocess.run([sys.executable, '-c', 'print(3)'])\n"
    ),
    "another encoding": "# coding: latin-1\nprint('\\xe4', '\xe4')",
    "a global of its own": "import __main__\nx = 3\nprint(__main__.x, vars(__main__) is globals())",
    "warnings": "import warnings, numpy\nwarnings.warn('here')\nprint(warnings.filters)\nnumpy.float64(1) / 0",
}


@pytest.fixture(autouse=True)
def _can_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the tests are run with: a search path of their own, or `--cold`."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.delenv(forked.COLD, raising=False)


def run(folder: Path, script: str, *, is_cold: bool) -> subprocess.CompletedProcess[bytes]:
    """A script that asks for the server of NumPy."""
    (folder / "train.py").write_text(script, encoding="latin-1")
    (folder / "beside.py").write_text("NUMBER = 1")
    texts = ["import numpy"]
    return forked.run((sys.executable, "train.py", "--lr", "0.1"), folder, os.environ, texts, is_cold=is_cold)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_forked_script_prints_and_returns_what_a_new_one_does(tmp_path: Path, name: str) -> None:
    new, other = (run(tmp_path, SCRIPTS[name], is_cold=is_cold) for is_cold in (True, False))
    assert (other.returncode, other.stdout.decode(), other.stderr.decode()) == (
        new.returncode, new.stdout.decode(), new.stderr.decode(),
    )  # fmt: skip


def test_a_script_is_forked(tmp_path: Path) -> None:
    """Or the test above would compare a new process with itself."""
    script = "import os\nprint(open(f'/proc/{os.getppid()}/cmdline').read())"
    assert b"fork_server.py" in run(tmp_path, script, is_cold=False).stdout
    assert b"fork_server.py" not in run(tmp_path, script, is_cold=True).stdout


def test_forked_scripts_draw_other_numbers_where_new_ones_do(tmp_path: Path) -> None:
    script = "import random, uuid, numpy\nprint(random.random(), numpy.random.rand(), uuid.uuid4())"
    first, second = (run(tmp_path, script, is_cold=False).stdout.split() for _ in range(2))
    assert all(one != other for one, other in zip(first, second, strict=True))


def test_scripts_run_beside_each_other(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\nopen(sys.argv[2], 'w').close()\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)"
    )
    (tmp_path / "train.py").write_text(script)
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(
            lambda names: forked.run((sys.executable, "train.py", *names), tmp_path, os.environ, ["import numpy"]),
            [("a", "b"), ("b", "a")],
        )
    assert [it.returncode for it in done] == [0, 0]


@pytest.mark.parametrize(
    ("changes", "script"),
    [
        ({}, "import math"),
        ({forked.COLD: "all"}, "import numpy"),
        ({forked.COLD: "torch,numpy"}, "import numpy"),
        ({}, "import numpy, os\nos.environ['OMP_NUM_THREADS'] = str(2)"),
        ({"PYTHONPATH": "/somewhere"}, "import numpy"),
    ],
)
def test_a_script_is_not_forked_where_that_could_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], script: str
) -> None:
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "train.py").write_text(f"{script}\nimport os\nprint(os.getppid())")
    done = forked.run((sys.executable, "train.py"), tmp_path, os.environ, [script])
    assert int(done.stdout) == os.getpid()


def test_a_module_of_the_project_is_not_taken_for_one_that_a_server_has(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("print('of the project')")
    assert run(tmp_path, "import numpy", is_cold=False).stdout == b"of the project\n"


def test_variables_are_those_of_the_script_when_a_framework_is_imported(tmp_path: Path) -> None:
    script = 'import os\nos.environ["A_SETTING"] = "1"\nimport numpy\nprint(os.environ["A_SETTING"])'
    assert forked.variables_at_import({"HOME": "/x", "DEVIATE_RUN_DIR": "/y"}, [script]) == {
        "HOME": "/x",
        "A_SETTING": "1",
    }
    (tmp_path / "train.py").write_text(script)
    assert forked.run((sys.executable, "train.py"), tmp_path, os.environ, [script]).stdout == b"1\n"


def test_no_server_and_no_script_outlives_who_asked(tmp_path: Path) -> None:
    told = tmp_path / "told"
    (tmp_path / "train.py").write_text(
        "import os, time\n"
        "with open('written', 'w') as file: print(os.getppid(), os.getpid(), file=file)\n"
        "os.rename('written', 'told')\n"
        "time.sleep(600)\n"
    )
    asking = (
        "import forked, os, pathlib, sys\n"
        f"forked.run((sys.executable, 'train.py'), pathlib.Path({str(tmp_path)!r}), dict(os.environ), ['import numpy'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    support = Path(forked.__file__).parent
    # The path is set in the text, for a script with another PYTHONPATH is not forked.
    text = f"import sys\nsys.path.insert(0, {str(support)!r})\n{asking}"
    process = subprocess.Popen([sys.executable, "-c", text], env=environment)
    assert wait_until(told.exists)
    pids = [int(pid) for pid in told.read_text().split()]
    assert all(map(is_alive, pids))
    process.kill()
    process.wait()
    assert wait_until(lambda: not any(map(is_alive, pids)))


def wait_until(condition: Callable[[], bool]) -> bool:
    """Whether something comes true in a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until and not condition():
        time.sleep(0.02)
    return condition()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
