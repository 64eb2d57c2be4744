"""The document on where two runs diverge: the answer, then figures, source, rungs and causes."""

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from deviate.base.notebooks import line_text
from deviate.base.redaction import redact_words
from deviate.diverge.findings import (
    Cause,
    Difference,
    DivergenceFindings,
    Growth,
    InputDifference,
    Place,
    RungFindings,
    Ulps,
)
from deviate.diverge.levels import LEVEL_OF
from deviate.diverge.report.answer import answer_of, paste_text
from deviate.diverge.report.words import (
    apart,
    called_at,
    code_text,
    growth_text,
    input_time,
    place_text,
    rough_text,
    shown_values,
    size,
    size_text,
    step_text,
    times_number,
    weight,
    what,
    where,
)
from deviate.model.analysis import InputUse
from deviate.report.data.published import Shape, document_data, publish
from deviate.report.data.schema import Schema, document_schema
from deviate.report.data.tables import shield_rows
from deviate.report.document import (
    Absent,
    Block,
    Document,
    Entry,
    Excerpt,
    ExcerptLine,
    Fact,
    Figure,
    Items,
    Remark,
    Row,
    Section,
    Table,
    cell,
)
from deviate.report.format import clean, counted_of, name_text
from deviate.report.numbers import Number, Pieces, duration_of, whole
from deviate.report.plots import GrowthPanel, GrowthPlot

DIVERGE_SCHEMA = 3
# 2026-11-22  1  first format of the JSON of `deviate diverge`.
# 2026-11-26  2  inputs of the runs that differ.
# 2026-11-29  3  causes are proved by further runs; no switches.
MOST_PLOTS = 6
"""Maximum number of quantities to plot; the loss or the primary metric comes first."""
CAPTION = (
    "Both runs, and their difference in absolute terms and in units in the last place. "
    "The lower axes are logarithmic, with a place for 0; the dotted line marks the first difference."
)
EQUAL = "Both runs; they are equal at every step."
NAN = math.nan
MOST_EXCERPTS = 6
USES: dict[InputUse, str] = {
    "computed": "decides or computes with it",
    "reported": "only prints or logs it",
    "sorted": "sorts it",
    "unknown": "not known",
}
NONE = Absent("none")
UNKNOWN = Absent("unknown")

publish(
    {
        DivergenceFindings: Shape(also={"first": "first"}, keyed={"facts": ("name", "value")}),
        # Other members of a record are not part of the published format.
        Difference: Shape(without=frozenset({"more"}), unbounded=frozenset({"values"})),
        Ulps: Shape(unbounded=frozenset({"largest", "relative"})),
        Growth: Shape(unbounded=frozenset({"differences", "first", "second"})),
    }
)


def diverge_schema() -> Schema:
    """The schema of the JSON of `deviate diverge`, as `report_schema` is that of a report."""
    return document_schema(
        "diverge",
        DIVERGE_SCHEMA,
        DivergenceFindings,
        "Where two runs diverge, unrounded. Updates of the weights, steps of the main loop and ranks count from 0, "
        "lines from 1; times are in seconds, files relative to the project.",
    )


def diverge_document(diverged: DivergenceFindings) -> Document:
    """Build the document of `deviate diverge`, in the order of a reader's questions."""
    warnings = tuple(map(clean, diverged.notes))
    return Document(
        title=f"Where runs diverge: {name_text(diverged.name)}",
        subtitle=_subtitle(diverged),
        answer=answer_of(diverged),
        paste=(paste_text(diverged),),
        sections=tuple(_sections(diverged)),
        warnings=warnings,
        footnotes=tuple(_footnotes(diverged)),
        facts=tuple(_facts(diverged)),
        data=lambda: document_data(DIVERGE_SCHEMA, diverged, warnings),
        rows=lambda: shield_rows(_csv(diverged)),
    )


def _subtitle(diverged: DivergenceFindings) -> str:
    first, second = map(name_text, diverged.runs)
    return f"{name_text(diverged.name)} · variant {name_text(diverged.variant)} · {first} and {second}"


def _sections(diverged: DivergenceFindings) -> Iterator[Section]:
    yield growth_section(diverged)
    if diverged.is_equal is False:
        yield from inputs_section(diverged)
        yield source_section(diverged)
    yield ladder_section(diverged)
    yield from ranks_section(diverged)
    if not diverged.is_equal:
        yield causes_section(diverged)
    yield from confirmation_section(diverged)
    yield Section("limits", "What this does not show", (Items(tuple(_limits(diverged)), "limits"),))


