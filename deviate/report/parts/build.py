"""Builds reports from findings; decides what a report says, and in which order."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

from deviate import __version__
from deviate.model.comparisons import Description
from deviate.model.estimates import Interval
from deviate.model.findings import ExperimentFindings, Findings
from deviate.model.margin import date_margin
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment
from deviate.model.texts import first_few
from deviate.registry import wing
from deviate.report.data.published import SCHEMA, document_data
from deviate.report.data.tables import data_section, score_table
from deviate.report.document import (
    Absent,
    Block,
    CandidateVerdict,
    ExperimentSummary,
    Fact,
    Failure,
    Items,
    MetricPart,
    Report,
    Section,
    SummaryLine,
    cell,
    paragraph,
)
from deviate.report.format import clean, confidence_text, counted, name_text, number
from deviate.report.parts import brief, caveats, provenance
from deviate.report.parts.changes import changes_section
from deviate.report.parts.compare import Setting, verdict_of
from deviate.report.parts.describe import endings_of, mean_text, places_of, range_lines, runs_of, summary_line
from deviate.report.parts.divergence import divergence_section
from deviate.report.parts.many_runs import MOST_FAILURES
from deviate.report.parts.metrics import aggregate_words, figure_sections, matched_rows, metric_parts
from deviate.report.parts.multi_comparison import many_blocks, many_lines
from deviate.report.parts.noise import is_study, noise_brief, noise_result, noise_section, noise_sentences
from deviate.report.parts.outcomes import outcome_brief, outcome_section
from deviate.report.parts.planning import planning_section
from deviate.report.parts.script_seeds import STREAMS
from deviate.report.parts.table import metric_section, result_table, row_names
from deviate.report.parts.tasks import task_lines, task_section, task_sentence

FEW = 4
MOST_OTHERS = 4
"""Metrics in the summary of an experiment where none is primary; the tables have them all."""

GIVEN = "scores"
"""Sink of metrics whose scores were given as such."""


def build_report(findings: Findings, asked: Sequence[str] = ()) -> Report:
    """Build the report: select, round and word everything in it.

    Args:
        asked: names of the metrics that are rows of the table of results, in order; none for all results.

    Raises:
        InputError: no experiment reported such a metric.
    """
    from deviate.report.statements import with_statements  # numpy, which the help of a verb has no use for

    findings = with_statements(findings)
    experiments, labels = findings.experiments, _labels(findings)
    metrics, verdicts = metric_parts(findings, labels), _verdicts(findings, labels)
    level, rows, names = confidence_text(findings.confidence), matched_rows(findings), row_names(findings, asked)
    notes = _notes(findings, labels)
    warnings = tuple(dict.fromkeys((*_warnings(findings, labels), *notes)))
    summaries = tuple(
        _summary(item, index, label, findings, [row[index] for row in rows])
        for index, (item, label) in enumerate(zip(experiments, labels, strict=True))
    )
    of_each = (provenance.failures(item.experiment, label) for item, label in zip(experiments, labels, strict=True))
    failed = tuple(itertools.chain.from_iterable(of_each))
    report = Report(
        title=_title(findings, labels),
        subtitle=_subtitle(findings),
        paste=_paste(findings, labels, verdicts),
        sections=tuple(_sections(findings, labels, metrics, names, failed)),
        warnings=warnings,
        notes=notes,
        footnotes=caveats.footnotes(findings),
        facts=(
            Fact("deviate", cell(__version__)),
            Fact("Confidence", cell(level)),
            Fact("Analysis seed", cell(str(findings.analysis_seed))),
        ),
        data=partial(document_data, SCHEMA, findings, warnings),
        rows=lambda: score_table(findings),
        experiments=summaries,
        candidates=tuple(labels[1:]) if findings.pairs else (),
        verdicts=verdicts,
        no_verdict=_no_verdict(findings, labels, verdicts),
        result=_result(findings, summaries),
        primary=primary_sentence(findings),
        metrics=metrics,
        tasks=task_lines(findings.tasks, level) if findings.tasks else (),
        stability=wing("stability.report.sections").brief_lines(findings, labels),
        results=partial(result_table, findings, labels, names),
        further=partial(wing("stability.report.paper").paper_tables, findings, labels),
    )
    return replace(report, brief=tuple(_brief(report, findings, labels, failed, names if asked else ())))


def _brief(
    report: Report, findings: Findings, labels: Sequence[str], failed: Sequence[Failure], asked: Sequence[str]
) -> Iterator[Section]:
    """The paragraphs that a terminal shows."""
    result, has_primary = report.result, any(metric.is_primary for metric in report.metrics)
    remarks = dict.fromkeys(remark for one in report.experiments for line in one.lines for remark in line.remarks)
    said = (report.no_verdict if report.candidates else "", report.primary, "; ".join(remarks) * bool(report.primary))
    yield paragraph(*brief.answer_part(report.verdicts, result, said))
    n_lines = None if report.candidates else 1
    yield paragraph(
        brief.experiment_part(report.experiments, report.verdicts, result, has_primary=has_primary, n_lines=n_lines)
    )
    yield from noise_brief(findings)
    runners_up = () if findings.primary_choice is None else findings.primary_choice.others
    n_rows = len(report.candidates) or len(labels)
    table_of = partial(result_table, findings, labels)
    yield paragraph(*brief.other_metrics(report.metrics, table_of, n_rows, runners_up, asked))
    together = [sentence for sentences in many_lines(findings, labels) for sentence in sentences]
    parts = (("Together", together), ("Tasks", report.tasks), ("Stability", report.stability))
    yield brief.sentences_part(*parts)
    yield from outcome_brief(findings, labels)
    yield brief.sentences_part(("Sentence", report.paste if len(report.verdicts) == 1 else ()))
    yield paragraph(*brief.failed_part(failed))


def _sections(
    findings: Findings,
    labels: Sequence[str],
    metrics: Sequence[MetricPart],
    names: Sequence[str],
    failed: tuple[Failure, ...],
) -> Iterator[Section]:
    """The sections below the verdict, in their order; one of nothing but reasons is only named."""
    recorded = [item.experiment for item in findings.experiments]
    yield metric_section(findings, labels, metrics, names)
    yield from figure_sections(metrics)
    yield from [Section("many", "All experiments together", many_blocks(findings))] if findings.many else []
    yield from filter(None, [task_section(findings, labels)])
    if conditions := tuple(caveats.conditions(findings, labels)):
        yield Section("conditions", "Seeds and test data", (Items(conditions),))
    yield noise_section(findings)
    yield Section("failures", "Failures", _failure_blocks(failed) or (Absent("Every recorded run completed."),))
    yield outcome_section(findings, labels)
    yield divergence_section(findings)
    yield Section("limits", "What this does not show", (Items(tuple(caveats.limits(findings)), "limits"),))
    notes = Items(caveats.footnotes(findings), "footnotes")
    yield Section("computed", "How the figures are computed", (notes,), is_rest=True)
    every = tuple(metric.quantities for metric in metrics)
    yield Section("quantities", "Every quantity of each metric", every, is_folded=True, is_rest=True)
    for section in (*wing("stability.report.sections").sections(findings, labels), planning_section(findings, labels)):
        yield replace(section, is_rest=True)
    parts = (
        provenance.provenance_part(item, label, index, changes_section(item, recorded[:index], labels))
        for index, (item, label) in enumerate(zip(recorded, labels, strict=True))
    )
    yield Section("provenance", "Provenance", (provenance.shared_facts(recorded, labels), *parts), is_rest=True)
    yield replace(data_section(findings), is_rest=True)


def _failure_blocks(failed: tuple[Failure, ...]) -> tuple[Block, ...]:
    n_more = len(failed) - MOST_FAILURES
    more = f"{n_more:,} more runs did not complete: scores.csv has the outcome of every run."
    return (*failed[:MOST_FAILURES], *([more] if n_more > 0 else []))


def _paste(findings: Findings, labels: Sequence[str], verdicts: Sequence[CandidateVerdict]) -> tuple[str, ...]:
    """Sentences for pasting: one per verdict and one on tasks, or a description of the primary metric."""
    if findings.pairs:
        tasks = (task_sentence(findings.tasks, confidence_text(findings.confidence)),) if findings.tasks else ()
        return (*(verdict.paste for verdict in verdicts), *tasks)
    return noise_sentences(findings) or tuple(
        _description_sentence(description, label, _noun([item.experiment]))
        for item, label in zip(findings.experiments, labels, strict=True)
        for description in item.descriptions
        if description.metric.name == findings.primary
    )


def _title(findings: Findings, labels: Sequence[str]) -> str:
    if findings.pairs:
        return f"{', '.join(labels[1:])} against {labels[0]}"
    if is_study(findings):
        return f"Noise study of {name_text(findings.experiments[0].experiment.name)}"
    return ", ".join(labels)


def _labels(findings: Findings) -> list[str]:
    """Names of experiments; in a noise study those of variants, which share their experiment."""
    experiments = [item.experiment for item in findings.experiments]
    if is_study(findings):
        return [name_text(experiment.variant) for experiment in experiments]
    return experiment_labels(experiments)


def experiment_labels(experiments: Sequence[Experiment]) -> list[str]:
    """Unique labels of experiments: the name, with variant or position where names are ambiguous."""
    names = [name_text(experiment.name) for experiment in experiments]
    labels = [
        name if names.count(name) == 1 else f"{name}:{name_text(experiment.variant)}"
        for name, experiment in zip(names, experiments, strict=True)
    ]
    return [label if labels.count(label) == 1 else f"{label} ({place})" for place, label in enumerate(labels, start=1)]


def _subtitle(findings: Findings) -> str:
    experiments = [item.experiment for item in findings.experiments]
    # Imported scores have no variant.
    recorded = dict.fromkeys(name_text(one.variant) for one in experiments if one.command and not one.imported)
    variants, n_runs = ", ".join(recorded), sum(len(one.runs) for one in experiments)
    if is_study(findings):
        return f"{counted(len(experiments), 'variant')} · {counted(n_runs, 'run')} · {variants}"
    parts = [counted(len(experiments), "experiment"), counted(n_runs, "run")]
    is_unrouted = any(run.unrouted for one in experiments for run in one.runs)
    left_out = provenance.UNROUTED_LEFT_OUT if is_unrouted else ""
    meaning = f" ({provenance.ALL_FREE}{left_out})" if variants == "algo+impl" else ""
    return " · ".join([*parts, f"variant {variants}{meaning}"] if variants else parts)


def _summary(
    item: ExperimentFindings, index: int, label: str, findings: Findings, matched: Sequence[Description | None]
) -> ExperimentSummary:
    """The primary metric with its range, else the first few; `matched` has the order that all experiments share."""
    role = "Experiment" if not findings.pairs else "Baseline" if index == 0 else "Candidate"
    explained = provenance.freedom(item.experiment)
    variant = name_text(item.experiment.variant)
    is_new = variant not in {name_text(other.experiment.variant) for other in findings.experiments[:index]}
    state: tuple[str, ...] = (
        f"{variant} ({explained})" if explained and is_new else variant,
        provenance.outcome_counts(item.experiment),
        *provenance.circumstances(item.experiment),
    )
    if is_study(findings):
        role, state = "Variant", (*filter(None, [explained]), *state[1:])
    # A metric may stand in two rows: matched with another of the baseline, and with that of its own name.
    descriptions = list({one.metric.name: one for one in matched if one is not None}.values())
    primary = [one for one in descriptions if one.metric.name == _primary_name(findings, index)]
    shown = primary or descriptions[:FEW]
    lines = [line for one in shown for line in (summary_line(one), *(range_lines(one) if primary else ()))]
    n_more = len(descriptions) - len(shown)
    more = f"{counted(n_more, 'more metric')} in the tables" if n_more else ""
    return ExperimentSummary(role, label, state, tuple(lines), more)


def _result(findings: Findings, summaries: Sequence[ExperimentSummary]) -> SummaryLine | None:
    """The figures that answer where nothing is compared; None without a primary metric."""
    if findings.pairs or findings.primary is None:
        return None
    return noise_result(findings) if is_study(findings) else next(iter(summaries[0].lines), None)


def _primary_name(findings: Findings, index: int) -> str | None:
    """Name of the primary metric in this experiment, which differs if the user matched another metric."""
    if index and findings.pairs and (headline := findings.pairs[index - 1].headline) is not None:
        return headline.candidate_metric.name
    return findings.primary


def _verdicts(findings: Findings, labels: Sequence[str]) -> tuple[CandidateVerdict, ...]:
    experiments = [item.experiment for item in findings.experiments]
    headlines = [
        (pair.headline, label, date_margin(pair.headline, experiments[0], candidate))
        for pair, label, candidate in zip(findings.pairs, labels[1:], experiments[1:], strict=bool(findings.pairs))
        if pair.headline is not None
    ]
    correction = f"Holm, family of {len(headlines)}" if len(headlines) > 1 else ""
    if findings.primary_choice is not None and findings.primary_choice.is_after_runs:
        correction = "Holm over all quality metrics"
    verdicts = []
    for headline, label, when in headlines:
        remarks = tuple(filter(None, (_when_chosen(findings), when)))
        setting = Setting(_score_words(headline.metric), _noun(experiments), correction, remarks)
        verdicts.append(verdict_of(headline, labels[0], label, setting))
    return tuple(verdicts)


def primary_sentence(findings: Findings) -> str:
    """`Primary metric: test_acc, a measure of merit before a loss. Not chosen: test_loss.`; empty without one."""
    choice = findings.primary_choice
    if choice is None:
        return ""
    others = first_few([_shown(name, findings) for name in choice.others], MOST_OTHERS)
    metrics = (one for item in findings.experiments[:1] for one in item.experiment.metrics)
    metric = next((one for one in metrics if one.name == choice.name), None)
    better = _better(metric) if metric is not None else ""
    sentence = f"Primary metric: {_shown(choice.name, findings)}{better}, {choice.reason}."
    return sentence + _kin(metric, findings) + (f" Not chosen: {others}." if others else "")


def _shown(name: str, findings: Findings) -> str:
    """What a metric of the baseline is called in the report."""
    metrics = findings.experiments[0].experiment.metrics
    return name_text(next((one.shown for one in metrics if one.name == name), name))


def _kin(metric: SelectedMetric | None, findings: Findings) -> str:
    """That a run reports the same measure of several trainings or parts; empty where it does not."""
    kin, metrics = "" if metric is None else metric.metric.kin, findings.experiments[0].experiment.metrics
    names = [name_text(one.shown) for one in metrics if kin and one.metric.kin == kin and one.role == "quality"]
    if len(names) < 2:
        return ""
    return f" {len(names)} series are called {name_text(kin)}: {first_few(names, MOST_OTHERS)}."


def _better(metric: SelectedMetric) -> str:
    is_mean = bool(metric.metric.over) and metric.aggregate.startswith("mean")
    over = f" (mean of the {metric.metric.over}s)" if is_mean else ""
    if metric.direction is None:
        return f"{over}, better direction unknown (--direction {metric.name}=max or =min)"
    return f"{over}, {'higher' if metric.direction == 'max' else 'lower'} is better"


def _when_chosen(findings: Findings) -> str:
    """For the sentence to paste: when the primary metric was chosen; empty where that is not on record."""
    choice = findings.primary_choice
    if choice is None:
        return ""
    if choice.is_after_runs:
        return "exploratory: the primary metric was named after the runs"
    if choice != findings.experiments[0].experiment.primary:
        return ""
    if choice.reason.endswith("before the runs"):
        return "primary metric declared before the runs"
    return "primary metric chosen by rule from the first run's output"


def _score_words(metric: SelectedMetric) -> str:
    """How scores were computed from values; empty for scores that were given directly."""
    return "" if metric.metric.sink == GIVEN else aggregate_words(metric.aggregate)


def _no_verdict(findings: Findings, labels: Sequence[str], verdicts: Sequence[CandidateVerdict]) -> str:
    if is_study(findings):
        return "Variants of one experiment are described, not compared."
    if not findings.pairs:
        return "One experiment has no verdict: deviate compare BASELINE CANDIDATE compares two."
    if len(verdicts) == len(findings.pairs):
        return ""
    if findings.primary is None and findings.tasks is not None:
        return "Each task has its own verdict among the other metrics; Tasks has the results over all of them."
    sides = zip(labels, findings.experiments, strict=True)
    failed = [label for label, side in sides if all(run.status != "completed" for run in side.experiment.runs)]
    if failed:
        return f"No headline verdict: no run of {' and '.join(failed)} completed."
    if findings.primary is None:
        return "No headline verdict: no primary metric is known. Name it with --metric."
    return f"No headline verdict: {_shown(findings.primary, findings)} was not reported on both sides."


def _noun(experiments: Sequence[Experiment]) -> str:
    """What the runs of all of them differ in."""
    return "seed" if all(STREAMS & set(one.varied) for one in experiments) else "run"


def _description_sentence(description: Description, label: str, noun: str) -> str:
    """The score of one experiment for a paper: mean ± SD, over how many runs, and both intervals."""
    places, runs = places_of(description), runs_of(description, noun)
    over = runs if places is None else f"mean ± SD over {runs}"
    intervals = [
        f"{confidence_text(one.confidence)} CI of the {name} {number(one.low, places)} to {number(one.high, places)}"
        for name, one in (("mean", description.mean_interval), ("SD", description.sd_interval))
        if isinstance(one, Interval)
    ]
    details = "; ".join(filter(None, (over, endings_of(description), _score_words(description.metric), *intervals)))
    return f"{name_text(description.metric.shown)} was {mean_text(description)} with {label} ({details})."


def _warnings(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    from deviate.report.advice import warnings_of  # scipy, which the help of a verb has no use for

    sentences = [clean(text) for text in warnings_of(findings)]
    sentences += provenance.record_warnings([item.experiment for item in findings.experiments], labels)
    return tuple(dict.fromkeys(_with_short_names(sentences, findings)))


def _notes(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    recorded = [item.experiment for item in findings.experiments]
    return tuple(_with_short_names(provenance.record_warnings(recorded, labels, are_notes=True), findings))


def _with_short_names(sentences: Iterable[str], findings: Findings) -> Iterator[str]:
    """Findings with long names shortened in sentences, as statistics and records use full names of any length."""
    names = {
        name
        for one in (item.experiment for item in findings.experiments)
        for name in (one.name, one.variant, *(metric.name for metric in one.metrics))
    }
    long = sorted((clean(name) for name in names if name_text(name) != clean(name)), key=len, reverse=True)
    for sentence in sentences:
        yield reduce(lambda text, name: text.replace(name, name_text(name)), filter(str.strip, long), sentence)
