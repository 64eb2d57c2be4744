"""The README's commands work, those that `.ci/run` carries out aside, and its output is that of the tutorial."""

from pathlib import Path

import pytest
from pages import ROOT, Reader, blocks

PAGE = ROOT / "README.md"
TRAIN = """\
import argparse
import random

options = argparse.ArgumentParser()
options.add_argument("--epochs", type=int, default=3)
for epoch in range(options.parse_args().epochs):
    test_acc = random.gauss(ACCURACY, 0.5)
    print(f"epoch {epoch} test_acc {test_acc:.2f}")
"""


@pytest.mark.slow
def test_the_commands_of_the_readme_work_and_leave_the_files_that_they_name(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("ACCURACY", "90"))
    (tmp_path / "train_new.py").write_text(TRAIN.replace("ACCURACY", "95"))
    Reader(tmp_path).follow(PAGE.read_text(encoding="utf-8"))
    named = ("out.html", "table.tex", "comment.md", "all.json", "scores.csv")
    assert all((tmp_path / name).stat().st_size for name in named)
    assert "better" in (tmp_path / "comment.md").read_text(encoding="utf-8")


def test_what_the_test_leaves_to_others_is_the_installation_and_what_ci_carries_out() -> None:
    left = [block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if not block.is_run]
    assert [text.startswith("pip install") or "python3 -m venv" in text for text in left] == [True] * 3


def test_the_output_in_the_readme_is_that_of_the_tutorial() -> None:
    (shown,) = (block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if block.language == "text")
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    assert f"\n{shown}```" in tutorial
