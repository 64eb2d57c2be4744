"""Sources of spread as text: a table per metric, evidence of repeatability, sentences for pasting."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import Findings, NoiseFindings, NoiseRow, NoiseTable, Overhead
from deviate.model.phrases import Reason
from deviate.report.document import (
    NOTHING,
    Absent,
    Block,
    Cell,
    DocumentTable,
    Entry,
    Fact,
    Facts,
    Items,
    ReportFigure,
    Section,
    SummaryLine,
    TableRow,
    cell,
    fact,
    labelled,
    paragraph,
)
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    counted,
    decimals,
    name_text,
    ratio,
    unit_head,
    with_unit,
)
from deviate.report.numbers import TO, Pieces, ShownNumber, append_unit, ends, share
from deviate.report.parts.describe import (
    Footnotes,
    cell_of,
    estimate_cell,
    interval_cell,
    mark,
    places_of_interval,
    unit_of,
)
from deviate.report.parts.provenance import KERNELS
from deviate.report.parts.script_seeds import STREAMS
from deviate.report.plots import ForestPlot, PointGroup, ends_of, known

ALL_VARIANTS = "algo+impl,algo,impl,control"
MOST_TABLES = 3
"""Metrics that a terminal shows where none is primary."""
METRICS_ONLY = "Equal in metrics only: the weights were not observed."


def is_study(findings: Findings) -> bool:
    """Whether the findings describe several variants of one experiment."""
    return not findings.pairs and len(findings.experiments) > 1


def noise_section(findings: Findings) -> Section:
    """Tables of spread per variant; or the reason why there are none."""
    noise, why = findings.noise, no_noise(findings)
    blocks: list[Block] = [Absent(why)] if why else []
    if noise is not None:
        blocks += [Items(said)] if (said := statements(noise)) else []
        blocks += [_overhead(noise.overhead)] if noise.overhead else []
        blocks += [] if noise.tables else [Absent(_no_tables(findings))]
        blocks += [_part(table, index, findings) for index, table in enumerate(noise.tables)]
        blocks.append(Items(tuple(_footnotes(noise, findings.confidence)) if noise.tables else (), "footnotes"))
    return Section("noise", "Noise sources", tuple(blocks))


def statements(noise: NoiseFindings) -> tuple[str, ...]:
    unseen = any(proof.is_equal and proof.n_metrics and proof.weights != "equal" for proof in noise.repeatability)
    return (*map(clean, noise.statements), *([METRICS_ONLY] if unseen else []))


def noise_sentences(findings: Findings) -> tuple[str, ...]:
    """Sentences for pasting on the primary metric, or on all metrics if there is none."""
    noise = findings.noise
    if noise is None:
        return ()
    return tuple(_paste(table, findings) for table in _leading(noise, findings, len(noise.tables)))


def _leading(noise: NoiseFindings, findings: Findings, most: int) -> Sequence[NoiseTable]:
    """The table of the primary metric, or of a few metrics without one."""
    return [table for table in noise.tables if table.metric.name == findings.primary] or noise.tables[:most]


def noise_brief(findings: Findings) -> Iterator[Section]:
    """For a terminal: what the runs prove, and the primary metric by variant, or a few metrics without one."""
    noise = findings.noise
    if noise is None or not (noise.tables or noise.statements):
        return
    tables = _leading(noise, findings, MOST_TABLES)
    yield paragraph(Facts(tuple(labelled("Noise", statements(noise)))))
    yield from (_brief(table, findings) for table in tables)
    n_left = len(noise.tables) - len(tables)
    more = f"… and {counted(n_left, 'more metric')}: see the report, Noise sources"
    overhead = [Facts((fact("Overhead", _overhead(noise.overhead)),))] if noise.overhead else []
    yield paragraph(*([more] if n_left > 0 else []), *overhead)


def noise_result(findings: Findings) -> SummaryLine | None:
    """What the spread of the primary metric comes from, with the SD in each variant; None without a primary metric."""
    tables = findings.noise.tables if findings.noise else ()
    table = next((table for table in tables if table.metric.name == findings.primary), None)
    if table is None:
        return None
    spreads = tuple(
        f"{name_text(row.variant)}{_meaning(row)} {with_unit(sd_cell(row).text, unit_of(table.metric))}"
        for row in table.rows
    )
    metric, conclusion = name_text(table.metric.shown), _conclusion(table, findings.noise)
    if not conclusion:
        is_unrouted = any(run.unrouted for item in findings.experiments for run in item.experiment.runs)
        return SummaryLine(f"SD of {metric}, by what varied{', not isolated' if is_unrouted else ''}", "", spreads)
    answer, reason = conclusion
    return SummaryLine(f"{metric}: {answer}", "", (reason, f"SD by what varied: {spreads[0]}", *spreads[1:]))


SHORT = {"nothing": " (all held)", "implementation": " (kernels)"}


def _meaning(row: NoiseRow) -> str:
    """What a variant varies, in a word or two for who has not met its name; empty for a part of a group."""
    if row.kind == "mixed" and set(row.varied) >= STREAMS | KERNELS:
        return " (seeds and kernels)"
    if row.kind == "streams" and set(row.varied) >= STREAMS:
        return " (seeds)"
    return SHORT.get(row.kind, "")


def _conclusion(table: NoiseTable, noise: NoiseFindings | None) -> tuple[str, str] | None:
    """Answer and reason, where of seeds and kernels one spreads and the other left all runs bitwise equal."""
    if noise is None or noise.control == "broken":
        return None
    equal = {proof.variant: proof for proof in noise.repeatability if proof.is_equal and proof.n_metrics}
    seeds = next((row for row in table.rows if _meaning(row) == " (seeds)"), None)
    kernels = next((row for row in table.rows if row.kind == "implementation" and set(row.varied) >= KERNELS), None)
    if seeds is None or kernels is None or False in (seeds.is_isolated, kernels.is_isolated):
        return None
    for answer, one, other, none in (
        ("the spread comes from the seeds", seeds, kernels, "no implementation noise observed on this hardware"),
        ("the spread comes from the implementation", kernels, seeds, "the seeds added none here"),
    ):
        if _spreads(one) and (proof := equal.get(other.variant)):
            same = f"({name_text(other.variant)}: {proof.n} runs bitwise equal)"
            return answer, f"{none} {same}"
    return None


def _spreads(row: NoiseRow) -> bool:
    return not isinstance(row.sd, Unavailable) and row.sd > 0


def no_noise(findings: Findings) -> str:
    """Why the report has no part on sources of spread; empty if it has."""
    return _no_tables(findings) if findings.noise is None else ""


def _no_tables(findings: Findings) -> str:
    if is_study(findings):
        return "No quality metric was recorded."
    why = "A comparison does not separate sources of spread" if findings.pairs else "One variant"
    return f"{why}: deviate run --variants {ALL_VARIANTS} separates the sources."


def _part(table: NoiseTable, index: int, findings: Findings) -> Section:
    name, forest = name_text(table.metric.shown), forest_plot(table, index)
    blocks = (
        ReportFigure(forest, forest.caption) if forest else Absent("No spread to draw."),
        _spreads_table(table, findings),
        Facts((Fact("Excess of variance, algo+impl − algo − impl", _excess(table)),)),
    )
    return Section(f"noise-{index}", name, blocks, is_primary=table.metric.name == findings.primary)


def _spreads_table(table: NoiseTable, findings: Findings) -> DocumentTable:
    level, notes = confidence_text(findings.confidence), Footnotes()
    spread = f"{unit_head('SD', unit_of(table.metric))} [{level} CI]"
    columns = ("Variant", "varies", "n", spread, _ratio_head(table), "share of variance")
    rows = tuple(
        TableRow(
            name_text(row.variant),
            (
                cell(varies_words(row)),
                cell(ShownNumber(row.n, 0), value=row.n),
                *(_entry(row, entry, notes) for entry in (spread_cell(row), ratio_cell(row), share_cell(row))),
            ),
            note=clean(row.note),
        )
        for row in table.rows
    )
    caption = f"{name_text(table.metric.shown)}: spread per variant"
    return DocumentTable(caption, columns, rows, footnotes=tuple(notes.texts))


def _entry(row: NoiseRow, entry: Entry, notes: Footnotes) -> Entry:
    """A cell, or a dash: where the row has spread with the reason, which its note states otherwise."""
    if isinstance(entry, Cell) or entry.reason == Reason.REFERENCE.value:
        return entry
    return mark(entry, notes) if _spreads(row) and entry.reason not in row.note else cell(NOTHING)


def _ratio_head(table: NoiseTable) -> str:
    return f"SD ratio to {name_text(table.reference)}" if table.reference else "SD ratio"


def _brief(table: NoiseTable, findings: Findings) -> Section:
    """The same table without what varies."""
    whole, excess = _spreads_table(table, findings), _excess(table)
    rows = tuple(replace(row, cells=row.cells[1:]) for row in whole.rows)
    shown = replace(whole, columns=(name_text(table.metric.shown), *whole.columns[2:]), rows=rows)
    sentences = [] if isinstance(excess, Absent) else [f"excess of variance, algo+impl − algo − impl: {excess.text}"]
    return paragraph(shown, *sentences)


def _excess(table: NoiseTable) -> Entry:
    excess, interval = table.excess, table.excess_interval
    unit = unit_of(table.metric)
    squared = f"{unit}²" if unit else ""
    if isinstance(excess, Unavailable) or isinstance(interval, Unavailable):
        return cell_of(excess, lambda value: append_unit((ShownNumber(value, None, "signed"),), squared))
    places = places_of_interval(interval)
    level = confidence_text(interval.confidence)
    pieces = (ShownNumber(excess, places, "signed"), f" [{level} CI ", *ends(interval.low, interval.high, places), "]")
    meaning = "not distinguishable from 0 with these runs"
    if not interval.low <= 0 <= interval.high:
        place, amount = ("above", "more") if interval.low > 0 else ("below", "less")
        meaning = f"{place} 0: together the sources vary {amount} than their variances add up to"
    return cell(*append_unit(pieces, squared), f", {meaning}")


def _overhead(overhead: Overhead) -> str:
    pair = f"{name_text(overhead.held)} over {name_text(overhead.free)}"
    if isinstance(overhead.ratio, Unavailable):
        return f"The cost of determinism ({pair}) is not known: {overhead.ratio.reason}."
    interval, cost = overhead.interval, "Determinism costs"
    if isinstance(interval, Unavailable):
        bracket = f"no interval: {interval.reason}"
    else:
        cost = "No cost of determinism measured:" if interval.low <= 1 <= interval.high else cost
        bracket = (
            f"{confidence_text(interval.confidence)} CI {between(interval.low, interval.high, 2)}, {interval.method}"
        )
    n = f"n = {overhead.n_held} and {overhead.n_free}"
    return f"{cost} {ratio(overhead.ratio)}x the time [{bracket}] ({pair}, {n}; {overhead.note})."


def _paste(table: NoiseTable, findings: Findings) -> str:
    """What the spread comes from, in clear cases, and all values of the table."""
    conclusion = _conclusion(table, findings.noise)
    begin = f"T{'; '.join(conclusion)[1:]}. " if conclusion else ""
    unit = unit_of(table.metric)
    parts = []
    for row in table.rows:
        note = clean(row.note).replace("; ", ", ")
        figures = f"SD {with_unit(sd_cell(row).text, unit)}"
        if isinstance(row.sd, Unavailable) or row.sd == 0:
            parts.append(f"{name_text(row.variant)}{_meaning(row)}: {note or sd_cell(row).text}")
            continue
        said = (
            (f"{confidence_text(findings.confidence)} CI ", interval_cell(row.sd_interval, _places(row)), ""),
            ("", ratio_cell(row), f" times that of {clean(table.reference or '')}"),
            ("", share_cell(row), " of its variance"),
        )
        known_figures = (f"{before}{one.text}{after}" for before, one, after in said if isinstance(one, Cell))
        details = [f"n = {row.n}", *known_figures]
        details += [note] if note else []
        parts.append(f"{name_text(row.variant)}{_meaning(row)} {figures} ({', '.join(details)})")
    spread = f"Spread of {name_text(table.metric.shown)} over runs, by what varied"
    return f"{begin}{spread}: {'; '.join(parts)}. SDs have ddof 1."


def _footnotes(noise: NoiseFindings, confidence: float) -> Iterator[str]:
    level = confidence_text(confidence)
    yield f"{level} intervals of SDs by chi-square, of their ratios by F: both take scores as normal."
    yield "A share is the square of the SD ratio. Variances of sources need not add up, nor shares to 100 %."
    yield "Variants share the seeds of what both hold, and per replicate of what both vary."
    yield "Intervals of ratios, shares and excess take variants as independent: with shared seeds they are too wide."
    yield "Held and free kernels may shift the mean: only spreads are compared here."
    if any(isinstance(table.excess_interval, Interval) for table in noise.tables):
        yield "Interval of the excess: recovered from those of the variances (Ting et al. 1990)."
    rows = (row for table in noise.tables for row in table.rows)
    if any("shuffle" in row.varied and "augment" not in row.varied for row in rows):
        yield "Augmentation follows the position in the epoch: in another order, an example gets another augmentation."


# The spread of one variant in one metric, in cells and as a row of the figure.

NAMED_TOGETHER = {
    "all streams but split": ("init", "shuffle", "augment", "dropout", "other"),
    "implementation": ("kernels", "autotune", "precision"),
    "configuration": ("threads", "onednn"),
}
VARIES = {"script": "as the script leaves it", "nothing": "nothing", "one-bit": "one bit of one weight"}


def varies_words(row: NoiseRow) -> str:
    if row.kind in VARIES:
        return VARIES[row.kind]
    rest, words = list(row.varied), []
    for name, members in NAMED_TOGETHER.items():
        if set(members) <= set(rest):
            words.append(name)
            rest = [word for word in rest if word not in members]
    text = ", ".join((*words, *map(clean, rest)))
    return f"{text} (no noise)" if row.kind == "configuration" else text


def _places(row: NoiseRow) -> int | None:
    """Decimals from the standard error of an SD, s / sqrt(2 (n - 1))."""
    if isinstance(row.sd, Unavailable) or row.n < 2:
        return None
    return decimals(row.sd / math.sqrt(2 * (row.n - 1)))


def sd_cell(row: NoiseRow) -> Entry:
    return estimate_cell(row.sd, _places(row))


def spread_cell(row: NoiseRow) -> Entry:
    return _bracket(row.sd, row.sd_interval, lambda value: (ShownNumber(value, _places(row)),))


def ratio_cell(row: NoiseRow) -> Entry:
    return _bracket(row.ratio, row.ratio_interval, _ratio)


def share_cell(row: NoiseRow) -> Entry:
    return _bracket(row.share, row.share_interval, share)


def _ratio(value: float) -> Pieces:
    """A ratio with two decimals, or two significant digits if it is small, so that small ratios are not shown as 0."""
    return (ShownNumber(value, 2 if value >= 0.01 else decimals(value)),)


def _bracket(estimate: Estimate, interval: Interval | Unavailable, written: Callable[[float], Pieces]) -> Entry:
    around: Pieces = ()
    if isinstance(interval, Interval):
        around = (" [", *written(interval.low), TO, *written(interval.high), "]")
    return cell_of(estimate, lambda value: (*written(value), *around))


def forest_plot(table: NoiseTable, index: int) -> ForestPlot | None:
    rows = tuple(_forest_row(row, place) for place, row in enumerate(table.rows))
    if not any(row.mean for row in rows):
        return None
    name, unit = name_text(table.metric.shown), unit_of(table.metric)
    text = "; ".join(
        f"{row.label} {row.remark or spread_cell(table_row).text}, {row.note}"
        for row, table_row in zip(rows, table.rows, strict=True)
    )
    reference = next((row.mean for row in rows if row.label == name_text(table.reference or "")), None)
    dotted = f" Dotted: the SD of {name_text(table.reference or '')}." if reference else ""
    return ForestPlot(
        key=f"n{index}f",
        title=f"{name}: spread per variant",
        description=f"SD of {name} over runs of each variant with its interval: {text}",
        caption="SD over runs of each variant with its interval; each faint point above is how far one run is from the "
        f"mean of its variant.{dotted}",
        axis=unit_head(f"SD of {name}", unit),
        difference_axis="",
        groups=rows,
        differences=(),
        reference=reference,
    )


def _forest_row(row: NoiseRow, index: int) -> PointGroup:
    values = [score.value for score in row.scores]
    mean = math.fsum(values) / len(values) if values else 0.0
    distances = tuple(abs(value - mean) for value in values) if row.n > 1 and row.sd else ()
    remark = "" if _spreads(row) else clean(row.note) or sd_cell(row).text
    name, ends = name_text(row.variant), ends_of(row.sd_interval)
    return PointGroup(index, name, f"n = {row.n}", distances, known(row.sd) or None, None, *ends, remark)
