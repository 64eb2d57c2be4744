"""The answer on one screen: whether the runs are equal, where they diverge, by how much, why, and what to do."""

from collections.abc import Iterator

from deviate.diverge.findings import (
    VOLATILE,
    Checkpoint,
    Confirmation,
    Difference,
    DivergenceFindings,
    InputDifference,
    RungFindings,
)
from deviate.diverge.report.words import (
    PHASES,
    again,
    called_at,
    code_text,
    growth_text,
    input_time,
    label,
    label_difference,
    place_text,
    run_of,
    shown_values,
    size,
    step_text,
    times,
    ulps,
    weight,
    what,
    where,
)
from deviate.model.estimates import value_text
from deviate.report.document import Answer, Point
from deviate.report.format import clean, counted, counted_of, duration, name_text

MOST_INPUTS, MOST_TRIED = 2, 3
NO_LINE = "no line of the program was recorded for it"


def answer_of(findings: DivergenceFindings) -> Answer:
    if findings.is_equal is None and not _is_cut_short(findings):
        return Answer("neutral", "Not compared", _why_nothing(findings), tuple(_ends(findings)))
    if findings.is_equal is None:
        return Answer(
            "neutral", "Equal so far", f"{_over(findings)}; not compared to the end", tuple(_answer_if_equal(findings))
        )
    if findings.is_equal:
        word = f"Equal within {ulps(findings.tolerance_ulps)}" if findings.tolerance_ulps else "Equal"
        return Answer("good", word, _over(findings), tuple(_answer_if_equal(findings)))
    return Answer("bad", "Diverged", headline(findings), tuple(_answer_if_diverged(findings)))


def headline(findings: DivergenceFindings) -> str:
    """The text after the word "Diverged"."""
    first = findings.first
    if first is not None:
        rank = f"in rank {first.rank} " if findings.ranks > 1 else ""
        return f"{rank}{where(first)}{_seen_above(first, findings)}"
    return "at a place that was not recorded"


def _seen_above(first: Difference, findings: DivergenceFindings) -> str:
    """Where level `steps` has its first difference, if one run executed something else on a level below."""
    above = next((rung.difference for rung in findings.rungs if rung.rung == "steps"), None)
    if first.phase != "program" or first.rung == "steps" or above is None or above.phase == "program":
        return ""
    at = "" if above.step == first.step else f" {step_text(above)}"
    return at if above.phase == first.more.get("during") else f"; first visible in {PHASES[above.phase]}{at}"


def _is_cut_short(findings: DivergenceFindings) -> bool:
    """Whether a run ended early, and both are equal until then."""
    return bool(findings.what and (findings.n_steps or findings.n_values))


def _over(findings: DivergenceFindings) -> str:
    """Extent of the comparison: `over 120 updates: metrics, losses, weights`; of values where there are no updates."""
    over = counted_of(findings.n_steps, "update") if findings.n_steps else counted_of(findings.n_values, "value")
    return f"over {over}: {clean(findings.what)}"


def _why_nothing(findings: DivergenceFindings) -> str:
    why = next((rung.why_not for rung in findings.rungs if rung.why_not), "")
    return f"because {clean(why) or 'the runs share no metrics, losses or weights'}"


def _answer_if_equal(findings: DivergenceFindings) -> Iterator[Point]:
    values = (
        f"{counted_of(findings.n_values, 'value')} of {counted(findings.n_metrics, 'metric')}"
        if findings.n_values
        else ""
    )
    weights = {
        "equal": "final weights equal",
        "differ": "final weights differ",
        "not reached": "no final weights recorded",
    }
    steps = counted_of(findings.n_steps, "update")
    yield Point("Compared", ", ".join(part for part in (steps, values, weights[findings.weights]) if part))
    yield from _list_confirmations(findings)
    yield from _levels(findings)


def _answer_if_diverged(findings: DivergenceFindings) -> Iterator[Point]:
    inputs = tuple(_inputs(findings))
    yield from inputs
    if findings.first is not None:
        yield from _difference(findings.first, findings)
    yield from _ranks(findings)
    if not inputs or findings.ranks < 2:  # a screen has no room for all three
        yield from _growth(findings)
    yield from _causes(findings)
    yield from _list_confirmations(findings)
    yield from _levels(findings)


def _inputs(findings: DivergenceFindings) -> Iterator[Point]:
    """The first inputs that may have made the runs differ; one beside ranks, which need room."""
    for item in _leading_inputs(findings)[: MOST_INPUTS if findings.ranks < 2 else 1]:
        first, second = shown_values(item)
        values = "; ".join(
            f"{text} in {name_text(run)}" for text, run in zip((first, second), findings.runs, strict=True)
        )
        when = input_time(item, findings.first)
        yield Point(
            "Input",
            f"{clean(item.call)} ({place_text(item.place)}), {when}: {values if first != second else 'not the same'}",
        )