def _limits(diverged: DivergenceFindings) -> Iterator[str]:
    """Sentences on what the result does not show."""
    rungs = {rung.rung for rung in diverged.rungs if not rung.why_not}
    if diverged.is_equal:
        yield "A third run may still differ: some noise appears in few runs."
        yield "Values that affect no metric, loss or weight were not compared."
    if diverged.is_equal and "steps" not in rungs:
        yield "Random states and batches were not compared; --level steps compares them even if the runs are equal."
    if diverged.is_equal is False:
        yield (
            "The first difference is where it becomes visible on the most detailed level; "
            "it may arise earlier, in something that no level records."
        )
        yield "A suspected cause comes from a table; a proved one was tested by further runs."
    if diverged.is_equal is False and "operations" in rungs:
        yield "Not compared: operations that only read or view memory, and memory that was never written."
    if diverged.tolerance_ulps:
        yield "Differences within the tolerance count as equal; the reported difference may have grown from one."
    yield "The result holds for this machine, these versions and these arguments."


def _footnotes(diverged: DivergenceFindings) -> Iterator[str]:
    yield "Updates of the weights and steps of the main loop count from 0: at update 3, three are complete."
    yield "Records are checksums of type, shape and bytes; numbers were recorded for the first difference only."
    if any(rung.difference is not None and rung.difference.ulps is not None for rung in diverged.rungs):
        yield "An ulp (unit in the last place) is the distance between neighbouring numbers of a type."
    if any(rung.cost is not None for rung in diverged.rungs):
        yield "Cost: the fastest update with the level over the fastest without; expected: measured on a level above."


def _facts(diverged: DivergenceFindings) -> Iterator[Fact]:
    pairs = [
        ("command", shlex.join(redact_words(diverged.command)) or "two, one per run"),
        *([("flags", shlex.join(redact_words(diverged.flags)))] if diverged.flags else []),
        ("variant", diverged.variant),
        ("runs", " and ".join(diverged.runs)),
        ("tolerance", f"{diverged.tolerance_ulps} ulps" if diverged.tolerance_ulps else "none (bitwise)"),
        *diverged.facts,
    ]
    for label, text in pairs:
        yield Fact(name_text(label), cell(clean(text)))


def _csv(diverged: DivergenceFindings) -> Iterator[tuple[str | float, ...]]:
    """CSV with a row per reported quantity and step."""
    yield "quantity", "unit", "step", "first", "second", "difference", "ulps"
    for growth in diverged.growth:
        columns = zip(growth.steps, growth.first, growth.second, growth.differences, growth.ulps, strict=True)
        for step, first, second, difference, n_ulps in columns:
            yield growth.name, growth.unit, step, first, second, difference, "" if n_ulps is None else n_ulps


def growth_section(findings: DivergenceFindings) -> Section:
    plots = [_plot(growth, number, findings.runs) for number, growth in enumerate(findings.growth) if growth.steps]
    figures = tuple(Figure(plot, f"{plot.title}. {plot.caption}") for plot in plots[:MOST_PLOTS])
    rows = tuple(_row(growth) for growth in findings.growth if growth.steps)
    columns = ("Quantity", "first difference", "size", "at the end", "largest")
    blocks: list[Block] = [*figures]
    blocks += [] if figures else [Absent("The runs reported no loss or metric at the same steps.")]
    blocks += [Table("Differences in reported values", columns, rows)] if rows else []
    return Section(
        "growth", "Growth of the difference" if any(map(apart, findings.growth)) else "Reported values", tuple(blocks)
    )


def _row(growth: Growth) -> Row:
    differing, name = apart(growth), f"{name_text(growth.name)}, by {growth.unit}"
    if not differing:
        text = f"equal at each of {counted_of(len(growth.steps), 'step')}"
        return Row(name, (cell(text), *(Absent("none") for _ in range(3))))
    first, most = differing[0], max(differing, key=lambda at: _size(growth.differences[at]))
    cells = (
        cell(f"{growth.unit} ", Number(growth.steps[first], 0), value=float(growth.steps[first])),
        cell(size_text(growth, first)),
        cell(f"{rough_text(growth.differences[-1])}, at {growth.steps[-1]}"),
        cell(f"{rough_text(growth.differences[most])}, at {growth.steps[most]}"),
    )
    return Row(name, cells)


def _size(difference: float) -> float:
    return math.inf if math.isnan(difference) else difference


