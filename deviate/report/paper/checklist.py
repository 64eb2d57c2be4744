"""Answers to the questions of reproducibility checklists on error bars and compute, with the facts of the report."""

import statistics
from collections.abc import Iterable, Iterator

from deviate import __version__
from deviate.model.comparisons import Description, Equivalence
from deviate.model.estimates import N_RESAMPLES, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.document import Report
from deviate.report.format import clean, confidence_text, counted, duration
from deviate.report.forms.markdown import escape
from deviate.report.parts.describe import n_text
from deviate.report.parts.metrics import aggregate_words
from deviate.report.parts.noise import is_study
from deviate.report.parts.provenance import outcome_counts

UNKNOWN = "not known: not recorded"
MACHINE = ("GPU", "NVIDIA driver", "CPU", "cores")
"""Facts of the environment that say what runs computed on, in the order of the answer."""
SPREADS = {
    "as-is": "whatever the script itself leaves free; deviate controlled nothing, so the sources are not separated",
    "control": "nothing: every factor that deviate can reach is held",
    "one-bit": "one bit of one weight before the first step; all else that deviate can reach is held",
}
CONTROL = {
    "intact": (
        "Where all is held the runs are bitwise equal (variant control): nothing else that varies showed in them."
    ),
    "broken": "The variant control failed, its runs differ: something varies that is called held here.",
    "absent": "That nothing else varies was not checked: it takes two completed runs of the variant control.",
}
EXAMPLES = {
    "equal": (
        "All runs were tested on the same examples, by a hash of the evaluation data; which examples these are is in "
        "no error bar."
    ),
    "differ": "Not all runs were tested on the same examples, by a hash of the evaluation data.",
    "undecided": (
        "Whether all runs were tested on the same examples is not known: what the model was called with differs, and "
        "nothing shows whether that are examples or what the model computed itself."
    ),
    "not seen": "Whether all runs were tested on the same examples is not known: evaluation data were not observed.",
}
BEFORE = "that it was chosen before the runs is yours to confirm"
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
        lines += [f"## {question}", "", *(f"- {answer}" for answer in answers), ""]
    return "\n".join(lines)


def _answers(findings: Findings, report: Report) -> Iterator[tuple[str, list[str]]]:
    labels = [experiment.label for experiment in report.experiments]
    experiments = list(zip(labels, (described.experiment for described in findings.experiments), strict=True))
    descriptions = [description for described in findings.experiments for description in described.descriptions]
    yield "Are error bars reported, and what are they?", list(_bars(findings, descriptions))
    yield "Which factors of variability do they capture?", list(_factors(experiments, findings))
    yield "Over how many runs?", list(_runs(findings, experiments))
    yield "How were they computed, and what is assumed?", list(_method(findings, descriptions))
    if findings.pairs:
        yield "How were differences tested?", list(_tests(findings))
    if report.stability:
        yield "How far do runs agree beyond their scores?", list(_stability(report))
    yield "On what hardware, and for how long?", list(_compute(experiments))
    yield "What do they not cover?", [escape(text) for text in (*report.limits, *report.warnings)]


def _bars(findings: Findings, descriptions: list[Description]) -> Iterator[str]:
    if all(isinstance(description.sd, Unavailable) for description in descriptions):
        yield "No: no metric has two runs with a score, so nothing is known of how far runs vary."
    else:
        yield "Yes. ± is one standard deviation over runs (ddof 1), not a standard error of the mean."
    level = confidence_text(findings.confidence)
    if any(isinstance(description.mean_interval, Interval) for description in descriptions):
        yield f"Brackets are confidence intervals, {level} unless another level stands with them."
    else:
        yield "There are no intervals: no metric has two runs that differ."
    recorded = [description.metric for description in descriptions if description.metric.metric.sink != "scores"]
    aggregates = dict.fromkeys(f"{clean(metric.name)}: {aggregate_words(metric.aggregate)}" for metric in recorded)
    if aggregates:
        yield f"A run counts with one number per metric ({escape('; '.join(aggregates))})."
    if len(recorded) < len(descriptions):
        yield "Some scores were read from files: how each was made from its run is not known here."


