"""Checkpoints of two runs: which are equal, and the start of later runs from the last equal one."""

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.diverge.findings import Checkpoint, Trace
from deviate.records.layout import artifacts_folder, planted_folder
from deviate.replay.workcopy import plant_files

MOST_KEPT = 10_000_000_000
"""Bytes of checkpoints to keep of a run until the search ends."""
KEPT = "checkpoints"
"""Folder of the kept files among the artifacts of a run, one folder per number of updates."""
NUMBERED = re.compile(r"(?:checkpoint|ckpt|epoch|step|global_step|iter|iteration)?[-_=]?\d+$", re.IGNORECASE)
"""Folders that are one checkpoint, such as `checkpoint-500`."""
BEST = re.compile(r"(?:^|[^a-z])best(?:[^a-z]|$)", re.IGNORECASE)
LOADS = re.compile(
    r"torch\.load|load_state_dict|load_checkpoint|load_weights|load_model|load_file|from_bytes|from_checkpoint|ckpt_path|restore|resume"
    r"|pickle\.load|joblib\.load|np\.load|numpy\.load",
)
"""Calls of programs that can go on from a checkpoint."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """The checkpoints of two runs, compared in the order in which they were written.

    Attributes:
        equal: those before the first different one, in order.
        different: the first different one; None if all are equal.
    """

    equal: tuple[Checkpoint, ...] = ()
    different: Checkpoint | None = None

    def last_equal(self, step: int | None) -> Checkpoint | None:
        """The last equal checkpoint at or before an update; None as the update stands for the end."""
        before = [checkpoint for checkpoint in self.equal if step is None or checkpoint.step <= step]
        return before[-1] if before else None


def compare_checkpoints(first: Sequence[Trace], second: Sequence[Trace]) -> Bracket:
    """Compare the checkpoints that both runs wrote: the weights at that moment, or else the contents of the files."""
    pairs = sorted(
        (pair for mine, theirs in zip(first, second, strict=False) for pair in _pairs(mine, theirs)),
        key=lambda pair: pair[0].step,
    )
    equal: list[Checkpoint] = []
    for mine, theirs in pairs:
        if not _is_equal(mine, theirs):
            # Another file of the same update was equal: not to be started from.
            return Bracket(tuple(one for one in equal if one.step < mine.step), mine)
        equal.append(mine)
    return Bracket(tuple(equal))


def _pairs(mine: Trace, theirs: Trace) -> Iterable[tuple[Checkpoint, Checkpoint]]:
    """Checkpoints at the same position among those of their update."""
    other = dict(_numbered(theirs))
    return ((checkpoint, other[key]) for key, checkpoint in _numbered(mine) if key in other)


def _numbered(trace: Trace) -> Iterable[tuple[tuple[int, int], Checkpoint]]:
    counts: dict[int, int] = {}
    for checkpoint in trace.checkpoints:
        number = counts[checkpoint.step] = counts.get(checkpoint.step, -1) + 1
        yield (checkpoint.step, number), checkpoint


def _is_equal(mine: Checkpoint, theirs: Checkpoint) -> bool:
    if mine.weights is not None and theirs.weights is not None:
        return mine.weights == theirs.weights
    return mine.contents == theirs.contents


@dataclass(frozen=True, slots=True)
class Start:
    """Where a pair of runs begins, if not at update 0.

    Attributes:
        step: number of updates in the checkpoint.
        file: of the checkpoint, relative to the project.
        folder: planted folder, relative to the folder of experiments; files: those in it, relative to the project.
        words: added to the command.
    """

    step: int
    file: str
    folder: str
    files: tuple[str, ...]
    words: tuple[str, ...] = ()


class KeptCheckpoints:
    """The kept files of the first run, from which planted folders are made.

    Attributes:
        steps: numbers of updates of which files were kept, in order.
    """

    def __init__(self, attempt: Path, others: Sequence[Path], experiment: Path) -> None:
        """Keep the files of one attempt, and remove those of `others`."""
        self.folder = artifacts_folder(attempt) / KEPT
        self.experiment = experiment
        for other in others:
            shutil.rmtree(artifacts_folder(other) / KEPT, ignore_errors=True)
        names = [path.name for path in self.folder.iterdir()] if self.folder.is_dir() else []
        self.steps = tuple(sorted(int(name) for name in names if name.isdecimal()))

    def start_from(self, checkpoint: Checkpoint, *, cwd: str, template: str = "") -> Start:
        """Make the planted folder of a checkpoint: all files as they were after its update.

        Args:
            cwd: the working folder of the command, relative to the project.
            template: words that are added to the command; `{checkpoint}` stands for the file.
        """
        planted = planted_folder(self.experiment, checkpoint.step)
        files: dict[str, None] = {}
        for step in (step for step in self.steps if step <= checkpoint.step):
            files |= dict.fromkeys(plant_files(self.folder / str(step), planted))
        name = self._named(checkpoint)
        file = os.path.relpath(name, cwd or ".")
        words = tuple(word.replace("{checkpoint}", file) for word in shlex.split(template))
        return Start(checkpoint.step, name, planted.relative_to(self.experiment.parent).as_posix(), tuple(files), words)

    def _named(self, checkpoint: Checkpoint) -> str:
        """The file or folder that stands for a checkpoint: the largest file, rather one that is not called best."""
        folder = self.folder / str(checkpoint.step)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        largest = max(files, key=lambda path: (not BEST.search(path.stem), path.stat().st_size))
        above = largest.parent
        chosen = above if above != folder and NUMBERED.fullmatch(above.name) else largest
        return chosen.relative_to(folder).as_posix()

    def remove(self) -> None:
        """Remove the kept files and the planted folders."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for step in self.steps:
            shutil.rmtree(planted_folder(self.experiment, step), ignore_errors=True)


def can_resume(folder: Path) -> bool:
    """Whether the frozen project has code that loads a checkpoint, judged by its text."""
    for path in folder.rglob("*.py"):
        try:
            if LOADS.search(path.read_text(encoding="utf-8", errors="replace")):
                return True
        except OSError:
            continue
    return False
