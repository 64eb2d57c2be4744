"""Answers to the questions of reproducibility checklists on error bars and compute, in the words of the report."""

import statistics
from collections.abc import Iterator

from deviate import __version__
from deviate.model.comparisons import Description
from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import ExperimentFindings, Findings
from deviate.model.records import Experiment
from deviate.report.document import Report
from deviate.report.format import clean, counted, duration
from deviate.report.forms.html import template
from deviate.report.parts.describe import n_text
from deviate.report.parts.provenance import describe_decision, outcome_counts

TEMPLATE = "checklist.md.j2"
MACHINE = ("GPU", "NVIDIA driver", "CPU", "cores")
"""Facts of the environment that say what runs computed on, in the order of the answer."""
WHOLE = {"%": 100.0}
"""What metrics in this unit cannot pass, and neither can they 0."""


def checklist_source(findings: Findings, report: Report) -> str:
    """The checklist as Markdown: questions as headings, answers below, for checklists of conferences and journals."""
    descriptions = [description for described in findings.experiments for description in described.descriptions]
    has_bars = any(not isinstance(description.sd, Unavailable) for description in descriptions)
    noise = report.section("noise")
    compared = (comparison for pair in findings.pairs for comparison in pair.comparisons)
    return template(TEMPLATE).render(
        version=__version__,
        report=report,
        bars=report.results().caption if has_bars else "",
        passed=dict.fromkeys(clean(one.metric.shown) for one in descriptions if _passes_its_ends(one)),
        experiments=[
            _answers(summary.label, item, findings.primary)
            for summary, item in zip(report.experiments, findings.experiments, strict=True)
        ],
        notes=(*report.footnotes, *(noise.footnotes if noise else ())),
        is_paired=any(comparison.is_paired for comparison in compared),
        stability=tuple(_stability(report)),
    )


def _passes_its_ends(description: Description) -> bool:
    whole, mean, sd = WHOLE.get(description.metric.unit), description.mean, description.sd
    if whole is None or isinstance(mean, Unavailable) or isinstance(sd, Unavailable):
        return False
    interval = description.mean_interval
    ends = [interval.low, interval.high] if isinstance(interval, Interval) else []
    return min([mean - sd, *ends]) < 0 or max([mean + sd, *ends]) > whole


def _answers(label: str, item: ExperimentFindings, primary: str | None) -> dict[str, object]:
    """What the record of an experiment says; empty texts for what it does not."""
    experiment = item.experiment
    flipped = ["one bit of one weight"] if any(run.flips for run in experiment.runs) else []
    factors = (("varied", [*experiment.varied, *flipped]), ("held", experiment.held))
    scored = [one for one in item.descriptions if one.metric.name == primary] or item.descriptions[:1]
    counts = "scores of runs were read" if experiment.imported else outcome_counts(experiment)
    of_metrics = (f"n = {n_text(one)} for {clean(one.metric.shown)}" for one in scored)
    facts = {
        name: dict.fromkeys(clean(run.environment[name]) for run in experiment.runs if run.environment.get(name))
        for name in MACHINE
    }
    return {
        "label": label,
        "is_imported": bool(experiment.imported),
        "variant": experiment.variant,
        "factors": "; ".join(f"{word}: {', '.join(names)}" for word, names in factors if names),
        "runs": "; ".join((counts, *of_metrics, *describe_decision(experiment))),
        "hardware": "; ".join(f"{name} {', '.join(values)}" for name, values in facts.items() if values),
        "time": _time(experiment),
    }


def _time(experiment: Experiment) -> str:
    times = [run.wall_time_s for run in experiment.runs if run.wall_time_s > 0 and not experiment.imported]
    beside = max((run.n_sharing for run in experiment.runs), default=0)
    shared = f", with up to {counted(beside, 'other run')} beside it" if beside else ""
    whole = f"{duration(sum(times))} summed over {counted(len(times), 'run')}"
    return f"{duration(statistics.median(times))} per run (median{shared}), {whole}" if times else ""


def _stability(report: Report) -> Iterator[str]:
    """Answers on predictions, classes and sub-groups, where these were captured."""
    sections = [section for key in ("stability", "classes") if (section := report.section(key)) is not None]
    if report.stability:
        yield from (*report.stability, *(note for section in sections for note in section.footnotes))
