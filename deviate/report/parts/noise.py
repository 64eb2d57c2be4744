"""Where the spread comes from as text: a table per metric, the proof of repeatability, sentences to paste."""

from deviate.model import (
    Findings,
    Interval,
    NoiseFindings,
    NoiseRow,
    NoiseTable,
    Overhead,
    Unavailable,
)
from deviate.report import numbers
from deviate.report.document import Absent, Entry, cell
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    decimals,
    name_text,
    ratio,
    with_unit,
)
from deviate.report.numbers import Number, ends
from deviate.report.parts.describe import unit_of
from deviate.report.parts.divergence import proof_row
from deviate.report.parts.spread import (
    forest_plot,
    missing,
    ratio_cell,
    sd_cell,
    sd_interval_cell,
    share_cell,
    varies_words,
)
from deviate.report.view import NoiseRowView, NoiseTableView, NoiseView

ALL_VARIANTS = "algo+impl,algo,impl,control"


def is_study(findings: Findings) -> bool:
    """Whether variants of one experiment are described together."""
    return not findings.pairs and len(findings.experiments) > 1


def noise_view(findings: Findings) -> NoiseView | None:
    noise = findings.noise
    if noise is None:
        return None
    shown = [it for it in noise.tables if it.metric.name == findings.primary] or list(noise.tables)
    return NoiseView(
        no_tables="" if noise.tables else _no_tables(findings),
        tables=tuple(_table(table, index, findings) for index, table in enumerate(noise.tables)),
        statements=tuple(clean(sentence) for sentence in noise.statements),
        overhead=_overhead(noise.overhead),
        proofs=tuple(proof_row(proof) for proof in noise.repeatability),
        paste=tuple(_paste(table, findings) for table in shown),
        footnotes=_footnotes(noise, findings.confidence) if noise.tables else (),
    )


def no_noise(findings: Findings) -> str:
    """Why a report says nothing about sources of spread; empty when it does."""
    if findings.noise is not None:
        return ""
    if not findings.pairs:
        return _no_tables(findings)
    asked = f"deviate run --variants {ALL_VARIANTS} separates the sources"
    return f"Experiments are compared here, not the sources of their spread: {asked}."


def _no_tables(findings: Findings) -> str:
    if is_study(findings):
        return "No quality metric was recorded."
    return f"One variant: deviate run --variants {ALL_VARIANTS} separates the sources."


def _table(table: NoiseTable, index: int, findings: Findings) -> NoiseTableView:
    name, unit = name_text(table.metric.name), unit_of(table.metric)
    level = confidence_text(findings.confidence)
    sd = with_unit("SD", f"({unit})" if unit else "")
    to_reference = f"SD ratio to {name_text(table.reference)}" if table.reference else "SD ratio"
    forest = forest_plot(table, index)
    return NoiseTableView(
        anchor=f"noise-{index}",
        name=name,
        is_primary=table.metric.name == findings.primary,
        headers=(
            "varies",
            "n",
            sd,
            f"{level} CI of the SD (chi-square)",
            f"{to_reference} [{level} CI, F, normal theory]",
            f"share of variance [{level} CI]",
        ),
        brief_headers=(name, "n", f"{sd} [{level} CI]", to_reference, "share of variance"),
        rows=tuple(_row(row) for row in table.rows),
        missing=missing(table.rows),
        excess=_excess(table),
        forest=forest,
        no_forest="" if forest else "No spread to draw.",
    )


def _row(row: NoiseRow) -> NoiseRowView:
    sd, interval = sd_cell(row), sd_interval_cell(row)
    ratios, shares = ratio_cell(row), share_cell(row)
    bracket = "" if isinstance(interval, Absent) else f" [{interval.text}]"
    return NoiseRowView(
        variant=name_text(row.variant),
        cells=(cell(varies_words(row)), cell(Number(row.n, 0), value=row.n), sd, interval, ratios, shares),
        note=clean(row.note),
        brief=(
            str(row.n),
            "" if isinstance(sd, Absent) else f"{sd.text}{bracket}",
            ratios.text if not isinstance(ratios, Absent) or ratios.text == "reference" else "",
            "" if isinstance(shares, Absent) else shares.text,
        ),
        remark=clean(row.note) or (sd.text if isinstance(sd, Absent) else ""),
    )


