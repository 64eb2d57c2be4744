"""Replay public programs unmodified, and hold what is on record and in the report against what they reported.

    python benchmarks/programs.py LIST.json SOURCES [--only ID ...] [--bin FOLDER] [--plain] [--write RESULTS.md]

SOURCES holds a plain checkout of each program as owner+name/<commit>/; `--bin` is the folder of the interpreter that
has their packages. Each program runs twice plainly in copies of its checkout, which tells whether its standard output
can be compared, and then under `deviate run --runs 2 --variants as-is`. What LIST says about it was written before the
first of these runs (`--plain` tries it out without deviate); benchmarks/programs/README.md says how.
"""

import argparse
import csv
import fnmatch
import hashlib
import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from one_score import find_differences

import deviate
from deviate.records.layout import attempt_folder, runs_folder, snapshot_folder
from deviate.records.main_loop import confirm_main_loop
from deviate.records.snapshot import read_manifest

LIMIT = 600.0
"""Seconds for a plain run; four times as much for deviate."""

NAME = "program"
"""Of the experiment."""

COMMAND = ("run", "--runs", "2", "--variants", "as-is", "--jobs", "1", "--name", NAME, "--json")

FLOAT32 = 1e-6
"""Relative error of a number that was written with all digits of a single-precision one."""

SHOWN = {
    "torch",
    "tensorflow_cpu",
    "tensorflow",
    "jax",
    "keras",
    "lightning",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "numpy",
}
"""Packages whose versions are written."""

Values = dict[str, list[float]]


@dataclass
class Outcome:
    """One program, and how its replay deviated from it."""

    id: str
    kind: str
    seconds: float = 0.0
    stdout: str = ""
    main_loop: str = "none"
    n_metrics: int = 0
    n_recorded: int = 0
    n_published: int = 0
    n_values: int = 0
    n_shown: int = 0
    n_false: int = 0
    n_silent: int = 0
    is_unchanged: bool = False
    deviations: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        return not self.deviations


@dataclass(frozen=True)
class Output:
    """What a run left: the folder of `stdout.log` and `stderr.log`, and the project in which it ran."""

    logs: Path
    project: Path

    def text(self, stream: str) -> str:
        return (self.logs / f"{stream}.log").read_text(errors="surrogateescape")


def replay(entry: dict, sources: Path, folder: Path, path: str, *, is_plain: bool) -> Outcome:
    """Run a program plainly and under deviate in `folder`, and compare."""
    outcome = Outcome(entry["id"], entry["kind"])
    checkout = sources / entry["repo"].replace("/", "+") / entry["commit"]
    environment = os.environ | {"MPLBACKEND": "Agg", "PATH": path + os.pathsep + os.environ["PATH"]}
    environment |= entry.get("environment", {})
    plain = [Output(folder / name, copy(checkout, folder / name / "project")) for name in ("first", "second")]
    for output in plain:
        begun = time.monotonic()
        code, word = execute(entry["command"], output.project / entry["cwd"], environment, LIMIT, output.logs)
        outcome.seconds = time.monotonic() - begun
        if code:
            outcome.deviations.append(f"does not run: {word}")
            return outcome
    check_labels(entry, outcome, plain, is_verbose=is_plain)
    if not is_plain:
        project = copy(checkout, folder / "replayed" / "project")
        before = contents(project)
        written = folder / "report.json"
        words = [str(Path(sys.executable).with_name("deviate")), *COMMAND, str(written), "--", *entry["command"]]
        code, word = execute(words, project / entry["cwd"], environment, 4 * LIMIT, folder / "replayed")
        outcome.is_unchanged = contents(project) == before
        if not outcome.is_unchanged:
            outcome.deviations.append("the project folder has changed")
        if code or not written.exists():
            outcome.deviations.append(f"deviate ended with {code}: {word}")
        if written.exists():
            compare(entry, outcome, plain[0], project, json.loads(written.read_text()))
            compare_scores(outcome, folder / "replayed", project, project / entry["cwd"], environment)
    return outcome


def check_labels(entry: dict, outcome: Outcome, plain: list[Output], *, is_verbose: bool) -> None:
    """Do the labels hold of two plain runs?"""
    for label in entry["metrics"]:
        n_values = len(reported_values(label, plain[0], entry["cwd"]))
        if not label.get("optional"):
            outcome.n_metrics += 1
            outcome.n_values += label.get("count", n_values)
        if is_verbose:
            print(f"    {label['name']}: {n_values} values", flush=True)
        if not n_values:
            outcome.deviations.append(f"{label['name']}: the label reads nothing of what a plain run left")
    is_equal = masked(entry, plain[0]) == masked(entry, plain[1])
    outcome.stdout = "-" if is_equal else "varies"
    if is_equal != entry["is_deterministic"]:
        what = "is equal" if is_equal else "differs"
        outcome.deviations.append(f"standard output of two plain runs {what}: labelled otherwise")


