"""The analyzer over the files of the packages that are installed here: always an answer, and one that can be used."""

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from installed import Answer, examine_alone, examine_in_place, installed_files

WORKERS = 2


def answers(examine: Callable[[Path], Answer], files: Iterable[Path]) -> list[Answer]:
    """One answer per file; a worker that dies breaks the pool and so the test."""
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        return list(pool.map(examine, files, chunksize=4))


@pytest.mark.slow
def test_files_each_in_a_project_of_its_own_are_answered() -> None:
    files = installed_files(60)
    assert len(files) >= 58
    assert len({path.parts[-2] for path in files}) > 30  # spread over packages
    found = answers(examine_alone, files)
    faults = [f"{answer.path}: {answer.fault}" for answer in found if answer.fault]
    assert not faults, "\n".join(faults)
    assert sum(bool(answer.refusal) for answer in found) < 3
    assert sum(answer.n_sites for answer in found) > 45
    assert sum(answer.n_metrics > 0 for answer in found) > 0


@pytest.mark.slow
def test_files_where_they_are_installed_are_followed_into_their_packages() -> None:
    found = answers(examine_in_place, installed_files(400)[::40])
    faults = [f"{answer.path}: {answer.fault}" for answer in found if answer.fault]
    assert not faults, "\n".join(faults)
    assert sum(answer.n_files > 1 for answer in found) > 2
