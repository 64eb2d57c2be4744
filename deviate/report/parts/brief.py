"""What a terminal shows of a report: the answer, each experiment, the other metrics, failed runs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from deviate.model.texts import first_few
from deviate.report.document import (
    Block,
    CandidateVerdict,
    Code,
    DocumentTable,
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
    paragraph,
)
from deviate.report.format import clean, counted, group_pairs

JOIN = " · "
MOST_FAILURES = 3
MOST_OTHERS = 8
"""Rows of metrics beside the primary one; the page has all."""
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
    metrics: Sequence[MetricPart],
    results: Callable[[Sequence[str]], DocumentTable],
    n_rows: int,
    runners_up: Sequence[str],
    asked: Sequence[str],
) -> Iterator[Block]:
    """The table of the metrics that the answer leaves out; of too many, those that might have been primary come first.

    Args:
        results: the table of the metrics of these names. n_rows: of each metric.
        runners_up: names of those that might have been. asked: names of the rows, in order, if the user chose them.
    """
    rows = [metric for key in asked for metric in metrics if metric.key == key] or [
        metric for metric in metrics if metric.is_result
    ]
    others = [metric for metric in rows if not metric.is_primary]
    if not others:
        return
    heading = "Metrics" if len(others) == len(rows) else "Other metrics"
    n_most = len(others) if asked else max(2, MOST_OTHERS // n_rows)
    chosen = sorted(others, key=lambda metric: metric.key not in runners_up)[:n_most]
    table = results(list(dict.fromkeys(metric.key for metric in others if metric in chosen)))
    yield replace(table, columns=(heading, *table.columns[1:]))
    if n_left := len(others) - len(chosen):
        yield f"… and {counted(n_left, 'more metric')}: see the report, Metrics"


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
