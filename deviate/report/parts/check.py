"""Builds the document of a check: questions, answers and advice."""

from collections.abc import Iterator, Sequence

from deviate.model.check import CheckFindings, CompletionCheck, ControlCheck, MetricCheck, RecordsCheck
from deviate.model.estimates import PAIRED_ALONE_RUNS, PAIRED_RUNS, VERDICT_RUNS, Interval, Unavailable
from deviate.report.check_reasons import completion_reason, control_reason, metric_reason
from deviate.report.data.published import CHECK_SCHEMA, document_data
from deviate.report.document import (
    Absent,
    Block,
    Case,
    CaseOutcome,
    Check,
    Fact,
    Facts,
    Items,
    Lead,
    Section,
    Tone,
    labelled,
    paragraph,
)
from deviate.report.format import (
    clean,
    confidence_text,
    counted,
    difference_unit,
    name_text,
    number,
    p_text,
    replicates,
    sign_number,
    with_unit,
)
from deviate.report.parts.build import build_report
from deviate.report.parts.compare import detectable_sentence, difference_cell, metric_name, places_of_difference
from deviate.report.parts.describe import interval_cell, unit_of
from deviate.report.parts.provenance import failure_reason, outcome_words, run_again

UNPLANNED = (
    "Do not add runs to these: p would not be valid. Run both sides again under another --name (with --ref, "
    "a larger --runs does that)."
)
CONTROL = "control runs are bitwise equal"
BROKEN = "The other checks do not count until this one passes: find the difference with deviate diverge."


def check_document(findings: CheckFindings) -> Check:
    """Build the document: select, round and word everything that is shown of a check."""
    report = build_report(findings.findings)
    cases = (
        *(_metric(metric, findings) for metric in findings.metrics),
        *(_completion(completion, findings) for completion in findings.completions),
        *_controls(findings),
        *(_records(record) for record in findings.records),
    )
    warnings = tuple(dict.fromkeys((*map(clean, findings.warnings), *report.warnings)))
    runs = [run for item in findings.findings.experiments for run in item.experiment.runs]
    return Check(
        title=report.title,
        sections=(),
        warnings=warnings,
        data=lambda: document_data(CHECK_SCHEMA, findings, warnings),
        word=findings.word,
        code=findings.code,
        result=_result(findings),
        cases=cases,
        brief=tuple(_brief(findings, cases)),
        began=max((run.started for run in runs), default=0.0),
        report=report,
    )


TONES: dict[CaseOutcome, Tone] = {"failed": "bad", "error": "bad", "undecided": "warning", "passed": "good"}


def _brief(findings: CheckFindings, cases: Sequence[Case]) -> Iterator[Section]:
    """The result, metric by metric, and a line for everything else that is in order."""
    tone: Tone = "bad" if findings.code else "good" if findings.word == "passed" else "warning"
    yield paragraph(Lead("Result:", findings.word, tone, _result(findings)), f"exit code {findings.code}")
    blocks: list[Block] = []
    rest: list[Fact] = []
    for case in cases:
        advice = [f"What to do: {case.advice}"] if case.advice else []
        if case.kind == "metric":
            blocks.append(Lead(f"Check: {case.question}:", case.word, TONES.get(case.outcome, "neutral"), case.found))
            blocks.append(
                Items((case.reason, " · ".join(f"{label} {text}" for label, text in case.figures[2:]), *advice))
            )
        else:
            found = ", ".join(filter(None, (case.word, case.found)))
            texts = (": ".join(filter(None, (case.subject, found, case.reason))), *advice)
            rest += labelled(case.kind.capitalize(), texts)
    yield paragraph(*blocks, Facts(tuple(rest)))


def _result(findings: CheckFindings) -> str:
    """The answer to the whole check: which side, which metric and by how much, or why runs failed."""
    match findings.word:
        case "control broken":
            broken = next(control for control in findings.controls if control.outcome == "broken")
            return f"control runs of {name_text(broken.name)} are not bitwise equal: {clean(control_reason(broken))}"
        case "control missing":
            return "no control variant shows that runs are repeatable, and --require-control asks for one"
        case "incomplete":
            record = next(record for record in findings.records if not record.is_complete)
            return f"{name_text(record.label)}: {record.reason}{_why_failed(findings, record.label)}"
        case "worse" | "undecided" if not any(metric.outcome == findings.word for metric in findings.metrics):
            return _completion_result(
                next(check for check in findings.completions if check.outcome == findings.word), findings
            )
    return _metric_result(next(metric for metric in findings.metrics if metric.outcome == findings.word))


