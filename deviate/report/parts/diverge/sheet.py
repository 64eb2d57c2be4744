"""The sheet of where two runs part: the answer, then the figures, the source, the rungs and causes behind it."""

import shlex
from collections.abc import Iterator

from deviate.base import redacted_words
from deviate.model.divergence import DivergenceFindings
from deviate.report.document import Fact, cell
from deviate.report.format import clean, name_text
from deviate.report.parts.diverge.answer import answer_of, paste_text
from deviate.report.parts.diverge.behind import causes_section, confirmation_section, ladder_section, ranks_section
from deviate.report.parts.diverge.excerpts import source_section
from deviate.report.parts.diverge.growth import growth_section
from deviate.report.view.sheet import Sheet, SheetSection

SCHEMA = 1
# 2026-11-22  1  first format of the JSON of `deviate diverge`.


def diverge_sheet(found: DivergenceFindings) -> Sheet:
    """What `deviate diverge` found, in the order in which a reader asks."""
    return Sheet(
        title=f"Where runs part: {name_text(found.name)}",
        subtitle=_subtitle(found),
        answer=answer_of(found),
        paste=(paste_text(found),),
        sections=tuple(_sections(found)),
        warnings=tuple(map(clean, found.notes)),
        footnotes=tuple(_footnotes(found)),
        facts=tuple(_facts(found)),
        schema=SCHEMA,
        data=found,
        csv_rows=tuple(_csv(found)),
    )


def _subtitle(found: DivergenceFindings) -> str:
    first, second = map(name_text, found.runs)
    return f"{name_text(found.name)} · variant {name_text(found.variant)} · {first} and {second}"


def _sections(found: DivergenceFindings) -> Iterator[SheetSection]:
    yield growth_section(found)
    if found.is_equal is False:
        yield source_section(found)
    yield ladder_section(found)
    for section in (ranks_section(found), None if found.is_equal else causes_section(found)):
        if section is not None:
            yield section
    confirmation = confirmation_section(found)
    if confirmation is not None:
        yield confirmation
    yield SheetSection("limits", "What this does not show", limits=tuple(_limits(found)))


def _limits(found: DivergenceFindings) -> Iterator[str]:
    """What a reader could take it for that it is not."""
    rungs = {it.rung for it in found.rungs if not it.why_not}
    if found.is_equal:
        yield "Two runs that are equal here may part in a third one: some noise shows in few runs."
        yield "What no metric, no loss and no weight depends on was not compared."
    if found.is_equal and "steps" not in rungs:
        yield "Random states and batches were not compared: --rung steps looks at them though nothing parts."
    if found.is_equal is False:
        yield (
            "What differs first is where the difference becomes visible on the lowest rung; "
            "what made it may lie before, in what no rung records."
        )
        yield "Causes are those of a table of known ones; only a confirmation shows that a switch removes it."
    if found.is_equal is False and "operations" in rungs:
        yield "Operations that only read or view memory are not compared, nor memory that nothing has written."
    if found.tolerance_ulps:
        yield "Differences within the tolerance were taken for equal, and can have grown into what is told here."
    yield "It holds for this machine, these versions and these arguments."


def _footnotes(found: DivergenceFindings) -> Iterator[str]:
    yield "Updates of the weights and steps of the main loop count from 0: at update 3, three are complete."
    yield "Records are checksums of type, shape and bytes; numbers were kept of what differs first alone."
    if any(it.difference is not None and it.difference.ulps is not None for it in found.rungs):
        yield "An ulp, a unit in the last place, is the distance between neighbouring numbers of a type."
    if any(it.cost is not None for it in found.rungs):
        yield "Costs: the quickest update with the rung over the quickest without; expected: measured in turn before."


def _facts(found: DivergenceFindings) -> Iterator[Fact]:
    pairs = [
        ("command", shlex.join(redacted_words(found.command)) or "two, one of each run"),
        *([("flags", shlex.join(redacted_words(found.flags)))] if found.flags else []),
        ("variant", found.variant),
        ("runs", " and ".join(found.runs)),
        ("tolerance", f"{found.tolerance_ulps} ulps" if found.tolerance_ulps else "none: bit for bit"),
        *found.facts,
    ]
    for label, text in pairs:
        yield Fact(name_text(label), cell(clean(text)))


def _csv(found: DivergenceFindings) -> Iterator[tuple[str, ...]]:
    """A row per reported quantity and step."""
    yield "quantity", "unit", "step", "first", "second", "difference", "ulps"
    for it in found.growth:
        columns = zip(it.steps, it.first, it.second, it.differences, it.ulps, strict=True)
        for step, first, second, difference, size in columns:
            told = (repr(first), repr(second), repr(difference), "" if size is None else str(size))
            yield it.name, it.unit, str(step), *told
