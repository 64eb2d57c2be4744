"""Details behind the answer as tables and remarks: rungs, ranks, causes, confirmations."""

from collections.abc import Iterator

from deviate.diverge.findings import Cause, Difference, DivergenceFindings, RungFindings
from deviate.diverge.levels import LEVEL_OF
from deviate.diverge.report.difference_text import (
    again,
    code_text,
    place_text,
    size,
    step_text,
    times_number,
    what,
    where,
)
from deviate.report import Absent, Entry, Pieces, Remark, Row, Section, Table, cell, clean, duration_of, whole

NONE = Absent("none")
UNKNOWN = Absent("not known")


def ladder_section(findings: DivergenceFindings) -> Section:
    columns = ("Rung", "first difference", "updates", "compared", "window", "cost", "time")
    rows = tuple(_rung(rung) for rung in findings.rungs)
    caption = (
        "How closely both runs were looked at; cost: time of a step over that of one without the rung; time: of runs"
    )
    return Section("ladder", "Ladder", (Table(caption, columns, rows) if rows else Absent("No rung was climbed."),))


def _rung(rung: RungFindings) -> Row:
    if rung.why_not and not rung.n_runs:
        return Row(
            rung.rung, (Absent("not climbed"), *(NONE for _ in range(5))), note=f"not climbed: {clean(rung.why_not)}"
        )
    equal = Absent("none to be told") if rung.why_not else cell("equal")
    cells: tuple[Entry, ...] = (
        equal if rung.difference is None else cell(f"{step_text(rung.difference)}: {what(rung.difference)}"),
        cell(*whole(rung.n_steps), value=float(rung.n_steps)),
        cell(*whole(rung.n_compared), value=float(rung.n_compared)),
        cell(_window(rung)),
        _cost(rung),
        cell(*duration_of(rung.wall_time_s), value=rung.wall_time_s) if rung.n_runs else Absent("from records"),
    )
    ended = f"; ended: {clean(rung.why_not)}" if rung.why_not else ""
    return Row(rung.rung, cells, note=f"looks at {LEVEL_OF[rung.rung].looks_at}{ended}")


def _window(rung: RungFindings) -> str:
    if rung.until is None:
        return "all updates" if not rung.first else f"from update {rung.first}"
    last = rung.until - 1
    return f"update {rung.first}" if last <= rung.first else f"updates {rung.first} to {last}"


def _cost(rung: RungFindings) -> Entry:
    expected: Pieces = () if rung.forecast is None else (times_number(rung.forecast), "x expected")
    if rung.cost is None:
        return cell(*expected, value=rung.forecast) if expected else Absent("not measured")
    return cell(times_number(rung.cost), "x", *((" (", *expected, ")") if expected else ()), value=rung.cost)


def ranks_section(findings: DivergenceFindings) -> Section | None:
    """Section on ranks; None if only one process trained."""
    if findings.ranks < 2:
        return None
    rung = next((rung for rung in reversed(findings.rungs) if rung.difference is not None), None)
    by_rank = {} if rung is None else {difference.rank: difference for difference in rung.by_rank}
    rows = tuple(
        _rank(rank, by_rank.get(rank), findings.first)
        for rank in range(max(findings.ranks, 1 + max(by_rank, default=0)))
    )
    columns = ("Rank", "parts", "what differs first", "line", "size")
    caption = f"The first difference of each rank{f' on rung {rung.rung}' if rung is not None else ''}"
    return Section("ranks", "Ranks", (Table(caption, columns, rows),))


def _rank(rank: int, difference: Difference | None, first: Difference | None) -> Row:
    if difference is None:
        return Row(str(rank), (cell("equal"), NONE, NONE, NONE))
    is_first = first is not None and first.rank == rank
    cells = (
        cell(f"{step_text(difference)}{', first of all' if is_first else ''}"),
        cell(what(difference)),
        UNKNOWN if difference.place is None else cell(place_text(difference.place)),
        Absent("not measured") if difference.ulps is None else cell(size(difference.ulps)),
    )
    return Row(str(rank), cells)


def causes_section(findings: DivergenceFindings) -> Section:
    absent = "None of the known causes fits what was found." if findings.is_equal is False else "Nothing to explain."
    remarks = tuple(_cause(cause, findings) for cause in findings.causes)
    return Section("causes", "Causes and cures", remarks or (Absent(absent),))


def _cause(cause: Cause, findings: DivergenceFindings) -> Remark:
    cure, _, code = cause.cure.partition("\n")
    places = f"In the program: {', '.join(map(place_text, cause.places))}." if cause.places else ""
    switch = "" if cause.switch is None else again(findings, cause.switch.flags)
    return Remark(
        title=clean(cause.title),
        label=cause.certainty,
        sentences=tuple(filter(None, (_sentence(f"Found: {cause.why}"), places, _sentence(f"Cure: {cure}")))),
        codes=tuple(filter(None, (code_text(code), switch))),
        source=clean(cause.source),
    )


def _sentence(text: str) -> str:
    sentence = clean(text).strip()
    return sentence if not sentence or sentence.endswith((".", "!", "?", ":")) else f"{sentence}."


def confirmation_section(findings: DivergenceFindings) -> Section | None:
    """Section on confirmations; None if the runs are equal or no switch is known."""
    if not findings.confirmations:
        has_switch = any(cause.switch is not None for cause in findings.causes)
        command = again(findings, "--confirm")
        if not has_switch or not command:
            return None
        remark = Remark(
            "Not tried", "to do", ("This runs both again with the switch of the likeliest cause:",), (command,)
        )
        return Section("confirmation", "Confirmation", (remark,))
    rows = tuple(_confirmations(findings))
    columns = ("Switch", "runs are", "updates", "what is equal, or differs")
    return Section("confirmation", "Confirmation", (Table("Both runs again with a switch", columns, rows),))


def _confirmations(findings: DivergenceFindings) -> Iterator[Row]:
    states: dict[bool | None, Entry] = {True: cell("equal"), False: cell("not equal"), None: Absent("not compared")}
    titles = {cause.id: cause.title for cause in findings.causes}
    for confirmation in findings.confirmations:
        text = clean(confirmation.what) or (
            ""
            if confirmation.difference is None
            else f"{where(confirmation.difference)}: {what(confirmation.difference)}"
        )
        cells = (
            states[confirmation.is_equal],
            cell(*whole(confirmation.n_steps), value=float(confirmation.n_steps)),
            cell(text) if text else NONE,
        )
        yield Row(
            clean(confirmation.flags),
            cells,
            note=f"against: {clean(titles.get(confirmation.cause, confirmation.cause))}" if confirmation.cause else "",
        )
