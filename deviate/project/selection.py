"""The selection of metrics: applies `deviate.toml` to an analysis, following moved places."""

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deviate.analysis.resolve.statements import Statements, normalise, read_statements
from deviate.errors import InputError
from deviate.model.aggregates import AT_BEST
from deviate.model.analysis import NAMED, TEXT_SINK, Analysis, Loop, Metric, Place, Rejected, Site
from deviate.model.metric_vocabulary import direction_of, item_traits, role_of, split_identifier
from deviate.model.places import place_text
from deviate.model.plan import SelectedMetric, Selection
from deviate.model.texts import first_few
from deviate.project.command import CONFIG
from deviate.project.config import Config, MetricConfig, read_text

# ---------------------------------------------------------------- moved places
#
# Places of `deviate.toml` are found again in a script that has changed, by the statements that were there.


def relocate(
    analysis: Analysis, sections: Sequence[MetricConfig], remembered: Mapping[Place, str]
) -> tuple[MetricConfig, ...]:
    """The sections with the current places of their statements; places that are not found are unchanged.

    A statement is identified by its text. If no text is stored for a place, it is the only one with the expression.

    Args:
        remembered: statements at the places when the file was saved.
    """
    relocator = _Relocator(analysis, remembered)
    return tuple(
        dataclasses.replace(
            section,
            where=relocator.place_of(section),
            path=section.path and tuple(relocator.same_statement(step) or step for step in section.path),
        )
        for section in sections
    )


def place_now(analysis: Analysis, place: Place, remembered: Mapping[Place, str]) -> Place:
    """The current place of a statement; the old place if it is not found."""
    return _Relocator(analysis, remembered).same_statement(place) or place


def places_now(analysis: Analysis, remembered: Mapping[Place, str]) -> frozenset[Place]:
    """Current places of the stored statements; those that no longer exist are left out."""
    relocator = _Relocator(analysis, remembered)
    return frozenset(place for place in map(relocator.same_statement, remembered) if place is not None)


class _Relocator:
    """Reads each file with places once."""

    def __init__(self, analysis: Analysis, remembered: Mapping[Place, str]) -> None:
        self.analysis = analysis
        self.remembered = remembered
        self.read: dict[str, Statements] = {}

    def same_statement(self, place: Place) -> Place | None:
        """The current place of the statement that was at a place; None if no text is stored or it no longer exists."""
        text = self.remembered.get(place)
        if text is None:
            return None
        if (line := self._statements_of(place.file).line_of(text)) is not None:
            return Place(place.file, line)
        lines = {file: self._statements_of(file).line_of(text) for file in self.analysis.files if file != place.file}
        places = [Place(file, line) for file, line in lines.items() if line is not None]
        return places[0] if len(places) == 1 else None

    def place_of(self, section: MetricConfig) -> Place | None:
        """The current place of a section's statement; the old one if it is not found."""
        where = section.where
        if where is None or section.expression is None or where in self.remembered:
            return where and (self.same_statement(where) or where)
        wanted, statements = normalise(section.expression), self._statements_of(where.file)
        values: list[Metric | Rejected] = [*self.analysis.metrics, *self.analysis.rejected]
        reported = {item.line for item in values if item.file == where.file and normalise(item.expression) == wanted}
        evaluated = {*statements.lines_with(section.expression)}
        at_place = [line for line in (where.line, statements.start(where.line)) if line in reported | evaluated]
        lines = at_place or [*(reported or evaluated)]
        return Place(where.file, lines[0]) if at_place or len(lines) == 1 else where

    def _statements_of(self, file: str) -> Statements:
        if file not in self.read:
            self.read[file] = read_statements(self.analysis.root / file)
        return self.read[file]


# ---------------------------------------------------------------- selection

