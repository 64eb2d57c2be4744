"""Changes single bytes of records, and tells what a reader notices of it."""

import pickle
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deviate.errors import DeviateError
from deviate.model.records import Experiment, Run
from deviate.pipeline import describe_variants
from deviate.records import environment
from deviate.records.read import read_experiment
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stability.captures.collect import captured_of
from deviate.stats.options import AnalysisOptions


@dataclass(frozen=True)
class Seen:
    """What a reader gets of an experiment: its runs without sentences, its arrays, all sentences; or the error."""

    runs: tuple[tuple[str, Run], ...] = ()
    rest: tuple[Experiment, ...] = ()
    arrays: tuple[bytes, ...] = ()
    sentences: tuple[str, ...] = ()
    error: str = ""


def look(folder: Path) -> Seen:
    environment.read_platform.cache_clear()  # a process reads a file once
    try:
        experiments = read_experiment(folder)
        arrays = tuple(pickle.dumps(captured_of(it)) for it in experiments)
    except DeviateError as error:
        return Seen(error=str(error))
    runs = tuple((it.variant, replace(run, warnings=())) for it in experiments for run in it.runs)
    sentences = [*(text for it in experiments for text in it.warnings)]
    sentences += [text for it in experiments for run in it.runs for text in (run.reason, *run.warnings)]
    rest = tuple(replace(it, runs=(), warnings=()) for it in experiments)
    return Seen(runs, rest, arrays, tuple(sentences))


def record_files(experiment: Path) -> list[Path]:
    """The files of an experiment but for work copies, which are the script's, and locks."""
    found = (path for path in experiment.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(it for it in found if "work" not in it.relative_to(experiment).parts and it.stat().st_size)


def change_byte(path: Path, rng: random.Random) -> bytes:
    """Give one byte of a file another value; gives what the file was."""
    before = path.read_bytes()
    at = rng.randrange(len(before))
    changed = rng.choice([it for it in range(256) if it != before[at]])
    if rng.random() < 0.5 and chr(before[at]).isdigit():  # the worst that can happen: one digit for another
        changed = ord(rng.choice([it for it in "0123456789" if ord(it) != before[at]]))
    path.write_bytes(before[:at] + bytes([changed]) + before[at + 1 :])
    return before


def report_of(folder: Path) -> str:
    """The report of an experiment as JSON, its figures unrounded."""
    options = AnalysisOptions()
    return render(build_report(describe_variants(read_experiment(folder), options)), "json")


def unnoticed(
    experiments: Sequence[Path], n: int, seed: int, *, report_every: int = 0
) -> tuple[list[str], Counter[str]]:
    """What `n` changes did that no reader was told of by name, and how many were harmless, told, or an error.

    Args:
        report_every: of the changes that readers were told of, every so many is looked for in a report as well.
    """
    rng = random.Random(seed)
    usual = {it: look(it) for it in experiments}
    flaws: list[str] = []
    counts: Counter[str] = Counter()
    for number in range(n):
        experiment = rng.choice(list(experiments))
        files = record_files(experiment)
        ours = [it for it in files if "guest" not in it.parts]  # the guest has more files than all the rest
        path = rng.choice(ours if rng.random() < 0.9 else files)
        before = change_byte(path, rng)
        try:
            seen, was = look(experiment), usual[experiment]
            is_shown = report_every and seen != was and not seen.error and counts["told"] % report_every == 0
            shown = report_of(experiment) if is_shown else ""
        finally:
            path.write_bytes(before)
        if seen == was:
            counts["harmless"] += 1
            continue
        counts["error" if seen.error else "told"] += 1
        new = " ".join([seen.error, *(it for it in seen.sentences if it not in was.sentences)])
        place = path.relative_to(experiment)
        if path.name not in new and (place.parts[0] != "runs" or place.parts[1] not in new):
            flaws.append(f"change {number} of {place}: {new!r}")
        numbers = [(variant, replace(run, environment={})) for variant, run in was.runs]
        if shown and path.name not in shown and (place.parts[0] != "runs" or place.parts[1] not in shown):
            flaws.append(f"change {number} of {place} is not in the report")
        changed = [
            run
            for variant, run in seen.runs
            if (variant, replace(run, environment={})) not in numbers and not run.reason.startswith("damaged")
        ]
        if changed and not seen.error and seen.rest == was.rest:
            flaws.append(f"change {number} of {place} has changed {[run.replicate for run in changed]}")
    return flaws, counts