def _plot(growth: Growth, number: int, runs: tuple[str, str]) -> GrowthPlot:
    name, differing = name_text(growth.name), apart(growth)
    names = (name_text(runs[0]), name_text(runs[1]))
    sizes = tuple(NAN if size is None else float(size) for size in growth.ulps)
    panels = [
        GrowthPanel(name, ((names[0], growth.first), (names[1], growth.second))),
        GrowthPanel(f"difference of {name}", (("", growth.differences),), is_logarithmic=True),
        GrowthPanel(f"in ulps of {clean(growth.form)}", (("", sizes),), is_logarithmic=True),
    ]
    return GrowthPlot(
        key=f"growth-{number}",
        title=f"{name} by {growth.unit}",
        description=f"{growth_text(growth) or f'{name}: equal at every {growth.unit}'}.",
        caption=CAPTION if differing else EQUAL,
        steps_axis=growth.unit,
        steps=growth.steps,
        first=growth.steps[differing[0]] if differing else None,
        names=names,
        panels=tuple(panels if differing else panels[:1]),
    )


def inputs_section(findings: DivergenceFindings) -> Iterator[Section]:
    """Section with all inputs that differ; none if there are none."""
    if not findings.inputs:
        return
    columns = ("Input", "line", "when", *map(name_text, findings.runs), "what the program does with it")
    caption = "Inputs that differ between the runs, in the order in which they entered the program"
    rows = tuple(_input(item, findings.first) for item in findings.inputs)
    yield Section("inputs", "Inputs", (Table(caption, columns, rows),))


def _input(item: InputDifference, first: Difference | None) -> Row:
    when = input_time(item, first)
    cells = (
        cell(place_text(item.place)),
        cell(when if item.is_upstream else f"{when}, not before the first difference"),
        *map(cell, shown_values(item)),
        cell(USES[item.use]),
    )
    rank = f" of rank {item.rank}" if item.rank else ""
    return Row(clean(item.call), cells, note=f"{item.source.replace('-', ' ')}{rank}")


def source_section(findings: DivergenceFindings) -> Section:
    """Section with the line at which the runs diverge, then lines that the causes refer to."""
    excerpts = tuple(_excerpts(findings))
    return Section("source", "Source", excerpts[:MOST_EXCERPTS] or (Absent(_why_none(findings)),))


def _excerpts(findings: DivergenceFindings) -> Iterator[Excerpt]:
    """Excerpts by file, first place first; places close to each other share one."""
    captions: dict[tuple[str, int], list[str]] = {}
    excerpts: list[_Shown] = []
    for place, caption in _places(findings):
        texts = captions.setdefault((place.file, place.line), [])
        if caption not in texts:
            texts.append(caption)
        if place.text or place.around:
            _add(excerpts, place)
    for excerpt in excerpts:
        notes = [
            f"{line_text(excerpt.file, line)} {'; '.join(captions[excerpt.file, line])}"
            for line in sorted(excerpt.meant)
        ]
        yield Excerpt(f"{name_text(excerpt.file)}: {', '.join(notes)}", tuple(_lines(excerpt)))


def _add(excerpts: list["_Shown"], place: Place) -> None:
    first, around = (place.from_line, place.around) if place.around else (place.line, (place.text,))
    lines = dict(enumerate(around, start=first))
    for excerpt in excerpts:
        if excerpt.file == place.file and any(line - 1 in excerpt.lines or line + 1 in excerpt.lines for line in lines):
            excerpt.lines.update(lines)
            excerpt.meant.add(place.line)
            return
    excerpts.append(_Shown(place.file, lines, {place.line}))


@dataclass(slots=True)
class _Shown:
    """Numbered lines of a file, with those to mark."""

    file: str
    lines: dict[int, str]
    meant: set[int]


def _places(findings: DivergenceFindings) -> Iterator[tuple[Place, str]]:
    first = findings.first
    if first is not None and first.place is not None:
        yield first.place, f"where the runs diverge {where(first)}"
    called = called_at(first)
    if called is not None:
        yield called, "calls the backward pass"
    positions = {place and (place.file, place.line) for place in (first and first.place, called)}
    for item in findings.inputs:
        if item.is_suspect and (item.place.file, item.place.line) not in positions:
            yield item.place, "an input differs"
    for cause in findings.causes:
        for place in cause.places:
            if (place.file, place.line) not in positions:
                yield place, f"possible cause ({clean(cause.title)})"


def _lines(excerpt: _Shown) -> Iterator[ExcerptLine]:
    width = len(str(max(excerpt.lines)))
    for number in sorted(excerpt.lines):
        text = clean(excerpt.lines[number].replace("\t", "    "))
        yield ExcerptLine(str(number).rjust(width), text, is_marked=number in excerpt.meant)


def _why_none(findings: DivergenceFindings) -> str:
    if findings.is_equal is not False:
        return "No source line: no difference was found."
    return "No source line: the records do not lead to one, or the file could not be read."