def _leading_inputs(findings: DivergenceFindings) -> list[InputDifference]:
    """Inputs that may have made the runs differ, without those that follow from others; that of the cause is first."""
    suspects = [item for item in findings.inputs if item.is_suspect]
    suspects = [item for item in suspects if item.only_in is None] or suspects
    named = findings.causes[0].places[:1] if findings.causes else ()
    lines = [(place.file, place.line) for place in named]
    suspects.sort(key=lambda item: (item.place.file, item.place.line) not in lines)
    leading = {item.source: item for item in reversed(suspects)}
    return [item for item in suspects if item.source not in VOLATILE or leading[item.source] is item]


def _difference(difference: Difference, findings: DivergenceFindings) -> Iterator[Point]:
    if difference.place is not None:
        yield Point("Line", place_text(difference.place), code_text(difference.place.text))
    elif difference.kind == "operation":
        yield Point("Line", NO_LINE)
    called = called_at(difference)
    if called is not None:
        yield Point("Backward", f"called at {place_text(called)}", code_text(called.text))
    yield Point(label(difference), "; ".join(_what(difference, findings)))
    if difference.values is not None:
        first, second = (value_text(value) for value in difference.values)
        yield Point("Values", f"{first} in {name_text(findings.runs[0])}, {second} in {name_text(findings.runs[1])}")
    if difference.ulps is not None:
        yield Point("Size", size(difference.ulps))


def _what(difference: Difference, findings: DivergenceFindings) -> Iterator[str]:
    form = f" ({clean(difference.form)})" if difference.form else ""
    ordinal = f", occurrence {difference.ordinal + 1} in the update" if difference.ordinal else ""
    yield f"{label_difference(difference)}{form}{ordinal}"
    if difference.only_in is not None:
        other = name_text(findings.runs[2 - difference.only_in])
        instead = (
            f"{other}: {difference.instead}"
            if difference.is_other_gone
            else f"{other} has {clean(difference.instead) or 'nothing'} instead"
        )
        yield f"only in {run_of(difference, findings.runs)}; {instead}"
    if difference.more.get("reads"):
        yield f"reads {clean(str(difference.more['reads']))} memory"
    if difference.n_equal:
        yield f"{counted_of(difference.n_equal, 'equal record')} before it"


def _ranks(findings: DivergenceFindings) -> Iterator[Point]:
    """The first rank that diverges, and what the other ranks show on the same level."""
    if findings.ranks < 2 or findings.first is None:
        return
    rung = next(rung for rung in reversed(findings.rungs) if rung.difference is not None)
    other_ranks = sorted(
        (difference for difference in rung.by_rank if difference.rank != findings.first.rank),
        key=lambda difference: difference.rank,
    )
    parts = [f"rank {difference.rank} {step_text(difference)}, {what(difference)}" for difference in other_ranks[:2]]
    parts += [f"{len(other_ranks) - 2} more in the report"] if len(other_ranks) > 2 else []
    # A process that only evaluates is compared as well, but is not one of the training ranks.
    ranks = max(findings.ranks, 1 + len(other_ranks))
    silent = ranks - 1 - len(other_ranks)
    parts += [f"no difference in {counted(silent, 'other rank')}"] if silent else []
    yield Point("Ranks", f"rank {findings.first.rank} of {ranks} diverged first; {'; '.join(parts)}")


def _growth(findings: DivergenceFindings) -> Iterator[Point]:
    text = next(filter(None, map(growth_text, findings.growth)), "")
    if text:
        yield Point("Growth", text)


def _causes(findings: DivergenceFindings) -> Iterator[Point]:
    if not findings.causes:
        yield Point("Cause", "no known cause matches the evidence")
        return
    proved = [cause for cause in findings.causes if cause.certainty == "proved"]
    if len(proved) > 1:
        for cause in proved:
            yield Point("Cause", f"{clean(cause.title)} (proved): {clean(cause.why)}")
            words, _, code = cause.cure.partition("\n")
            yield Point("Cure", clean(words), code_text(code))
        return
    first, *alternatives = findings.causes
    yield Point("Cause", f"{clean(first.title)} ({weight(first)}): {clean(first.why)}")
    words, _, code = first.cure.partition("\n")
    yield Point("Cure", clean(words), code_text(code))
    if alternatives:
        yield Point("Or", "; ".join(f"{clean(cause.title)} ({weight(cause)})" for cause in alternatives))


def _list_confirmations(findings: DivergenceFindings) -> Iterator[Point]:
    """The test that proves the cause, or what was tried where none does."""
    proofs = [test for test in findings.confirmations if test.is_equal]
    tried = len(findings.confirmations)
    if proofs and is_proved(findings):
        n_more = f"; {counted(tried - 1, 'other test')}" if tried > 1 else ""
        yield Point("Proof", f"{confirmation_text(proofs[-1])}{n_more}")
    elif tried:
        yield Point("Tried", "; ".join(confirmation_text(test) for test in findings.confirmations[-MOST_TRIED:]))


