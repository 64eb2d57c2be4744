"""Every output gives the same score of each run of an example; test_headline_cases.py has other scripts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from one_score import find_differences

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = 2
ONES = {
    "tiny.py": EXAMPLES / "tiny.py",
    **{path.parent.name: path for path in sorted(EXAMPLES.glob("*/train.py"))},
}
PACKAGES = ("jax", "keras", "sklearn", "tensorflow", "torch")


def as_parameter(name: str):  # type: ignore[no-untyped-def]
    text = "".join(path.read_text() for path in [ONES[name], *ONES[name].glob("*.py")] if path.is_file())
    packages = [package for package in PACKAGES if f"import {package}" in text or f"from {package}" in text]
    return pytest.param(ONES[name], id=name, marks=[pytest.mark.requires(*packages), pytest.mark.slow])


@pytest.mark.parametrize("source", [as_parameter(name) for name in ONES])
def test_every_output_gives_the_same_score_of_each_run(
    source: Path, tmp_path: Path, deviate_in: Callable[[Path], Callable[..., Any]]
) -> None:
    script = source if source.suffix else source / "train.py"
    (tmp_path / script.name).write_text(script.read_text())
    few = ("--", "--epochs", "2") if "--epochs" in script.read_text() else ()

    def ask(*words: str) -> str:
        """What `deviate` says, on both of its streams."""
        answer = deviate_in(tmp_path)(*words)
        assert answer.code == 0, answer.both
        return str(answer.both)

    said = ask("run", script.name, "--runs", str(RUNS), "--name", "a", *few)
    assert not list(find_differences(ask, tmp_path, "a", said))
    assert f"{RUNS}/{RUNS} completed" in said