def _excess(table: NoiseTable) -> Entry:
    excess, interval = table.excess, table.excess_interval
    if isinstance(excess, Unavailable):
        return Absent(excess.reason)
    unit = unit_of(table.metric)
    squared = f"{unit}²" if unit else ""
    if isinstance(interval, Unavailable):
        return cell(*numbers.with_unit((Number(excess, None, "signed"),), squared))
    places = decimals((interval.high - interval.low) / 4)
    level = confidence_text(interval.confidence)
    shown = (Number(excess, places, "signed"), f" [{level} CI ", *ends(interval.low, interval.high, places), "]")
    meaning = "these runs do not tell it from 0"
    if interval.low > 0:
        meaning = "above 0: together the sources vary more than their variances add up to"
    elif interval.high < 0:
        meaning = "below 0: together the sources vary less than their variances add up to"
    return cell(*numbers.with_unit(shown, squared), f", {meaning}")


def _overhead(overhead: Overhead | None) -> str:
    if overhead is None:
        return ""
    pair = f"{name_text(overhead.held)} over {name_text(overhead.free)}"
    if isinstance(overhead.ratio, Unavailable):
        return f"What determinism costs ({pair}) is not known: {overhead.ratio.reason}."
    bracket = f" [no interval: {overhead.interval.reason}]" if isinstance(overhead.interval, Unavailable) else ""
    if isinstance(overhead.interval, Interval):
        interval = overhead.interval
        level = confidence_text(interval.confidence)
        bracket = f" [{level} CI {between(interval.low, interval.high, 2)}, {interval.method}]"
    n = f"n = {overhead.n_held} and {overhead.n_free}"
    return f"Determinism costs {ratio(overhead.ratio)}x the time{bracket} ({pair}, {n}; {overhead.note})."


def _paste(table: NoiseTable, findings: Findings) -> str:
    """One sentence with every figure of the table."""
    unit = unit_of(table.metric)
    parts = []
    for row in table.rows:
        note = clean(row.note).replace("; ", ", ")
        figures = f"SD {with_unit(sd_cell(row).text, unit)}"
        if isinstance(row.sd, Unavailable) or row.sd == 0:
            parts.append(f"{name_text(row.variant)} ({note or sd_cell(row).text})")
            continue
        interval, ratios, shares = sd_interval_cell(row), ratio_cell(row), share_cell(row)
        details = [f"n = {row.n}"]
        details += (
            [] if isinstance(interval, Absent) else [f"{confidence_text(findings.confidence)} CI {interval.text}"]
        )
        details += [] if isinstance(ratios, Absent) else [f"{ratios.text} times that of {clean(table.reference or '')}"]
        details += [] if isinstance(shares, Absent) else [f"{shares.text} of its variance"]
        details += [note] if note else []
        parts.append(f"{name_text(row.variant)} {figures} ({', '.join(details)})")
    return f"Spread of {name_text(table.metric.name)} over runs, by what varied: {'; '.join(parts)}. SDs have ddof 1."


def _footnotes(noise: NoiseFindings, confidence: float) -> tuple[str, ...]:
    level = confidence_text(confidence)
    sentences = [
        f"{level} intervals of SDs by chi-square, of their ratios by F: both take scores as normal.",
        "A share is the square of the SD ratio. Variances of sources need not add up, nor shares to 100 %.",
        "Variants share the seeds of what both hold, and per replicate of what both vary.",
        "Intervals of ratios, shares and excess take variants as independent: with shared seeds they are too wide.",
        "Held and free kernels may differ by a constant: spreads are compared here, not means.",
    ]
    if any(isinstance(table.excess_interval, Interval) for table in noise.tables):
        sentences.append("Interval of the excess: recovered from those of the variances (Ting et al. 1990).")
    if any(_varies_order_alone(row) for table in noise.tables for row in table.rows):
        sentences.append(
            "Augmentation follows the position in the epoch: in another order, an example gets another augmentation."
        )
    return tuple(sentences)


def _varies_order_alone(row: NoiseRow) -> bool:
    return "shuffle" in row.varied and "augment" not in row.varied
