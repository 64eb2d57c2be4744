"""Traps: scripts of every kind run as they always did, and what they report is recorded."""

import math
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from programs import Node, program, programs
from replayed import Replayed, commands, compared, script
from trapping import (
    CONSTRUCTS,
    DOCTEST,
    ENDINGS,
    FINDER,
    GIT,
    ITERABLES,
    LAYOUTS,
    LOOKING,
    LOOPS,
    NAMES,
    PRINTING,
    PROCESSES,
    TRAIN,
    VALUES,
    WRITING,
)


def steps(run, expression: str, line: int) -> list[int]:  # type: ignore[no-untyped-def]
    """The counter of the loop at `line` beside each value."""
    return [around[line] for around in run.steps[expression]]


def test_every_way_to_print_prints_the_same_and_is_recorded(project: Path) -> None:
    run = script(project, PRINTING)
    assert run.stdout.endswith("asked 3\n")
    assert run.left.files["log.txt"] == b"test acc 0.0\ntest acc 0.25\ntest acc 0.5\n"
    assert set(run.values["acc"]) == {0.0, 0.25, 0.5}
    assert set(run.values["loss"]) == {1.0, 1 / 2, 1 / 3}
    assert run.values["acc"].count(0.25) == 11
    assert run.values["acc + 1"] == [1.0, 1.25, 1.5]
    assert run.values["100 * acc"] == run.values["m.avg"] == run.values["m.asked"] == [0.0, 25.0, 50.0]
    assert run.values["0[val_acc]"] == run.values['stats["val_acc"]'] == [0.0, 0.25, 0.5]
    assert run.values["d[val_loss]"] == [1.0, 1 / 2, 1 / 3]
    assert run.values["v"] == run.values["stats"] == [0.0, 1.0, 0.25, 1 / 2, 0.5, 1 / 3]
    assert run.values["best"] == run.values["best := max(acc, 0.1)"] == [0.1, 0.25, 0.5]


def test_loops_are_left_in_every_way(project: Path) -> None:
    run = script(project, LOOPS)
    assert run.left.exit_code == 0
    assert (run.values["batch / 2"], steps(run, "batch / 2", 7)) == ([0.5, 1.0] * 2, [1, 2] * 2)
    assert (run.values["batch / 4"], steps(run, "batch / 4", 12)) == ([0.0, 0.25] * 2, [0, 1] * 2)
    assert run.steps["epoch * 10.0"] == [{19: 0}, {19: 1}]
    assert run.values["depth + 0.5"] == [0.5, 0.5, 1.5, 0.5, 0.5, 1.5] * 2
    assert run.steps["a + b / 10"] == [{19: e, 30: a, 31: b} for e in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1))]
    assert steps(run, "k / 8", 39) == [0, 1, 2, 0, 1]
    assert steps(run, "n / 4", 46) == [1, 1]
    assert run.values["next(it, 9) / 2"] == [0.5, 1.5] * 2
    assert run.steps["epoch / 100"] == [{19: 0}, {19: 1}]


def test_iterables_conditions_and_handlers_of_every_kind_are_left_as_they_are(project: Path) -> None:
    run = script(project, ITERABLES)
    assert run.left.exit_code == 5, run.stderr
    assert "never" not in run.stdout
    assert run.values["i / 2"] == [0.5, 1.0, 1.5] * 2
    assert run.values["a + b"] == [0.0, 0.5, 0.5, 1.0, 1.0, 1.5] * 2
    assert run.values["k / 2"] == [0.0, 0.5] * 2
    assert run.values["len(line) / 2"] == [1.0, 0.5] * 2
    assert run.values["acc"][-2:] == [16.25, 16.25]


