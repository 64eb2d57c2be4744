"""No run changes an original through a link of its work copy."""

import os
from pathlib import Path

import pytest
from harness import Child

WRITES = {
    "overwrite": "open('best.pt', 'wb').write(b'new')",
    "append": "open('best.pt', 'ab').write(b'new')",
    "update": "file = open('best.pt', 'r+b'); file.write(b'new'); file.close()",
    "os.open": "import os; os.write(os.open('best.pt', os.O_WRONLY), b'new')",
    "path": "import pathlib; pathlib.Path('best.pt').write_bytes(b'new')",
    "truncate": "import os; os.truncate('best.pt', 3)",
    "replace": "import os; open('t', 'wb').write(b'new'); os.replace('t', 'best.pt')",
    "remove": "import os; os.remove('best.pt')",
    "memory map": "import mmap; f = open('best.pt', 'r+b'); mmap.mmap(f.fileno(), 0)[:3] = b'new'",
    "another folder": "import os; os.mkdir('d'); os.chdir('d'); open('../best.pt', 'wb').write(b'new')",
    "other process": "import subprocess, sys; subprocess.run([sys.executable, '-c', \"open('best.pt', 'w')\"])",
}


@pytest.mark.parametrize("kind", ["hard link", "symbolic link"])
@pytest.mark.parametrize("way", sorted(WRITES))
def test_writing_parts_the_link_first(tmp_path: Path, way: str, kind: str) -> None:
    original = tmp_path / "original" / "best.pt"
    original.parent.mkdir()
    original.write_bytes(b"old bytes")
    work = tmp_path / "attempt-1" / "work" / "parent" / "project"
    work.mkdir(parents=True)
    if kind == "hard link":
        os.link(original, work / "best.pt")
    else:
        (work / "best.pt").symlink_to(original)
    result = Child(tmp_path, WRITES[way] + "\n").run()
    assert result.code == 0, result.stderr
    assert original.read_bytes() == b"old bytes"
    assert not (work / "best.pt").exists() or (work / "best.pt").read_bytes() != b"old bytes"
    assert result.of("error") == []


IN_C = {
    "h5py": "import h5py\nwith h5py.File('best.pt', 'w') as file: file['x'] = 1",
    "h5py append": "import h5py\nwith h5py.File('best.pt', 'a') as file: file['y'] = 1",
    "safetensors": "import numpy, safetensors.numpy as st; st.save_file({'x': numpy.zeros(9)}, 'best.pt')",
}


@pytest.mark.parametrize("way", sorted(IN_C))
def test_writers_in_other_languages_part_the_link_first(tmp_path: Path, way: str) -> None:
    h5py = pytest.importorskip("h5py")
    original = tmp_path / "original" / "best.pt"
    original.parent.mkdir()
    with h5py.File(original, "w") as file:
        file["x"] = 2
    before = original.read_bytes()
    work = tmp_path / "attempt-1" / "work" / "parent" / "project"
    work.mkdir(parents=True)
    os.link(original, work / "best.pt")
    result = Child(tmp_path, IN_C[way] + "\n").run()
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert original.read_bytes() == before
    assert (work / "best.pt").read_bytes() != before


def test_reading_leaves_the_link(tmp_path: Path) -> None:
    original = tmp_path / "original.npz"
    original.write_bytes(b"data")
    work = tmp_path / "attempt-1" / "work" / "parent" / "project"
    work.mkdir(parents=True)
    os.link(original, work / "data.npz")
    assert Child(tmp_path, "print(open('data.npz', 'rb').read())\n").run().stdout == "b'data'\n"
    assert original.samefile(work / "data.npz")


def test_what_is_written_outside_the_copy_is_told(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    result = Child(tmp_path, f"open({str(outside)!r}, 'w').close(); open('inside.txt', 'w').close()\n").run(
        environment={"TMPDIR": str(tmp_path / "tmp")}
    )
    assert [str(outside)] in result.of("write")
    assert not any("inside" in path for (path,) in result.of("write"))


def test_threads_that_write_through_links_part_every_one(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    work = tmp_path / "attempt-1" / "work" / "parent" / "project"
    work.mkdir(parents=True)
    originals = [tmp_path / "original" / f"{number}.pt" for number in range(100)]
    for original in originals:
        original.write_bytes(b"old")
        os.link(original, work / original.name)
    text = """\
import sys, threading
sys.setswitchinterval(1e-6)
def work(mark):
    for number in range(100):
        with open("%d.pt" % number, "r+b") as file:
            file.seek(mark)
            file.write(b"%d" % mark)
threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    result = Child(tmp_path, text).run()
    assert (result.code, result.stderr, result.of("error")) == (0, "", [])
    assert {original.read_bytes() for original in originals} == {b"old"}
    assert {(work / original.name).read_bytes() for original in originals} == {b"0123"}
