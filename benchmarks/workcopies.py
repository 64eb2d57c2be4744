"""What freezing and work copies of many small data files cost: seconds, inodes, and the growth with ten times as many.

    python benchmarks/workcopies.py [--files 100000] [--runs 10] [--layout flat classes mixed root links]

Each layout is frozen once; then each run gets its work copy, which is verified and, at the end, removed. Inodes are
counted once however many names they have, and without those of the project itself.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from frozen import TRAIN, analysis_of

from deviate.instrument.snapshot import freeze
from deviate.model.plan import Snapshot
from deviate.records.snapshot import read_manifest
from deviate.replay.workcopy import make_work_copy, remove_work_copy, verify_links

BYTES = 1_000


def flat(root: Path, n_files: int) -> None:
    """All in one folder."""
    _fill(root / "data", n_files, ".png")


def classes(root: Path, n_files: int) -> None:
    """A hundred in each folder."""
    for number in range(n_files // 100):
        _fill(root / f"data/{number:04d}", 100, ".png")


def mixed(root: Path, n_files: int) -> None:
    """Images and labels with code beside them."""
    _fill(root / "data", n_files // 2, ".png")
    _fill(root / "data", n_files // 2, ".txt")
    (root / "data/loader.py").write_text("WIDTH = 32\n")


def root(root: Path, n_files: int) -> None:
    """Beside the script."""
    _fill(root, n_files, ".png")


def links(root: Path, n_files: int) -> None:
    """Symbolic links to files elsewhere."""
    (root / "data").mkdir()
    for number in range(n_files):
        (root / f"data/{number:06d}.png").symlink_to(f"/data/{number:06d}.png")


LAYOUTS: dict[str, Callable[[Path, int], None]] = {
    layout.__name__: layout for layout in (flat, classes, mixed, root, links)
}


def _fill(folder: Path, n_files: int, suffix: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n_files):
        with open(f"{folder}/{number:06d}{suffix}", "wb") as file:  # noqa: PTH123
            file.write(b"%d " % number * (BYTES // 7))


PARTS = ("freeze", "manifest", "copy", "verify", "remove")


def measure(layout: str, n_files: int, n_runs: int, place: Path) -> dict[str, float]:
    """Seconds per part and inodes, all runs together."""
    root = place / "home/project"
    root.mkdir(parents=True)
    (root / "train.py").write_text(TRAIN)
    LAYOUTS[layout](root, n_files)
    os.sync()
    experiment = root / ".deviate/experiments/base"
    figures: dict[str, float] = {}

    def timed(name: str, act: Callable[[], object]) -> object:
        begin = time.perf_counter()
        done = act()
        figures[name] = figures.get(name, 0.0) + time.perf_counter() - begin
        return done

    timed("freeze", lambda: freeze(analysis_of(root), experiment / "snapshot"))
    snapshot = Snapshot(experiment / "snapshot", root, "")
    timed("manifest", lambda: read_manifest(snapshot.folder))
    manifest = read_manifest(snapshot.folder)
    frozen = inodes(experiment)
    attempts = [experiment / f"runs/r{number}/attempt-1" for number in range(n_runs)]
    for attempt in attempts:
        timed("copy", lambda attempt=attempt: make_work_copy(snapshot, manifest, attempt, "."))  # type: ignore[misc]
        assert timed("verify", lambda: verify_links(snapshot, manifest)) == ()
    figures["freeze inodes"], figures["copy inodes"] = len(frozen), len(inodes(experiment) - frozen)
    for attempt in attempts:
        timed("remove", lambda attempt=attempt: remove_work_copy(attempt))  # type: ignore[misc]
    shutil.rmtree(place / "home")
    return figures


def inodes(folder: Path) -> set[int]:
    """Every file, folder and link below, once however many names it has."""
    found: set[int] = set()
    folders = [os.fspath(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                found.add(entry.inode())
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--layout", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for layout in options.layout:
            sizes = (options.files // 10, options.files)
            small, large = (measure(layout, size, options.runs, Path(name)) for size in sizes)
            seconds = [sum(it[part] for part in PARTS) for it in (small, large)]
            told = ", ".join(f"{part} {large[part]:.1f} s" for part in PARTS)
            told += f"; inodes: {large['freeze inodes']:.0f} frozen, {large['copy inodes']:.0f} in all the copies"
            print(f"{layout}, {sizes[1]} files x {options.runs} runs: {told}")
            print(f"    {seconds[1]:.1f} s in all, {seconds[1] / seconds[0]:.1f} times that of {sizes[0]} files")


if __name__ == "__main__":
    main()
