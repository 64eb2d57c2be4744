"""The document on where two runs diverge: the answer, then figures, inputs, source, levels, causes and proof."""

import shlex
from collections.abc import Iterator
from dataclasses import replace

from deviate.base.redaction import redact_words
from deviate.diverge.findings import Cause, CodeLine, Difference, DivergenceFindings, Growth, Ulps
from deviate.diverge.report.answer import answer_of, paste_text
from deviate.diverge.report.words import apart, called_at, code_text, input_time, place_text, shown_values, where
from deviate.model.places import line_text
from deviate.report.data.published import Shape, document_data, publish
from deviate.report.data.tables import shield_rows
from deviate.report.document import (
    Absent,
    Document,
    DocumentTable,
    Excerpt,
    ExcerptLine,
    Fact,
    Items,
    Remark,
    ReportFigure,
    Section,
    TableRow,
    cell,
)
from deviate.report.format import clean, name_text
from deviate.report.numbers import whole
from deviate.report.plots import StepLine, StepsPlot

DIVERGE_SCHEMA = 1
MOST_PLOTS = 6
"""Maximum number of quantities to plot; the loss or the primary metric comes first."""
CAPTION = "Both runs; the dotted line marks the first difference."
DIFFERENCE = "The axis is logarithmic, with a place for 0; the dotted line marks the first difference."
EQUAL = "Both runs; they are equal at every step."
NO_CAUSE = "Not found: no known source of difference was seen."
NO_SOURCE = "No source line: the records do not lead to one, or the file could not be read."
MOST_EXCERPTS = 6

publish(
    {
        DivergenceFindings: Shape(also={"first": "first"}, keyed={"facts": ("name", "value")}),
        # Other members of a record are not part of the published format.
        Difference: Shape(without=frozenset({"more"}), unbounded=frozenset({"values"})),
        Ulps: Shape(unbounded=frozenset({"largest", "relative"})),
        Growth: Shape(unbounded=frozenset({"differences", "first", "second"})),
    }
)


DESCRIBED = (DIVERGE_SCHEMA, DivergenceFindings)
"""As `deviate.report.data.schema` has it of other documents."""


def diverge_document(diverged: DivergenceFindings) -> Document:
    """Build the document of `deviate diverge`, in the order of a reader's questions."""
    warnings = tuple(map(clean, diverged.notes))
    first, second = map(name_text, diverged.runs)
    return Document(
        title=f"Where runs diverge: {name_text(diverged.name)}",
        subtitle=f"{name_text(diverged.name)} · variant {name_text(diverged.variant)} · {first} and {second}",
        answer=answer_of(diverged),
        paste=(paste_text(diverged),),
        sections=tuple(_sections(diverged)),
        warnings=warnings,
        footnotes=tuple(_footnotes(diverged)),
        facts=tuple(_facts(diverged)),
        data=lambda: document_data(DIVERGE_SCHEMA, diverged, warnings),
        rows=lambda: shield_rows(_csv(diverged)),
    )


def _sections(diverged: DivergenceFindings) -> Iterator[Section]:
    yield _growth_section(diverged)
    if diverged.inputs and diverged.is_equal is False:
        yield _inputs_section(diverged)
    if diverged.is_equal is False:
        excerpts = tuple(_excerpts(diverged))
        yield Section("source", "Source", excerpts[:MOST_EXCERPTS] or (Absent(NO_SOURCE),))
        yield Section("causes", "Causes", tuple(map(_cause, diverged.causes)) or (Absent(NO_CAUSE),))
    if diverged.confirmations:
        yield _proof_section(diverged)
    yield Section("limits", "What this does not show", (Items(tuple(_limits(diverged)), "limits"),))


def _limits(diverged: DivergenceFindings) -> Iterator[str]:
    """Sentences on what the result does not show."""
    if diverged.is_equal:
        yield "A third run may still differ: some noise appears in few runs."
        yield "Only --level steps compares random states and batches where metrics, losses and weights are equal."
    elif diverged.is_equal is False:
        yield "The difference may arise before it becomes visible, in something that no level records."
        yield "A suspected cause was not tested; a proved one was tested by further runs."
    if diverged.tolerance_ulps:
        yield "Differences within the tolerance count as equal; the reported difference may have grown from one."
    yield "The result holds for this machine, these versions and these arguments."


def _footnotes(diverged: DivergenceFindings) -> Iterator[str]:
    yield "Updates of the weights and steps of the main loop count from 0: at update 3, three are complete."
    yield "Records are checksums of type, shape and bytes; numbers were recorded for the first difference only."
    if any(rung.difference is not None and rung.difference.ulps is not None for rung in diverged.rungs):
        yield "An ulp (unit in the last place) is the distance between neighbouring numbers of a type."


def _facts(diverged: DivergenceFindings) -> Iterator[Fact]:
    pairs = [
        ("command", shlex.join(redact_words(diverged.command)) or "two, one per run"),
        *([("flags", shlex.join(redact_words(diverged.flags)))] if diverged.flags else []),
        ("tolerance", f"{diverged.tolerance_ulps} ulps" if diverged.tolerance_ulps else "none (bitwise)"),
        *diverged.facts,
    ]
    for label, text in pairs:
        yield Fact(name_text(label), cell(clean(text)))


def _csv(diverged: DivergenceFindings) -> Iterator[tuple[str | float, ...]]:
    """CSV with a row per reported quantity and step."""
    yield "quantity", "unit", "step", "first", "second", "difference"
    for growth in diverged.growth:
        for row in zip(growth.steps, growth.first, growth.second, growth.differences, strict=True):
            yield growth.name, growth.unit, *row


