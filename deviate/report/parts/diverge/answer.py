"""The answer of one screen: equal or not, and where two runs part, by how much, why, and what to do."""

from collections.abc import Iterator

from deviate.model import value_text
from deviate.model.divergence import Confirmation, Difference, DivergenceFindings, RungFindings
from deviate.report.document import Answer, Point
from deviate.report.format import clean, counted, duration, name_text
from deviate.report.parts.diverge.difference_text import (
    PHASES,
    again,
    code_text,
    counted_of,
    label,
    named,
    place_text,
    run_of,
    size,
    step_text,
    times,
    ulps,
    what,
    where,
)
from deviate.report.parts.diverge.excerpts import called_at
from deviate.report.parts.diverge.growth import growth_text

NOT_SEEN = "nothing of the program leads there"


def answer_of(found: DivergenceFindings) -> Answer:
    if found.is_equal is None and not _is_cut_short(found):
        return Answer("neutral", "Not compared", _why_nothing(found), tuple(_ends(found)))
    if found.is_equal is None:
        return Answer("neutral", "Equal so far", f"{_over(found)}; not compared to the end", tuple(_of_equal(found)))
    if found.is_equal:
        word = f"Equal within {ulps(found.tolerance_ulps)}" if found.tolerance_ulps else "Bitwise equal"
        return Answer("good", word, _over(found), tuple(_of_equal(found)))
    return Answer("bad", "Parted", headline(found), tuple(_of_parted(found)))


def headline(found: DivergenceFindings) -> str:
    """What follows the word "Parted"."""
    first = found.first
    if first is not None:
        rank = f"in rank {first.rank} " if found.ranks > 1 else ""
        return f"{rank}{where(first)}{_seen_above(first, found)}"
    return "at a place that nothing recorded tells"


def _seen_above(first: Difference, found: DivergenceFindings) -> str:
    """What a way that one run alone took has made differ, where that is of another step or another part of it."""
    above = next((it.difference for it in found.rungs if it.rung == "steps"), None)
    if first.phase != "program" or first.rung == "steps" or above is None or above.phase == "program":
        return ""
    at = "" if above.step == first.step else f" {step_text(above)}"
    return at if above.phase == first.more.get("during") else f"; seen first in {PHASES[above.phase]}{at}"


def _is_cut_short(found: DivergenceFindings) -> bool:
    """Whether a run ended before its time, and what both have until then is equal."""
    return bool(found.what and (found.n_steps or found.n_values))


def _over(found: DivergenceFindings) -> str:
    """`over 120 updates: metrics, losses, weights`; without updates that anybody saw, the values stand for them."""
    over = counted_of(found.n_steps, "update") if found.n_steps else counted_of(found.n_values, "value")
    return f"over {over}: {clean(found.what)}"


def _why_nothing(found: DivergenceFindings) -> str:
    why = next((it.why_not for it in found.rungs if it.why_not), "")
    return f"because {clean(why) or 'both runs share no metrics, no losses and no weights'}"


def _of_equal(found: DivergenceFindings) -> Iterator[Point]:
    told = f"{counted_of(found.n_values, 'value')} of {counted(found.n_metrics, 'metric')}" if found.n_values else ""
    weights = {"equal": "final weights equal", "differ": "final weights differ", "not reached": "no final weights seen"}
    steps = counted_of(found.n_steps, "update")
    yield Point("Compared", ", ".join(it for it in (steps, told, weights[found.weights]) if it))
    yield from _confirmed(found)
    yield from _ladder(found)


def _of_parted(found: DivergenceFindings) -> Iterator[Point]:
    if found.first is not None:
        yield from _difference(found.first, found)
    yield from _ranks(found)
    yield from _growth(found)
    yield from _causes(found)
    yield from _confirmed(found)
    yield from _ladder(found)


def _difference(it: Difference, found: DivergenceFindings) -> Iterator[Point]:
    if it.place is not None:
        yield Point("Line", place_text(it.place), code_text(it.place.text))
    elif it.kind == "operation":
        yield Point("Line", NOT_SEEN)
    called = called_at(it)
    if called is not None:
        yield Point("Backward", f"begun at {place_text(called)}", code_text(called.text))
    yield Point(label(it), "; ".join(_what(it, found)))
    if it.values is not None:
        first, second = (value_text(value) for value in it.values)
        yield Point("Values", f"{first} in {name_text(found.runs[0])}, {second} in {name_text(found.runs[1])}")
    if it.ulps is not None:
        yield Point("Size", size(it.ulps))


def _what(it: Difference, found: DivergenceFindings) -> Iterator[str]:
    form = f" ({clean(it.form)})" if it.form else ""
    yield f"{named(it)}{form}{f', number {it.ordinal + 1} of its name in the update' if it.ordinal else ''}"
    if it.only_in is not None:
        other = name_text(found.runs[2 - it.only_in])
        instead = (
            f"of {other} {it.instead}" if it.is_other_gone else f"{other} has {clean(it.instead) or 'nothing'} there"
        )
        yield f"in {run_of(it, found.runs)} alone, {instead}"
    if it.more.get("reads"):
        yield f"reads {clean(str(it.more['reads']))} memory"
    if it.n_equal:
        yield f"{counted_of(it.n_equal, 'record')} before it {'is' if it.n_equal == 1 else 'are'} equal"


