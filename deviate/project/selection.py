"""The selection of metrics: applies `deviate.toml` to an analysis, following moved places."""

import dataclasses
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from deviate.analysis import normalise
from deviate.errors import InputError
from deviate.model import Analysis, Loop, Metric, Place, Rejected, SelectedMetric, Selection, Site
from deviate.project.config import Config, MetricConfig
from deviate.project.relocate import place_now, relocate

MOST_MOVES = 3
NAMED = "named in deviate.toml"


class AmbiguousError(InputError):
    """A section matches several metrics, or several similar statements."""


@dataclass(frozen=True, slots=True)
class Match:
    """A section of `deviate.toml` and the metric that it matches now.

    Attributes:
        written: the section as it is in the file.
        section: the section with the places where its statements stand now.
        outcome: its metric, or why there is none.
        stood: what stood at its place when the file was saved; empty when nothing is remembered.
    """

    written: MetricConfig
    section: MetricConfig
    outcome: Metric | InputError
    stood: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether the script no longer has what it had when the file was saved."""
        return (
            bool(self.stood) and isinstance(self.outcome, InputError) and not isinstance(self.outcome, AmbiguousError)
        )

    @property
    def has_moved(self) -> bool:
        """Whether its statement is at another place than stated in the file."""
        return isinstance(self.outcome, Metric) and self.written.where != self.section.where


def choose_loop(analysis: Analysis, config: Config) -> tuple[Analysis, InputError | None]:
    """The analysis with the main loop selected in the file, or the reason why that is impossible."""
    if config.main_loop is None:
        return analysis, None
    place = place_now(analysis, config.main_loop, config.statements)
    loops = (*analysis.loops, *analysis.alternatives)
    chosen = next((loop for loop in loops if (loop.file, loop.line) == (place.file, place.line)), None)
    if chosen is not None:
        why = [reason for reason in chosen.evidence if reason != NAMED]
        return with_main_loop(analysis, dataclasses.replace(chosen, evidence=(NAMED, *why))), None
    choices = ", ".join(dict.fromkeys(f"{loop.file}:{loop.line}" for loop in loops))
    return analysis, InputError(
        f"deviate.toml [experiment]: {place} is no loop that trains or that reports a metric",
        f"Name one of {choices}, or take main_loop out." if choices else "Take main_loop out.",
    )


def with_main_loop(analysis: Analysis, chosen: Loop) -> Analysis:
    """The analysis with another main loop; the previous one becomes an alternative."""
    same_loop = next((loop for loop in analysis.loops if loop.span == chosen.span and loop.file == chosen.file), None)
    number = 1 + max((loop.id for loop in analysis.loops), default=-1) if same_loop is None else same_loop.id
    main = dataclasses.replace(chosen, id=number, is_main=True)
    loops = [main if loop is same_loop else dataclasses.replace(loop, is_main=False) for loop in analysis.loops]
    alternatives = [loop for loop in analysis.alternatives if (loop.file, loop.span) != (main.file, main.span)]
    before = analysis.main_loop
    if before is not None and (before.file, before.span) != (main.file, main.span):
        alternatives.insert(0, dataclasses.replace(before, is_main=False))
    return dataclasses.replace(
        analysis,
        main_loop=main,
        loops=tuple(loops if same_loop is not None else [*loops, main]),
        alternatives=tuple(alternatives),
    )


def match(analysis: Analysis, config: Config) -> tuple[Analysis, tuple[Match, ...]]:
    """Match each section of the file with a metric.

    Returns: the analysis, with a site and a metric more for each value that only the user named; and a match for each
        section, in order.
    """
    written = config.metrics or ()
    matches: list[Match] = []
    for old, now in zip(written, relocate(analysis, written, config.statements), strict=True):
        stood = config.statements.get(old.where, "") if old.where else ""
        try:
            analysis, metric = resolve(analysis, now)
            matches.append(Match(old, now, metric, stood))
        except InputError as error:
            matches.append(Match(old, now, error, stood))
    return analysis, tuple(matches)


def select_metrics(analysis: Analysis, matches: Sequence[Match] | None) -> Selection:
    """The selected metrics: all, or exactly those listed in the file.

    Args:
        matches: None without a metrics part.

    Raises:
        InputError: the file names a metric that the script does not report, or one that cannot be told apart.
    """
    if matches is None:
        return Selection(tuple(_select(metric, MetricConfig(metric.name)) for metric in analysis.metrics))
    if not matches:
        raise InputError(
            "the metrics part is empty: nothing is left to record",
            "List a metric in deviate.toml, or delete that part.",
        )
    errors = [(one, one.outcome) for one in matches if isinstance(one.outcome, InputError)]
    if errors:
        raise _explain(analysis, errors)
    chosen: list[SelectedMetric] = []
    for one, metric in ((one, one.outcome) for one in matches if isinstance(one.outcome, Metric)):
        if any(other.metric.id == metric.id for other in chosen):
            raise InputError(
                f"two sections of deviate.toml name {metric.expression} at {metric.file}:{metric.line}", "Delete one."
            )
        chosen.append(_select(metric, one.section))
    return Selection(tuple(chosen))


def describe_moves(matches: Sequence[Match]) -> str:
    """A sentence on sections whose statements have moved; empty if there are none."""
    moved = [f"{one.section.name} from {one.written.where} to {one.section.where}" for one in matches if one.has_moved]
    if not moved:
        return ""
    more = f" and {len(moved) - MOST_MOVES} more" if len(moved) > MOST_MOVES else ""
    return (
        f"moved with the script: {', '.join(moved[:MOST_MOVES])}{more}; analyze --save brings deviate.toml up to date"
    )


def _explain(analysis: Analysis, errors: Sequence[tuple[Match, InputError]]) -> InputError:
    """One error for all sections without a match, stating whether the script has changed."""
    has_changed = any(one.stood for one, _ in errors)
    if len(errors) == 1 and not has_changed:
        return errors[0][1]
    sections = "".join(
        f"\n  [metrics.{one.section.name}] {error.message}" + (f"\n    it stood in: {one.stood}" if one.stood else "")
        for one, error in errors
    )
    if not has_changed:
        return InputError(f"deviate.toml does not fit {analysis.script}:{sections}", errors[0][1].hint)
    return InputError(
        f"{analysis.script} has changed, and deviate.toml no longer fits:{sections}",
        f"Choose anew with deviate analyze {analysis.script} --review; --save comments out what is gone.",
    )


def _select(metric: Metric, section: MetricConfig) -> SelectedMetric:
    direction = (
        metric.direction if section.direction is None else None if section.direction == "none" else section.direction
    )
    if section.aggregate == "best" and direction is None:
        raise InputError(
            f'metric {section.name}: the aggregate "best" needs a direction',
            'Add direction = "max" or direction = "min".',
        )
    return SelectedMetric(
        name=section.name,
        metric=metric,
        role=section.role or metric.role,
        direction=direction,
        aggregate=section.aggregate,
        unit=section.unit,
        is_primary=section.is_primary,
        margin=section.margin,
        target=section.target,
        n_examples=section.n_examples,
    )


def resolve(analysis: Analysis, section: MetricConfig) -> tuple[Analysis, Metric]:
    """The metric of a section, and the analysis with this metric added if only the user has named it.

    Raises:
        InputError: it fits nothing, or several metrics.
    """
    candidates = [metric for metric in analysis.metrics if _fits(metric, section)]
    if len(candidates) > 1:
        candidates = [metric for metric in candidates if metric.name == section.name] or candidates
    if len(candidates) == 1:
        return analysis, candidates[0]
    if candidates:
        raise _ambiguous(section, candidates)
    if section.where is None:
        raise _unknown_name(analysis, section)
    if section.expression is None:
        raise InputError(
            f"deviate.toml [metrics.{section.name}]: no metric was found at {section.where}",
            'Add expression = "…" to name the value.',
        )
    if section.path is not None or section.label is not None:
        elsewhere = [
            metric for metric in analysis.metrics if _fits(metric, dataclasses.replace(section, path=None, label=None))
        ]
        if elsewhere:
            raise _ambiguous(section, elsewhere)
    return _add(analysis, section, section.where, section.expression)


def _add(analysis: Analysis, section: MetricConfig, where: Place, expression: str) -> tuple[Analysis, Metric]:
    """Add the metric of a value that was rejected or not found, with a site if it has none."""
    rejected = next((item for item in analysis.rejected if _is_at(item, section)), None)
    site = next((site for site in analysis.sites if rejected is not None and site.id == rejected.site), None)
    if site is not None:
        return _with_metric(analysis, site, section)
    path = PurePosixPath(where.file)
    if path.is_absolute() or ".." in path.parts or not (analysis.root / path).is_file():
        raise InputError(
            f"deviate.toml [metrics.{section.name}] names {where}, and the project has no such file",
            f"Name files from the folder of the project on, for example {analysis.script}:{where.line}.",
        )
    from deviate.analysis import add_site  # imports libcst, which known places do not need

    extended, site = add_site(analysis, where.file, where.line, expression)
    twins = {other.id for other in analysis.sites if (other.file, other.span) == (site.file, site.span)}
    metric = next((metric for metric in analysis.metrics if metric.site in twins), None)
    return (analysis, metric) if metric is not None else _with_metric(extended, site, section)


def _with_metric(analysis: Analysis, site: Site, section: MetricConfig) -> tuple[Analysis, Metric]:
    number = 1 + max((metric.id for metric in analysis.metrics), default=-1)
    metric = Metric(
        id=number,
        name=section.name,
        expression=site.expression,
        file=site.file,
        line=site.line,
        sink=site.sink,
        role=section.role or "quality",
        direction=None,
        evidence=(NAMED,),
        site=site.id,
    )
    return dataclasses.replace(analysis, metrics=(*analysis.metrics, metric)), metric


def _fits(metric: Metric, section: MetricConfig) -> bool:
    if section.where is None and section.expression is None:
        return metric.name == section.name
    if section.path is not None and metric.path != section.path:
        return False
    if section.label is not None and metric.label != section.label:
        return False
    return _is_at(metric, section)


def _is_at(item: Metric | Rejected, section: MetricConfig) -> bool:
    if section.where is not None and (item.file, item.line) != (section.where.file, section.where.line):
        return False
    return section.expression is None or normalise(item.expression) == normalise(section.expression)


def _ambiguous(section: MetricConfig, candidates: Sequence[Metric]) -> AmbiguousError:
    from deviate.project.config_edit import section_lines

    listing = "".join(f"\n  {metric.name}: {', '.join(section_lines(section_of(metric)))}" for metric in candidates)
    return AmbiguousError(
        f"deviate.toml [metrics.{section.name}] fits several metrics, or none of these exactly:{listing}",
        "Add the expression, path or label of the one you mean.",
    )


def _unknown_name(analysis: Analysis, section: MetricConfig) -> InputError:
    names = [metric.name for metric in analysis.metrics]
    near = difflib.get_close_matches(section.name, names, 3, 0.4) or names[:5]
    return InputError(
        f"deviate.toml [metrics.{section.name}]: {analysis.script} reports no metric of that name",
        (f"Found: {', '.join(near)}. " if near else "") + 'Name a value by where = "file:line" and expression = "…".',
    )


def section_of(metric: Metric) -> MetricConfig:
    """The section for a metric as found by the analysis."""
    return MetricConfig(
        name=metric.name,
        where=Place(metric.file, metric.line),
        expression=metric.expression,
        path=metric.path or None,
        label=metric.label,
        direction=metric.direction,
        role=None if metric.role == "quality" else metric.role,
    )
