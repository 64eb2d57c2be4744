"""Is the headline of `deviate run` the result that a script itself announces, with its values?

A case is a folder with `train.py` and `want.json`, and with other files that the script needs. `want.json` may have:

- `truth`: a pattern with one group, the right value in what a run wrote to standard output, or to standard error where
  `stream` is `stderr`; `how`, `last` (of several matches) or `mean`; `either`: patterns in its place of which one has
  to be right; `file`: what the script leaves in its folder, where the truth is instead; a pickled number reads `T 0.5`;
- `direction`: `max`, `min`, or null where none may be claimed;
- `series`: patterns of values that must each be a series of its own; `n_series`: at most so many series;
- `never`, `must`: texts that the output must not, or must, have;
- `prepare`: a script of the case that runs once before deviate, in the folder of the project;
- `args`: further arguments of `deviate run`; `note`: a word to the reader.
"""

import csv
import io
import json
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNS = 1

KEEP = """
import shutil as _s, uuid as _u, os as _o
_s.copy({file!r}, {folder!r} + '/' + _o.environ.get('DEVIATE_REPLICATE', '') + _u.uuid4().hex)
"""
"""What keeps the truth outside of the work copy, one file a run."""

HEADLINE = re.compile(r"^Result: (.+?) \(mean|^Result: (\S+)", re.MULTILINE)
PROGRESS = re.compile(r"replicate (\d+) · completed · [^·]+ · (\S+) ([-\d.e]+)")


@dataclass(frozen=True)
class Case:
    """A script, and what is right to say of it."""

    folder: Path
    want: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name


@dataclass(frozen=True)
class Truth:
    """A value that a script announced, and the unit to which it was rounded."""

    value: float
    unit: float

    def is_close(self, score: float) -> bool:
        """Whether a score is this value, as it was printed; a share may be a percentage in one of the two."""
        apart = min(abs(self.value - score), abs(self.value / 100 - score), abs(self.value - score / 100))
        return apart <= max(0.51 * self.unit, 1e-6 * abs(self.value))


@dataclass(frozen=True)
class Said:
    """What deviate said of a case: on the terminal, in its table, and the logs of the runs with what they kept."""

    terminal: str
    table: str
    logs: list[str]
    kept: list[str]

    @property
    def rows(self) -> list[dict[str, str]]:
        begins = max(self.table.find("experiment"), 0)
        return list(csv.DictReader(io.StringIO(self.table[begins:])))

    @property
    def names(self) -> list[str]:
        """The series, in the order of the table."""
        return list(dict.fromkeys(row["metric"] for row in self.rows if row.get("metric")))

    @property
    def headline(self) -> str | None:
        """The name of the series that the first screen leads with."""
        found = HEADLINE.search(self.terminal)
        words = (found[1] or found[2]) if found else ""
        return next((name for name in self.names if words.startswith(name)), None)

    def scores(self, name: str | None) -> dict[int, float]:
        """The scores of a series by replicate."""
        rows = (row for row in self.rows if row.get("metric") == name and row.get("score"))
        return {int(row["replicate"]): float(row["score"]) for row in rows}


def read_cases(folder: Path) -> list[Case]:
    """All cases of a folder, in the order of their names."""
    wants = sorted(folder.glob("*/want.json"), key=lambda path: path.parent.name)
    return [Case(path.parent, json.loads(path.read_text(encoding="utf-8"))) for path in wants]


def ask_deviate(case: Case, folder: Path, deviate_in: Callable[[Path], Callable[..., Any]]) -> Said:
    """Run a case in a folder that does not exist yet, which becomes the project."""
    kept = folder / "truth"
    other = shutil.ignore_patterns("want.json", "__pycache__", str(case.want.get("prepare", "")))
    shutil.copytree(case.folder, folder, ignore=other)
    file = case.want.get("file")
    if file:
        kept.mkdir()
        with (folder / "train.py").open("a", encoding="utf-8") as script:
            script.write(KEEP.format(file=file, folder=str(kept)))
    if prepare := case.want.get("prepare"):
        subprocess.run([sys.executable, str((case.folder / prepare).resolve())], cwd=folder, check=True)
    ask = deviate_in(folder)
    terminal = ask("run", "train.py", "--runs", str(RUNS), "--name", "a", *case.want.get("args", ())).both
    table = ask("report", "a", "--csv", "-", "-q").out
    stream = case.want.get("stream", "stdout")
    written = sorted(folder.glob(f".deviate/experiments/a/runs/*/attempt-1/{stream}.log"))
    logs = [path.read_text(encoding="utf-8", errors="replace") for path in written]
    return Said(terminal, table, logs, [_kept_text(path, file) for path in sorted(kept.glob("*"))] if file else [])


