"""The answers that reproducibility checklists ask for about error bars and compute, with the facts of this report."""

import statistics
from collections.abc import Iterable, Iterator

from deviate import __version__
from deviate.model import Description, Experiment, Findings, Interval
from deviate.model.minimum import N_RESAMPLES
from deviate.report.describe import n_text
from deviate.report.format import clean, confidence_text, counted, duration
from deviate.report.history import outcome_counts
from deviate.report.metrics import aggregate_words
from deviate.report.renderers.markdown import escape
from deviate.report.view import View

UNKNOWN = "not known: it is not on record"
MACHINE = ("GPU", "NVIDIA driver", "CPU", "cores")
"""Facts of the environment that say what runs computed on, in the order of the answer."""
SPREADS = {
    "as-is": "whatever the script itself leaves free; deviate held nothing, so single sources are not known",
    "control": "nothing: every factor that deviate can reach is held",
    "one-bit": "one bit of one weight before the first step; all else is held",
}


def checklist_source(view: View) -> str:
    """Markdown: a question a heading, its answer below, for the checklists of conferences and journals."""
    lines = [
        "# Error bars: answers for a reproducibility checklist",
        "",
        "Written for the questions on statistical significance and on compute that NeurIPS and ICML ask. Sentences",
        "that say *not known* are yours to complete.",
        "",
    ]
    for question, answers in _answers(view):
        lines += [f"## {question}", "", *(f"- {it}" for it in answers), ""]
    return "\n".join(lines)


def _answers(view: View) -> Iterator[tuple[str, list[str]]]:
    findings = view.findings
    named = [(it.label, found.experiment) for it, found in zip(view.experiments, findings.experiments, strict=True)]
    descriptions = [it for found in findings.experiments for it in found.descriptions]
    yield "Are error bars reported, and what are they?", list(_bars(findings, descriptions))
    yield "Which factors of variability do they capture?", list(_factors(named))
    yield "Over how many runs?", list(_runs(view, named))
    yield "How were they computed, and what is assumed?", list(_method(findings, descriptions))
    if findings.pairs:
        yield "How were differences tested?", list(_tests(findings))
    yield "On what hardware, and for how long?", list(_compute(named))
    yield "What do they not cover?", [escape(it) for it in (*view.limits, *view.warnings)]


def _bars(findings: Findings, descriptions: list[Description]) -> Iterator[str]:
    yield "Yes. ± is one standard deviation over independent runs (ddof 1), not a standard error of the mean."
    level = confidence_text(findings.confidence)
    if any(isinstance(it.mean_interval, Interval) for it in descriptions):
        yield f"Brackets are {level} confidence intervals; of what, stands with them."
    else:
        yield "There are no intervals: no metric has two runs that differ."
    recorded = [it.metric for it in descriptions if it.metric.metric.sink != "scores"]
    words = dict.fromkeys(f"{clean(it.name)}: {aggregate_words(it.aggregate)}" for it in recorded)
    if words:
        yield f"A run counts with one number per metric ({escape('; '.join(words))})."
    if len(recorded) < len(descriptions):
        yield "Some scores were read from files: how each was made from its run is not known here."


def _factors(named: Iterable[tuple[str, Experiment]]) -> Iterator[str]:
    is_split_held = False
    for label, it in named:
        prefix = f"{escape(label)}: "
        if it.imported:
            yield f"{prefix}the runs were not carried out by deviate: what varied between them is {UNKNOWN}."
        elif it.variant in SPREADS:
            yield f"{prefix}{SPREADS[it.variant]} (variant {escape(it.variant)})."
        elif it.varied:
            held = f"; held: {escape(', '.join(it.held))}" if it.held else ""
            yield f"{prefix}variant {escape(it.variant)}, free between runs: {escape(', '.join(it.varied))}{held}."
        else:
            yield f"{prefix}variant {escape(it.variant)}; which factors it leaves free is {UNKNOWN}."
        is_split_held |= "split" in it.held
    if is_split_held:
        yield "The split into training and test data is held; its choice is in no error bar."
    else:
        yield "Whether all runs had the same split into training and test data is not known."