MOST_MOVES = 3


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
    choices = ", ".join(dict.fromkeys(place_text(loop.file, loop.line) for loop in loops))
    return analysis, InputError(
        f"deviate.toml [experiment]: {place} is not a loop that trains or reports a metric",
        f"Name one of {choices}, or delete main_loop." if choices else "Delete main_loop.",
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


def match(analysis: Analysis, config: Config, *, is_current: bool = False) -> tuple[Analysis, tuple[Match, ...]]:
    """Match each section of the file with a metric.

    Args:
        is_current: whether the places are those of the script as it is; else moved statements are followed.

    Returns: the analysis, with a site and a metric more for each value that only the user named; and a match for each
        section, in order.
    """
    written = config.metrics or ()
    matches: list[Match] = []
    statements = {} if is_current else config.statements
    relocated = written if is_current else relocate(analysis, written, statements)
    for old, now in zip(written, relocated, strict=True):
        stood = statements.get(old.where, "") if old.where else ""
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
        InputError: the file names a metric that the script does not report, or an ambiguous one.
    """
    if matches is None:
        metrics = tuple(_select(metric, MetricConfig(metric.name)) for metric in analysis.metrics)
        return Selection(metrics)
    if not matches:
        raise InputError(
            "the metrics part of deviate.toml is empty: no metric would be recorded",
            "List a metric in it, or delete it.",
        )
    errors = [(one, one.outcome) for one in matches if isinstance(one.outcome, InputError)]
    if errors:
        raise _explain(analysis, errors)
    chosen: list[SelectedMetric] = []
    for one, metric in ((one, one.outcome) for one in matches if isinstance(one.outcome, Metric)):
        if any(other.metric.id == metric.id for other in chosen):
            raise InputError(
                f"two sections of deviate.toml name {metric.expression} at {place_text(metric.file, metric.line)}",
                "Delete one.",
            )
        chosen.append(_select(metric, one.section))
    for item in chosen:
        _refuse_best(item, chosen)
    return Selection(tuple(chosen), is_fixed=True)


def describe_moves(matches: Sequence[Match]) -> str:
    """A sentence on sections whose statements have moved; empty if there are none."""
    moved = [f"{one.section.name} from {one.written.where} to {one.section.where}" for one in matches if one.has_moved]
    if not moved:
        return ""
    return f"moved with the script: {first_few(moved, MOST_MOVES)}; analyze --save updates deviate.toml"


def _explain(analysis: Analysis, errors: Sequence[tuple[Match, InputError]]) -> InputError:
    """One error for all sections without a match, stating whether the script has changed."""
    has_changed = any(one.stood for one, _ in errors)
    if len(errors) == 1 and not has_changed:
        return errors[0][1]
    sections = "".join(
        f"\n  [metrics.{one.section.name}] {error.message}"
        + (f"\n    former statement: {one.stood}" if one.stood else "")
        for one, error in errors
    )
    if not has_changed:
        return InputError(f"deviate.toml does not match {analysis.script}:{sections}", errors[0][1].hint)
    return InputError(
        f"{analysis.script} has changed, and deviate.toml no longer matches:{sections}",
        f"Choose again with deviate analyze {analysis.script} --edit; --save comments out missing metrics.",
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
        title=section.title,
    )


def _refuse_best(metric: SelectedMetric, chosen: Sequence[SelectedMetric]) -> None:
    """Raise InputError if the metric at whose best value this one is read is not recorded, or has no direction."""
    name = metric.aggregate.removeprefix(AT_BEST)
    if name == metric.aggregate:
        return
    names = [other.name for other in chosen]
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        raise InputError(
            f"metric {metric.name}: {metric.aggregate} names no metric of deviate.toml",
            f"Use {AT_BEST}{near[0]}."
            if near
            else f"Add a section [metrics.{name}], or name one of {', '.join(names)}.",
        )
    if all(other.direction is None for other in chosen if other.name == name):
        raise InputError(
            f"metric {metric.name}: {metric.aggregate} needs a direction of {name}",
            f'Add direction = "max" or direction = "min" to [metrics.{name}].',
        )


def resolve(analysis: Analysis, section: MetricConfig) -> tuple[Analysis, Metric]:
    """The metric of a section, and the analysis with this metric added if only the user has named it.

    Raises:
        InputError: it fits nothing, or several metrics.
    """
    if section.match is not None:
        return _with_pattern(analysis, section, section.match)
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
            f"deviate.toml [metrics.{section.name}]: no metric at {section.where}",
            'Add expression = "…" to name the value.',
        )
    of_sites = {metric.site: metric for metric in analysis.metrics if _is_at(metric, section)}
    if len(of_sites) > 1:
        raise _ambiguous(section, list(of_sites.values()))
    for metric in of_sites.values():
        return _with_part(analysis, metric, section)
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
            f"deviate.toml [metrics.{section.name}] names {where}, but the project has no such file",
            f"Write the path relative to the project, for example {analysis.script}:{where.line}.",
        )
    from deviate.analysis.metrics.manual_metrics import add_site  # imports libcst, which known places do not need

    extended, site = add_site(analysis, where.file, where.line, expression)
    twins = {other.id for other in analysis.sites if (other.file, other.span) == (site.file, site.span)}
    metric = next((metric for metric in analysis.metrics if metric.site in twins), None)
    return (analysis, metric) if metric is not None else _with_metric(extended, site, section)


def _with_metric(analysis: Analysis, site: Site, section: MetricConfig) -> tuple[Analysis, Metric]:
    metric = Metric(
        id=-1,
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
    return _with_part(analysis, metric, section)


def _with_part(analysis: Analysis, whole: Metric, section: MetricConfig) -> tuple[Analysis, Metric]:
    """Add what the file names of what a site reports: a part by its call path or label, or the whole."""
    number = 1 + max((metric.id for metric in analysis.metrics), default=-1)
    role, direction = ("quality", None) if whole.label is not None else (whole.role, whole.direction)
    if section.label is not None:
        role, direction = item_traits(section.label, role, direction)
    part = dataclasses.replace(
        whole,
        id=number,
        name=section.name,
        role=role,
        direction=direction,
        evidence=(NAMED,),
        path=section.path or (),
        label=section.label,
    )
    return dataclasses.replace(analysis, metrics=(*analysis.metrics, part)), part


def _with_pattern(analysis: Analysis, section: MetricConfig, pattern: str) -> tuple[Analysis, Metric]:
    """Add the metric of a text, whoever prints it; its place is that of its section."""
    same = next((one for one in analysis.metrics if one.sink == TEXT_SINK and one.expression == pattern), None)
    if same is not None:
        return analysis, same
    name_words, text_words = split_identifier(section.name), split_identifier(pattern.replace("{value}", ""))
    metric = Metric(
        id=1 + max((metric.id for metric in analysis.metrics), default=-1),
        name=section.name,
        expression=pattern,
        file=CONFIG,
        line=_line_of(pattern, analysis.root / CONFIG),
        sink=TEXT_SINK,
        role=section.role or role_of(name_words) or role_of(text_words) or "quality",
        direction=direction_of(name_words) or direction_of(text_words),
        evidence=("a text pattern in deviate.toml",),
        site=None,
    )
    return dataclasses.replace(analysis, metrics=(*analysis.metrics, metric)), metric


def _line_of(pattern: str, path: Path) -> int:
    """The line of a file that contains the pattern; 1 if none does."""
    lines = read_text(path).splitlines()
    return next((number for number, line in enumerate(lines, 1) if "match" in line and pattern in line), 1)


def _fits(metric: Metric, section: MetricConfig) -> bool:
    if section.where is None and section.expression is None:
        return metric.name == section.name
    return (metric.path, metric.label) == (section.path or (), section.label) and _is_at(metric, section)


def _is_at(item: Metric | Rejected, section: MetricConfig) -> bool:
    if section.where is not None and (item.file, item.line) != (section.where.file, section.where.line):
        return False
    return section.expression is None or normalise(item.expression) == normalise(section.expression)


def _ambiguous(section: MetricConfig, candidates: Sequence[Metric]) -> AmbiguousError:
    from deviate.project.config_text import section_lines

    listing = "".join(f"\n  {metric.name}: {', '.join(section_lines(section_of(metric)))}" for metric in candidates)
    return AmbiguousError(
        f"deviate.toml [metrics.{section.name}] matches several metrics:{listing}",
        "Add the expression of the intended one, or name the section as it is named.",
    )


def _unknown_name(analysis: Analysis, section: MetricConfig) -> InputError:
    names = [metric.name for metric in analysis.metrics]
    near = difflib.get_close_matches(section.name, names, 3, 0.4) or names[:5]
    return InputError(
        f"deviate.toml [metrics.{section.name}]: {analysis.script} reports no metric of this name",
        (f"Found: {', '.join(near)}. " if near else "") + 'Name a value by where = "file:line" and expression = "…".',
    )


def section_of(metric: Metric) -> MetricConfig:
    """The section for a metric as found by the analysis."""
    if metric.sink == TEXT_SINK:
        return MetricConfig(name=metric.name, match=metric.expression, direction=metric.direction)
    return MetricConfig(
        name=metric.name,
        where=Place(metric.file, metric.line),
        expression=metric.expression,
        path=metric.path or None,
        label=metric.label,
        direction=metric.direction,
        role=None if metric.role == "quality" else metric.role,
    )
