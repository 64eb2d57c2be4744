"""The iterator in the place of that of `os.scandir` does what the original does, whatever is done to it."""

import os
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deviate.guest.frameworks.inputs.listings import ScandirIterator

NAMES = ("c", "a", "b.txt", "sub")
STEPS: dict[str, Callable[[object], object]] = {
    "next": lambda entries: _facts(next(entries)),  # type: ignore[call-overload]
    "list": lambda entries: [_facts(entry) for entry in entries],  # type: ignore[attr-defined]
    "close": lambda entries: entries.close(),  # type: ignore[attr-defined]
    "with": lambda entries: _in_context(entries),  # noqa: PLW0108  (defined below)
    "iter": lambda entries: iter(entries) is entries,  # type: ignore[call-overload]
    "pickle": pickle.dumps,
}


def _facts(entry: os.DirEntry[str]) -> object:
    return type(entry), entry.name, entry.path, entry.is_dir(), entry.inode(), os.fspath(entry)


def _in_context(entries: object) -> object:
    with entries as same:  # type: ignore[attr-defined]
        return same is entries, [_facts(entry) for entry in same][:1]


def _outcome(step: str, entries: object) -> object:
    try:
        return STEPS[step](entries)
    except (StopIteration, TypeError) as error:
        return type(error) if step == "pickle" else (type(error), error.args)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("listed")
    for name in NAMES[:-1]:
        (folder / name).write_text(name)
    (folder / "sub").mkdir()
    return folder


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), max_size=6))
def test_any_use_gives_what_the_original_gives(steps: list[str], folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the original gives it
        original, entries = os.scandir(folder), ScandirIterator(list(os.scandir(folder)))
        assert [_outcome(step, entries) for step in steps] == [_outcome(step, original) for step in steps]
        del original
