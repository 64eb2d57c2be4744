"""Frees disk space: work copies of ended runs, temporary folders and caches; logs and records are kept."""

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
from deviate.records.layout import artifacts_folder, attempts, runs_folder
from deviate.records.plans import find_experiment
from deviate.replay.adopt import LEFT_OVER_S, MAKING, refuse_living, temporary_of
from deviate.replay.live_estimates import ExperimentScores
from deviate.replay.states import attempt_states, in_use, recorded_runs
from deviate.replay.workcopy import remove_work_copy

CACHE_S = 3600.0
"""Age from which an unchanged folder in the cache counts as unused."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What was removed, or would be, of one experiment or of the cache.

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
    if by := in_use(recorded_runs(experiment)):
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
                name, problem="has no primary metric to find the best run: nothing of it was removed; use --metric"
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
            problem = f"part of {attempt / 'work'} could not be removed: check its owner and permissions"
    captured = list(_captured_folders(experiment)) if takes_captured else []
    for path in (*other_folders, *captured):
        n_bytes += disk_space(path)
        if not is_dry:
            _remove(path)
    return Cleanup(name, len(going), len(copies) - len(going), len(other_folders), n_bytes, problem, len(captured))


def clean_up_cache(folder: Path, *, is_dry: bool = False) -> Cleanup:
    """Remove unused files below `.cache/`."""
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
    """Bytes on disk that are freed when a file or folder is removed; links are not followed.

    A file with several hard links counts zero, as the others keep it.
    """
    return sum(facts.st_blocks * 512 for facts in _facts(path) if facts.st_nlink == 1 or stat.S_ISDIR(facts.st_mode))


def size(path: Path) -> int:
    """Bytes on disk used by a folder; hard links are counted once, and symbolic links are not followed."""
    blocks = {(facts.st_dev, facts.st_ino): facts.st_blocks * 512 for facts in _facts(path)}
    return sum(blocks.values())


def _links(experiment: Path) -> list[Path]:
    """Record folders that are symbolic links: their targets do not belong to the experiment and are not removed."""
    runs = list(runs_folder(experiment).glob("*"))
    folders = [experiment.parent, experiment, runs_folder(experiment), *runs]
    folders += [attempt for run in runs if run.is_dir() for attempt in attempts(run)]
    return [path for path in folders if path.is_symlink()]


def _work_copies(experiment: Path, *, spares_failed: bool) -> Iterator[tuple[Path, bool]]:
    """Yield attempts with a removable work copy, and whether they completed."""
    for run in sorted(runs_folder(experiment).glob("*/")):
        for attempt in attempt_states(run):
            has_completed = attempt.result is not None and attempt.result.status == "completed"
            if os.path.lexists(attempt.folder / "work") and (has_completed or not spares_failed):
                yield attempt.folder, has_completed


def _others(experiment: Path) -> Iterator[Path]:
    """Temporary folders of runs on this machine, and folders of dead executors that did not become attempts."""
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
    """Folders with captured outputs and weights of all attempts."""
    for run in sorted(runs_folder(experiment).glob("*/")):
        yield from (folder for attempt in attempts(run) if (folder := artifacts_folder(attempt)).is_dir())


def _best_and_worst(scores: ExperimentScores) -> set[str]:
    """Folder names of the completed runs with the highest and the lowest score of each variant.

    Which one is the best depends on the direction of the metric, which may be unknown, so both are kept. A variant
    without scores keeps none.
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
    """Modification time of a path; the current time if it no longer exists."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return time.time()


def _facts(path: Path) -> Iterator[os.stat_result]:
    """Stat results of a path and everything below it; inaccessible files are skipped."""
    with contextlib.suppress(OSError):
        yield path.lstat()
    for folder, folders, files in os.walk(path) if not path.is_symlink() else ():
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                yield Path(folder, name).lstat()
