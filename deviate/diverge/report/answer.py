"""The answer in at most fifteen lines: equal, or where the runs diverge, why, what proves it, and what to do."""

from collections.abc import Iterator

from deviate.diverge.findings import Difference, DivergenceFindings
from deviate.diverge.report.words import (
    called_at,
    code_text,
    label,
    label_difference,
    over,
    place_text,
    size,
    step_text,
    what,
    where,
)
from deviate.model.estimates import value_text
from deviate.report.document import Answer, Point
from deviate.report.format import clean, counted, counted_of, duration, name_text
from deviate.report.parts.divergence import diverge_command

N_LINES = 15
MOST_CAUSES, MOST_TRIED, MOST_PASTED = 2, 3, 4
WEIGHTS = {"equal": "final weights equal", "differ": "final weights differ", "not reached": ""}


def answer_of(findings: DivergenceFindings) -> Answer:
    if findings.is_equal is False:
        return Answer("bad", "Diverged", headline(findings), tuple(_answer_if_diverged(findings)), N_LINES)
    extent, points = f"over {over(findings)}: {clean(findings.what)}", tuple(_extent(findings))
    if findings.is_equal:
        word = f"Equal within {counted_of(findings.tolerance_ulps, 'ulp')}" if findings.tolerance_ulps else "Equal"
        return Answer("good", word, extent, points, N_LINES)
    if findings.what and (findings.n_steps or findings.n_values):
        return Answer("neutral", "Equal so far", f"{extent}; not compared to the end", points, N_LINES)
    return Answer("neutral", "Not compared", _why_nothing(findings), (), N_LINES)


def headline(findings: DivergenceFindings) -> str:
    """The text after the word "Diverged"."""
    first = findings.first
    if first is None:
        return "at a place that was not recorded"
    rank = f"in rank {first.rank} " if findings.ranks > 1 else ""
    return f"{rank}{where(first)}"


def _why_nothing(findings: DivergenceFindings) -> str:
    why = next((rung.why_not for rung in findings.rungs if rung.why_not), "")
    return f"because {clean(why) or 'the runs share no metrics, losses or weights'}"


def _answer_if_diverged(findings: DivergenceFindings) -> Iterator[Point]:
    yield from _difference(findings.first, findings) if findings.first is not None else ()
    yield from _ranks(findings)
    yield from _causes(findings)
    yield from _tests(findings)
    yield from _extent(findings)


def _difference(difference: Difference, findings: DivergenceFindings) -> Iterator[Point]:
    called = called_at(difference)
    backward = "" if called is None else f", backward called at {place_text(called)}"
    if difference.place is not None:
        yield Point("Line", f"{place_text(difference.place)}{backward}", code_text(difference.place.text))
    yield Point(label(difference), "; ".join(_what(difference, findings)))
    sizes = [] if difference.ulps is None else [size(difference.ulps)]
    if difference.values is not None:
        pairs = zip(difference.values, findings.runs, strict=True)
        texts = ", ".join(f"{value_text(value)} in {name_text(run)}" for value, run in pairs)
        yield Point("Values", "; ".join([texts, *sizes]))
    elif sizes:
        yield Point("Size", sizes[0])


def _what(difference: Difference, findings: DivergenceFindings) -> Iterator[str]:
    form = f" ({clean(difference.form)})" if difference.form else ""
    ordinal = f", occurrence {difference.ordinal + 1} in the update" if difference.ordinal else ""
    yield f"{label_difference(difference)}{form}{ordinal}"
    if difference.only_in is not None:
        own, other = map(name_text, findings.runs if difference.only_in == 1 else findings.runs[::-1])
        instead = clean(difference.instead) or "nothing"
        text = f"{other}: {instead}" if difference.is_other_gone else f"{other} has {instead} instead"
        yield f"only in {own}; {text}"
    if difference.n_equal:
        yield f"{counted_of(difference.n_equal, 'equal record')} before it"