def ladder_section(findings: DivergenceFindings) -> Section:
    columns = ("Level", "first difference", "updates", "compared", "window", "cost", "time")
    rows = tuple(_rung(rung) for rung in findings.rungs)
    caption = (
        "Levels of detail at which the runs were compared; cost: time of a step over one without the level; "
        "time: of the runs"
    )
    return Section("ladder", "Levels", (Table(caption, columns, rows) if rows else Absent("No level was compared."),))


def _rung(rung: RungFindings) -> Row:
    if rung.why_not and not rung.n_runs:
        return Row(
            rung.rung, (Absent("not compared"), *(NONE for _ in range(5))), note=f"not compared: {clean(rung.why_not)}"
        )
    equal = Absent("unknown") if rung.why_not else cell("equal")
    cells: tuple[Entry, ...] = (
        equal if rung.difference is None else cell(f"{step_text(rung.difference)}: {what(rung.difference)}"),
        cell(*whole(rung.n_steps), value=float(rung.n_steps)),
        cell(*whole(rung.n_compared), value=float(rung.n_compared)),
        cell(_window(rung)),
        _cost(rung),
        cell(*duration_of(rung.wall_time_s), value=rung.wall_time_s) if rung.n_runs else Absent("from records"),
    )
    begun = f"; begins at update {rung.start:,}, from {clean(rung.checkpoint)}" if rung.start else ""
    ended = f"; ended: {clean(rung.why_not)}" if rung.why_not else ""
    return Row(rung.rung, cells, note=f"compares {LEVEL_OF[rung.rung].compares}{begun}{ended}")


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


def ranks_section(findings: DivergenceFindings) -> Iterator[Section]:
    """Section on ranks; none if only one process trained."""
    if findings.ranks < 2:
        return
    rung = next((rung for rung in reversed(findings.rungs) if rung.difference is not None), None)
    by_rank = {} if rung is None else {difference.rank: difference for difference in rung.by_rank}
    rows = tuple(
        _rank(rank, by_rank.get(rank), findings.first)
        for rank in range(max(findings.ranks, 1 + max(by_rank, default=0)))
    )
    columns = ("Rank", "diverges", "first difference", "line", "size")
    caption = f"The first difference of each rank{f' on level {rung.rung}' if rung is not None else ''}"
    yield Section("ranks", "Ranks", (Table(caption, columns, rows),))


def _rank(rank: int, difference: Difference | None, first: Difference | None) -> Row:
    if difference is None:
        return Row(str(rank), (cell("equal"), NONE, NONE, NONE))
    is_first = first is not None and first.rank == rank
    cells = (
        cell(f"{step_text(difference)}{', first' if is_first else ''}"),
        cell(what(difference)),
        UNKNOWN if difference.place is None else cell(place_text(difference.place)),
        Absent("not measured") if difference.ulps is None else cell(size(difference.ulps)),
    )
    return Row(str(rank), cells)


def causes_section(findings: DivergenceFindings) -> Section:
    absent = "No known cause matches the evidence." if findings.is_equal is False else "No difference to explain."
    remarks = tuple(_cause(cause) for cause in findings.causes)
    return Section("causes", "Causes", remarks or (Absent(absent),))


def _cause(cause: Cause) -> Remark:
    cure, _, code = cause.cure.partition("\n")
    places = f"In the program: {', '.join(map(place_text, cause.places))}." if cause.places else ""
    return Remark(
        title=clean(cause.title),
        label=weight(cause),
        sentences=tuple(filter(None, (_sentence(f"Found: {cause.why}"), places, _sentence(f"Cure: {cure}")))),
        codes=tuple(filter(None, (code_text(code),))),
        source=clean(cause.source),
    )


def _sentence(text: str) -> str:
    sentence = clean(text).strip()
    return sentence if not sentence or sentence.endswith((".", "!", "?", ":")) else f"{sentence}."


def confirmation_section(findings: DivergenceFindings) -> Iterator[Section]:
    """Section on the runs that tested causes; none if there were none."""
    if findings.confirmations:
        columns = ("The same in both runs", "result", "updates", "details")
        caption = "Runs that were given the values of the first run, or that hold what cannot be given"
        yield Section("confirmation", "Proof", (Table(caption, columns, tuple(_confirmations(findings))),))


def _confirmations(findings: DivergenceFindings) -> Iterator[Row]:
    states: dict[bool | None, Entry] = {True: cell("equal"), False: cell("not equal"), None: Absent("not compared")}
    titles = {cause.id: cause.title for cause in findings.causes}
    for confirmation in findings.confirmations:
        text, difference = clean(confirmation.what), confirmation.difference
        if not text and difference is not None:
            text = f"{where(difference)}: {what(difference)}"
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
