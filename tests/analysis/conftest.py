"""Snippets become scripts, and scripts an analysis."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]


@pytest.fixture
def analyse(tmp_path: Path) -> Analyse:
    def run(text: str) -> Analysis:
        script = tmp_path / "train.py"
        script.write_text(textwrap.dedent(text), encoding="utf-8")
        return analyze(script, tmp_path)

    return run
