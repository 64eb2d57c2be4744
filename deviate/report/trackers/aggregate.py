"""The aggregate of experiments as a tracker takes it: figures and curves by name, and words by which to find them.

Each experiment or variant is a run, so that the tracker draws them in one chart; a candidate also has its comparison
with the baseline. Names begin with the metric: `test_acc/mean`, `test_acc/difference_low`. A figure that does not exist
has no name; the page of the report says why.
"""

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial

from deviate import __version__
from deviate.model.analysis import LoopCounter
from deviate.model.comparisons import Comparison
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.findings import ExperimentFindings, Findings, PairFindings
from deviate.model.records import Experiment, Series
from deviate.report.data.rows import Row, comparison_row, description_row
from deviate.report.document import Report
from deviate.report.figures.bundle import bundle_of, line_of, number_steps, step_means
from deviate.report.format import clean
from deviate.report.forms.registry import render
from deviate.report.parts.metric_plots import shared_counter
from deviate.report.verdicts import verdict_reason

MOST_STEPS = 500
"""Steps of a mean curve that are written; evenly spaced where there are more."""


CURVE = "/curve"
"""How the name of a mean curve ends; those of its interval go on with `_low` and `_high`."""


@dataclass(frozen=True, slots=True)
class AggregateRun:
    """One experiment or variant as a run of a tracker.

    Attributes:
        figures: by name, unrounded and finite.
        words: by name: verdicts, their reasons, and what intervals may not be taken for.
        facts: by name: where the runs come from.
        curves: by name, (main-loop step as the script numbers it, value) of the mean over runs, and of the ends of its
            pointwise interval, which has no points where fewer than two runs reported.
    """

    label: str
    figures: Mapping[str, float]
    words: Mapping[str, str]
    facts: Mapping[str, str]
    curves: Mapping[str, tuple[tuple[int, float], ...]]

    def rows(self) -> dict[int, dict[str, float]]:
        """The values of all curves by step, steps rising."""
        rows: dict[int, dict[str, float]] = {}
        for name, points in self.curves.items():
            for step, value in points:
                rows.setdefault(step, {})[name] = value
        return dict(sorted(rows.items()))


@dataclass(frozen=True, slots=True)
class AggregateReport:
    """The runs that a report becomes.

    Attributes:
        name: of experiments, joined by `-vs-`.
        sentence: for a paper, with the warnings below it. summary: verdict, sentence and table as Markdown.
        page: makes the page of the report.
    """

    name: str
    written: datetime
    runs: tuple[AggregateRun, ...]
    verdict: str
    sentence: str
    summary: str
    page: Callable[[], str]

    @property
    def group(self) -> str:
        """Name of the report with the time: every report is new runs, which no earlier ones are mixed with."""
        return f"{self.name} {self.stamp}"

    @property
    def stamp(self) -> str:
        return f"{self.written:%Y-%m-%d %H:%M:%S}"


def aggregate_report(findings: Findings, document: Report, written: datetime) -> AggregateReport:
    """What a tracker is to hold of the findings.

    Args:
        document: the report of the same findings.
        written: the time that tells this report from others of the same experiments.
    """
    pairs = dict(enumerate(findings.pairs, start=1))
    counter = shared_counter(findings)
    names = dict.fromkeys(item.experiment.name for item in findings.experiments)
    runs = []
    for place, (item, summary) in enumerate(zip(findings.experiments, document.experiments, strict=True)):
        pair, facts = pairs.get(place), _facts(item.experiment, findings)
        if pair is not None:
            facts["baseline"] = clean(pair.baseline)
            facts |= {} if pair.headline is None else {"verdict": pair.headline.verdict.word}
        words = _words(item, () if pair is None else pair.comparisons)
        curves = dict(_curves(item, findings.confidence, counter))
        runs.append(AggregateRun(summary.label, _figures(item, pair), words, facts, curves))
    return AggregateReport(
        name="-vs-".join(map(clean, names)),
        written=written,
        runs=tuple(runs),
        verdict="; ".join(dict.fromkeys(verdict.word for verdict in document.verdicts)),
        sentence="\n\n".join((*document.paste, *(f"Warning: {text}" for text in document.warnings))),
        summary=render(document, "markdown"),
        page=cache(partial(render, document, "html")),
    )


