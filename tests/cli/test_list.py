"""The index of `deviate list`: entries of experiments that have ended are kept until one of their files changes."""

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from attempted import add_run, experiment

from deviate.base import kept
from deviate.cli import list_experiment
from deviate.cli.records import INDEX, read_entries
from deviate.records import fingerprint as fingerprints
from deviate.records.fingerprint import fingerprint

__all__ = ["add_run", "experiment"]
ACC = '["start",1,{}]\n["number",0,1,0,0.5]\n["end",2,2]\n'


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are old enough at once."""
    monkeypatch.setattr(fingerprints, "SETTLED_NS", 0)


@pytest.fixture
def read(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Lists the experiments; gives the names of those whose records were read."""
    names: list[str] = []
    original = list_experiment.list_experiment

    def watched(folder: Path) -> object:
        names.append(folder.name)
        return original(folder)

    monkeypatch.setattr(list_experiment, "list_experiment", watched)

    def act() -> list[str]:
        names.clear()
        read_entries(experiment.parents[1])
        return list(names)

    return act


def counts(experiment: Path) -> tuple[int, int, int]:
    ((entry,), _) = read_entries(experiment.parents[1])
    return entry["n_completed"], entry["n_failed"], entry["n_running"]


def test_an_experiment_is_read_once_until_a_file_of_it_changes(
    experiment: Path, add_run: Callable[..., Path], read: Callable[[], list[str]]
) -> None:
    attempt = add_run(0, ACC)
    assert (read(), read()) == (["base"], [])
    add_run(1, ACC, "crashed")
    assert (read(), read()) == (["base"], [])
    assert counts(experiment) == (1, 1, 0)
    (attempt / "stdout.log").write_text("more\n")
    assert (read(), read()) == (["base"], [])
    manifest = experiment / "snapshot/manifest.json"
    manifest.write_text(manifest.read_text())
    assert read() == ["base"]


def test_a_change_in_place_that_keeps_size_and_time_is_seen(
    experiment: Path, add_run: Callable[..., Path], read: Callable[[], list[str]]
) -> None:
    result = add_run(0, ACC) / "result.json"
    read()
    before = result.stat()
    result.write_text(result.read_text().replace("1.5", "2.5"))
    os.utime(result, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert result.stat().st_size == before.st_size
    assert read() == ["base"]


def test_what_has_not_ended_or_is_damaged_is_always_read(
    experiment: Path, add_run: Callable[..., Path], read: Callable[[], list[str]]
) -> None:
    attempt = add_run(0, ACC, None)
    assert (read(), read()) == (["base"], ["base"])
    shutil.rmtree(attempt.parent)
    attempt = add_run(1, ACC)
    (attempt.parent / "spec.json").write_text("{")
    assert (read(), read()) == (["base"], ["base"])


def test_a_file_that_has_just_changed_could_change_again_unnoticed(
    experiment: Path, add_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_run(0, ACC)
    assert fingerprint(experiment)
    monkeypatch.setattr(fingerprints, "SETTLED_NS", 60_000_000_000)
    assert fingerprint(experiment) == ""


def test_work_copies_and_code_do_not_count(experiment: Path, add_run: Callable[..., Path]) -> None:
    attempt = add_run(0, ACC)
    (attempt / "work").mkdir()
    (experiment / "snapshot/tree").mkdir()
    before = fingerprint(experiment)
    (attempt / "work/model.pt").write_text("0")
    (experiment / "snapshot/tree/train.py").write_text("2")
    assert fingerprint(experiment) == before
    (attempt / "artifacts").mkdir()
    (attempt / "artifacts/weights.npz").write_text("3")
    assert fingerprint(experiment) != before


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"values": {}}', "[" * 100_000, '{"code": 1, "values": 2, "digest": "3"}']
)
def test_a_damaged_index_is_made_anew(
    text: str, experiment: Path, add_run: Callable[..., Path], read: Callable[[], list[str]]
) -> None:
    add_run(0, ACC)
    read()
    (experiment.parents[1] / INDEX).write_text(text)
    assert (read(), read()) == (["base"], [])


def test_an_entry_that_was_edited_is_not_believed(experiment: Path, add_run: Callable[..., Path]) -> None:
    add_run(0, ACC)
    assert counts(experiment) == (1, 0, 0)
    index = experiment.parents[1] / INDEX
    index.write_text(index.read_text().replace('"n_completed": 1', '"n_completed": 9'))
    assert counts(experiment) == (1, 0, 0)


def test_the_index_of_another_deviate_is_made_anew(
    experiment: Path, add_run: Callable[..., Path], read: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    add_run(0, ACC)
    read()
    monkeypatch.setattr(kept, "code_state", lambda: "later")
    assert (read(), read()) == (["base"], [])


def test_removed_experiments_leave_the_index(experiment: Path, add_run: Callable[..., Path]) -> None:
    add_run(0, ACC)
    folder = experiment.parents[1]
    read_entries(folder)
    shutil.rmtree(experiment)
    assert read_entries(folder) == ([], {})
    assert json.loads((folder / INDEX).read_text())["values"] == {}


def test_a_folder_that_takes_no_file_is_listed(experiment: Path, add_run: Callable[..., Path]) -> None:
    add_run(0, ACC)
    (experiment.parents[1] / INDEX).mkdir()  # root may write to folders without permission
    assert counts(experiment) == counts(experiment) == (1, 0, 0)
    assert [path.name for path in experiment.parents[1].iterdir() if path.name.startswith(f".{INDEX}")] == []


def test_several_may_list_at_once(experiment: Path, add_run: Callable[..., Path]) -> None:
    add_run(0, ACC)
    folder = experiment.parents[1]
    seen: list[int] = []

    def look() -> None:
        for _ in range(10):
            seen.append(read_entries(folder)[0][0]["n_completed"])
            (folder / INDEX).unlink(missing_ok=True)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 40
    assert list(folder.glob(f".{INDEX}*")) == []