def _factors(experiments: Iterable[tuple[str, Experiment]], findings: Findings) -> Iterator[str]:
    for label, experiment in experiments:
        prefix = f"{escape(label)}: "
        if experiment.imported:
            yield f"{prefix}the runs were not carried out by deviate: what varied between them is {UNKNOWN}."
        elif experiment.variant in SPREADS:
            yield f"{prefix}{SPREADS[experiment.variant]} (variant {escape(experiment.variant)})."
        elif experiment.varied:
            held_text = f"; held: {escape(', '.join(experiment.held))}" if experiment.held else ""
            varied = escape(", ".join(experiment.varied))
            yield f"{prefix}variant {escape(experiment.variant)}, free between runs: {varied}{held_text}."
        else:
            yield f"{prefix}variant {escape(experiment.variant)}; which factors it leaves free is {UNKNOWN}."
    if findings.noise is not None and is_study(findings):
        yield CONTROL[findings.noise.control]
    yield EXAMPLES[findings.evaluation]


def _runs(findings: Findings, experiments: list[tuple[str, Experiment]]) -> Iterator[str]:
    for (label, experiment), described in zip(experiments, findings.experiments, strict=True):
        primary = [d for d in described.descriptions if d.metric.name == findings.primary]
        primary = primary or list(described.descriptions[:1])
        scored = "; ".join(f"n = {n_text(d)} for {clean(d.metric.name)}" for d in primary)
        counts = "scores of runs were read" if experiment.imported else escape(outcome_counts(experiment))
        yield f"{escape(label)}: {counts}{f'; {escape(scored)}' if scored else ''}."
        if experiment.precision:
            target = escape(clean(experiment.precision))
            yield f"{escape(label)}: runs were added until {target}, decided by precision alone."
        if experiment.looks:
            looks = f"{', '.join(map(str, experiment.looks))} runs ({experiment.spending})"
            yield f"{escape(label)}: comparisons were declared before the first run, at {looks}."
        if experiment.n_unplanned_looks:
            looks = counted(experiment.n_unplanned_looks, "unplanned look")
            yield f"{escape(label)}: {looks} at results before runs were added."
    if any(experiment.imported for _, experiment in experiments):
        yield f"Whether runs failed or were left out before their scores were read is {UNKNOWN}."
    if not all(experiment.imported for _, experiment in experiments):
        yield "Failed runs are counted and shown, none was replaced; runs lost to the machine do not count."


def _method(findings: Findings, descriptions: list[Description]) -> Iterator[str]:
    comparisons = [comparison for pair in findings.pairs for comparison in pair.comparisons]
    intervals = {
        "a mean": [description.mean_interval for description in descriptions],
        "an SD": [description.sd_interval for description in descriptions],
        "a difference of means": [comparison.difference_interval for comparison in comparisons],
        "a ratio of SDs": [*(comparison.sd_ratio_interval for comparison in comparisons), *_noise_ratios(findings)],
    }
    parts = [f"of {estimate} by {methods}" for estimate, some in intervals.items() if (methods := _methods(some))]
    if parts:
        yield f"In closed form: {'; '.join(parts)}. Runs are taken as independent and scores as normal."
        yield "Intervals of means are symmetric; those of SDs are not."
    resampled = [
        interval
        for description in descriptions
        for interval in (description.mean_bootstrap, description.sd_bootstrap, description.median_bootstrap)
    ]
    if methods := _methods(resampled):
        seed = f"{N_RESAMPLES} resamples, analysis seed {findings.analysis_seed}"
        yield f"Beside them by resampling runs: {methods}; {seed}."
    if findings.tasks is not None and (methods := _methods([task.iqm_interval for task in findings.tasks.aggregated])):
        scale = escape(clean(findings.tasks.normalisation))
        yield f"Of interquartile means over tasks: {methods}. Scores were made comparable thus: {scale}."
    passed = dict.fromkeys(
        clean(description.metric.name) for description in descriptions if _passes_its_ends(description)
    )
    if passed:
        yield f"Error bars pass 0 or 100 %, show quartiles or every run instead: {escape(', '.join(passed))}."
    tail_warnings = dict.fromkeys(
        f"{clean(description.metric.name)}: {description.tails}" for description in descriptions if description.tails
    )
    yield from (f"Scores may not be normal. {escape(warning)}." for warning in tail_warnings)
    yield f"Computed by deviate {__version__}, which also writes the score of every run (CSV, JSON)."