def test_every_construct_of_the_language_runs_and_is_recorded(project: Path) -> None:
    run = script(project, CONSTRUCTS)
    assert run.left.exit_code == 0, run.stderr
    assert run.values["start"] == [0.5]
    assert run.values["step / 2"] == [0.0, 0.5]
    assert run.values["result"] == [0.0, 0.25, 0.5]
    assert run.values["a"][-3:] == [0.0, 0.1, 0.2]
    assert run.values["self.__acc"] == [0.75] * 6
    assert run.values["super().acc"] == [0.75] * 3
    assert run.values["[x async for x in stream(2)][-1]"] == [0.1]
    assert run.values["(yield 0.2)"] == [0.8] * 3
    assert run.values["b / 10"] == [0.4]
    assert run.values["m"] == run.values["m := n * 2"] == [4, 6]
    assert run.values["k / 2"] == [0.0, 0.5] * 3
    assert run.values["x ** 2"] == [1.0, 1.1**2, 1.2**2]
    assert run.values["k + i / 10"] == [0.0, 1.0, 0.1, 1.1]
    assert run.values["count_acc"] == run.values["cell_acc"] == [2]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_source_of_every_layout_runs_and_is_recorded(layout: str, project: Path) -> None:
    run = script(project, LAYOUTS[layout])
    assert run.left.exit_code == (3 if layout == "main guard" else 0), run.stderr
    assert list(dict.fromkeys(run.values["acc"])) == [0.0, 0.25, 0.5]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_ends_in_an_error_ends_in_the_same_words(ending: str, project: Path) -> None:
    run = script(project, f"{TRAIN}{ENDINGS[ending]}\n")
    assert run.values["acc"][:3] == [0.0, 0.25, 0.5]
    assert "deviate" not in run.stderr
    assert (run.left.exit_code == 0) == (ending == "a syntax warning")


def test_code_that_looks_at_code_sees_the_original(project: Path) -> None:
    run = script(project, LOOKING)
    assert run.left.exit_code == 0, run.stderr
    assert "of the loop\n  for x in Data()" in run.stderr
    assert run.values["acc"][-1] == 0.25


def test_code_that_walks_names_finds_its_own_alone(project: Path) -> None:
    files = {"configurator.py": "lr = 0.5; print('config', lr)\nfor i in range(2): print('conf loss', i / 2)\n"}
    run = script(project, NAMES, files)
    assert "conf loss 0.5\n{'epoch': 2, 'acc': 0.5, 'lr': 0.5, 'name': 'x'}" in run.stdout
    assert run.values["acc"] == [0.0, 0.25, 0.5, 0.5, 0.5, 0.75]