def compare(entry: dict, outcome: Outcome, plain: Output, project: Path, report: dict) -> None:
    """Hold the replay against what the program reported."""
    runs = sorted(deviate.read(NAME, folder=project)[0].runs, key=lambda run: run.replicate)
    outputs = [Output(run.folder, next(run.folder.glob("work/*/project"))) for run in runs]
    if outcome.stdout != "varies":
        n_equal = sum(masked(entry, output) == masked(entry, plain) for output in outputs)
        outcome.stdout = "equal" if n_equal == len(outputs) else "differs"
        if n_equal < len(outputs):
            outcome.deviations.append(f"standard output is that of a plain run in {n_equal} of {len(outputs)} runs")
    compare_main_loop(entry, outcome, project / ".deviate" / "experiments" / NAME)
    compare_values(entry, outcome, outputs, runs, project, report)


def compare_scores(outcome: Outcome, logs: Path, project: Path, cwd: Path, environment: dict[str, str]) -> None:
    """Do all outputs give the same score of each run?"""

    def ask(*words: str) -> str:
        program = str(Path(sys.executable).with_name("deviate"))
        done = subprocess.run([program, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    said = Output(logs, project).text("stdout") + Output(logs, project).text("stderr")
    outcome.deviations += find_differences(ask, project, NAME, said)


def copy(checkout: Path, project: Path) -> Path:
    """A copy of a checkout as somebody works in it, with a history of one commit."""
    shutil.copytree(checkout, project, symlinks=True)
    identity = ["-c", "user.name=-", "-c", "user.email=-", "-c", "core.autocrlf=false"]
    for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "--no-verify", "-m", "checkout"]):
        subprocess.run(["git", *identity, *words], cwd=project, check=True, capture_output=True)
    return project


def execute(words: list[str], folder: Path, environment: dict[str, str], limit: float, logs: Path) -> tuple[int, str]:
    """Exit code and the line of standard error that tells most; both streams go into `logs`."""
    with (logs / "stdout.log").open("wb") as stdout, (logs / "stderr.log").open("wb") as stderr:
        try:
            code = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
                                  stderr=stderr, timeout=limit, check=False).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = 124
    lines = (logs / "stderr.log").read_text(errors="replace").strip().splitlines()
    return code, next((line for line in lines if line.startswith("Error: ")), lines[-1] if lines else "")


def contents(project: Path) -> dict[str, str]:
    """Digest of each file of a project, but for git's and deviate's own."""
    paths = (path for path in sorted(project.rglob("*")) if not {".git", ".deviate"} & set(path.parts))
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        for path in paths
    }


def masked(entry: dict, output: Output) -> str:
    """Standard output without what reads a clock."""
    text = output.text("stdout")
    for pattern in entry["clocks"]:
        text = re.sub(pattern, "#", text, flags=re.MULTILINE)
    return text


def compare_main_loop(entry: dict, outcome: Outcome, experiment: Path) -> None:
    """Where the main loop is, by what the runs counted."""
    manifest = read_manifest(snapshot_folder(experiment))
    attempt = attempt_folder(min(runs_folder(experiment).iterdir()), 1)
    chosen = confirm_main_loop(manifest, attempt).id
    place = next((str(loop.place) for loop in manifest.loops if loop.id == chosen), "none")
    outcome.main_loop = "right" if place in entry["main_loops"] else place
    if outcome.main_loop != "right":
        outcome.deviations.append(f"main loop: {place} instead of {entry['main_loops'][0]}")


