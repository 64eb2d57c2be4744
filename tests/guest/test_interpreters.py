"""The guest runs on the oldest and the newest Python, and leaves other interpreters in peace."""

import subprocess
from pathlib import Path

import pytest
from harness import PACKAGE, Child

SCRIPT = """\
import inspect, random
def f(x):
    return x / 2
class Meter:
    def update(self, value):
        self.avg = value
meter = Meter()
random.seed(1)
for i in range(3):
    y = f(i)
    print("y %.3f" % y, random.random())
    print(*[y, i])
    meter.update(y)
    str("%(y)s" % {"y": y})
print(inspect.getsource(f))
open("out.txt", "w").close()
"""


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_the_guest_records_on(version: str, tmp_path: Path, interpreters) -> None:  # type: ignore[no-untyped-def]
    child = Child(tmp_path, SCRIPT).tap("% «y»,").loop("range(3)", 14)
    child.tap("«print»(*[", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0"))
    child.tap("meter.update", form="meter", fields=("avg",)).tap('{"y": y}', form="mapping", fields=("y",))
    python = interpreters(version)
    on, off = child.run(python=python), child.run(python=python, is_tapped=False)
    assert (on.code, on.stderr, on.stdout) == (0, "", off.stdout)
    assert on.values() == [0.0, 0.5, 1.0]
    assert on.values(1) == [0, 1, 2]
    assert on.values(2) == on.values(3) == [0.0, 0.5, 1.0]
    assert [event[2] for event in on.of("value") if event[0] == 0] == [[0, 0], [0, 1], [0, 2]]
    assert next(e for e in on.of("start"))[1]["python"].startswith(version + ".")
    assert on.of("error") == []


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_tracebacks_are_those_of_the_original_on(version: str, tmp_path: Path, interpreters) -> None:  # type: ignore[no-untyped-def]
    child = Child(tmp_path, "def f(x):\n    return (1 / x) + 1\nprint(f(1), f(0))\n").tap("1 / x").tap("f(0)")
    child.tap("«f»(0)", form="meter", fields=("avg",)).tap(
        "«f»(1)", form="call", fields=("tensorboard.torch_SummaryWriter_add_scalar", "0")
    )
    on, off = child.run(python=interpreters(version)), child.run(python=interpreters(version), is_tapped=False)
    assert on.stderr == off.stderr != ""


def test_sitecustomize_of_the_user_still_loads(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "sitecustomize.py").write_text("print('mine')\n")
    child = Child(tmp_path, "import sys, sitecustomize\nprint(sitecustomize.__file__ == sys.argv[1])\n")
    result = child.run(str(mine / "sitecustomize.py"), environment={"PYTHONPATH": f"{tmp_path / 'guest'}:{mine}"})
    assert result.stdout == "mine\nTrue\n"
    assert result.of("start") != []


def test_an_interpreter_of_another_age_runs_on_undisturbed(tmp_path: Path, interpreters) -> None:  # type: ignore[no-untyped-def]
    python = interpreters("2.7", optional=True)
    done = subprocess.run(
        [python, "-c", "print(6 * 7)"],
        env={"PYTHONPATH": str(PACKAGE / "guest"), "DEVIATE_RUN_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("42\n", "")