def _noise_ratios(findings: Findings) -> Iterator[Interval | Unavailable]:
    if findings.noise is not None and is_study(findings):
        yield from (row.ratio_interval for table in findings.noise.tables for row in table.rows)


def _methods(intervals: Iterable[Interval | Unavailable]) -> str:
    return ", ".join(dict.fromkeys(interval.method for interval in intervals if isinstance(interval, Interval)))


def _passes_its_ends(description: Description) -> bool:
    whole, mean, sd = WHOLE.get(description.metric.unit), description.mean, description.sd
    if whole is None or isinstance(mean, Unavailable) or isinstance(sd, Unavailable):
        return False
    interval = description.mean_interval
    ends = [interval.low, interval.high] if isinstance(interval, Interval) else []
    return min([mean - sd, *ends]) < 0 or max([mean + sd, *ends]) > whole


def _tests(findings: Findings) -> Iterator[str]:
    comparisons = [comparison for pair in findings.pairs for comparison in pair.comparisons]
    if not comparisons:
        yield "Nothing was tested: no metric was reported on both sides."
        return
    if all(isinstance(comparison.deciding_test, Unavailable) for comparison in comparisons):
        reasons = dict.fromkeys(
            comparison.deciding_test.reason
            for comparison in comparisons
            if isinstance(comparison.deciding_test, Unavailable)
        )
        yield f"No verdict rests on a test: {escape('; '.join(reasons))}."
        return
    if not all(comparison.is_paired for comparison in comparisons):
        yield (
            "Verdicts rest on the larger p of two-sided Welch's t-tests and studentized permutation tests; equal "
            "spread is not assumed."
        )
    if any(comparison.is_paired for comparison in comparisons):
        yield (
            "Verdicts rest on the larger p of two-sided paired t-tests and sign flips: runs of both sides that share "
            f"their replicate, and with it the seeds that both hold, are pairs. Pairing was asked for; {BEFORE}."
        )
    yield "Other tests that the report shows beside them decide nothing."
    yield from (
        f"Correction: {escape(family)}." for family in dict.fromkeys(pair.family for pair in findings.pairs) if family
    )
    yield (
        f"{escape(clean(findings.primary))} is the primary metric, which decides."
        if findings.primary
        else "No metric decides alone."
    )
    margins = dict.fromkeys(
        f"{comparison.metric.margin:g}" for comparison in comparisons if comparison.metric.margin is not None
    )
    if margins:
        yield f"Smallest difference that matters: {', '.join(margins)}; {BEFORE}."
    if any(isinstance(comparison.equivalence, Equivalence) for comparison in comparisons):
        yield "Equivalence within it: two one-sided tests."
    yield from (f"{escape(clean(pair.candidate))}: {escape(pair.looks)}." for pair in findings.pairs if pair.looks)


def _stability(report: Report) -> Iterator[str]:
    """Answers on predictions, classes and sub-groups, where these were captured."""
    yield from (escape(text) for text in report.stability)
    sections = [section for key in ("stability", "classes") if (section := report.section(key)) is not None]
    yield from (escape(note) for section in sections for note in section.footnotes)
    missing = (reason for section in sections[1:] for reason in section.reasons)
    yield from (f"Not known: {escape(reason[:1].lower() + reason[1:])}" for reason in missing)


def _compute(experiments: Iterable[tuple[str, Experiment]]) -> Iterator[str]:
    for label, experiment in experiments:
        facts = {
            name: dict.fromkeys(clean(run.environment[name]) for run in experiment.runs if run.environment.get(name))
            for name in MACHINE
        }
        hardware = "; ".join(f"{name} {', '.join(values)}" for name, values in facts.items() if values)
        yield f"{escape(label)}, hardware: {escape(hardware) or UNKNOWN}."
        times = [run.wall_time_s for run in experiment.runs if run.wall_time_s > 0]
        if times and not experiment.imported:
            beside = max((run.n_sharing for run in experiment.runs), default=0)
            shared = f", with up to {counted(beside, 'other run')} beside it" if beside else ""
            yield (
                f"{escape(label)}, time: {duration(statistics.median(times))} per run (median{shared}), "
                f"{duration(sum(times))} summed over {counted(len(times), 'run')}."
            )
        else:
            yield f"{escape(label)}, time per run: {UNKNOWN}."
    yield "Memory, energy, and what was computed for experiments that are not in this report are not known."
