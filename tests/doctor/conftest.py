"""An interpreter without frameworks, and packages that stand for broken ones."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from attempted import add_run, experiment

__all__ = ["add_run", "experiment"]

Wrapped = Callable[..., str]
Fake = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is kept for the user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/deviate"


@pytest.fixture
def wrapped(tmp_path: Path) -> Wrapped:
    """`wrapped("-S")` is a program that starts the Python of the tests with that option."""

    def make(*options: str) -> str:
        program = tmp_path / "wrapped" / f"python{''.join(options)}"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {" ".join(options)} "$@"\n')
        program.chmod(0o755)
        return str(program)

    return make


@pytest.fixture
def bare(wrapped: Wrapped) -> str:
    """A Python whose site-packages are out of sight: it has what PYTHONPATH names, and no frameworks."""
    return wrapped("-S")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """`fake("jax", text)` puts a package of that name and text before all others."""
    folder = tmp_path / "packages"

    def make(name: str, text: str) -> None:
        package = folder / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return make
