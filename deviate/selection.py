"""The selection: `deviate.toml` applied to an analysis, and written from one for the user to edit."""

import dataclasses
import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from deviate.analysis import add_site, normalised
from deviate.config import Config, Wish, load
from deviate.errors import InputError
from deviate.model import Analysis, Metric, Rejected, SelectedMetric, Selection, Site

BARE = re.compile(r"[A-Za-z0-9_-]+")
NOTE = """\
# What deviate records of {script}. {loop}
# Take a section out to leave its metric out; rename a metric by the name of its section. A value that is not listed is
# added by where (file:line) and expression. Also: direction (max, min, none), aggregate (last, best, mean, median, min,
# max, at:K), unit, role (quality, time, other), primary = true, margin.
"""
NOT_RECORDED = """\
# ---- Reported too, but not recorded. Take the comment signs away to record one of these.
"""


def select(analysis: Analysis, config: Config) -> tuple[Analysis, Selection]:
    """The metrics that the user wants: all that were found, or exactly those that the file lists.

    Returns: the analysis, with a site and a metric more for each value that only the user named; and the selection.

    Raises:
        InputError: the file names a metric that the script does not report, or one that cannot be told apart.
    """
    if config.metrics is None:
        return analysis, Selection(tuple(_selected(metric, Wish(metric.name)) for metric in analysis.metrics))
    chosen: list[SelectedMetric] = []
    for wish in config.metrics:
        analysis, metric = _resolve(analysis, wish)
        if any(other.metric.id == metric.id for other in chosen):
            raise InputError(
                f"two sections of deviate.toml name {metric.expression} at {metric.file}:{metric.line}", "Delete one."
            )
        chosen.append(_selected(metric, wish))
    if not chosen:
        raise InputError(
            "deviate.toml has an empty metrics part: nothing is left to record", "List a metric, or delete it."
        )
    return analysis, Selection(tuple(chosen))


def _selected(metric: Metric, wish: Wish) -> SelectedMetric:
    direction = metric.direction if wish.direction is None else None if wish.direction == "none" else wish.direction
    if wish.aggregate == "best" and direction is None:
        raise InputError(
            f'metric {wish.name}: the aggregate "best" needs a direction', 'Add direction = "max" or direction = "min".'
        )
    return SelectedMetric(
        name=wish.name,
        metric=metric,
        role=wish.role or metric.role,
        direction=direction,
        aggregate=wish.aggregate,
        unit=wish.unit,
        is_primary=wish.is_primary,
        margin=wish.margin,
    )


def _resolve(analysis: Analysis, wish: Wish) -> tuple[Analysis, Metric]:
    found = [metric for metric in analysis.metrics if _fits(metric, wish)]
    if len(found) > 1:
        found = [metric for metric in found if metric.name == wish.name] or found
    if len(found) == 1:
        return analysis, found[0]
    if found:
        raise _ambiguous(wish, found)
    if wish.where is None:
        raise _unknown_name(analysis, wish)
    if wish.expression is None:
        raise InputError(
            f"deviate.toml [metrics.{wish.name}]: no metric was found at {wish.where}",
            'Add expression = "…" to name the value.',
        )
    if wish.path is not None or wish.label is not None:
        told = [
            metric for metric in analysis.metrics if _fits(metric, dataclasses.replace(wish, path=None, label=None))
        ]
        if told:
            raise _ambiguous(wish, told)
    known = next((item for item in analysis.rejected if _is_at(item, wish)), None)
    site = next((site for site in analysis.sites if known is not None and site.id == known.site), None)
    if site is None:
        analysis, site = add_site(analysis, wish.where.file, wish.where.line, wish.expression)
    return _with_metric(analysis, site, wish)


def _with_metric(analysis: Analysis, site: Site, wish: Wish) -> tuple[Analysis, Metric]:
    number = 1 + max((metric.id for metric in analysis.metrics), default=-1)
    metric = Metric(
        id=number,
        name=wish.name,
        expression=site.expression,
        file=site.file,
        line=site.line,
        sink=site.sink,
        role=wish.role or "quality",
        direction=None,
        evidence=("named in deviate.toml",),
        site=site.id,
    )
    return dataclasses.replace(analysis, metrics=(*analysis.metrics, metric)), metric


def _fits(metric: Metric, wish: Wish) -> bool:
    if wish.where is None and wish.expression is None:
        return metric.name == wish.name
    if wish.path is not None and metric.path != wish.path:
        return False
    if wish.label is not None and metric.label != wish.label:
        return False
    return _is_at(metric, wish)


