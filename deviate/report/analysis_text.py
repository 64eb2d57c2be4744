"""The analysis for a reader: main loop, metrics with evidence, rejected values with reasons, seeds and outputs."""

import textwrap
from collections.abc import Sequence

from deviate.model import Analysis, Loop, Metric, SelectedMetric, Selection

WIDEST_EXPRESSION = 36
WIDEST_NAME = 32
NARROWEST_REASON = 24
GAP = "  "


def render_analysis(analysis: Analysis, selection: Selection, width: int) -> str:
    """Plain text of at most `width` columns (from 60), ending in a newline."""
    width = max(width, 60)
    parts = [
        _header(analysis, width),
        _metrics(analysis, selection, width),
        _rejected(analysis, width),
        _rest(analysis, width),
    ]
    return "\n".join(part for part in parts if part)


def _header(analysis: Analysis, width: int) -> str:
    return _wrapped(f"Script     {analysis.script}", width) + _wrapped(f"Main loop  {_loop(analysis.main_loop)}", width)


def _loop(loop: Loop | None) -> str:
    if loop is None:
        return "none found: values are recorded without steps"
    if loop.kind == "managed":
        return f"{loop.file}:{loop.line}  driven by the framework"
    counter = f" {loop.variable}" if loop.variable else ""
    return f"{loop.file}:{loop.line}  {loop.kind}{counter}"


def _metrics(analysis: Analysis, selection: Selection, width: int) -> str:
    selected = {item.metric.id: item for item in selection.metrics}
    if not analysis.metrics:
        return "Metrics    none found\n"
    files = {metric.file for metric in analysis.metrics} | {item.file for item in analysis.rejected}
    rows = [
        [
            selected[metric.id].name if metric.id in selected else f"({metric.name})",
            _where(metric.file, metric.line, files),
            metric.expression,
            *_judgement(metric, selected.get(metric.id)),
            "; ".join(metric.evidence) if metric.id in selected else "not selected in deviate.toml",
        ]
        for metric in analysis.metrics
    ]
    title = f"Metrics    {len(selection.metrics)} selected of {len(analysis.metrics)} found\n"
    return title + _table(["metric", "line", "expression", "role", "better", "why"], rows, width)


def _judgement(metric: Metric, chosen: SelectedMetric | None) -> tuple[str, str]:
    role = chosen.role if chosen else metric.role
    direction = chosen.direction if chosen else metric.direction
    return role, {"max": "higher", "min": "lower", None: "unknown"}[direction]


def _rejected(analysis: Analysis, width: int) -> str:
    if not analysis.rejected:
        return ""
    named = {metric.site for metric in analysis.metrics}
    left = [item for item in analysis.rejected if item.site is None or item.site not in named]
    files = {metric.file for metric in analysis.metrics} | {item.file for item in analysis.rejected}
    rows = [[item.expression, _where(item.file, item.line, files), item.reason] for item in left]
    return (
        f"Reported, but no metrics    {len(left)}\n" + _table(["expression", "line", "why not"], rows, width)
        if left
        else ""
    )


def _rest(analysis: Analysis, width: int) -> str:
    lines = [f"Seed       {seed.file}:{seed.line}  {seed.call}({seed.argument})" for seed in analysis.seeds]
    if not lines:
        lines = ["Seed       the script sets none"]
    if analysis.outputs:
        lines.append(f"Writes     {', '.join(analysis.outputs)}  (start empty in each run)")
    return "".join(_wrapped(line, width) for line in lines)


def _where(file: str, line: int, files: set[str]) -> str:
    return str(line) if len(files) == 1 else f"{file}:{line}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Columns as wide as they need, the last one wrapped into what is left."""
    limits = {"metric": WIDEST_NAME, "expression": WIDEST_EXPRESSION}
    shown = [[_clean(cell) for cell in row] for row in (titles, *rows)]
    widths = [
        min(max(len(row[place]) for row in shown), limits.get(title, width)) for place, title in enumerate(titles[:-1])
    ]
    left = width - sum(widths) - len(GAP) * len(titles)
    if left < NARROWEST_REASON:
        return "".join(_stacked(row, width) for row in shown[1:])
    lines = []
    for row in shown:
        cells = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, [*widths, left], strict=True)]
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            padded = [part.ljust(size) for part, size in zip(parts, [*widths, left], strict=True)]
            lines.append((GAP + GAP.join(padded)).rstrip() + "\n")
    return "".join(lines)


def _stacked(row: Sequence[str], width: int) -> str:
    """A row on a narrow screen: the reason below the rest."""
    above = textwrap.wrap(GAP.join(row[:-1]), width, initial_indent=GAP, subsequent_indent=GAP * 3)
    below = textwrap.wrap(row[-1], width, initial_indent=GAP * 3, subsequent_indent=GAP * 3)
    return "\n".join([*above, *below]) + "\n"


def _wrapped(text: str, width: int) -> str:
    return "".join(
        line + "\n" for line in textwrap.wrap(_clean(text), width, subsequent_indent=" " * 11, drop_whitespace=False)
    )


def _clean(text: str) -> str:
    """Text without control codes: what the script's own names and strings must not do to a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