def _growth_section(findings: DivergenceFindings) -> Section:
    reported = [growth for growth in findings.growth if growth.steps]
    heading = "Growth of the difference" if any(map(apart, reported)) else "Reported values"
    if not reported:
        return Section("growth", heading, (Absent("The runs reported no loss or metric at the same steps."),))
    plots = [plot for number, growth in enumerate(reported[:MOST_PLOTS]) for plot in _plots(growth, number, findings)]
    return Section("growth", heading, tuple(ReportFigure(plot, f"{plot.title}. {plot.caption}") for plot in plots))


def _plots(growth: Growth, number: int, findings: DivergenceFindings) -> Iterator[StepsPlot]:
    """The values of both runs, and their difference where there is one."""
    name, differing = name_text(growth.name), apart(growth)
    first = growth.steps[differing[0]] if differing else None
    steps, sides = tuple(map(float, growth.steps)), zip(findings.runs, (growth.first, growth.second), strict=True)
    plot = StepsPlot(
        key=f"growth-{number}",
        title=f"{name} by {growth.unit}",
        description=f"{name}: {f'equal at every {growth.unit}' if first is None else f'differs from {first} on'}.",
        caption=EQUAL if first is None else CAPTION,
        axis=name,
        lines=tuple(
            StepLine(index, name_text(run), "", steps, values, is_dashed=index == 1)
            for index, (run, values) in enumerate(sides)
        ),
        steps_axis=growth.unit,
        first=first,
        from_zero=False,
    )
    yield plot
    if differing:
        yield replace(
            plot,
            key=f"growth-{number}-difference",
            title=f"Difference of {name} by {growth.unit}",
            caption=DIFFERENCE,
            axis=f"difference of {name}",
            lines=(StepLine(2, "difference", "", steps, growth.differences),),
            is_logarithmic=True,
        )


def _inputs_section(findings: DivergenceFindings) -> Section:
    rows = []
    for item in findings.inputs:
        when, rank = input_time(item, findings.first), f" of rank {item.rank}" if item.rank else ""
        when = when if item.is_upstream else f"{when}, not before the first difference"
        texts = (place_text(item.place), when, *shown_values(item))
        rows.append(TableRow(clean(item.call), tuple(map(cell, texts)), note=f"{item.source.replace('-', ' ')}{rank}"))
    columns = ("Input", "line", "when", *map(name_text, findings.runs))
    caption = "Inputs that differ between the runs, in the order in which they entered the program"
    return Section("inputs", "Inputs", (DocumentTable(caption, columns, tuple(rows)),))


def _excerpts(findings: DivergenceFindings) -> Iterator[Excerpt]:
    """The lines at which the runs diverge, then those that the causes refer to: an excerpt of each file."""
    files: dict[str, dict[int, str]] = {}
    captions: dict[str, dict[int, dict[str, None]]] = {}
    for place, caption in _places(findings):
        first, around = (place.from_line, place.around) if place.around else (place.line, (place.text,))
        if any(around):
            files.setdefault(place.file, {}).update(enumerate(around, start=first))
            captions.setdefault(place.file, {}).setdefault(place.line, {})[caption] = None
    for file, lines in files.items():
        meant = captions[file]
        notes = [f"{line_text(file, line)} {'; '.join(meant[line])}" for line in sorted(meant)]
        width = len(str(max(lines)))
        shown = tuple(
            ExcerptLine(str(number).rjust(width), clean(lines[number].replace("\t", "    ")), is_marked=number in meant)
            for number in sorted(lines)
        )
        yield Excerpt(f"{name_text(file)}: {', '.join(notes)}", shown)


def _places(findings: DivergenceFindings) -> Iterator[tuple[CodeLine, str]]:
    first, known = findings.first, set[tuple[str, int]]()
    told = [] if first is None else [(first.place, f"where the runs diverge {where(first)}")]
    for place, caption in (*told, (called_at(first), "calls the backward pass")):
        if place is not None:
            known.add((place.file, place.line))
            yield place, caption
    for cause in findings.causes:
        for place in cause.places:
            if (place.file, place.line) not in known:
                yield place, f"{cause.certainty} cause ({clean(cause.title)})"


def _cause(cause: Cause) -> Remark:
    cure, _, code = cause.cure.partition("\n")
    places = f"In the program: {', '.join(map(place_text, cause.places))}." if cause.places else ""
    return Remark(
        title=clean(cause.title),
        label=cause.certainty,
        sentences=tuple(filter(None, (_sentence(f"Found: {cause.why}"), places, _sentence(f"Cure: {cure}")))),
        codes=tuple(filter(None, (code_text(code),))),
        source=clean(cause.source),
    )


def _sentence(text: str) -> str:
    sentence = clean(text).strip()
    return sentence if not sentence or sentence.endswith((".", "!", "?", ":")) else f"{sentence}."


def _proof_section(findings: DivergenceFindings) -> Section:
    """The runs that tested causes."""
    columns = ("The same in both runs", "result", "updates", "details")
    caption = "Runs that were given the values of the first run, or that hold what cannot be given"
    rows = tuple(
        TableRow(
            clean(test.given),
            (
                cell("equal" if test.is_equal else "not equal"),
                cell(*whole(test.n_steps), value=float(test.n_steps)),
                cell(clean(test.what)),
            ),
        )
        for test in findings.confirmations
    )
    return Section("confirmation", "Proof", (DocumentTable(caption, columns, rows),))
