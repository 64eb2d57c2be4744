"""What a terminal shows of a report: the answer, each experiment, the other metrics, failed runs."""

from collections.abc import Iterator, Sequence

from deviate.model.texts import first_few
from deviate.report.document import (
    NOTHING,
    Absent,
    Block,
    CandidateVerdict,
    Cell,
    Code,
    Entry,
    ExperimentSummary,
    Fact,
    Facts,
    Failure,
    Lead,
    MetricPart,
    Section,
    SummaryLine,
    fact,
    labelled,
    listing,
    paragraph,
)
from deviate.report.format import clean, counted, group_pairs

JOIN = " · "
MOST_FAILURES = 3
MOST_OTHERS = 8
"""Metrics beside the primary one; the page has all."""
MOST_FAILED_RUNS = 5
MOST_LAST_WORDS = 5


def answer_part(
    verdicts: Sequence[CandidateVerdict], result: SummaryLine | None, sentences: Sequence[str]
) -> Iterator[Block]:
    """The verdicts, or the figures that answer where nothing is compared; then what was measured, and why that."""
    for verdict in verdicts:
        yield Lead("Verdict:", verdict.word, verdict.tone, verdict.statement)
        yield verdict.reason
    if result is not None:
        yield _with_details(f"Result: {result.label}", result)
    yield from filter(None, sentences)


def _with_details(label: str, line: SummaryLine) -> str:
    return f"{label}  {line.value}".rstrip() + f"   {JOIN.join(line.details)}" * bool(line.details)


def experiment_part(
    experiments: Sequence[ExperimentSummary],
    verdicts: Sequence[CandidateVerdict],
    result: SummaryLine | None,
    *,
    has_primary: bool,
    n_lines: int | None,
) -> Facts:
    """How the runs of each ended, its figures, and for a candidate the tests against the baseline.

    Args:
        n_lines: figures of each; None for all.
    """
    judged = {verdict.candidate: verdict for verdict in verdicts}
    facts: list[Fact] = []
    for one in experiments:
        lines = one.lines if has_primary else ()
        lines = lines[1:] if result is not None and result in lines else lines[:n_lines]
        texts = [JOIN.join((one.label, *one.state)), *(_with_details(line.label, line) for line in lines)]
        if verdict := judged.get(one.label):
            texts += [JOIN.join((*verdict.tests, verdict.spread)), verdict.detectable]
        facts += labelled(one.role, texts)
    return Facts(tuple(facts))


def other_metrics(
    metrics: Sequence[MetricPart], labels: Sequence[str], candidates: Sequence[str], runners_up: Sequence[str]
) -> Iterator[Block]:
    """The metrics that the answer leaves out, a row each; with several candidates, a row per metric and candidate.

    Of too many, those that might have been the primary one come first.
    """
    primary = next((metric for metric in metrics if metric.is_primary), None)
    others = [metric for metric in metrics if metric is not primary and metric.is_result]
    if not others:
        return
    heading = "Metrics" if primary is None else "Other metrics"
    most_asked = sorted(others, key=lambda metric: metric.name not in runners_up)[:MOST_OTHERS]
    chosen = [metric for metric in others if metric in most_asked]
    if len(labels) > 1:
        yield f"{heading}, mean ± SD"
    if candidates:
        yield from _compared(chosen, primary, labels[0], candidates)
    elif len(labels) > 1:
        yield listing(("", *labels), [[metric.name, *_sides(metric, primary)] for metric in chosen])
    else:
        yield _of_one(chosen, primary, heading)
    if n_left := len(others) - len(chosen):
        yield f"… and {counted(n_left, 'more metric')}: see the report, Metrics"


def _of_one(metrics: Sequence[MetricPart], primary: MetricPart | None, heading: str) -> Block:
    """The metrics of one experiment with their intervals, and remarks that the primary one does not have too."""
    first = [metric.descriptions.rows[0] for metric in metrics]
    with_spread = next((metric for metric in metrics if isinstance(_cells(metric)[2], Cell)), metrics[0])
    heads = [head.partition(" (")[0] for head in with_spread.descriptions.columns[3:5]]
    of_primary = "" if primary is None else primary.descriptions.rows[0].note
    rows = []
    notes = ["" if row.note == of_primary else row.note for row in first]
    for metric in metrics:
        n, _, of_mean, of_sd = _cells(metric)
        rows.append((metric.name, metric.overview[0], _number(of_mean), _number(of_sd), n))
    return listing((heading, "mean ± SD", *heads, "n"), rows, notes=notes)


