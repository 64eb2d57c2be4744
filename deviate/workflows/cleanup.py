"""Gives back disk space: work copies of runs that have ended, temporary folders and caches; logs and records stay."""

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deviate.errors import InUseError
from deviate.records import artifacts_folder, attempts, find_experiment, runs_folder
from deviate.replay import LEFT_OVER_S, MAKING, refuse_living, remove_work_copy, temporary_of
from deviate.workflows.live_estimates import ExperimentScores
from deviate.workflows.states import attempt_states, in_use

CACHE_S = 3600.0
"""A folder in the cache that was not touched for so long belongs to nobody."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What was removed of one experiment, or of the cache, or would be.

    Attributes:
        n_copies: work copies removed; n_kept: those that stay because they were asked for.
        n_captured: attempts whose captured outputs and weights were removed.
        n_others: temporary folders, cached folders and folders that never became attempts.
        n_bytes: disk space given back; files that have another name elsewhere, as in the snapshot, give nothing.
        problem: why something stays, for the user; empty where nothing does.
    """

    name: str
    n_copies: int = 0
    n_kept: int = 0
    n_others: int = 0
    n_bytes: int = 0
    problem: str = ""
    n_captured: int = 0


def clean_up(
    folder: Path,
    name: str,
    keep: Literal["none", "best"] = "none",
    *,
    metric: str | None = None,
    aggregate: str | None = None,
    spares_failed: bool = False,
    takes_captured: bool = False,
    is_dry: bool = False,
) -> Cleanup:
    """Remove the work copies of an experiment, but not of one that is being run.

    Args:
        folder: the `.deviate/` folder.
        keep: `best`: of each variant the work copies of the completed runs with the highest and the lowest score stay.
        metric, aggregate: what the scores are, where that departs from what is on record.
        spares_failed: only work copies of completed runs go.
        takes_captured: captured outputs and weights go too.
        is_dry: remove nothing, only tell.

    Raises:
        InputError: there is no experiment of such a name.
        RecordError: a file that everything hangs on is damaged.
    """
    experiment = find_experiment(folder, name)
    if links := _links(experiment):
        return Cleanup(name, problem=f"has a link where a folder belongs, {links[0]}: nothing of it was removed")
    if by := in_use(experiment):
        return Cleanup(name, problem=f"is being run by {by}: nothing of it was removed")
    try:
        refuse_living(runs_folder(experiment).glob("*/"), waits=not is_dry)
    except InUseError as error:
        return Cleanup(name, problem=f"is being run: {error.message}; nothing of it was removed")
    spared: set[str] = set()
    if keep == "best":
        scores = ExperimentScores(experiment, metric, aggregate)
        scores.read()
        if scores.runs and scores.primary() is None:
            return Cleanup(
                name, problem="has no primary metric to tell the best run by: nothing of it was removed; use --metric"
            )
        spared = _best_and_worst(scores)
    copies = list(_work_copies(experiment, spares_failed=spares_failed))
    going = [attempt for attempt, has_completed in copies if not (has_completed and attempt.parent.name in spared)]
    other_folders = list(_others(experiment))
    n_bytes, problem = 0, ""
    for attempt in going:
        space = disk_space(attempt / "work")
        if is_dry or remove_work_copy(attempt):
            n_bytes += space
        else:
            problem = f"something of {attempt / 'work'} could not be removed: check its owner and permissions"
    captured = list(_captured_folders(experiment)) if takes_captured else []
    for path in (*other_folders, *captured):
        n_bytes += disk_space(path)
        if not is_dry:
            _remove(path)
    return Cleanup(name, len(going), len(copies) - len(going), len(other_folders), n_bytes, problem, len(captured))


