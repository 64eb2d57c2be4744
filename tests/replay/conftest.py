"""A frozen project on disk, ready to be run."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from frozen import TRAIN, analysis_of
from planned import plan

from deviate.instrument.snapshot import freeze
from deviate.model.plan import Snapshot, Spec
from deviate.replay.variants import find_variant


@dataclass(frozen=True)
class Frozen:
    """An experiment whose snapshot is made. The script is TRAIN and what the test adds after it."""

    root: Path
    folder: Path
    snapshot: Snapshot

    def specs(self, runs: int, *, command: tuple[str, ...] = (), variant: str = "as-is") -> list[Spec]:
        command = command or (sys.executable, "train.py")
        return plan(self.snapshot, command=command, cwd=".", variant=find_variant(variant), runs=runs, seed=0)


@pytest.fixture
def frozen(tmp_path: Path) -> Callable[..., Frozen]:
    def make(
        more: str = "",
        *,
        files: dict[str, bytes] | None = None,
        outputs: tuple[str, ...] = (),
        name: str = "project",
    ) -> Frozen:
        root = tmp_path / "home" / name
        root.mkdir(parents=True)
        (root / "train.py").write_text(TRAIN + more)
        for path, data in (files or {}).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        folder = root / ".deviate/experiments/base"
        return Frozen(root, folder, freeze(analysis_of(root, outputs=outputs), folder / "snapshot"))

    return make
