"""The findings as strict JSON: every figure unrounded, the scores of every run, reasons where there is no figure."""

import json
import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from deviate import __version__
from deviate.model import (
    Breakdown,
    BreakdownPart,
    Comparison,
    CurveComparison,
    Description,
    Experiment,
    ExperimentFindings,
    Findings,
    InjectedCode,
    Interval,
    ManyTable,
    NoiseFindings,
    PairFindings,
    Planning,
    Revision,
    Run,
    SelectedMetric,
    Test,
    Unavailable,
)
from deviate.report.format import SURROGATE
from deviate.report.renderers.registry import Surface, renderer
from deviate.report.view import View

SCHEMA = 4
# 2026-11-21  1  first format.
# 2026-11-21  2  noise, evaluation; varied and held of variants; controls, draws, weights and flips of runs.
# 2026-11-22  3  threads, looks and precision of experiments; device, sharing and attempt of runs; looks of pairs; notes
#                of intervals and comparisons; the verdict "withheld".
# 2026-11-22  4  completion; shape, cross-checks, attainment of descriptions; pairs, equivalence, spread verdict, worst
#                rank, curve and attainment of comparisons; many, tasks; what was imported.

PER_STEP = frozenset(
    {"steps", "baseline", "candidate", "difference", "band", "baseline_half_widths", "candidate_half_widths"}
)
"""Fields of the comparison of curves that hold a number per step."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@renderer("json")
def render_json(view: View, _surface: Surface) -> str:
    """NaN and infinities are strings; `{"unavailable": reason}` stands for a figure that there is not."""
    return json.dumps(_document(view.findings, view.warnings), allow_nan=False, indent=1) + "\n"


def embedded_json(view: View) -> str:
    """The same in one line and without figures per step, which a page has drawn."""
    document = _document(view.findings, view.warnings, left_out=PER_STEP)
    return json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"


def _document(findings: Findings, warnings: Sequence[str], left_out: frozenset[str] = frozenset()) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        "deviate": __version__,
        "confidence": _value(findings.confidence),
        "analysis_seed": findings.analysis_seed,
        "primary": _value(findings.primary),
        "experiments": [_experiment(item) for item in findings.experiments],
        "pairs": [_pair(pair, left_out) for pair in findings.pairs],
        "noise": None if findings.noise is None else _noise(findings.noise),
        "evaluation": findings.evaluation,
        "many": [
            {**_fields(table, without=("metric",)), "metric": _value(table.metric.name)} for table in findings.many
        ],
        "tasks": None if findings.tasks is None else plain(findings.tasks),
        "planning": [
            {**_fields(it, without=("metric",)), "metric": _value(it.metric.name)} for it in findings.planning
        ],
        "breakdowns": [
            {**_fields(it, without=("parts",)), "parts": [_part(part) for part in it.parts]}
            for it in findings.breakdowns
        ],
        "warnings": [_value(text) for text in warnings],
    }


def _experiment(item: ExperimentFindings) -> Json:
    experiment: Experiment = item.experiment
    return {
        "name": _value(experiment.name),
        "variant": _value(experiment.variant),
        "command": [_value(word) for word in experiment.command],
        "n_planned": experiment.n_planned,
        "created": _value(experiment.created),
        "sources_hash": _value(experiment.sources_hash),
        "jobs": experiment.jobs,
        "n_threads": experiment.n_threads,
        "looks": list(experiment.looks),
        "spending": experiment.spending,
        "n_unplanned_looks": experiment.n_unplanned_looks,
        "precision": _value(experiment.precision),
        "imported": plain(experiment.imported),
        "tasks": plain(experiment.tasks),
        "completion": plain(item.completion),
        "varied": plain(experiment.varied),
        "held": plain(experiment.held),
        "revision": None if experiment.revision is None else _fields(experiment.revision, without=("diff",)),
        "injected": [_fields(it, without=("diff",)) for it in experiment.injected],
        "runs": [_run(run) for run in experiment.runs],
        "metrics": [_description(description) for description in item.descriptions],
    }


def _run(run: Run) -> Json:
    return {
        "id": _value(run.id),
        "replicate": run.replicate,
        "status": run.status,
        "exit_code": run.exit_code,
        "started": _value(run.started),
        "wall_time_s": _value(run.wall_time_s),
        "device": _value(run.device),
        "n_sharing": run.n_sharing,
        "attempt": run.attempt,
        "reason": _value(run.reason),
        "seeds": {_text(stream): seed for stream, seed in run.seeds.items()},
        "seed_calls": [
            {
                "call": _value(event.call),
                "value": _value(event.value),
                "file": _value(event.file),
                "line": event.line,
                "action": event.action,
            }
            for event in run.seed_events
        ],
        "controls": {_text(name): _value(level) for name, level in run.controls.items()},
        "control_events": plain(run.control_events),
        "draws": {_text(library): plain(streams) for library, streams in run.draws.items()},
        "weights": plain(run.weights),
        "evaluation": plain(run.evaluation),
        "flips": plain(run.flips),
        "operations": plain(run.operations),
        "uncontrolled": plain(run.uncontrolled),
        "environment": {_text(name): _value(value) for name, value in run.environment.items()},
        "warnings": [_value(text) for text in run.warnings],
    }


def _metric(metric: SelectedMetric) -> dict[str, Json]:
    return {
        "metric": _value(metric.name),
        "expression": _value(metric.metric.expression),
        "file": _value(metric.metric.file),
        "line": metric.metric.line,
        "role": metric.role,
        "direction": metric.direction,
        "aggregate": _value(metric.aggregate),
        "unit": _value(metric.unit),
        "margin": _value(metric.margin),
        "target": _value(metric.target),
    }


def _description(description: Description) -> Json:
    figures = _fields(description, without=("metric", "scores", "missing"))
    return {
        **_metric(description.metric),
        "n": description.n,
        "scores": [{"replicate": it.replicate, "score": _value(it.value)} for it in description.scores],
        "missing": [{"replicate": replicate, "reason": _value(reason)} for replicate, reason in description.missing],
        **figures,
    }


def _pair(pair: PairFindings, left_out: frozenset[str]) -> Json:
    return {
        "baseline": _value(pair.baseline),
        "candidate": _value(pair.candidate),
        "headline": None if pair.headline is None else _value(pair.headline.metric.name),
        "family": _value(pair.family),
        "looks": _value(pair.looks),
        "completion": plain(pair.completion),
        "unmatched_baseline": [_value(name) for name in pair.unmatched_baseline],
        "unmatched_candidate": [_value(name) for name in pair.unmatched_candidate],
        "comparisons": [_comparison(comparison, left_out) for comparison in pair.comparisons],
    }


def _comparison(comparison: Comparison, left_out: frozenset[str]) -> Json:
    """One comparison; `left_out` are fields of its curve that it goes without."""
    figures = _fields(comparison, without=("metric", "candidate_metric", "baseline", "candidate", "verdict", "curve"))
    return {
        "metric": _value(comparison.metric.name),
        "candidate_metric": _value(comparison.candidate_metric.name),
        "n_baseline": comparison.baseline.n,
        "n_candidate": comparison.candidate.n,
        "verdict": comparison.verdict.word,
        "reason": _value(comparison.verdict.reason),
        **figures,
        "curve": _fields(comparison.curve, without=tuple(left_out))
        if isinstance(comparison.curve, CurveComparison)
        else _value(comparison.curve),
    }


def _noise(noise: NoiseFindings) -> Json:
    """Statements and figures; scores and metrics in full stand with the experiments."""
    return {
        "control": noise.control,
        "statements": plain(noise.statements),
        "tables": [
            {
                "metric": _value(table.metric.name),
                "reference": _value(table.reference),
                "excess": _value(table.excess),
                "excess_interval": _value(table.excess_interval),
                "rows": [
                    {
                        "n": row.n,
                        **{it.name: plain(getattr(row, it.name)) for it in fields(row) if it.name != "scores"},
                    }
                    for row in table.rows
                ],
            }
            for table in noise.tables
        ],
        "repeatability": plain(noise.repeatability),
        "absorption": plain(noise.absorption),
        "overhead": plain(noise.overhead),
    }


def _part(part: BreakdownPart) -> Json:
    """Figures of one class or sub-group; its scores stand with the metrics of the experiment."""
    return {"n": part.n, **_fields(part, without=("scores",))}


def plain(value: object) -> Json:
    """Values of the model as they are: tuples as lists, named fields as mappings."""
    if isinstance(value, Unavailable):
        return _value(value)
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {it.name: plain(getattr(value, it.name)) for it in fields(value)}
    return _value(value)


def _fields(
    value: Description
    | Comparison
    | CurveComparison
    | ManyTable
    | Planning
    | Breakdown
    | BreakdownPart
    | Revision
    | InjectedCode,
    without: tuple[str, ...],
) -> dict[str, Json]:
    """The fields by the names they have in the model: those are the words of the glossary."""
    return {it.name: plain(getattr(value, it.name)) for it in fields(value) if it.name not in without}


def _value(value: object) -> Json:
    if isinstance(value, Unavailable):
        return {"unavailable": value.reason}
    if isinstance(value, Interval | Test):
        return {it.name: _value(getattr(value, it.name)) for it in fields(value)}
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    return _text(str(value))


def _text(text: str) -> str:
    """Text without halves of characters, which strict readers refuse."""
    return SURROGATE.sub("\ufffd", text)
