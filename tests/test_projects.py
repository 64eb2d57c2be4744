"""Projects of several files run as they always did, and what any of their files reports is recorded."""

from pathlib import Path

import pytest
from replayed import Recorded, Replayed, commands, compared, script

ENGINE = """\
import math
from . import report

def evaluate(split, epoch):
    acc = 1 / (epoch + (2 if split == "train" else 3))
    report.tell(split, acc)
    return acc

def fit(epochs):
    for epoch in range(epochs):
        loss = math.exp(-epoch)
        print(f"loss {loss:.4f}")
        evaluate("train", epoch)
        evaluate("test", epoch)
"""
REPORT = "def tell(split, acc):\n    print(f'{split} accuracy: {acc:.3f}')\n"
PACKAGE = {"pkg/__init__.py": "'Doc.'\n", "pkg/engine.py": ENGINE, "pkg/report.py": REPORT}
LOSSES = [1.0, 0.36787944117144233]
ACCURACIES = [1 / 2, 1 / 3, 1 / 3, 1 / 4]


def all_values(run: Recorded) -> list[object]:
    return sorted(value for values in run.values.values() for value in values)  # type: ignore[type-var]


def test_what_files_of_a_package_report_is_recorded_at_the_steps_of_the_loop(project: Path) -> None:
    run = script(project, "from pkg.engine import fit\nfit(2)\n", PACKAGE)
    assert run.stdout.splitlines()[:3] == ["loss 1.0000", "train accuracy: 0.500", "test accuracy: 0.333"]
    assert (run.values["loss"], run.values["acc"]) == (LOSSES, ACCURACIES)
    assert [list(around.values()) for around in run.steps["acc"]] == [[0], [0], [1], [1]]


def test_a_script_behind_a_link_imports_from_the_folder_of_the_file(project: Path) -> None:
    files = {"code/main.py": "import helper\nfor epoch in range(2):\n    helper.tell('train', epoch / 2)\n"}
    child = Replayed(project, "code/main.py").write({**files, "code/helper.py": REPORT})
    (project / "train.py").symlink_to("code/main.py")
    (project / "again").symlink_to("code")
    direct = child.run()
    linked = compared(Replayed(project, "train.py"))
    through = compared(Replayed(project, "again/main.py"))
    assert direct.values["acc"] == through.values["acc"] == [0.0, 0.5]
    assert linked.left.exit_code == 0, linked.stderr


@pytest.mark.parametrize("coding", ["latin-1", "cp1252", "utf-8-sig", "gbk"])
def test_files_keep_the_coding_that_they_name(project: Path, coding: str) -> None:
    text = "" if coding == "utf-8-sig" else f"# -*- coding: {coding} -*-\n"
    text += "name = '\u00b0\u00b1'\nfor epoch in range(2):\n    acc = epoch / 2\n"
    text += "    print(f'{name} \u00d7 acc {acc}', len(name))\n1 / 0\n"
    run = script(project, "import deep\n", {"deep.py": text.encode(coding)})
    assert "\u00b0\u00b1 \u00d7 acc 0.5 2" in run.stdout
    assert "ZeroDivisionError" in run.stderr
    assert run.values["acc"] == [0.0, 0.5]


def test_a_shell_that_forgets_the_path_runs_files_that_only_define(project: Path) -> None:
    text = "def fit():\n    for epoch in range(2):\n        acc = epoch / 4\n        print('accuracy', acc)\n"
    files = {"deep.py": text, "run.sh": "unset PYTHONPATH\npython -c 'import deep; deep.fit()'\n"}
    child = Replayed(project, "deep.py", ("bash", "run.sh")).write(files)
    run = child.run()
    assert run.values["acc"] == [0.0, 0.25]
    assert run.left == child.run_plainly()


def test_taps_in_every_file_are_hidden_from_git_and_from_tracebacks(project: Path) -> None:
    files = {**PACKAGE, "pkg/report.py": REPORT + "    if acc < 0.3: raise ValueError(f'{acc:.2f}')\n"}
    text = "import subprocess\nfrom link.engine import fit\n"
    text += "print(subprocess.check_output(['git', 'status', '--porcelain'], text=True), end='')\nfit(2)\n"
    child = Replayed(project).write({"train.py": text, ".gitignore": "__pycache__/\n", **files})
    (project / "link").symlink_to("pkg")
    for words in ("init -q", "config user.email a@b.c", "config user.name x", "add -A", "commit -qm first"):
        commands(project, ["git", *words.split()])
    on, off = child.run(), child.run(is_tapped=False)
    assert on.left == off.left
    assert on.stdout.startswith("loss 1.0000")
    assert "print(f'{split} accuracy: {acc:.3f}')" not in on.stderr
    assert "link/report.py\", line 3, in tell\n    if acc < 0.3: raise ValueError(f'{acc:.2f}')" in on.stderr
    assert on.values["acc"] == ACCURACIES
