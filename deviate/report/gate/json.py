"""A check as strict JSON: every figure unrounded, for a program that wants more than an exit code."""

import json

from deviate import __version__
from deviate.model import Estimate, Interval, Unavailable
from deviate.model.check import CompletionCheck, MetricCheck
from deviate.report.data.document import Json
from deviate.report.gate.forms import Screen, check_form
from deviate.report.gate.view import CheckView

SCHEMA = 1
# 2026-11-22  1  first format.


@check_form("json")
def render_json(view: CheckView, _screen: Screen) -> str:
    """`{"unavailable": reason}` stands for a figure that there is not."""
    found = view.findings
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "deviate": __version__,
        "outcome": found.word,
        "code": found.code,
        "undecided_fails": found.fails_undecided,
        "control_required": found.requires_control,
        "metrics": [_metric(it) for it in found.metrics],
        "completion": [_completion(it) for it in found.completions],
        "controls": [{"experiment": it.name, "outcome": it.outcome, "reason": it.reason} for it in found.controls],
        "records": [
            {
                "experiment": it.label,
                "n_planned": it.n_planned,
                "n_completed": it.n_completed,
                "failed": dict(it.failed),
                "missing": list(it.missing),
                "is_complete": it.is_complete,
                "reason": it.reason,
            }
            for it in found.records
        ],
        "warnings": list(view.warnings),
    }
    text = json.dumps(document, allow_nan=False, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def _metric(check: MetricCheck) -> Json:
    comparison = check.comparison
    return {
        "metric": comparison.metric.name,
        "candidate_metric": comparison.candidate_metric.name,
        "baseline": check.baseline,
        "candidate": check.candidate,
        "direction": comparison.metric.direction,
        "unit": comparison.metric.unit,
        "aggregate": comparison.metric.aggregate,
        "n_baseline": comparison.baseline.n,
        "n_candidate": comparison.candidate.n,
        "difference": _estimate(comparison.difference),
        "interval": _interval(comparison.difference_interval),
        "margin": check.margin or None,
        "bound": _estimate(check.bound),
        "bound_confidence": check.bound_confidence,
        "p_adjusted": _estimate(check.p_adjusted),
        "n_family": check.n_family,
        "outcome": check.outcome,
        "reason": check.reason,
        "runs_needed": _estimate(check.needed),
    }


def _completion(check: CompletionCheck) -> Json:
    given = check.completion
    rates: dict[str, Json] = {}
    if not isinstance(given, Unavailable):
        rates = {
            "baseline_completed": [given.baseline.n_completed, given.baseline.n_runs],
            "candidate_completed": [given.candidate.n_completed, given.candidate.n_runs],
        }
    return {
        "baseline": check.baseline,
        "candidate": check.candidate,
        **rates,
        "p_adjusted": _estimate(check.p_adjusted),
        "outcome": check.outcome,
        "reason": check.reason,
    }


def _interval(interval: Interval | Unavailable) -> Json:
    if isinstance(interval, Unavailable):
        return {"unavailable": interval.reason}
    return {
        "low": interval.low, "high": interval.high, "confidence": interval.confidence, "method": interval.method,
    }  # fmt: skip


def _estimate(estimate: Estimate | int) -> Json:
    return {"unavailable": estimate.reason} if isinstance(estimate, Unavailable) else estimate
