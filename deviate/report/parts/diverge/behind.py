"""What stands behind the answer, as tables and remarks: the rungs, the ranks, causes, confirmations."""

from collections.abc import Iterator

from deviate.model.divergence import Cause, Difference, DivergenceFindings, RungFindings
from deviate.report.document import Absent, Entry, Remark, Row, Section, Table, cell
from deviate.report.format import clean
from deviate.report.numbers import Pieces, duration_of, whole
from deviate.report.parts.diverge.difference_text import (
    again,
    code_text,
    place_text,
    size,
    step_text,
    times_number,
    what,
    where,
)

LOOKED_AT = {
    "metrics": "reported values, losses",
    "steps": "batches, weights, gradients, random states",
    "modules": "outputs and gradients of modules",
    "operations": "every operation",
}
NONE = Absent("none")
UNKNOWN = Absent("not known")


def ladder_section(found: DivergenceFindings) -> Section:
    columns = ("Rung", "first difference", "updates", "compared", "window", "cost", "time")
    rows = tuple(_rung(it) for it in found.rungs)
    caption = (
        "How closely both runs were looked at; cost: time of a step over that of one without the rung; time: of runs"
    )
    return Section("ladder", "Ladder", (Table(caption, columns, rows) if rows else Absent("No rung was climbed."),))


def _rung(it: RungFindings) -> Row:
    if it.why_not and not it.n_runs:
        return Row(
            it.rung, (Absent("not climbed"), *(NONE for _ in range(5))), note=f"not climbed: {clean(it.why_not)}"
        )
    equal = Absent("none to be told") if it.why_not else cell("equal")
    cells: tuple[Entry, ...] = (
        equal if it.difference is None else cell(f"{step_text(it.difference)}: {what(it.difference)}"),
        cell(*whole(it.n_steps), value=float(it.n_steps)),
        cell(*whole(it.n_compared), value=float(it.n_compared)),
        cell(_window(it)),
        _cost(it),
        cell(*duration_of(it.wall_time_s), value=it.wall_time_s) if it.n_runs else Absent("from records"),
    )
    ended = f"; ended: {clean(it.why_not)}" if it.why_not else ""
    return Row(it.rung, cells, note=f"looks at {LOOKED_AT[it.rung]}{ended}")


def _window(it: RungFindings) -> str:
    if it.until is None:
        return "all updates" if not it.first else f"from update {it.first}"
    last = it.until - 1
    return f"update {it.first}" if last <= it.first else f"updates {it.first} to {last}"


def _cost(it: RungFindings) -> Entry:
    expected: Pieces = () if it.forecast is None else (times_number(it.forecast), "x expected")
    if it.cost is None:
        return cell(*expected, value=it.forecast) if expected else Absent("not measured")
    return cell(times_number(it.cost), "x", *((" (", *expected, ")") if expected else ()), value=it.cost)


def ranks_section(found: DivergenceFindings) -> Section | None:
    """None where one process trained alone."""
    if found.ranks < 2:
        return None
    rung = next((it for it in reversed(found.rungs) if it.difference is not None), None)
    by_rank = {} if rung is None else {it.rank: it for it in rung.by_rank}
    rows = tuple(
        _rank(rank, by_rank.get(rank), found.first) for rank in range(max(found.ranks, 1 + max(by_rank, default=0)))
    )
    columns = ("Rank", "parts", "what differs first", "line", "size")
    caption = f"The first difference of each rank{f' on rung {rung.rung}' if rung is not None else ''}"
    return Section("ranks", "Ranks", (Table(caption, columns, rows),))


def _rank(rank: int, it: Difference | None, first: Difference | None) -> Row:
    if it is None:
        return Row(str(rank), (cell("equal"), NONE, NONE, NONE))
    is_first = first is not None and first.rank == rank
    cells = (
        cell(f"{step_text(it)}{', first of all' if is_first else ''}"),
        cell(what(it)),
        UNKNOWN if it.place is None else cell(place_text(it.place)),
        Absent("not measured") if it.ulps is None else cell(size(it.ulps)),
    )
    return Row(str(rank), cells)


def causes_section(found: DivergenceFindings) -> Section:
    absent = "None of the known causes fits what was found." if found.is_equal is False else "Nothing to explain."
    remarks = tuple(_cause(cause, found) for cause in found.causes)
    return Section("causes", "Causes and cures", remarks or (Absent(absent),))


def _cause(it: Cause, found: DivergenceFindings) -> Remark:
    cure, _, code = it.cure.partition("\n")
    places = f"In the program: {', '.join(map(place_text, it.places))}." if it.places else ""
    switch = "" if it.switch is None else again(found, it.switch.flags)
    return Remark(
        title=clean(it.title),
        label=it.certainty,
        sentences=tuple(filter(None, (_sentence(f"Found: {it.why}"), places, _sentence(f"Cure: {cure}")))),
        codes=tuple(filter(None, (code_text(code), switch))),
        source=clean(it.source),
    )


def _sentence(text: str) -> str:
    told = clean(text).strip()
    return told if not told or told.endswith((".", "!", "?", ":")) else f"{told}."


def confirmation_section(found: DivergenceFindings) -> Section | None:
    """None where nothing parted, or no switch is known."""
    if not found.confirmations:
        has_switch = any(it.switch is not None for it in found.causes)
        command = again(found, "--confirm")
        if not has_switch or not command:
            return None
        told = Remark(
            "Not tried", "to do", ("This runs both again with the switch of the likeliest cause:",), (command,)
        )
        return Section("confirmation", "Confirmation", (told,))
    rows = tuple(_confirmations(found))
    columns = ("Switch", "runs are", "updates", "what is equal, or differs")
    return Section("confirmation", "Confirmation", (Table("Both runs again with a switch", columns, rows),))


def _confirmations(found: DivergenceFindings) -> Iterator[Row]:
    states: dict[bool | None, Entry] = {True: cell("equal"), False: cell("not equal"), None: Absent("not compared")}
    titles = {it.id: it.title for it in found.causes}
    for it in found.confirmations:
        told = clean(it.what) or ("" if it.difference is None else f"{where(it.difference)}: {what(it.difference)}")
        cells = (states[it.is_equal], cell(*whole(it.n_steps), value=float(it.n_steps)), cell(told) if told else NONE)
        yield Row(clean(it.flags), cells, note=f"against: {clean(titles.get(it.cause, it.cause))}" if it.cause else "")
