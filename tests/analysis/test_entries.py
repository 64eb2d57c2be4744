"""The training script of a project comes first, and is told from libraries, tests and helpers."""

from pathlib import Path

import pytest

from deviate.analysis.entries import EntryScripts, rank_scripts

TRAIN = """\
import argparse
import torch
from models.net import Net
from utils import accuracy

def main():
    args = argparse.ArgumentParser().parse_args()
    for epoch in range(3):
        loss = Net()(1)
        loss.backward()
        print(epoch, loss, accuracy(1))

if __name__ == "__main__":
    main()
"""
NET = "import torch\n\nclass Net(torch.nn.Module):\n    def train_step(self):\n        self.loss.backward()\n"
MAIN = "if __name__ == '__main__':\n    main()\n"


def rank(root: Path, files: dict[str, str]) -> EntryScripts:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return rank_scripts(root)


def names(entries: EntryScripts) -> list[str]:
    return [entry.file for entry in entries.scripts]


def test_the_training_script_stands_alone_where_the_rest_is_library(tmp_path: Path) -> None:
    found = rank(
        tmp_path,
        {
            "cli.py": TRAIN,
            "models/net.py": NET,
            "utils.py": "def accuracy(x):\n    return x\n" + MAIN,
            "setup.py": "from setuptools import setup\nsetup()\n",
            "tests/test_net.py": "import pytest\nfrom models.net import Net\n" + TRAIN,
        },
    )
    assert names(found) == ["cli.py"]
    assert found.is_clear
    (entry,) = found.scripts
    assert entry.reasons[0] == "calls backward"
    assert "has a main guard" in entry.reasons
    assert "reads its command line (argparse)" in entry.reasons


@pytest.mark.parametrize("other", ["evaluate.py", "predict.py", "plot_results.py", "utils.py", "demo.py"])
def test_helpers_that_run_and_even_train_come_after(tmp_path: Path, other: str) -> None:
    assert names(rank(tmp_path, {"run_model.py": TRAIN, other: TRAIN}))[0] == "run_model.py"


def test_a_script_that_starts_a_training_of_other_files_is_found_by_its_name(tmp_path: Path) -> None:
    found = rank(
        tmp_path,
        {
            "main.py": "from lib.train import run\n" + MAIN,
            "lib/train.py": NET,
            "fetch.py": "import os\n" + MAIN,
        },
    )
    assert names(found) == ["main.py"]
    assert "no training in sight" in found.scripts[0].reasons


def test_of_a_library_and_its_launcher_the_launcher_comes_first(tmp_path: Path) -> None:
    library = TRAIN.partition("if __name__")[0].replace("def main", "def train_and_evaluate")
    found = rank(tmp_path, {"main.py": "import train\n" + MAIN, "train.py": library})
    assert names(found)[0] == "main.py"


@pytest.mark.parametrize("second", ["finetune.py", "tune_hyper.py"])
def test_of_a_training_and_what_tunes_it_the_training_comes_first(tmp_path: Path, second: str) -> None:
    assert names(rank(tmp_path, {"main.py": TRAIN, second: TRAIN})) == ["main.py", second]
    assert names(rank(tmp_path, {"pretrain.py": TRAIN}))[0] == "pretrain.py"


def test_what_the_readme_runs_comes_first(tmp_path: Path) -> None:
    files = {f"{name}.py": TRAIN for name in ("alpha", "beta", "gamma")}
    found = rank(tmp_path, {**files, "README.md": "```\npython -u ./beta.py --epochs 3\n```\n"})
    assert names(found)[0] == "beta.py"
    assert "run by a command in README.md" in found.scripts[0].reasons
    assert not rank(tmp_path, {"README.md": "Nothing."}).is_clear


def test_a_script_for_another_python_is_listed_with_the_line(tmp_path: Path) -> None:
    found = rank(tmp_path, {"train.py": TRAIN.replace("print(epoch, loss, accuracy(1))", "print epoch, loss")})
    assert names(found) == ["train.py"]
    assert "is no valid Python 3 at line 11" in found.scripts[0].reasons


def test_a_script_of_plain_python_is_found_by_its_loop(tmp_path: Path) -> None:
    found = rank(tmp_path, {"descend.py": "for epoch in range(9):\n    w -= 0.1 * w\n", "web.py": "serve()\n"})
    assert names(found) == ["descend.py"]


def test_an_empty_folder_has_none(tmp_path: Path) -> None:
    found = rank(tmp_path, {"book.ipynb": "{}"})
    assert (found.scripts, found.notebooks, found.n_files, found.is_clear) == ((), ("book.ipynb",), 0, False)