def _runs(view: View, named: list[tuple[str, Experiment]]) -> Iterator[str]:
    findings = view.findings
    for (label, it), found in zip(named, findings.experiments, strict=True):
        primary = [d for d in found.descriptions if d.metric.name == findings.primary] or list(found.descriptions[:1])
        scored = "; ".join(f"n = {n_text(d)} for {clean(d.metric.name)}" for d in primary)
        yield f"{escape(label)}: {escape(outcome_counts(it))}{f'; {escape(scored)}' if scored else ''}."
        if it.precision:
            yield f"Runs of {escape(label)} were added until {escape(clean(it.precision))}, decided by precision alone."
        if it.looks:
            looks = ", ".join(map(str, it.looks))
            yield f"Comparisons were declared beforehand at {looks} runs ({it.spending} spending)."
        if it.n_unplanned_looks:
            looks = counted(it.n_unplanned_looks, "unplanned look")
            yield f"{escape(label)}: {looks} at results before runs were added."
    yield "Failed runs are counted and shown, never replaced; only runs lost to the machine were repeated."


def _method(findings: Findings, descriptions: list[Description]) -> Iterator[str]:
    methods = {
        "the mean": dict.fromkeys(
            it.mean_interval.method for it in descriptions if isinstance(it.mean_interval, Interval)
        ),
        "the SD": dict.fromkeys(it.sd_interval.method for it in descriptions if isinstance(it.sd_interval, Interval)),
    }
    told = [f"of {what} by {', '.join(found)}" for what, found in methods.items() if found]
    if told:
        yield f"In closed form: {'; '.join(told)}. Runs are taken as independent and scores as normal."
        yield "Intervals of a mean are symmetric; those of an SD are not."
    if any(isinstance(it.mean_bootstrap, Interval) for it in descriptions):
        yield f"Checked by resampling runs ({N_RESAMPLES} resamples, analysis seed {findings.analysis_seed})."
    tails = dict.fromkeys(f"{clean(it.metric.name)}: {it.tails}" for it in descriptions if it.tails)
    yield from (f"Scores may not be normal. {escape(it)}." for it in tails)
    yield f"Computed by deviate {__version__}; the score of every run is in the CSV of the report."


def _tests(findings: Findings) -> Iterator[str]:
    comparisons = [it for pair in findings.pairs for it in pair.comparisons]
    if not comparisons:
        yield "Nothing was tested: no metric was reported on both sides."
        return
    names = dict.fromkeys("paired t-test" if it.is_paired else "Welch's t-test" for it in comparisons)
    yield (
        f"Two-sided {' and '.join(names)}; equal spread is not assumed."
        if "paired t-test" not in names
        else (f"Two-sided {' and '.join(names)}, as chosen before.")
    )
    yield from (f"Correction: {escape(it)}." for it in dict.fromkeys(pair.family for pair in findings.pairs) if it)
    primary = f"{escape(clean(findings.primary))} decides" if findings.primary else "No metric was named to decide"
    margins = dict.fromkeys(it.metric.margin for it in comparisons if it.metric.margin is not None)
    margin = f"; smallest difference that matters: {', '.join(f'{it:g}' for it in margins)}" if margins else ""
    yield f"{primary}{margin}."
    yield from (f"{escape(clean(it.candidate))}: {escape(it.looks)}." for it in findings.pairs if it.looks)


def _compute(named: Iterable[tuple[str, Experiment]]) -> Iterator[str]:
    for label, it in named:
        facts = {
            name: dict.fromkeys(clean(run.environment[name]) for run in it.runs if run.environment.get(name))
            for name in MACHINE
        }
        told = "; ".join(f"{name} {', '.join(values)}" for name, values in facts.items() if values)
        yield f"{escape(label)}, hardware: {escape(told) or UNKNOWN}."
        times = [run.wall_time_s for run in it.runs if run.wall_time_s > 0]
        if times and not it.imported:
            beside = max((run.n_sharing for run in it.runs), default=0)
            shared = f", with up to {counted(beside, 'other run')} beside it" if beside else ""
            yield (
                f"{escape(label)}, time: {duration(statistics.median(times))} per run (median{shared}), "
                f"{duration(sum(times))} for all {counted(len(times), 'run')}; energy is not known."
            )
        else:
            yield f"{escape(label)}, time per run: {UNKNOWN}."