def test_what_is_a_number_is_recorded_and_nothing_else(project: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    run = script(project, VALUES)
    found = {name.removesuffix("_acc"): values for name, values in run.values.items()}
    assert math.isnan(float(str(found.pop("nan")[0])))
    assert found == {
        "fraction": [0.25],
        "inf_loss": [-math.inf],
        "zero": [0.5],
        "one": [0.75],
        "single": [0.10000000149011612],
        "long": [0.5],
        "mean": [2.0],
        "left": [0.5],
        "spoken": [0.5],
        "level": [3],
        "big": [2**70],
        "over": [math.inf],
        "word": [0.5],
        "bit": [1],
        "part": [1.25, 1.25],
    }


def test_programs_that_ask_git_see_their_history_and_no_change(project: Path) -> None:
    repository = Replayed(project).write({"train.py": TRAIN + GIT, "a.txt": "a"})
    for words in ("init -q", "config user.email a@b.c", "config user.name x", "add -A", "commit -qm first"):
        commands(project, ["git", *words.split()])
    run = compared(repository)
    assert run.values["acc"] == [0.0, 0.25, 0.5]
    assert "status --porcelain 0  \ndiff 0  \n" in run.stdout


def test_paths_mean_in_the_copy_what_they_meant(project: Path) -> None:
    original = project.parent / "absolute.txt"
    text = TRAIN + WRITING.replace("ORIGINAL", repr(str(original)))
    files = {"../data/x.txt": "beside", "runs/exp0/x.txt": "", "out/result.txt": "old"}
    run = script(project, text, files, script="my train-v2.py")
    assert run.left.exit_code == 1
    assert run.left.files["out/result.txt"] == b"0.5"
    assert (project / "out/result.txt").read_text() == "old"
    assert sorted(path.name for path in (project / "runs").iterdir()) == ["exp0"]
    assert "ZeroDivisionError" in run.stderr
    assert original.read_text() == "yy", "each run wrote to it once: with taps, and plainly"


def test_writing_into_the_original_project_is_told(project: Path) -> None:
    original = project / "absolute.txt"
    child = Replayed(project).write({"train.py": f"{TRAIN}open({str(original)!r}, 'w').write('y')\n"})
    assert child.run().written == [str(original)]


def test_a_module_run_from_the_root_finds_its_packages_and_data(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"lib{os.pathsep}../other")
    looking = (
        "import sys, util, other, package.data; from . import data\n"
        "print(__name__, __package__, __spec__.name, sys.argv, sys.path[0], data.read())\n"
        "print(util.__file__, other.__file__)\n"
        "if __name__ == '__main__': sys.exit(4)\n"
    )
    files = {
        "package/__init__.py": "",
        "package/data.py": "def read(): return open(__file__.replace('package/data.py', 'data/x')).read()",
        "data/x": "data",
        "lib/util.py": "",
        "../other/other.py": "",
    }
    run = script(
        project, TRAIN + looking, files, script="package/train.py", command=(sys.executable, "-m", "package.train", "a")
    )
    assert run.left.exit_code == 4, run.stderr
    assert run.values["acc"] == [0.0, 0.25, 0.5]


def test_the_copy_wins_over_an_editable_install_of_the_project(project: Path) -> None:
    environment = project.parent / "environment"
    commands(project, [sys.executable, "-m", "venv", "--without-pip", str(environment)])
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "by_path.pth").write_text(f"{project / 'src'}\n")
    (site / "by_finder.pth").write_text("import by_finder\n")
    (site / "by_finder.py").write_text(FINDER.replace("FLAT", repr(str(project / "flat/__init__.py"))))
    text = (
        TRAIN + "import flat.inner, package.inner\nprint(flat.inner.__file__, package.inner.__file__, flat.__path__)\n"
    )
    names = ("src/package/__init__.py", "src/package/inner.py", "flat/__init__.py", "flat/inner.py")
    command = (str(environment / "bin/python"), "scripts/train.py")
    installed = Replayed(project, "scripts/train.py", command).write(
        {"scripts/train.py": text, **dict.fromkeys(names, "")}
    )
    run = installed.run()
    assert run.left == installed.run(is_tapped=False).left
    assert run.left.exit_code == 0, run.stderr
    found = run.stdout.splitlines()[-1]
    assert found.count("/work/parent/root/") == 3
    assert str(project) not in found


def test_processes_of_every_kind_run_the_script(project: Path) -> None:
    run = script(project, PROCESSES)
    assert run.left.exit_code == 0, run.stderr
    expected = [0.5, 1.0, 1.5] * 2 + [2.5, 3.0] + [3.5] * 2
    assert sorted(float(str(value)) for value in run.values["k / 2"]) == sorted(expected * 2)
    assert run.values["self.acc"] == [0.25]


def test_a_doctest_of_the_script_passes(project: Path) -> None:
    run = script(project, DOCTEST)
    assert run.left.exit_code == 7
    assert run.values["acc"] == [0.0, 0.25, 0.5, 0.5]


@settings(max_examples=20, deadline=None, derandomize=True)
@given(programs())
def test_programs_of_all_shapes_print_the_same_and_lose_no_value(nodes: list[Node]) -> None:
    text, stdout, values = program(nodes)
    with tempfile.TemporaryDirectory() as folder:
        run = Replayed(Path(folder, "parent/root")).write({"train.py": text}).run()
    assert run.stdout == stdout, run.stderr
    assert run.values == values
