"""Score the analyzer on labelled scripts: precision and recall of the metrics, main loops, seconds per script.

    python benchmarks/analyzer.py LABELS.json SOURCES [--only ID] [--trait single-file] [--verbose]

SOURCES holds a plain checkout of each labelled project as owner+name/<commit>/. Nothing of them is run.

A prediction is right when a label of the same statement has the same expression; blanks, quotes and superfluous
parentheses do not matter, and the header of a compound statement is a statement of its own. What a framework reports
by itself (sink "history") has no statement and is known by its key. A label may name equivalent places ("also"). A
second accepted spelling of a value beside the first, values labelled as out of scope, and those that other arguments
reach ("accepted_extra") are neither right nor wrong. A run that fails or takes more than a minute counts as no
predictions.
"""

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import time
import tokenize
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

LIMIT = 60.0
"""Seconds for one script."""

LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)

Key = tuple[str, int, str]
"""What tells two values apart: file, first line of the statement and expression; or ("history", 0, key)."""


@dataclass
class Outcome:
    """One script: what was found of what is labelled."""

    name: str
    status: str
    seconds: float
    is_loop_right: bool = False
    loop: str = "none"
    n_labels: int = 0
    missed: list[Key] = field(default_factory=list)
    wrong: list[Key] = field(default_factory=list)
    n_distractors: int = 0

    @property
    def n_hits(self) -> int:
        return self.n_labels - len(self.missed)

    @property
    def is_right(self) -> bool:
        return self.is_loop_right and not self.missed and not self.wrong


def outcome(entry: dict, folder: Path) -> Outcome:
    """Analyse one script and compare the answer with its labels."""
    document, status, seconds = answer(folder / entry["script"], folder)
    loop = document.get("main_loop") or {}
    truth = entry["main_loop"]
    places = [(place["file"], place["line"]) for place in (truth, *truth.get("alternatives", []))]
    missed, wrong = compare(entry, document.get("metrics", []), folder)
    distractors = {key_of(item, folder) for item in entry["distractors"]}
    return Outcome(
        name=entry["id"],
        status=status,
        seconds=seconds,
        is_loop_right=(loop.get("file"), loop.get("line")) in places,
        loop=f"{loop['file']}:{loop['line']}" if loop else "none",
        n_labels=len(entry["metrics"]),
        missed=missed,
        wrong=wrong,
        n_distractors=len(distractors & set(wrong)),
    )


def answer(script: Path, folder: Path) -> tuple[dict, str, float]:
    """What the command says of a script: its document, `ok` or what went wrong, and the seconds of the process."""
    command = [sys.executable, "-P", "-m", "deviate", "analyze", "--format", "json", str(script)]
    start = time.perf_counter()
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {}, "too long", LIMIT
    seconds = time.perf_counter() - start
    if run.returncode:
        return {}, f"exit status {run.returncode}", seconds
    return json.loads(run.stdout), "ok", seconds


def compare(entry: dict, predictions: list[dict], folder: Path) -> tuple[list[Key], list[Key]]:
    """The labels that were missed and the predictions that are wrong."""
    left = {key_of(item, folder): str(item["name"]) for item in predictions}
    used: set[Key] = set()
    missed = []
    for label in sorted(entry["metrics"], key=lambda label: label["sink"] == "history"):
        found = {key for item in (label, *label.get("accept", [])) for key in find_keys(item, left, folder)[:1]}
        for place in label.get("also", []):  # the same value, as often, at an equivalent place
            if not found:
                found = set(find_keys(place, left, folder)[:1])
            if not found and place.get("shared"):
                found = {key_of(place, folder)} & used
        if not found:
            missed.append(key_of(label, folder))
        used |= found
        for key in found:
            left.pop(key, None)
    for item in (*entry.get("out_of_scope", []), *entry.get("accepted_extra", [])):
        for key in find_keys(item, left, folder):
            del left[key]
    return missed, list(left)


def find_keys(item: dict, left: dict[Key, str], folder: Path) -> list[Key]:
    """The predictions, by name, that fall on a place; what a framework reports may be predicted at any place."""
    key = key_of(item, folder)
    if key in left:
        return [key]
    if item.get("sink") != "history":
        return []
    return [key for key, name in left.items() if item["expression"] in {name, key[2]}]


