"""The document on where two runs diverge: the answer, then figures, source, rungs and causes."""

import shlex
from collections.abc import Iterator

from deviate.base import redact_words
from deviate.diverge.findings import Difference, DivergenceFindings, Growth, Ulps
from deviate.diverge.report.answer import answer_of, paste_text
from deviate.diverge.report.behind import causes_section, confirmation_section, ladder_section, ranks_section
from deviate.diverge.report.excerpts import source_section
from deviate.diverge.report.growth import growth_section
from deviate.report import (
    Document,
    Fact,
    Items,
    Schema,
    Section,
    Shape,
    cell,
    clean,
    document_data,
    document_schema,
    name_text,
    publish,
    shield_rows,
)

DIVERGE_SCHEMA = 1
# 2026-11-22  1  first format of the JSON of `deviate diverge`.

publish(
    {
        DivergenceFindings: Shape(also={"first": "first"}, keyed={"facts": ("name", "value")}),
        # What else a record holds is for those who read records.
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
        "Where two runs part, unrounded. Updates of the weights, steps of the main loop and ranks count from 0, lines "
        "from 1; times are in seconds, files relative to the project.",
    )


def diverge_document(diverged: DivergenceFindings) -> Document:
    """Build the document of `deviate diverge`, in the order of a reader's questions."""
    warnings = tuple(map(clean, diverged.notes))
    return Document(
        title=f"Where runs part: {name_text(diverged.name)}",
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
        yield source_section(diverged)
    yield ladder_section(diverged)
    for section in (ranks_section(diverged), None if diverged.is_equal else causes_section(diverged)):
        if section is not None:
            yield section
    confirmation = confirmation_section(diverged)
    if confirmation is not None:
        yield confirmation
    yield Section("limits", "What this does not show", (Items(tuple(_limits(diverged)), "limits"),))


def _limits(diverged: DivergenceFindings) -> Iterator[str]:
    """Sentences on what the result does not show."""
    rungs = {rung.rung for rung in diverged.rungs if not rung.why_not}
    if diverged.is_equal:
        yield "Two runs that are equal here may part in a third one: some noise shows in few runs."
        yield "What no metric, no loss and no weight depends on was not compared."
    if diverged.is_equal and "steps" not in rungs:
        yield "Random states and batches were not compared: --rung steps looks at them though nothing parts."
    if diverged.is_equal is False:
        yield (
            "What differs first is where the difference becomes visible on the lowest rung; "
            "what made it may lie before, in what no rung records."
        )
        yield "Causes are those of a table of known ones; only a confirmation shows that a switch removes it."
    if diverged.is_equal is False and "operations" in rungs:
        yield "Operations that only read or view memory are not compared, nor memory that nothing has written."
    if diverged.tolerance_ulps:
        yield "Differences within the tolerance were taken for equal, and can have grown into what is told here."
    yield "It holds for this machine, these versions and these arguments."


def _footnotes(diverged: DivergenceFindings) -> Iterator[str]:
    yield "Updates of the weights and steps of the main loop count from 0: at update 3, three are complete."
    yield "Records are checksums of type, shape and bytes; numbers were kept of what differs first alone."
    if any(rung.difference is not None and rung.difference.ulps is not None for rung in diverged.rungs):
        yield "An ulp, a unit in the last place, is the distance between neighbouring numbers of a type."
    if any(rung.cost is not None for rung in diverged.rungs):
        yield "Costs: the quickest update with the rung over the quickest without; expected: measured in turn before."


def _facts(diverged: DivergenceFindings) -> Iterator[Fact]:
    pairs = [
        ("command", shlex.join(redact_words(diverged.command)) or "two, one of each run"),
        *([("flags", shlex.join(redact_words(diverged.flags)))] if diverged.flags else []),
        ("variant", diverged.variant),
        ("runs", " and ".join(diverged.runs)),
        ("tolerance", f"{diverged.tolerance_ulps} ulps" if diverged.tolerance_ulps else "none: bit for bit"),
        *diverged.facts,
    ]
    for label, text in pairs:
        yield Fact(name_text(label), cell(clean(text)))


def _csv(diverged: DivergenceFindings) -> Iterator[tuple[str | float, ...]]:
    """CSV with a row per reported quantity and step."""
    yield "quantity", "unit", "step", "first", "second", "difference", "ulps"
    for growth in diverged.growth:
        columns = zip(growth.steps, growth.first, growth.second, growth.differences, growth.ulps, strict=True)
        for step, first, second, difference, size in columns:
            yield growth.name, growth.unit, step, first, second, difference, "" if size is None else size