def is_proved(findings: DivergenceFindings) -> bool:
    return any(cause.certainty == "proved" for cause in findings.causes)


def confirmation_text(confirmation: Confirmation) -> str:
    """`with --variant control: bitwise equal over 120 updates: metrics, weights`."""
    words = {True: "the runs are equal", False: "the runs still diverge", None: "the runs could not be compared"}
    state = words[confirmation.is_equal] if confirmation.is_equal is None or not confirmation.what else ""
    return f"{clean(confirmation.flags)}: {': '.join(filter(None, (state, clean(confirmation.what))))}"


def _levels(findings: DivergenceFindings) -> Iterator[Point]:
    climbed = [rung for rung in findings.rungs if not rung.why_not]
    seconds = sum(rung.wall_time_s for rung in findings.rungs)
    if climbed:
        total = f" · {duration(seconds)} in total" if seconds else ""
        yield Point("Levels", f"{' · '.join(map(_rung, climbed))}{total}")
    yield from _checkpoints(findings)
    yield from _not_reproduced(findings)
    yield from _ends(findings)
    command = again(findings)
    if command and findings.is_equal is False and findings.rungs and not findings.rungs[0].n_runs:
        yield Point("Details", "run twice and record more:", command, is_command=True)


def _rung(rung: RungFindings) -> str:
    source = "" if rung.n_runs else ", from records"
    cost = f" {times(rung.cost)}" if rung.cost is not None else ""
    return f"{rung.rung} {counted_of(rung.n_steps, 'update')}{cost}{source}"


def _checkpoints(findings: DivergenceFindings) -> Iterator[Point]:
    """Between which checkpoints the weights came to differ, and where levels began."""
    parts = []
    files = findings.checkpoints
    if files is not None and findings.is_equal is False:
        states = (("equal", files.last_equal), ("different", files.first_different))
        phrases = [f"{state} in {checkpoint_text(one)}" for state, one in states if one is not None]
        parts.append(f"the weights of both runs are {', '.join(phrases)}")
    begun = [rung for rung in findings.rungs if rung.start and not rung.why_not]
    if begun:
        at = f"{clean(begun[-1].checkpoint)}, update {begun[-1].start:,}"
        parts.append(f"levels from {begun[0].rung} on begin at a checkpoint ({at})")
    if parts:
        yield Point("Note", "; ".join(parts))


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """`ckpt/step-1400.pt (update 1,400)`."""
    return f"{clean(checkpoint.file)} (update {checkpoint.step:,})"


def _not_reproduced(findings: DivergenceFindings) -> Iterator[Point]:
    """A level without a difference below a level with one: the noise is intermittent."""
    above = [rung for rung in findings.rungs if rung.difference is not None]
    equal = [rung for rung in findings.rungs if rung.difference is None and not rung.why_not and rung.n_runs]
    if (
        findings.is_equal is False
        and above
        and equal
        and findings.rungs.index(equal[-1]) > findings.rungs.index(above[-1])
    ):
        rung = equal[-1]
        yield Point(
            "Note",
            f"the runs of level {rung.rung} were equal over {counted_of(rung.n_steps, 'update')}; "
            f"this answer is from level {above[-1].rung}",
        )


def _ends(findings: DivergenceFindings) -> Iterator[Point]:
    ended = next((rung for rung in findings.rungs if rung.why_not), None)
    if ended is not None and findings.is_equal is not None and not (is_proved(findings) and not ended.n_runs):
        yield Point("Ended", f"{'at' if ended.n_runs else 'before'} level {ended.rung}: {clean(ended.why_not)}")


def paste_text(findings: DivergenceFindings) -> str:
    """The result in one sentence for a bug report."""
    what_ran = f"Two runs of {name_text(findings.name)} (variant {name_text(findings.variant)})"
    if findings.is_equal is None:
        return f"{what_ran} were not compared {_why_nothing(findings)}."
    if findings.is_equal:
        tolerance = f"equal within {ulps(findings.tolerance_ulps)}" if findings.tolerance_ulps else "bitwise equal"
        return f"{what_ran} are {tolerance} over {counted_of(findings.n_steps, 'update')}: {clean(findings.what)}."
    parts = [f"{what_ran} diverge {headline(findings)}"]
    difference = findings.first
    if difference is not None:
        at = f" at {place_text(difference.place)}" if difference.place is not None else ""
        parts.append(f"first difference: {what(difference)}{at}")
        parts += [size(difference.ulps)] if difference.ulps is not None else []
    parts += [growth for growth in map(growth_text, findings.growth[:1]) if growth]
    parts += [f"cause: {clean(findings.causes[0].title)} ({weight(findings.causes[0])})"] if findings.causes else []
    return f"{'; '.join(parts)}."
