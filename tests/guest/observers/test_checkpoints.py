"""Checkpoints of a traced process: what is noted of them, what is kept, and what their contents are compared by."""

import json
import time
import zipfile
from pathlib import Path

import pytest

from deviate.guest.observers.checkpoints import Checkpoints, contents_checksum
from deviate.guest.observers.trace import Trace
from deviate.guest.project import Project
from deviate.guest.recorder import Recorder


class Writer:
    """A traced process that writes files into a work copy."""

    def __init__(self, folder: Path, most_bytes: int = 1000, **wanted: str) -> None:
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir()
        project = Project(str(self.work), {"originals": "", "files": {}, "loops": {}, "sites": {}})
        options = {"trace": "1", "trace-checkpoints": str(most_bytes), **wanted}
        self.trace = Trace(options, str(folder), Recorder(str(folder), {}, project), project)
        self.checkpoints = Checkpoints(options, str(self.work), str(folder), self.trace)
        self.checkpoints.digests.append(lambda: f"weights {self.trace.step}")

    def write(self, name: str, text: str) -> None:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.checkpoints.before_writing(str(path))
        path.unlink(missing_ok=True)  # as the write guard does with a hard link
        path.write_text(text)

    def lines(self, kind: str) -> list[list]:
        self.trace.close()
        [path] = (self.folder / "artifacts").glob("trace-*.jsonl")
        return [line[1:] for line in map(json.loads, path.read_text().splitlines()) if line[0] == kind]

    def kept(self) -> dict[str, str]:
        folder = self.folder / "artifacts" / "checkpoints"
        return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path)


def test_a_checkpoint_has_the_number_of_updates_and_the_weights_of_its_moment(writer: Writer) -> None:
    for _ in range(3):
        writer.trace.tick()
    writer.write("out/last.pt", "after three")
    writer.trace.tick()
    writer.write("out/notes.txt", "is no checkpoint")
    writer.trace.tick()
    [line] = writer.lines("checkpoint")
    assert line[:3] == [3, "out/last.pt", "weights 3"]
    assert line[4] == len("after three")


def test_each_checkpoint_is_kept_with_the_files_beside_it_even_if_it_is_written_over(writer: Writer) -> None:
    for number in (1, 2):
        writer.trace.tick()
        writer.write("out/last.pt", f"model {number}")
        writer.write("out/state.json", f"state {number}")
        writer.write("out/train.log", "grows")
        writer.write("data.txt", "is elsewhere")
    writer.trace.tick()
    writer.trace.close()
    assert writer.kept() == {
        f"{number}/out/{name}": f"{text} {number}"
        for number in (1, 2)
        for name, text in (("last.pt", "model"), ("state.json", "state"))
    }


def test_every_other_checkpoint_is_dropped_beyond_the_limit_and_all_are_noted(tmp_path: Path) -> None:
    writer = Writer(tmp_path, most_bytes=35)
    for step in range(9):
        writer.trace.tick()
        writer.write(f"step-{step}.pt", "ten bytes.")
    writer.trace.close()
    assert len(writer.kept()) <= 3
    assert len(writer.lines("checkpoint")) == 9


def test_a_file_that_takes_the_place_of_another_is_that_checkpoint(writer: Writer) -> None:
    writer.trace.tick()
    writer.write("last.pt.tmp", "model")
    writer.checkpoints.before_writing(str(writer.work / "last.pt"), str(writer.work / "last.pt.tmp"))
    (writer.work / "last.pt.tmp").rename(writer.work / "last.pt")
    assert [line[:3] for line in writer.lines("checkpoint")] == [[1, "last.pt", "weights 1"]]


def test_a_planted_file_that_is_read_is_noted_once(tmp_path: Path) -> None:
    writer = Writer(tmp_path, **{"trace-planted": "out/last.pt\nout/best.pt", "trace-start": "500"})
    for name in ("out/last.pt", "out/last.pt", "train.py"):
        writer.checkpoints.before_reading(str(writer.work / name))
    writer.trace.tick()
    assert writer.lines("resumed") == [["out/last.pt"]]
    assert writer.lines("step")[0][0] == 501


def test_archives_of_equal_entries_are_equal_whatever_their_dates_order_and_folder(tmp_path: Path) -> None:
    def archive(name: str, entries: dict[str, str], year: int) -> int:
        with zipfile.ZipFile(tmp_path / name, "w") as file:
            for entry, text in entries.items():
                info = zipfile.ZipInfo(f"{name}/{entry}", (year, *time.localtime()[1:6]))
                file.writestr(info, text)
        return contents_checksum(str(tmp_path / name))

    first = archive("a.pt", {"data/0": "1", "data/1": "2", ".data/serialization_id": "7"}, 2020)
    assert archive("b.pt", {".data/serialization_id": "8", "data/1": "2", "data/0": "1"}, 2024) == first
    assert archive("c.pt", {"data/0": "1", "data/1": "3"}, 2020) != first