def compare_values(
    entry: dict, outcome: Outcome, outputs: list[Output], runs: list, project: Path, report: dict
) -> None:
    """Metric by metric: is what each run reported on record and in the report's data?"""
    recorded = [{name: list(series.values) for name, series in run.series.items()} for run in runs]
    published = [published_values(project, report, run.replicate) for run in runs]
    shown = [metric["metric"] for metric in report["experiments"][0]["metrics"]]
    explained: set[str] = set()
    partial: set[str] = set()
    for label in entry["metrics"]:
        ways = [[label], [label | {"read": part} for part in label.get("parts", [])]]
        reported = [
            [[reported_values(part, output, entry["cwd"]) for output in outputs] for part in parts]
            for parts in ways
            if parts
        ]
        on_record = first_of(label, reported, recorded)
        in_report = first_of(label, reported, published) & set(shown)
        explained |= on_record | in_report
        whole = reported[0][0]
        if not on_record or not in_report:
            partial |= {name for name, values in recorded[0].items() if values and is_within(values, whole[0])}
        if label.get("optional"):
            continue
        outcome.n_recorded += bool(on_record)
        outcome.n_published += bool(in_report)
        for where, names, values in (("record", on_record, recorded), ("report", in_report, published)):
            if not names:
                outcome.deviations.append(f"{label['name']}: not in the {where}: {nearest(label, whole[0], values[0])}")
    silent = [name for name in shown if not any(values.get(name) for values in recorded)]
    known = {*explained, *partial, *silent}
    accepted = entry.get("accepted", [])
    roles = {metric["metric"]: metric["role"] for metric in report["experiments"][0]["metrics"]}
    unknown = [name for name in shown if name not in known and roles[name] != "other"]
    false = [name for name in unknown if not any(fnmatch.fnmatchcase(name, pattern) for pattern in accepted)]
    outcome.n_shown, outcome.n_silent, outcome.n_false = len(shown), len(silent), len(false)
    for names, what in ((silent, "never reported"), (false, "no metric")):
        if names:
            outcome.deviations.append(f"shown and {what}: {', '.join(names)}")


def published_values(project: Path, report: dict, replicate: int) -> Values:
    """What the data of the report holds of a run: its curves, and scores of what has no curve."""
    values: Values = defaultdict(list)
    curves = project / ".deviate" / "reports" / NAME / "curves.csv"
    for row in csv.DictReader(curves.read_text().splitlines() if curves.exists() else ()):
        if int(row["replicate"]) == replicate:
            values[row["metric"]].append(float(row["value"]))
    for metric in report["experiments"][0]["metrics"]:
        if metric["metric"] not in values:
            scores = (score["score"] for score in metric["scores"] if score["replicate"] == replicate)
            values[metric["metric"]] = [float(score) for score in scores if not isinstance(score, dict)]
    return values


def reported_values(label: dict, output: Output, cwd: str) -> list[str]:
    """The values of a metric in the order in which a run reported them, as texts, from what it left."""
    return list(read_values(label["read"], output, cwd))[slice(*label["read"].get("slice", (None,)))]


def read_values(how: dict, output: Output, cwd: str) -> Iterator[str]:
    for stream in ("stdout", "stderr"):
        if stream in how:
            yield from (match[1] for match in re.finditer(how[stream], output.text(stream), re.MULTILINE))
    for path in sorted((output.project / cwd).glob(how["file"])) if "file" in how else ():
        if "tag" in how:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

            events = EventAccumulator(str(path), size_guidance={"scalars": 0}).Reload()
            if how["tag"] in events.Tags()["scalars"]:
                yield from (repr(event.value) for event in events.Scalars(how["tag"]))
        else:
            with path.open(newline="") as file:
                yield from (row[how["column"]] for row in csv.reader(file))


def first_of(label: dict, reported: list[list[list[list[str]]]], values: list[Values]) -> set[str]:
    """The metrics that hold what was reported: all of it in one, or each part of it in one."""
    for parts in reported:
        found = [holders(label, part, values) for part in parts]
        if all(found):
            return set().union(*found)
    return set()


def holders(label: dict, reported: list[list[str]], values: list[Values]) -> set[str]:
    """The metrics that hold in every run what was reported, in its order and as often."""
    if not all(reported):
        return set()
    pairs = list(zip(reported, values, strict=True))
    return {name for name in values[0] if all(holds(label, texts, of_run.get(name, [])) for texts, of_run in pairs)}


def holds(label: dict, texts: list[str], values: list[float]) -> bool:
    if label.get("is_percent") and holds(label | {"is_percent": False}, texts, [100 * value for value in values]):
        return True  # the program formats a share as percent
    if "count" in label or label.get("is_sampled"):  # some of the values are shown, and some more than once
        is_whole = len(values) == label.get("count", len(values))
        return is_whole and is_subsequence([text for text, _ in groupby(texts)], values)
    return len(texts) == len(values) and all(map(agrees, texts, values))


def is_subsequence(texts: list[str], values: list[float]) -> bool:
    rest = iter(values)
    return all(any(agrees(text, value) for value in rest) for text in texts)


