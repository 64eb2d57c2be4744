"""Rows of a noise study as text and as a figure: the spread of one variant in one metric."""

import math
from collections.abc import Callable, Sequence

from deviate.model import Estimate, Interval, NoiseRow, NoiseTable, Unavailable
from deviate.report.document import Absent, Entry, cell
from deviate.report.format import clean, decimals, name_text, unit_head
from deviate.report.numbers import TO, Number, Pieces, share
from deviate.report.parts.describe import cell_of, estimate_cell, interval_cell, unit_of
from deviate.report.plots import ForestPlot, ForestRow

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


def sd_interval_cell(row: NoiseRow) -> Entry:
    return interval_cell(row.sd_interval, _places(row))


def ratio_cell(row: NoiseRow) -> Entry:
    return _bracket(row.ratio, row.ratio_interval, _ratio)


def share_cell(row: NoiseRow) -> Entry:
    return _bracket(row.share, row.share_interval, share)


def _ratio(value: float) -> Pieces:
    """A ratio with two decimals, or two significant digits if it is small, so that small ratios are not shown as 0."""
    return (Number(value, 2 if value >= 0.01 else decimals(value)),)


def _bracket(estimate: Estimate, interval: Interval | Unavailable, written: Callable[[float], Pieces]) -> Entry:
    if isinstance(estimate, Unavailable) or isinstance(interval, Unavailable):
        return cell_of(estimate, written)
    return cell(*written(estimate), " [", *written(interval.low), TO, *written(interval.high), "]", value=estimate)


def missing(rows: Sequence[NoiseRow]) -> tuple[str, ...]:
    """Reasons why rows with spread have no ratio or share, unless stated in their notes; without duplicates."""
    labels_of_reason: dict[str, list[str]] = {}
    for row in rows:
        if isinstance(row.sd, Unavailable) or row.sd == 0:
            continue
        for entry, name in ((ratio_cell(row), "ratio"), (share_cell(row), "share")):
            if isinstance(entry, Absent):
                if entry.reason != "reference" and entry.reason not in row.note:
                    labels_of_reason.setdefault(f"no {name}, {entry.reason}", []).append(name_text(row.variant))
                break
    return tuple(f"{reason}: {', '.join(variants)}" for reason, variants in labels_of_reason.items())


def forest_plot(table: NoiseTable, index: int) -> ForestPlot | None:
    rows = tuple(_forest_row(row) for row in table.rows)
    if not any(row.sd for row in rows):
        return None
    name, unit = name_text(table.metric.name), unit_of(table.metric)
    text = "; ".join(
        f"{row.label} {row.remark or _sd_told(table_row)}, {row.note}"
        for row, table_row in zip(rows, table.rows, strict=True)
    )
    reference = next((row.sd for row in rows if row.label == name_text(table.reference or "")), None)
    return ForestPlot(
        key=f"n{index}f",
        title=f"{name}: spread per variant",
        description=f"SD of {name} over runs of each variant with its interval: {text}",
        caption=_caption(table.reference if reference else None),
        axis=unit_head(f"SD of {name}", unit),
        reference=reference or None,
        rows=rows,
    )


def _caption(reference: str | None) -> str:
    text = (
        "SD over runs of each variant with its interval; each faint point below is how far one run is from the mean of "
        "its variant."
    )
    return f"{text} Dotted: the SD of {name_text(reference)}." if reference else text


def _forest_row(row: NoiseRow) -> ForestRow:
    values = [score.value for score in row.scores]
    mean = math.fsum(values) / len(values) if values else 0.0
    interval = row.sd_interval
    return ForestRow(
        label=name_text(row.variant),
        note=f"n = {row.n}",
        sd=None if isinstance(row.sd, Unavailable) else row.sd,
        low=interval.low if isinstance(interval, Interval) else None,
        high=interval.high if isinstance(interval, Interval) else None,
        distances=tuple(abs(value - mean) for value in values) if row.n > 1 and row.sd else (),
        remark="" if row.sd and not isinstance(row.sd, Unavailable) else clean(row.note) or sd_cell(row).text,
    )


def _sd_told(row: NoiseRow) -> str:
    interval = sd_interval_cell(row)
    return sd_cell(row).text if isinstance(interval, Absent) else f"{sd_cell(row).text} [{interval.text}]"