def clean_up_cache(folder: Path, *, is_dry: bool = False) -> Cleanup:
    """Remove what lies under `.deviate/cache/` but for what somebody may be using."""
    cache = folder / "cache"
    if cache.is_symlink():  # whoever made the project may have made it lead anywhere
        return Cleanup("cache", problem=f"{cache} is a link: nothing behind it was removed")
    old = [path for path in cache.glob("*") if time.time() - _last_change(path) > CACHE_S]
    n_bytes = sum(disk_space(path) for path in old)
    if not is_dry:
        for path in old:
            _remove(path)
    return Cleanup("cache", n_others=len(old), n_bytes=n_bytes)


def disk_space(path: Path) -> int:
    """Bytes on disk that removing a file or folder gives back; links are not followed.

    A file with several names counts nothing: the others keep it.
    """
    return sum(facts.st_blocks * 512 for facts in _facts(path) if facts.st_nlink == 1 or stat.S_ISDIR(facts.st_mode))


def size(path: Path) -> int:
    """Bytes on disk that a folder takes; a file with several names in it counts once, and links are not followed."""
    blocks = {(facts.st_dev, facts.st_ino): facts.st_blocks * 512 for facts in _facts(path)}
    return sum(blocks.values())


def _links(experiment: Path) -> list[Path]:
    """Folders of the record that are links: what lies behind them is not the experiment's, and is not removed."""
    runs = list(runs_folder(experiment).glob("*"))
    folders = [experiment.parent, experiment, runs_folder(experiment), *runs]
    folders += [attempt for run in runs if run.is_dir() for attempt in attempts(run)]
    return [path for path in folders if path.is_symlink()]


def _work_copies(experiment: Path, *, spares_failed: bool) -> Iterator[tuple[Path, bool]]:
    """Attempts that have a work copy which may go, and whether they completed."""
    for run in sorted(runs_folder(experiment).glob("*/")):
        for attempt in attempt_states(run):
            has_completed = attempt.result is not None and attempt.result.status == "completed"
            if os.path.lexists(attempt.folder / "work") and (has_completed or not spares_failed):
                yield attempt.folder, has_completed


def _others(experiment: Path) -> Iterator[Path]:
    """Temporary folders of runs on this machine, and folders of executors that died before they became attempts."""
    for run in sorted(runs_folder(experiment).glob("*/")):
        for attempt in attempt_states(run):
            claim = attempt.claim
            temporary = None if claim is None else temporary_of(attempt.folder, claim)
            if temporary is not None:
                yield temporary
        yield from (
            leftover for leftover in run.glob(f"{MAKING}*") if time.time() - _last_change(leftover) > LEFT_OVER_S
        )


def _captured_folders(experiment: Path) -> Iterator[Path]:
    """Folders of captured outputs and weights, of all attempts."""
    for run in sorted(runs_folder(experiment).glob("*/")):
        yield from (folder for attempt in attempts(run) if (folder := artifacts_folder(attempt)).is_dir())


def _best_and_worst(scores: ExperimentScores) -> set[str]:
    """Names of the folders of the completed runs with the highest and the lowest score of each variant.

    Which of the two is the best depends on the direction of the metric; both are kept, so it need not be known. A
    variant without scores keeps nothing.
    """
    primary = scores.primary()
    by_variant: dict[str, list[tuple[float, int, str]]] = {}
    for run, score in scores.runs.items():
        if primary in score.scores:
            by_variant.setdefault(score.variant, []).append((score.scores[primary], score.replicate, run))
    return {ends[2] for those in by_variant.values() for ends in (min(those), max(those))}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _last_change(path: Path) -> float:
    """When a path was modified last; now for one that has gone meanwhile."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return time.time()


def _facts(path: Path) -> Iterator[os.stat_result]:
    """What the system knows of every file and folder below a path, and of itself; what cannot be seen is left out."""
    with contextlib.suppress(OSError):
        yield path.lstat()
    if path.is_symlink():
        return
    try:
        entries = list(os.scandir(path))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _facts(Path(entry.path))
        else:
            with contextlib.suppress(OSError):
                yield entry.stat(follow_symlinks=False)
