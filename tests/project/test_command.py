"""A command line is understood as its user means it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.project.command import locate


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


@pytest.mark.parametrize(
    ("words", "script"),
    [
        (["train.py", "--lr", "1"], "train.py"),
        (["src/my train-v2.py"], "src/my train-v2.py"),
        (["book.ipynb", "--lr", "1"], "book.ipynb"),
        (["python", "-u", "train.py", "--config", "conf.py"], "train.py"),
        (["python", "-m", "pkg.train", "--lr", "1"], "pkg/train.py"),
        (["python", "-m", "pkg"], "pkg/__main__.py"),
        (["torchrun", "--nproc-per-node", "2", "train.py"], "train.py"),
        (["env", "A=1", "python3", "train.py"], "train.py"),
    ],
)
def test_the_script_of_a_command_is_found(project: Path, words: list[str], script: str) -> None:
    write(project, "train.py", "conf.py", "pkg/train.py", "pkg/__main__.py", "src/my train-v2.py", "book.ipynb")
    target = locate(words, project)
    assert target.script == project / script
    assert target.root == project
    assert target.cwd == "."
    assert target.command[-len(words) :] == tuple(words)


def test_a_module_is_looked_for_where_python_will_find_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "src/pkg/train.py", "lib/v1.2/tool/__main__.py")
    words = ["python", "-m", "pkg.train"]
    assert locate(words, project).script == project / "src/pkg/train.py"
    monkeypatch.setenv("PYTHONPATH", "nowhere:lib/v1.2")
    assert locate(["python", "-m", "tool"], project).script == project / "lib/v1.2/tool/__main__.py"
    with pytest.raises(InputError, match="no Python script in the command python -m nowhere"):
        locate(["python", "-m", "nowhere"], project)


def test_a_script_runs_with_the_python_on_the_path_or_the_one_that_is_named(project: Path) -> None:
    write(project, "train.py")
    assert locate(["train.py"], project).command == (shutil.which("python") or shutil.which("python3"), "train.py")
    assert locate(["train.py"], project, "python3.8").command == ("python3.8", "train.py")
    with pytest.raises(InputError, match="--python applies to scripts"):
        locate(["python", "train.py"], project, "python3.8")


@pytest.mark.parametrize(
    "words", [("bash", "run.sh"), ("sh", "-c", "cd . && python prepare.py; OMP=1 python train.py --x 'a;b' || exit 1")]
)
def test_every_script_of_a_shell_script_is_found_in_order(project: Path, words: tuple[str, ...]) -> None:
    write(project, "prepare.py", "train.py", "eval.py")
    (project / "run.sh").write_text(
        "set -e\n# python old.py\npython prepare.py\nfor x in 1; do python train.py \\\n  --lr $x; done\n"
        "python $OTHER.py\n"
    )
    target = locate(words, project, then=[("python", "eval.py")])
    assert target.script == project / "prepare.py"
    assert target.later_scripts == (project / "train.py", project / "eval.py")
    assert target.command == words
    assert target.then == (("python", "eval.py"),)


def test_a_command_that_names_no_script_runs_the_one_of_the_settings(project: Path) -> None:
    write(project, "train.py")
    target = locate(["make", "train"], project, train="train.py")
    assert (target.script, target.command) == (project / "train.py", ("make", "train"))
    with pytest.raises(InputError, match=r"deviate\.toml names the script trian\.py, which does not exist") as caught:
        locate(["make", "train"], project, train="trian.py")
    assert "train.py" in caught.value.hint
    with pytest.raises(InputError, match="no script mkae"):
        locate(["mkae"], project, train="train.py")
    with pytest.raises(InputError, match="no Python script in the command make train") as caught:
        locate(["make", "train"], project)
    assert "deviate.toml" in caught.value.hint


def test_the_project_is_the_top_level_of_git(project: Path) -> None:
    write(project, "pkg/sub/train.py")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    target = locate(["train.py"], project / "pkg" / "sub")
    assert (target.root, target.cwd) == (project, "pkg/sub")


def test_a_script_of_another_folder_makes_their_common_folder_the_project(project: Path) -> None:
    write(project, "../elsewhere/train.py")
    target = locate(["../elsewhere/train.py"], project)
    assert (target.root, target.cwd, target.script.name) == (project.parent, project.name, "train.py")


def test_a_home_folder_is_never_a_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "train.py")
    monkeypatch.setenv("HOME", str(project))
    with pytest.raises(InputError, match="the project would be"):
        locate(["train.py"], project)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no script or command"),
        (["nope.py"], r"no script nope\.py"),
        (["pkg"], "is a folder"),
        (["bash", "run.sh"], "no Python script"),
        (["bash", "nope.sh"], r"no script nope\.sh"),
        (["python train.py"], "is one quoted word"),
        (["no-such-program"], "no script no-such-program"),
        (["book.ipynb"], "no notebook"),
        (["ipython", "there.ipynb"], "ipython is no Python"),
    ],
)
def test_what_cannot_be_run_is_answered_with_what_to_do(project: Path, words: list[str], told: str) -> None:
    write(project, "pkg/train.py", "run.sh", "there.ipynb")
    with pytest.raises(InputError, match=told) as caught:
        locate(words, project)
    assert caught.value.hint
