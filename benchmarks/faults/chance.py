"""What differs by chance elsewhere differs here for sure: in the second run of each pair of `deviate diverge`.

Each script of this folder gets a copy of this file beside it.
"""

import os
import select
import shutil
from collections.abc import Sequence
from pathlib import Path

IS_SECOND = os.environ.get("DEVIATE_REPLICATE") == "1"


def factor(step: int, at: int = 3) -> float:
    """1, and the next number of single precision at one step of the second run."""
    return 1 + 1e-7 if IS_SECOND and step == at else 1.0


def pause(first_s: float, second_s: float) -> None:
    """Wait as long as a busy disk would; `time.sleep` would be a time that the script asks for."""
    select.select([], [], [], second_s if IS_SECOND else first_s)


def in_turn(number: int, n: int) -> None:
    """Wait, such that n pieces of work that start together end in opposite orders."""
    select.select([], [], [], 0.05 * (n - number if IS_SECOND else 1 + number))


def unpack(folder: Path, names: Sequence[str]) -> list[Path]:
    """Empty a folder, and create these empty files and folders, which tmpfs lists in the order of their creation."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    paths = [folder / name for name in names]
    for path in reversed(paths) if IS_SECOND else paths:
        path.touch() if path.suffix else path.mkdir()
    return paths