def key_of(item: dict, folder: Path) -> Key:
    """What identifies a labelled or predicted value."""
    if item.get("sink") == "history":
        return "history", 0, item["expression"].strip("'\"")
    line = item["line"]
    return item["file"], first_lines(folder / item["file"]).get(line, line), without_layout(item["expression"])


@cache
def first_lines(path: Path) -> dict[int, int]:
    """The first line of the statement that each line belongs to.

    From tokens, not from a tree: sources for an older Python have statements, too.
    """
    first: dict[int, int] = {}
    begin = 0
    try:
        with tokenize.open(path) as stream:
            text = stream.read()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in LAYOUT:
                continue
            begin = begin or token.start[0]
            if token.type == tokenize.NEWLINE:
                first.update(dict.fromkeys(range(begin, token.start[0] + 1), begin))
                begin = 0
    except (OSError, SyntaxError, tokenize.TokenError):
        pass  # the lines behind the fault stand for themselves
    return first


def without_layout(expression: str) -> str:
    """An expression in a form that does not depend on how it is laid out."""
    try:
        return ast.unparse(ast.parse(f"({expression.strip()}\n)", mode="eval"))
    except SyntaxError:
        return "".join(expression.split())


def show(outcomes: list[Outcome], *, is_verbose: bool) -> None:
    """Print a line per script and the totals."""
    print(f"{'script':28}{'loop':>5}{'labels':>8}{'found':>7}{'missed':>8}{'wrong':>7}{'seconds':>9}  status")
    for one in outcomes:
        print(
            f"{one.name:28}{'yes' if one.is_loop_right else 'NO':>5}{one.n_labels:8}{one.n_hits:7}"
            f"{len(one.missed):8}{len(one.wrong):7}{one.seconds:9.2f}  {one.status}"
        )
        if is_verbose:
            if not one.is_loop_right:
                print(f"    main loop found: {one.loop}")
            for title, keys in (("missed", one.missed), ("wrong", one.wrong)):
                for file, line, expression in keys:
                    print(f"    {title:6} {file}:{line}  {expression}")
    n_hits, n_labels = sum(one.n_hits for one in outcomes), sum(one.n_labels for one in outcomes)
    n_wrong = sum(len(one.wrong) for one in outcomes)
    print(f"\nprecision  {n_hits / max(n_hits + n_wrong, 1):.4f}   {n_wrong} of {n_hits + n_wrong} wrong")
    print(f"           {sum(one.n_distractors for one in outcomes)} of them listed as distractors")
    print(f"recall     {n_hits / max(n_labels, 1):.4f}   {n_labels - n_hits} of {n_labels} missed")
    print(f"main loop  {sum(one.is_loop_right for one in outcomes) / len(outcomes):.4f}")
    print(f"all right  {sum(one.is_right for one in outcomes)} of {len(outcomes)} scripts")
    print(f"seconds    {sum(one.seconds for one in outcomes) / len(outcomes):.2f} per script")


def main() -> int:
    """Score the entries that are asked for and that have their sources."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", action="append", metavar="ID", help="this entry alone; may be repeated")
    parser.add_argument("--trait", help="only entries with this trait")
    parser.add_argument("--verbose", action="store_true", help="list what was missed and what is wrong")
    options = parser.parse_args()
    outcomes = []
    for entry in json.loads(options.labels.read_text(encoding="utf-8")):
        folder = options.sources.resolve() / entry["repo"].replace("/", "+") / entry["commit"]
        is_asked = not options.only or entry["id"] in options.only
        if options.trait is not None and options.trait not in entry["traits"]:
            is_asked = False
        if is_asked and (folder / entry["script"]).is_file():
            outcomes.append(outcome(entry, folder))
        elif is_asked:
            print(f"{entry['id']}: no sources in {os.path.relpath(folder)}", file=sys.stderr)
    if not outcomes:
        sys.exit("no entry of the labels has its sources in this folder")
    show(outcomes, is_verbose=options.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