def _cells(metric: MetricPart) -> tuple[Entry, ...]:
    """n, mean ± SD, and the intervals of both, in the only experiment."""
    return metric.descriptions.rows[0].cells[:4]


def _compared(
    metrics: Sequence[MetricPart], primary: MetricPart | None, baseline: str, candidates: Sequence[str]
) -> Iterator[Block]:
    """Both sides of each comparison, the difference with its interval, and the verdict; then how they are computed."""
    is_alone = len(candidates) == 1
    pairs = [
        (metric, index, metric.name if is_alone else f"{metric.name}, {candidate}", judgement)
        for metric in metrics
        for index, (candidate, judgement) in enumerate(zip(candidates, metric.judgements, strict=True), start=1)
    ]
    judged = [(label, one) for _, _, label, one in pairs if not isinstance(one, Absent)]
    is_adjusted = any(one.is_adjusted for _, one in judged)
    columns = ("", baseline, candidates[0] if is_alone else "candidate", "difference", "CI",
               "p (adj.)" if is_adjusted else "p", "verdict")  # fmt: skip
    rows, notes = [], []
    for metric, index, label, one in pairs:
        sides = _sides(metric, primary)
        figures = [NOTHING] * 4
        if not isinstance(one, Absent):
            is_known = isinstance(one.interval, Cell)
            interval = (f"[{one.interval.text}]", _number(one.p)) if is_known else (NOTHING, NOTHING)
            figures = [one.difference.text, *interval, one.word]
        rows.append((label, sides[0], sides[index], *figures))
        notes.append("" if isinstance(one, Absent) else one.remark)
    yield listing(columns, rows, notes) if judged else listing(columns[:3], [row[:3] for row in rows], notes)
    if methods := list(dict.fromkeys(one.method for _, one in judged if one.method)):
        adjusted = ", in parentheses p adjusted by Holm, which decides" if is_adjusted else ""
        yield f"CI and p by {' or '.join(methods)}{adjusted}"
    for obstacle, labels in group_pairs((one.obstacle, label) for label, one in judged if one.obstacle).items():
        yield f"{'; '.join(labels)}: {obstacle}"


def _sides(metric: MetricPart, primary: MetricPart | None) -> list[str]:
    """Mean ± SD in each experiment, with its number of runs where that is not the one of the primary metric."""
    of_primary = [""] * len(metric.overview) if primary is None else primary.overview_n
    return [
        f"{entry.text}, {n}" if isinstance(entry, Cell) and n != expected else _number(entry)
        for entry, n, expected in zip(metric.overview, metric.overview_n, of_primary, strict=True)
    ]


def _number(entry: Entry) -> str:
    return entry.text if isinstance(entry, Cell) else NOTHING


def failed_part(failures: Sequence[Failure]) -> Iterator[Block]:
    """Failed runs, together where they ended alike: last log lines of the first, and the path of its log."""
    kinds = group_pairs(((one.experiment, one.outcome, one.reason), one) for one in failures)
    for (label, outcome, reason), some in list(kinds.items())[:MOST_FAILURES]:
        ended = outcome if reason in outcome else f"{outcome}{JOIN}{clean(reason)}"
        runs = first_few([clean(one.run) for one in some], MOST_FAILED_RUNS)
        yield Facts((fact("Failed", f"{label}, {runs}: {ended}", tone="warning"),))
        last = [f"| {line}" for line in some[0].stderr[-MOST_LAST_WORDS:]]
        yield Code("\n".join(filter(None, [*map(clean, last), clean(some[0].log)])))
    if (n_left := sum(len(some) for some in list(kinds.values())[MOST_FAILURES:])) > 0:
        yield f"… and {n_left} more: see the report, Failures"


def sentences_part(*parts: tuple[str, Sequence[str]]) -> Section:
    """Sentences beside what they are about."""
    return paragraph(*(Facts(tuple(labelled(label, texts))) for label, texts in parts if texts))