def _completion_result(check: CompletionCheck, findings: CheckFindings) -> str:
    """`new completes less often than base: 6/6 v 0/6: ValueError: lr must be positive (train.py:12)`."""
    less = "completes less often than" if check.outcome == "worse" else "is not shown to complete as often as"
    rates, why = " v ".join(_rates(check)), _why_failed(findings, check.candidate)
    return f"{name_text(check.candidate)} {less} {name_text(check.baseline)}: {rates}{why}"


def _metric_result(check: MetricCheck) -> str:
    """`new is worse than base: acc −1.2 points [95% CI −1.6 … −0.8], margin 0.5 points`."""
    candidate, baseline = name_text(check.candidate), name_text(check.baseline)
    margin = f", margin {_margin(check)}" if check.margin else ""
    figures = f"{metric_name(check.comparison)} {_change(check)}{margin}"
    needed = f"; {check.needed} {_sample_unit(check)} would decide" if isinstance(check.needed, int) else ""
    match check.outcome:
        case "worse":
            return f"{candidate} is worse than {baseline}: {figures}"
        case "undecided":
            return f"{candidate} is not shown to be safe: {figures}, against {baseline}{needed}"
    return f"{candidate} is not worse than {baseline}: {figures}"


def _change(check: MetricCheck) -> str:
    """`−1.2 points [95% CI −1.6 … −0.8]`."""
    comparison, places = check.comparison, places_of_difference(check.comparison)
    change, entry = difference_cell(comparison, places).text, interval_cell(comparison.difference_interval, places)
    return change if isinstance(entry, Absent) else f"{change} [{_level(check)} {entry.text}]"


def _level(check: MetricCheck) -> str:
    interval = check.comparison.difference_interval
    return f"{confidence_text(interval.confidence)} CI" if isinstance(interval, Interval) else "CI"


def _margin(check: MetricCheck) -> str:
    """The margin with its unit; empty without one."""
    unit = difference_unit(unit_of(check.comparison.metric))
    return with_unit(number(check.margin, None), unit) if check.margin else ""


def _sample_unit(check: MetricCheck) -> str:
    return "pairs" if check.comparison.is_paired else "runs of each side"


def _why_failed(findings: CheckFindings, label: str) -> str:
    """`: ValueError: lr must be positive (train.py:12)`, of the first failed run; empty where none failed."""
    labels = [record.label for record in findings.records]
    experiment = findings.findings.experiments[labels.index(label)].experiment
    failed = [run for run in experiment.runs if run.status != "completed"]
    if not failed:
        return ""
    return f": {failure_reason(failed[0], experiment)}"


def _rates(check: CompletionCheck) -> tuple[str, ...]:
    """`6/6` and `0/6` completed, of baseline and candidate; nothing where it is not known."""
    if isinstance(check.completion, Unavailable):
        return ()
    sides = check.completion.baseline, check.completion.candidate
    return tuple(f"{side.n_completed}/{side.n_runs}" for side in sides)


def _metric(check: MetricCheck, findings: CheckFindings) -> Case:
    comparison, margin, bound = check.comparison, _margin(check), check.bound
    places, name, candidate = places_of_difference(comparison), metric_name(comparison), name_text(check.candidate)
    figures = [
        ("difference", difference_cell(comparison, places).text),
        (_level(check), interval_cell(comparison.difference_interval, places).text),
    ]
    if not isinstance(bound, Unavailable):
        unit = difference_unit(unit_of(comparison.metric))
        heading = f"one-sided {confidence_text(check.bound_confidence)} bound"
        figures.append((heading, with_unit(sign_number(bound, places), unit)))
    figures += [("margin", margin or "none"), ("n", f"{comparison.baseline.n} and {comparison.candidate.n}")]
    if check.n_family > 1 and not isinstance(check.p_adjusted, Unavailable):
        figures.append((f"worse, Holm over {check.n_family}", p_text(check.p_adjusted)))
    place = comparison.candidate_metric.metric
    return Case(
        kind="metric",
        subject=candidate,
        name=f"{name} not worse by more than {margin}" if margin else f"{name} not worse",
        outcome="failed" if check.outcome == "worse" else check.outcome,
        word=f"worse by more than {margin}" if check.outcome == "worse" and margin else check.outcome,
        question=f"{name} of {candidate} against {name_text(check.baseline)}",
        found=_change(check),
        reason=clean(metric_reason(check)),
        fails=check.outcome == "worse" or (check.outcome == "undecided" and findings.fails_undecided),
        figures=tuple(figures),
        advice=" ".join(_advice(check)),
        file=clean(place.file) if place.line else "",
        line=place.line,
    )