def _ranks(found: DivergenceFindings) -> Iterator[Point]:
    """The first one, and what the others show at the same rung."""
    if found.ranks < 2 or found.first is None:
        return
    rung = next(it for it in reversed(found.rungs) if it.difference is not None)
    others = sorted((it for it in rung.by_rank if it.rank != found.first.rank), key=lambda it: it.rank)
    told = [f"rank {it.rank} {step_text(it)}, {what(it)}" for it in others[:2]]
    told += [f"{len(others) - 2} more on the page"] if len(others) > 2 else []
    # A process that only evaluates is compared as well, and is none of those that trained.
    ranks = max(found.ranks, 1 + len(others))
    silent = ranks - 1 - len(others)
    told += [f"no difference in {counted(silent, 'other rank')}"] if silent else []
    yield Point("Ranks", f"rank {found.first.rank} of {ranks} parted first; {'; '.join(told)}")


def _growth(found: DivergenceFindings) -> Iterator[Point]:
    told = next(filter(None, map(growth_text, found.growth)), "")
    if told:
        yield Point("Growth", told)


def _causes(found: DivergenceFindings) -> Iterator[Point]:
    if not found.causes:
        yield Point("Cause", "none of those known fits what was found")
        return
    first, *others = found.causes
    yield Point("Cause", f"{clean(first.title)} ({first.certainty}): {clean(first.why)}")
    words, _, code = first.cure.partition("\n")
    yield Point("Cure", clean(words), code_text(code))
    if first.switch is not None and (command := again(found, first.switch.flags)):
        yield Point("Run", "", command, is_command=True)
    if others:
        yield Point("Or", "; ".join(f"{clean(it.title)} ({it.certainty})" for it in others))


def _confirmed(found: DivergenceFindings) -> Iterator[Point]:
    for it in found.confirmations:
        yield Point("Confirmed" if it.is_equal else "Tried", confirmation_text(it))
    has_switch = any(it.switch is not None for it in found.causes)
    command = again(found, "--confirm")
    if command and not found.confirmations and has_switch and found.is_equal is False:
        yield Point("Confirm", "whether that removes it:", command, is_command=True)


def confirmation_text(it: Confirmation) -> str:
    """`with --variant control: bitwise equal over 120 updates: metrics, weights`."""
    words = {True: "the runs are equal", False: "the runs still part", None: "the runs could not be compared"}
    state = words[it.is_equal] if it.is_equal is None or not it.what else ""
    return f"with {clean(it.flags)}: {': '.join(filter(None, (state, clean(it.what))))}"


def _ladder(found: DivergenceFindings) -> Iterator[Point]:
    climbed = [it for it in found.rungs if not it.why_not]
    seconds = sum(it.wall_time_s for it in found.rungs)
    if climbed:
        total = f" · {duration(seconds)} in all" if seconds else ""
        yield Point("Ladder", f"{' · '.join(map(_rung, climbed))}{total}")
    yield from _not_again(found)
    yield from _ends(found)
    command = again(found)
    if command and found.is_equal is False and found.rungs and not found.rungs[0].n_runs:
        yield Point("Closer", "two runs of which more is recorded:", command, is_command=True)


def _rung(it: RungFindings) -> str:
    source = "" if it.n_runs else ", from the records"
    cost = f" {times(it.cost)}" if it.cost is not None else ""
    return f"{it.rung} {counted_of(it.n_steps, 'update')}{cost}{source}"


def _not_again(found: DivergenceFindings) -> Iterator[Point]:
    """A rung below one with a difference that has none: noise that comes and goes."""
    above = [it for it in found.rungs if it.difference is not None]
    again = [it for it in found.rungs if it.difference is None and not it.why_not and it.n_runs]
    if found.is_equal is False and above and again and found.rungs.index(again[-1]) > found.rungs.index(above[-1]):
        it = again[-1]
        yield Point(
            "Again",
            f"not seen on rung {it.rung}: over {counted_of(it.n_steps, 'update')} those runs were equal, "
            f"so what is told here is of rung {above[-1].rung}",
        )


def _ends(found: DivergenceFindings) -> Iterator[Point]:
    ended = next((it for it in found.rungs if it.why_not), None)
    if ended is not None and found.is_equal is not None:
        yield Point("Ended", f"{'on' if ended.n_runs else 'before'} rung {ended.rung}: {clean(ended.why_not)}")


def paste_text(found: DivergenceFindings) -> str:
    """What was found, in one sentence for a bug report."""
    what_ran = f"Two runs of {name_text(found.name)} (variant {name_text(found.variant)})"
    if found.is_equal is None:
        return f"{what_ran} were not compared {_why_nothing(found)}."
    if found.is_equal:
        tolerance = f"equal within {ulps(found.tolerance_ulps)}" if found.tolerance_ulps else "bitwise equal"
        return f"{what_ran} are {tolerance} over {counted_of(found.n_steps, 'update')}: {clean(found.what)}."
    parts = [f"{what_ran} part {headline(found)}"]
    it = found.first
    if it is not None:
        at = f" at {place_text(it.place)}" if it.place is not None else ""
        parts.append(f"what differs first is {what(it)}{at}")
        parts += [size(it.ulps)] if it.ulps is not None else []
    parts += [growth for growth in map(growth_text, found.growth[:1]) if growth]
    parts += [f"cause: {clean(found.causes[0].title)} ({found.causes[0].certainty})"] if found.causes else []
    return f"{'; '.join(parts)}."
