"""The answer in at most fifteen lines: equal, or where the runs diverge, why, what proves it, and what to do."""

from collections.abc import Iterator

from deviate.diverge.findings import VOLATILE, Difference, DivergenceFindings, InputDifference
from deviate.diverge.report.words import (
    PHASES,
    called_at,
    code_text,
    input_time,
    label,
    label_difference,
    over,
    place_text,
    shown_values,
    size,
    step_text,
    ulps,
    weight,
    what,
    where,
)
from deviate.model.estimates import value_text
from deviate.report.document import Answer, Point
from deviate.report.format import clean, counted, counted_of, duration, name_text
from deviate.report.parts.divergence import diverge_command

N_LINES = 15
MOST_INPUTS, MOST_CAUSES, MOST_TRIED = 2, 2, 3
NO_LINE = "no line of the program was recorded for it"
WEIGHTS = {"equal": "final weights equal", "differ": "final weights differ", "not reached": ""}


def answer_of(findings: DivergenceFindings) -> Answer:
    if findings.is_equal is False:
        return Answer("bad", "Diverged", headline(findings), tuple(_answer_if_diverged(findings)), N_LINES)
    extent, points = f"over {over(findings)}: {clean(findings.what)}", tuple(_extent(findings))
    if findings.is_equal:
        word = f"Equal within {ulps(findings.tolerance_ulps)}" if findings.tolerance_ulps else "Equal"
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
    return f"{rank}{where(first)}{_seen_above(first, findings)}"


def _seen_above(first: Difference, findings: DivergenceFindings) -> str:
    """Where level `steps` has its first difference, if one run executed something else on a level below."""
    above = next((rung.difference for rung in findings.rungs if rung.rung == "steps"), None)
    if first.phase != "program" or first.rung == "steps" or above is None or above.phase == "program":
        return ""
    at = "" if above.step == first.step else f" {step_text(above)}"
    return at if above.phase == first.more.get("during") else f"; first visible in {PHASES[above.phase]}{at}"


def _why_nothing(findings: DivergenceFindings) -> str:
    why = next((rung.why_not for rung in findings.rungs if rung.why_not), "")
    return f"because {clean(why) or 'the runs share no metrics, losses or weights'}"


def _answer_if_diverged(findings: DivergenceFindings) -> Iterator[Point]:
    if findings.first is not None:
        yield from _difference(findings.first, findings)
    yield from _ranks(findings)
    if not is_proved(findings):
        yield from _inputs(findings)
    yield from _causes(findings)
    yield from _tests(findings)
    yield from _extent(findings)


def _difference(difference: Difference, findings: DivergenceFindings) -> Iterator[Point]:
    called = called_at(difference)
    backward = "" if called is None else f", backward called at {place_text(called)}"
    if difference.place is not None:
        yield Point("Line", f"{place_text(difference.place)}{backward}", code_text(difference.place.text))
    elif difference.kind == "operation":
        yield Point("Line", NO_LINE)
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
    if difference.more.get("reads"):
        yield f"reads {clean(str(difference.more['reads']))} memory"
    if difference.n_equal:
        yield f"{counted_of(difference.n_equal, 'equal record')} before it"


def _ranks(findings: DivergenceFindings) -> Iterator[Point]:
    """The first rank that diverges, and what the other ranks show on the same level."""
    if findings.ranks < 2 or findings.first is None:
        return
    rung = next(rung for rung in reversed(findings.rungs) if rung.difference is not None)
    others = [difference for difference in rung.by_rank if difference.rank != findings.first.rank]
    parts = [f"rank {difference.rank} {step_text(difference)}, {what(difference)}" for difference in others[:2]]
    parts += [f"{len(others) - 2} more in the report"] if len(others) > 2 else []
    # A process that only evaluates is compared as well, but is not one of the training ranks.
    ranks = max(findings.ranks, 1 + len(others))
    silent = ranks - 1 - len(others)
    parts += [f"no difference in {counted(silent, 'other rank')}"] if silent else []
    yield Point("Ranks", f"rank {findings.first.rank} of {ranks} diverged first; {'; '.join(parts)}")


def _inputs(findings: DivergenceFindings) -> Iterator[Point]:
    """The first inputs that may have made the runs differ; one beside ranks, which need room."""
    for item in _leading_inputs(findings)[: MOST_INPUTS if findings.ranks < 2 else 1]:
        first, second = shown_values(item)
        pairs = zip((first, second), findings.runs, strict=True)
        values = "; ".join(f"{text} in {name_text(run)}" for text, run in pairs) if first != second else "not the same"
        at = place_text(item.place)
        yield Point("Input", f"{clean(item.call)} ({at}), {input_time(item, findings.first)}: {values}")


def _leading_inputs(findings: DivergenceFindings) -> list[InputDifference]:
    """Inputs that may have made the runs differ, without those that follow from others; that of the cause is first."""
    suspects = [item for item in findings.inputs if item.is_suspect]
    suspects = [item for item in suspects if item.only_in is None] or suspects
    named = findings.causes[0].places[:1] if findings.causes else ()
    lines = [(place.file, place.line) for place in named]
    suspects.sort(key=lambda item: (item.place.file, item.place.line) not in lines)
    leading = {item.source: item for item in reversed(suspects)}
    return [item for item in suspects if item.source not in VOLATILE or leading[item.source] is item]


def _causes(findings: DivergenceFindings) -> Iterator[Point]:
    proved = [cause for cause in findings.causes if cause.certainty == "proved"]
    shown = proved[:MOST_CAUSES] or findings.causes[:1]
    for cause in shown:
        yield Point("Cause", f"{clean(cause.title)} ({weight(cause)}): {clean(cause.why)}")
        words, _, code = cause.cure.partition("\n")
        yield Point("Cure", clean(words), code_text(code))
    if not shown:
        yield Point("Cause", "not found: no known source of difference was seen")
    if others := [cause for cause in findings.causes if cause not in shown]:
        texts = (f"{clean(cause.title)} ({weight(cause)})" for cause in others)
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
    """The result in one sentence for a bug report."""
    what_ran = f"Two runs of {name_text(findings.name)} (variant {name_text(findings.variant)})"
    if findings.is_equal is None:
        return f"{what_ran} were not compared {_why_nothing(findings)}."
    if findings.is_equal:
        tolerance = f"equal within {ulps(findings.tolerance_ulps)}" if findings.tolerance_ulps else "bitwise equal"
        return f"{what_ran} are {tolerance} over {over(findings)}: {clean(findings.what)}."
    parts, difference = [f"{what_ran} diverge {headline(findings)}"], findings.first
    if difference is not None:
        at = f" at {place_text(difference.place)}" if difference.place is not None else ""
        parts.append(f"first difference: {what(difference)}{at}")
        parts += [size(difference.ulps)] if difference.ulps is not None else []
    parts += [f"cause: {clean(cause.title)} ({weight(cause)})" for cause in findings.causes[:1]]
    return f"{'; '.join(parts)}."