def _advice(check: MetricCheck) -> Iterator[str]:
    if check.outcome == "worse":
        yield "See all figures with deviate compare. To accept a small loss, set --margin before the runs."
    if check.outcome != "undecided":
        return
    comparison = check.comparison
    fewest = (PAIRED_ALONE_RUNS if check.n_family == 1 else PAIRED_RUNS) if comparison.is_paired else VERDICT_RUNS
    sample_unit = _sample_unit(check)
    if min(comparison.baseline.n, comparison.candidate.n) < fewest:
        yield f"At least {fewest} {sample_unit} are needed."
    if isinstance(check.needed, int):
        yield (
            f"With {check.needed} {sample_unit} a candidate that is as good as the baseline passes in 80% of cases, "
            "judged by the spread of these runs."
        )
    elif not check.margin:
        yield "Give the smallest loss that matters with --margin."
        if not isinstance(comparison.detectable, Unavailable):
            yield detectable_sentence(comparison, "runs")
    yield UNPLANNED


def _completion(check: CompletionCheck, findings: CheckFindings) -> Case:
    candidate, outcome, sides = name_text(check.candidate), check.outcome, _rates(check)
    why = "" if outcome == "passed" else _why_failed(findings, check.candidate)
    figures = list(zip(("baseline completed", "candidate completed"), sides, strict=False))
    if sides and not isinstance(check.p_adjusted, Unavailable):
        figures.append(("Boschloo's exact test", p_text(check.p_adjusted)))
    return Case(
        kind="completion",
        subject=candidate,
        name="runs complete as often as those of the baseline",
        outcome="failed" if outcome == "worse" else outcome,
        word=outcome,
        question=f"completed runs of {name_text(check.baseline)} v {candidate}",
        found=" v ".join(sides),
        reason=clean(completion_reason(check)) + why,
        fails=outcome == "worse" or (outcome == "undecided" and findings.fails_undecided),
        figures=tuple(figures),
        advice="See why they failed with deviate show." if outcome in {"worse", "undecided"} else "",
    )


def _controls(findings: CheckFindings) -> Iterator[Case]:
    """A case for each control variant, and one case for all experiments without one."""
    absent = [control for control in findings.controls if control.outcome == "absent"]
    for check in findings.controls:
        if check.outcome != "absent":
            subject, is_broken = name_text(check.name), check.outcome == "broken"
            yield Case(
                kind="control",
                subject=subject,
                name=CONTROL,
                outcome="failed" if is_broken else "passed",
                word=check.outcome,
                question=f"control of {subject}",
                reason=clean(control_reason(check)),
                fails=is_broken,
                advice=BROKEN if is_broken else "",
            )
    if absent or not findings.controls:
        yield _absent_control(absent, findings)


def _absent_control(absent: Sequence[ControlCheck], findings: CheckFindings) -> Case:
    """The case of a missing control variant; imported scores have none either."""
    fails = findings.requires_control and not any(control.outcome == "intact" for control in findings.controls)
    subject = " and ".join(name_text(control.name) for control in absent)
    reasons = dict.fromkeys(clean(control_reason(control)) for control in absent)
    return Case(
        kind="control",
        subject=subject,
        name=CONTROL,
        outcome="failed" if fails else "absent",
        word="absent",
        question=f"control of {subject}" if subject else "control",
        reason="; ".join(reasons) or "nothing here was run by deviate: name an experiment with --control",
        fails=fails,
        advice=_control_command(findings) if fails else "",
    )


def _control_command(findings: CheckFindings) -> str:
    """How the baseline gets a control variant; empty where deviate did not run it."""
    baseline = findings.findings.experiments[0].experiment
    command = run_again(baseline, (baseline.variant, "control"))
    return f"Run it: {command}." if command else ""


def _records(check: RecordsCheck) -> Case:
    label = name_text(check.label)
    parts = [f"{check.n_completed}/{check.n_planned} completed"]
    parts += [f"{n} {outcome_words(status)}" for status, n in check.failed]
    parts += [f"{len(check.missing)} missing"] if check.missing else []
    which = f" ({replicates(check.missing)})" if check.missing else ""
    return Case(
        kind="records",
        subject=label,
        name=f"records of {label} are complete",
        outcome="passed" if check.is_complete else "error",
        word="complete" if check.is_complete else "incomplete",
        question=f"records of {label}",
        found=", ".join(parts),
        reason=clean(f"{check.reason}{which}" if check.reason else f"all {counted(check.n_planned, 'run')} ended"),
        fails=not check.is_complete,
        figures=(("runs", ", ".join(parts)),),
        advice=f"Run them: deviate resume {name_text(check.name)}." if check.missing and check.name else "",
    )
