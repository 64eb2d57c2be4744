"""Compare the primary metric that is chosen before the runs with labels: the metric, and how it is read off a run.

    python benchmarks/primary.py benchmarks/labels_primary/primary.json SOURCES

SOURCES holds a checkout of each labelled project as owner+name/<commit>/; the examples of this project are its own. A
choice is right when it is reported by the labelled statement, by one that reports the same or by one that is accepted
too, and has the aggregate that goes with it. Where a statement reports several values under keys, the key must be that
of the label; what a framework reports by itself is known by its key alone. Nothing of the scripts is run.
"""

import argparse
import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deviate.analysis.analyze import analyze
from deviate.errors import DeviateError
from deviate.model.plan import SelectedMetric
from deviate.project.selection import select_metrics

ROOT = Path(__file__).resolve().parents[1]
OURS = "examples"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("sources", type=Path)
    arguments = parser.parse_args()
    entries: list[dict[str, Any]] = json.loads(arguments.labels.read_text(encoding="utf-8"))
    n_right = 0
    for entry in entries:
        folder = arguments.sources / entry["repo"].replace("/", "+") / str(entry["commit"])
        root = ROOT if entry["repo"] == OURS else folder
        metric = _chosen(root, entry["script"])
        is_right = metric is not None and any(_is_same(root, metric, *place) for place in _accepted(entry))
        n_right += is_right
        answer = "none" if metric is None else f"{metric.name} ({metric.metric.line}) {metric.aggregate}"
        label = f"{entry['primary']['name']} ({entry['primary']['line']}) {entry['aggregate']}"
        print(f"{'right' if is_right else 'WRONG':6} {entry['id']:26} {answer:50} {label}")
    print(f"\n{n_right} of {len(entries)} right")


def _chosen(root: Path, script: str) -> SelectedMetric | None:
    try:
        selection = select_metrics(analyze(root / script, root), None)
    except DeviateError as error:
        print(f"       {script}: {error}")
        return None
    choice = selection.primary
    return None if choice is None else next(item for item in selection.metrics if item.name == choice.name)


def _is_same(root: Path, chosen: SelectedMetric, place: dict[str, Any], aggregate: str) -> bool:
    """Whether a metric with its aggregate is the one that a label names."""
    metric, is_by_framework = chosen.metric, place.get("sink") == "history"
    key = place.get("key") or (place["expression"] if is_by_framework else "")
    if _kind(chosen.aggregate) != _kind(aggregate) or metric.file != place["file"]:
        return False
    if metric.sink == "history":
        return is_by_framework and metric.expression == key
    path = root / metric.file
    return _statement(path, metric.line) == _statement(path, place["line"])


def _kind(aggregate: str) -> str:
    """`at-best` of `at-best:val/acc1`: scripts and people call the metric that decides by different names."""
    return aggregate.partition(":")[0]


def _accepted(entry: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """The places of the label and those that are as right, each with its aggregate."""
    primary = entry["primary"]
    for place in (primary, *entry.get("same", ())):
        yield place, entry["aggregate"]
    for also in entry.get("also", ()):
        yield also, also.get("aggregate", "last")


def _statement(path: Path, line: int) -> int:
    """The first line of the innermost statement at a line."""
    tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
    around = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, default=line)


if __name__ == "__main__":
    main()