def find_problems(case: Case, said: Said) -> list[str]:
    """What is not as `want.json` has it; nothing where deviate is right."""
    checks = (_check_truth, _check_progress, _check_series, _check_direction, _check_words)
    return [problem for check in checks for problem in check(case.want, said)]


def _check_truth(want: dict[str, Any], said: Said) -> Iterator[str]:
    if "truth" not in want:
        return
    how = want.get("how", "last")
    scores = sorted(said.scores(said.headline).values()) if said.headline else []
    sources = said.kept or said.logs
    patterns = want.get("either", [want["truth"]])
    candidates = [_truths(sources, pattern, how) for pattern in patterns]
    if not any(_are_equal(truths, scores) for truths in candidates):
        right = [round(truth.value, 4) for truth in candidates[-1]]
        yield f"headline {said.headline} {[round(score, 4) for score in scores]}, right {right}"


def _check_progress(want: dict[str, Any], said: Said) -> Iterator[str]:
    """Progress lines show the number of the result."""
    scores = said.scores(said.headline)
    for replicate, name, value in PROGRESS.findall(said.terminal):
        score = scores.get(int(replicate))
        if name == said.headline and score is not None and abs(float(value) - score) > 1e-4 * max(1, abs(score)):
            yield f"progress of replicate {replicate} shows {value}, the result {score:.6g}"
            return


def _check_series(want: dict[str, Any], said: Said) -> Iterator[str]:
    for pattern in want.get("series", ()):
        right = _truths(said.logs, pattern, "last")
        if not any(_are_equal(right, sorted(said.scores(name).values())) for name in said.names):
            yield f"no series for {pattern}"
    if len(said.names) > want.get("n_series", len(said.names)):
        yield f"{len(said.names)} series: {said.names}"


def _check_direction(want: dict[str, Any], said: Said) -> Iterator[str]:
    if "direction" not in want or said.headline is None:
        return
    first = said.terminal.split("Not chosen")[0]
    is_higher, is_lower = "higher is better" in first, "lower is better" in first
    if want["direction"] is None and (is_higher or is_lower):
        yield "a direction is claimed"
    claims = {"max": is_lower and not is_higher, "min": is_higher and not is_lower}
    if claims.get(want["direction"]):
        yield "the direction is wrong"


def _check_words(want: dict[str, Any], said: Said) -> Iterator[str]:
    yield from (f"says {word!r}" for word in want.get("never", ()) if word in said.terminal + said.table)
    yield from (f"does not say {word!r}" for word in want.get("must", ()) if word not in said.terminal)


def _truths(sources: Iterable[str], pattern: str, how: str) -> list[Truth]:
    """The right values of the runs, sorted: kept files do not say whose they are."""
    found = (re.findall(pattern, source, re.MULTILINE) for source in sources)
    reading: Callable[[list[str]], float] = _mean if how == "mean" else _last
    truths = (Truth(reading(texts), 10.0 ** -len(texts[-1].partition(".")[2])) for texts in found if texts)
    return sorted(truths, key=lambda truth: truth.value)


def _mean(texts: list[str]) -> float:
    return sum(map(float, texts)) / len(texts)


def _last(texts: list[str]) -> float:
    return float(texts[-1])


def _are_equal(right: list[Truth], scores: list[float]) -> bool:
    """Whether the scores of all runs are the right values, both sorted."""
    return len(right) == len(scores) == RUNS and all(map(Truth.is_close, right, scores))


def _kept_text(path: Path, file: str) -> str:
    """What a run kept of this file: its text, or `T` with the number that was pickled."""
    return f"T {pickle.loads(path.read_bytes()):.10f}" if file.endswith(".pkl") else path.read_text(encoding="utf-8")