def _ranks(findings: DivergenceFindings) -> Iterator[Point]:
    """The first rank that diverges, and the first difference of two others."""
    if findings.ranks > 1 and findings.first is not None:
        # A process that only evaluates is compared as well, but is not one of the training ranks.
        rank = findings.first.rank
        others = {one.rank: one for rung in findings.rungs for one in rung.by_rank if one.rank != rank}
        parts = [f"rank {rank} of {max(findings.ranks, 1 + len(others))} diverged first"]
        parts += [f"rank {one.rank} {step_text(one)}, {what(one)}" for one in list(others.values())[:2]]
        yield Point("Ranks", "; ".join(parts))


def _causes(findings: DivergenceFindings) -> Iterator[Point]:
    proved = [cause for cause in findings.causes if cause.certainty == "proved"]
    shown = proved[:MOST_CAUSES] or findings.causes[:1]
    for cause in shown:
        yield Point("Cause", f"{clean(cause.title)} ({cause.certainty}): {clean(cause.why)}")
        words, _, code = cause.cure.partition("\n")
        yield Point("Cure", clean(words), code_text(code))
    if not shown:
        yield Point("Cause", "not found: no known source of difference was seen")
    if others := [cause for cause in findings.causes if cause not in shown]:
        texts = (f"{clean(cause.title)} ({cause.certainty})" for cause in others)
        yield Point("And" if others[0] in proved else "Or", "; ".join(texts))


def _tests(findings: DivergenceFindings) -> Iterator[Point]:
    """The test that proves the cause, or what was tried where none does."""
    tests = [(test.is_equal, f"{clean(test.given)}: {clean(test.what)}") for test in findings.confirmations]
    equal = [text for is_equal, text in tests if is_equal]
    if equal and is_proved(findings):
        others = f"; {counted(len(tests) - 1, 'other test')}" if len(tests) > 1 else ""
        yield Point("Proof", f"{equal[-1]}{others}")
    elif tests:
        yield Point("Tried", "; ".join(text for _, text in tests[-MOST_TRIED:]))


def is_proved(findings: DivergenceFindings) -> bool:
    return any(cause.certainty == "proved" for cause in findings.causes)


def _extent(findings: DivergenceFindings) -> Iterator[Point]:
    """What was compared, on which levels, and why no further."""
    metrics = f" of {counted(findings.n_metrics, 'metric')}" if findings.n_metrics else ""
    parts = [
        counted_of(findings.n_steps, findings.unit) if findings.n_steps else "",
        f"{counted_of(findings.n_values, 'value')}{metrics}" if findings.n_values else "",
        WEIGHTS[findings.weights],
    ]
    levels = [rung for rung in findings.rungs if not rung.why_not]
    names = ", ".join(rung.rung for rung in levels)
    parts += [f"level{'s' if len(levels) > 1 else ''} {names}" if names else ""]
    seconds = sum(rung.wall_time_s for rung in findings.rungs)
    total = f" · {duration(seconds)} in total" if seconds else ""
    yield Point("Compared", f"{', '.join(filter(None, parts))}{total}")
    ended = next((rung for rung in findings.rungs if rung.why_not), None)
    if ended is not None and not (is_proved(findings) and not ended.n_runs):
        yield Point("Ended", f"{'at' if ended.n_runs else 'before'} level {ended.rung}: {clean(ended.why_not)}")
    if findings.command and findings.is_equal is False and findings.rungs and not findings.rungs[0].n_runs:
        command = diverge_command(findings.command, findings.variant, command_flags=findings.flags)
        yield Point("Details", "run twice and record more:", command, is_command=True)


def paste_text(findings: DivergenceFindings) -> str:
    """The answer and its first points in one sentence for a bug report."""
    answer = answer_of(findings)
    points = [f"{point.label.lower()}: {point.text}" for point in answer.points[:MOST_PASTED] if point.text]
    what_ran = f"Two runs of {name_text(findings.name)} (variant {name_text(findings.variant)})"
    return f"{what_ran}: {'; '.join([f'{answer.word.lower()} {answer.rest}', *points])}."