def agrees(text: str, value: float) -> bool:
    """Is that the number that was written, as it was rounded?"""
    written = float(text)
    if not math.isfinite(written) or not math.isfinite(value):
        return repr(written) == repr(value)
    mantissa, _, exponent = text.lower().partition("e")
    n_digits = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - n_digits)
    return abs(written - value) <= (0.500001 if n_digits else 0.999999) * unit + FLOAT32 * abs(written)


def is_within(values: list[float], texts: list[str]) -> bool:
    """Are these some of the values that were written?"""
    rest = iter(texts)
    return all(any(agrees(text, value) for text in rest) for value in values)


def nearest(label: dict, texts: list[str], values: Values) -> str:
    """What there is instead, for a reader who looks for the cause."""
    n_reported = label.get("count", len(texts))
    shares = []
    for name, series in values.items():
        rest = iter(series)
        n_common = sum(any(agrees(text, value) for value in rest) for text in texts[:200])
        if n_common or (series and texts and agrees(texts[-1], series[-1])):
            shares.append((n_common, name, len(series)))
    if not shares:
        return f"reported {n_reported} times, no metric has its values"
    _, name, n_values = max(shares)
    return f"reported {n_reported} times, {name} has {n_values} values"


def table(outcomes: list[Outcome]) -> str:
    """What came of it, for docs/results/."""
    heads = ("program", "kind", "plain run", "stdout", "metrics", "values", "on record", "in the report", "shown")
    heads = (*heads, "false", "silent", "main loop", "folder")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for one in outcomes:
        loop = "right" if one.main_loop == "right" else f"`{one.main_loop}`"
        lines.append(
            f"| {one.id} | {one.kind} | {one.seconds:.0f} s | {one.stdout or '-'} | {one.n_metrics} | {one.n_values} | "
            f"{one.n_recorded} | {one.n_published} | {one.n_shown} | {one.n_false} | {one.n_silent} | {loop} | "
            f"{'unchanged' if one.is_unchanged else 'changed'} |"
        )
    sums = [sum(getattr(one, name) for one in outcomes) for name in (
        "n_metrics", "n_values", "n_recorded", "n_published", "n_shown", "n_false", "n_silent")]  # fmt: skip
    lines.append(f"| **{len(outcomes)}** | | | | {' | '.join(map(str, sums))} | | |")
    return "\n".join([*lines, "", scores(outcomes)])


def scores(outcomes: list[Outcome]) -> str:
    """How well the metrics of all reports are those of the programs."""
    n_right = sum(one.n_published for one in outcomes)
    n_missed = sum(one.n_metrics for one in outcomes) - n_right
    n_false = sum(one.n_false for one in outcomes)
    precision = n_right / max(n_right + n_false, 1)
    recall = n_right / max(n_right + n_missed, 1)
    f1 = 2 * n_right / max(2 * n_right + n_missed + n_false, 1)
    counts = f"{n_right} right, {n_missed} missed, {n_false} false"
    return f"In the reports: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f} ({counts})."


def machine(path: str) -> str:
    """Hardware and versions, in a sentence."""
    listing = [str(Path(path or Path(sys.executable).parent, "python")), "-m", "pip", "list", "--format", "freeze"]
    installed = subprocess.run(listing, capture_output=True, text=True, check=False).stdout.split()
    versions = [line.replace("==", " ") for line in installed if line.split("==")[0] in SHOWN]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}"
    python = f"CPython {platform.python_version()}"
    return f"{system}, {python}, {', '.join(versions)}; deviate {metadata.version('deviate')}."


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="ID")
    parser.add_argument("--bin", default="", metavar="FOLDER", help="of the interpreter that has the packages")
    parser.add_argument("--plain", action="store_true", help="only the plain runs, and what the labels read of them")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the table in Markdown")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for the runs, which stay")
    options = parser.parse_args()
    entries = json.loads(options.list.read_text())["programs"]
    outcomes = []
    for entry in entries:
        if options.only and entry["id"] not in options.only:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) if options.keep is None else options.keep / entry["id"]
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            outcome = replay(entry, options.sources.resolve(), folder.resolve(), options.bin, is_plain=options.plain)
        outcomes.append(outcome)
        print(f"{outcome.id}: {'right' if outcome.is_right else f'{len(outcome.deviations)} deviations'}", flush=True)
        for deviation in outcome.deviations:
            print(f"    {deviation}", flush=True)
    text = table(outcomes)
    print("" if options.plain else text)
    if options.write is not None:
        listed = "\n".join(f"- {one.id}: {deviation}" for one in outcomes for deviation in one.deviations)
        options.write.write_text(f"# Programs, replayed\n\n{machine(options.bin)}\n\n{text}\n\n{listed}\n")


if __name__ == "__main__":
    main()