def _is_at(item: Metric | Rejected, wish: Wish) -> bool:
    if wish.where is not None and (item.file, item.line) != (wish.where.file, wish.where.line):
        return False
    return wish.expression is None or normalised(item.expression) == normalised(wish.expression)


def _ambiguous(wish: Wish, found: Iterable[Metric]) -> InputError:
    shown = "".join(f"\n  {metric.name}: {_keys(metric)}" for metric in found)
    return InputError(
        f"deviate.toml [metrics.{wish.name}] fits several metrics, or none of these exactly:{shown}",
        "Add the expression, path or label of the one you mean.",
    )


def _unknown_name(analysis: Analysis, wish: Wish) -> InputError:
    names = [metric.name for metric in analysis.metrics]
    near = difflib.get_close_matches(wish.name, names, 3, 0.4) or names[:5]
    return InputError(
        f"deviate.toml [metrics.{wish.name}]: {analysis.script} reports no metric of that name",
        (f"Found: {', '.join(near)}. " if near else "") + 'Name a value by where = "file:line" and expression = "…".',
    )


def save(analysis: Analysis, path: Path) -> None:
    """Write the metrics of an analysis for the user to edit; a file without a metrics part is added to.

    Raises:
        InputError: the file has a metrics part already, or cannot be written.
    """
    present = load(path)
    if present.metrics is not None:
        raise InputError(
            f"{path} lists metrics already and is left as it is",
            "Move it away, or delete its [metrics.…] sections, and save again.",
        )
    if present.train is not None and not present.is_for(analysis.script):
        raise InputError(f"{path} is for {present.train}, not for {analysis.script}", "Move it away and save again.")
    try:
        before = path.read_text(encoding="utf-8").rstrip() + "\n\n" if path.exists() else ""
        path.write_text(before + plan_text(analysis, has_experiment="[experiment]" in before), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}", "Check the folder and its permissions.") from None


def plan_text(analysis: Analysis, *, has_experiment: bool = False) -> str:
    """The plan part of `deviate.toml`: selected metrics with evidence, rejected values commented out."""
    loop = analysis.main_loop
    told = "It has no main loop." if loop is None else f"Main loop: {loop.file}:{loop.line}."
    parts = [NOTE.format(script=analysis.script, loop=told)]
    if not has_experiment:
        parts.append(f"[experiment]\ntrain = {_quoted(analysis.script)}\n")
    parts += [
        f"# {'; '.join(_one_line(reason) for reason in metric.evidence)}\n" + _section(metric)
        for metric in analysis.metrics
    ]
    left = [item for item in analysis.rejected if item.site is not None]
    if left:
        parts.append(NOT_RECORDED)
    taken = {metric.name for metric in analysis.metrics}
    for item in left:
        name = _free_name(item.expression, taken)
        lines = [
            f"[metrics.{name}]",
            f"where = {_quoted(f'{item.file}:{item.line}')}",
            f"expression = {_quoted(item.expression)}",
        ]
        parts.append("".join(f"# {line}\n" for line in (_one_line(item.reason), *lines)))
    return "\n".join(parts)


def _section(metric: Metric) -> str:
    lines = [f"[metrics.{metric.name if BARE.fullmatch(metric.name) else _quoted(metric.name)}]"]
    lines += [f"where = {_quoted(f'{metric.file}:{metric.line}')}", f"expression = {_quoted(metric.expression)}"]
    if metric.path:
        lines.append(f"path = [{', '.join(_quoted(str(place)) for place in metric.path)}]")
    if metric.label is not None:
        lines.append(f"label = {_quoted(metric.label)}")
    if metric.direction is not None:
        lines.append(f"direction = {_quoted(metric.direction)}")
    if metric.role != "quality":
        lines.append(f"role = {_quoted(metric.role)}")
    return "".join(f"{line}\n" for line in lines)


def _keys(metric: Metric) -> str:
    return ", ".join(_section(metric).splitlines()[1:])


def _free_name(expression: str, taken: set[str]) -> str:
    base = "_".join(re.findall(r"[A-Za-z0-9]+", expression))[:40].strip("_").lower() or "value"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name


def _one_line(text: str) -> str:
    return "".join(" " if ord(character) < 32 or ord(character) == 127 else character for character in text)


def _quoted(text: str) -> str:
    """A TOML text: as it is between single quotes where it holds double ones, else a basic string."""
    if "'" not in text and ("\\" in text or '"' in text) and text.isprintable():
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(
            c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in escaped
        )
        + '"'
    )