DESCRIBED = {"mean": "mean", "sd": "sd", "median": "median", "minimum": "min", "maximum": "max", "n": "n"}
COMPARED = {
    "difference": "difference",
    "p_adjusted": "p_value_adjusted",
    "p_value_t": "p_value_t",
    "p_value_permutation": "p_value_permutation",
    "hedges_g": "hedges_g",
    "margin": "margin",
}
"""Columns of the rows of findings, by what a tracker calls them; those of intervals are named after them."""


def _figures(item: ExperimentFindings, pair: PairFindings | None) -> dict[str, float]:
    figures: dict[str, float | None] = {}
    for description in item.descriptions:
        figures |= _named(description_row(item, description), "metric", DESCRIBED)
    for row, comparison in [(comparison_row(pair, one), one) for one in pair.comparisons] if pair else []:
        tests = zip(("p_value_t", "p_value_permutation"), comparison.both_tests, strict=True)
        p_values: Row = {name: (float, test.p_value) for name, test in tests if isinstance(test, Test)}
        figures |= _named(row | p_values, "candidate_metric", COMPARED)
    completion = item.completion
    if not isinstance(completion, Unavailable):
        figures |= {
            "runs/completed": completion.n_completed,
            "runs/failed": completion.n_runs - completion.n_completed,
            "runs/total": completion.n_runs,
        }
    return {name: float(value) for name, value in figures.items() if value is not None and math.isfinite(value)}


def _named(row: Row, metric: str, names: Mapping[str, str]) -> dict[str, float | None]:
    """The figures of a row, and the ends of their intervals; NaN and infinities are left out later."""
    columns = dict(names) | {
        f"{column}_interval_{end}": f"{name}_{end}" for column, name in names.items() for end in ("low", "high")
    }
    whose = clean(row[metric][1])
    return {f"{whose}/{name}": row[column][1] for column, name in columns.items() if column in row}


def _words(item: ExperimentFindings, comparisons: Sequence[Comparison]) -> dict[str, str]:
    words: dict[str, str] = {}
    for description in item.descriptions:
        words |= _interval_note(f"{clean(description.metric.name)}/mean", description.mean_interval)
    for comparison in comparisons:
        name = clean(comparison.candidate_metric.name)
        words[f"{name}/verdict"] = comparison.verdict.word
        words[f"{name}/verdict_reason"] = clean(verdict_reason(comparison))
        words |= _interval_note(f"{name}/difference", comparison.difference_interval)
    return words


def _interval_note(name: str, interval: Interval | Unavailable) -> dict[str, str]:
    return {} if isinstance(interval, Unavailable) or not interval.note else {f"{name}_note": interval.note}


def _facts(experiment: Experiment, findings: Findings) -> dict[str, str]:
    revision = experiment.revision
    commit = "" if revision is None or revision.commit is None else revision.commit
    facts = {
        "version": __version__,
        "experiment": clean(experiment.name),
        "variant": clean(experiment.variant),
        "command": clean(shlex.join(experiment.command)),
        "commit": f"{commit} with changes" if commit and revision is not None and revision.is_dirty else commit,
        "primary_metric": clean(findings.primary or ""),
        "confidence": f"{findings.confidence:g}",
    }
    return {name: text for name, text in facts.items() if text}


# Curves: the same runs and the same interval as in the figures of the page.


def _curves(
    item: ExperimentFindings, confidence: float, counter: LoopCounter
) -> Iterator[tuple[str, tuple[tuple[int, float], ...]]]:
    for description in item.descriptions:
        metric = description.metric.name
        scored = {score.replicate for score in description.scores}
        runs = [run for run in item.experiment.runs if run.replicate in scored and metric in run.series]
        lines = [step_means(line_of(run.series[metric])) for run in runs]
        if any(len(line.x) > 1 for line in lines):
            means = [Series(tuple(map(int, line.x)), tuple(line.y.tolist())) for line in lines]
            band = bundle_of(means, confidence, MOST_STEPS, MOST_STEPS).band
            steps = [] if band is None else [int(step) for step in number_steps(band.x, counter)]
            for part, values in {} if band is None else {"": band.mean, "_low": band.low, "_high": band.high}.items():
                points = zip(steps, values.tolist(), strict=True)
                yield f"{clean(metric)}{CURVE}{part}", tuple(point for point in points if math.isfinite(point[1]))
