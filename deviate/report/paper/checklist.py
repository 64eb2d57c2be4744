"""Answers to the questions of reproducibility checklists on error bars and compute, in the words of the report."""

import statistics
from collections.abc import Iterable, Iterator, Sequence

from deviate import __version__
from deviate.model.comparisons import Description
from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.document import Report
from deviate.report.format import clean, counted, duration
from deviate.report.forms.markdown import escape
from deviate.report.parts.describe import n_text
from deviate.report.parts.provenance import describe_decision, outcome_counts

UNKNOWN = "not known: not recorded"
MACHINE = ("GPU", "NVIDIA driver", "CPU", "cores")
"""Facts of the environment that say what runs computed on, in the order of the answer."""
WHOLE = {"%": 100.0}
"""What metrics in this unit cannot pass, and neither can they 0."""


def checklist_source(findings: Findings, report: Report) -> str:
    """The checklist as Markdown: questions as headings, answers below, for checklists of conferences and journals."""
    lines = [
        "# Error bars: answers for a reproducibility checklist",
        "",
        "Written for the questions on statistical significance and on compute of the NeurIPS paper checklist, and",
        "others like it. What is *not known*, or *yours to confirm*, is for you to complete.",
        "",
    ]
    for question, answers in _answers(findings, report):
        lines += [f"## {question}", "", *(f"- {escape(answer)}" for answer in answers), ""]
    return "\n".join(lines)


def _answers(findings: Findings, report: Report) -> Iterator[tuple[str, Iterable[str]]]:
    labels = [experiment.label for experiment in report.experiments]
    experiments = list(zip(labels, (described.experiment for described in findings.experiments), strict=True))
    noise = report.section("noise")
    yield "Are error bars reported, and what are they?", _bars(findings, report)
    yield "Which factors of variability do they capture?", (*_factors(experiments), *report.conditions, *report.proved)
    yield "Over how many runs?", _runs(findings, experiments)
    written = f"Computed by deviate {__version__}, which also writes the score of every run (CSV, JSON)."
    notes = (*report.footnotes, *(noise.footnotes if noise else ()))
    yield "How were they computed, and what is assumed?", ("Runs are taken as independent.", *notes, written)
    if findings.pairs:
        yield "How were differences tested?", _tests(findings, report)
    if report.stability:
        yield "How far do runs agree beyond their scores?", _stability(report)
    yield "On what hardware, and for how long?", _compute(experiments)
    yield "What do they not cover?", (*report.limits, *report.warnings)


def _bars(findings: Findings, report: Report) -> Iterator[str]:
    descriptions = [description for described in findings.experiments for description in described.descriptions]
    if all(isinstance(description.sd, Unavailable) for description in descriptions):
        yield "No: no metric has two runs with a score, so nothing is known of how far runs vary."
    else:
        yield f"Yes. {report.results().caption}"
    passed = dict.fromkeys(clean(one.metric.name) for one in descriptions if _passes_its_ends(one))
    if passed:
        yield f"Error bars pass 0 or 100 %, show quartiles or every run instead: {', '.join(passed)}."


def _passes_its_ends(description: Description) -> bool:
    whole, mean, sd = WHOLE.get(description.metric.unit), description.mean, description.sd
    if whole is None or isinstance(mean, Unavailable) or isinstance(sd, Unavailable):
        return False
    interval = description.mean_interval
    ends = [interval.low, interval.high] if isinstance(interval, Interval) else []
    return min([mean - sd, *ends]) < 0 or max([mean + sd, *ends]) > whole


def _factors(experiments: Iterable[tuple[str, Experiment]]) -> Iterator[str]:
    for label, experiment in experiments:
        if experiment.imported:
            yield f"{label}: the runs were not carried out by deviate: what varied between them is {UNKNOWN}."
        else:
            flipped = ["one bit of one weight"] if any(run.flips for run in experiment.runs) else []
            factors = (("varied", [*experiment.varied, *flipped]), ("held", experiment.held))
            free_and_held = "; ".join(f"{word}: {', '.join(names)}" for word, names in factors if names)
            yield f"{label}: variant {experiment.variant}; {free_and_held or f'what it leaves free is {UNKNOWN}'}."


def _runs(findings: Findings, experiments: Sequence[tuple[str, Experiment]]) -> Iterator[str]:
    for (label, experiment), described in zip(experiments, findings.experiments, strict=True):
        primary = [one for one in described.descriptions if one.metric.name == findings.primary]
        scored = [f"n = {n_text(one)} for {clean(one.metric.name)}" for one in primary or described.descriptions[:1]]
        counts = "scores of runs were read" if experiment.imported else outcome_counts(experiment)
        yield f"{label}: {'; '.join((counts, *scored, *describe_decision(experiment)))}."
        if experiment.imported:
            yield f"{label}: whether runs failed or were left out before their scores were read is {UNKNOWN}."
    if not all(experiment.imported for _, experiment in experiments):
        yield "Failed runs are counted and shown, none was replaced; runs lost to the machine do not count."


def _tests(findings: Findings, report: Report) -> Iterator[str]:
    yield from report.paste or (report.no_verdict,)
    if any(comparison.is_paired for pair in findings.pairs for comparison in pair.comparisons):
        yield "Pairing was asked for; that it was chosen before the runs is yours to confirm."


def _stability(report: Report) -> Iterator[str]:
    """Answers on predictions, classes and sub-groups, where these were captured."""
    yield from report.stability
    sections = [section for key in ("stability", "classes") if (section := report.section(key)) is not None]
    yield from (note for section in sections for note in section.footnotes)
    missing = (reason for section in sections[1:] for reason in section.reasons)
    yield from (f"Not known: {reason[:1].lower() + reason[1:]}" for reason in missing)


def _compute(experiments: Iterable[tuple[str, Experiment]]) -> Iterator[str]:
    for label, experiment in experiments:
        facts = {
            name: dict.fromkeys(clean(run.environment[name]) for run in experiment.runs if run.environment.get(name))
            for name in MACHINE
        }
        hardware = "; ".join(f"{name} {', '.join(values)}" for name, values in facts.items() if values)
        yield f"{label}, hardware: {hardware or UNKNOWN}."
        times = [run.wall_time_s for run in experiment.runs if run.wall_time_s > 0]
        if times and not experiment.imported:
            beside = max((run.n_sharing for run in experiment.runs), default=0)
            shared = f", with up to {counted(beside, 'other run')} beside it" if beside else ""
            yield (
                f"{label}, time: {duration(statistics.median(times))} per run (median{shared}), "
                f"{duration(sum(times))} summed over {counted(len(times), 'run')}."
            )
        else:
            yield f"{label}, time per run: {UNKNOWN}."
    yield "Memory, energy, and what was computed for experiments that are not in this report are not known."
