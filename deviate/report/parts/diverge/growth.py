"""How two runs grow apart: in a line, and as figures."""

import math

from deviate.model.divergence import DivergenceFindings, Growth
from deviate.report.document import Absent, Block, Figure, Row, Section, Table, cell
from deviate.report.format import clean, name_text, rough
from deviate.report.numbers import Number
from deviate.report.parts.diverge.difference_text import counted_of, ulps
from deviate.report.plots import GrowthPanel, GrowthPlot

MOST_PLOTS = 6
"""Reported quantities that are drawn; the loss or the primary metric is the first."""
CAPTION = (
    "Both runs, and how far they are apart, in absolute terms and in units in the last place. "
    "The lower axes are logarithmic, with a place for 0; the dotted line is where the two differ first."
)
EQUAL = "Both runs, which are equal at every step."
NAN = math.nan


def apart(it: Growth) -> list[int]:
    """Places at which the two values differ."""
    pairs = enumerate(zip(it.first, it.second, strict=True))
    return [at for at, (a, b) in pairs if a != b and not (math.isnan(a) and math.isnan(b))]


def growth_text(it: Growth) -> str:
    """`loss: 1 ulp (1.2e−7) at update 3, 2.1e−5 at 30, 0.034 at 120`; empty where the two are equal at every step."""
    differing = apart(it)
    if not differing:
        return ""
    first, last = differing[0], len(it.steps) - 1
    middle = (first + last) // 2
    told = [f"{_by(it, first)} at {it.unit} {it.steps[first]}"]
    later = [at for at in dict.fromkeys((middle, last)) if at > first]
    if later and not any(it.differences[at] for at in later):
        later = later[-1:]
    told += [f"{_rough(it.differences[at]) if it.differences[at] else 'equal'} at {it.steps[at]}" for at in later]
    return f"{name_text(it.name)}: {', '.join(told)}"


def growth_section(found: DivergenceFindings) -> Section:
    plots = [_plot(it, number, found.runs) for number, it in enumerate(found.growth) if it.steps]
    figures = tuple(
        Figure(plot, f"{plot.title}. {EQUAL if plot.first is None else CAPTION}") for plot in plots[:MOST_PLOTS]
    )
    rows = tuple(_row(it) for it in found.growth if it.steps)
    columns = ("Quantity", "differs first", "by", "at the end by", "at most by")
    blocks: list[Block] = [*figures]
    blocks += [] if figures else [Absent("No loss and no metric was reported by both runs at the same steps.")]
    blocks += [Table("How far apart both runs are in what they report", columns, rows)] if rows else []
    return Section(
        "growth", "How they grow apart" if any(map(apart, found.growth)) else "What both reported", tuple(blocks)
    )


def _row(it: Growth) -> Row:
    differing, name = apart(it), f"{name_text(it.name)}, by {it.unit}"
    if not differing:
        told = f"equal at each of {counted_of(len(it.steps), 'step')}"
        return Row(name, (cell(told), *(Absent("none") for _ in range(3))))
    first, most = differing[0], max(differing, key=lambda at: _size(it.differences[at]))
    cells = (
        cell(f"{it.unit} ", Number(it.steps[first], 0), value=float(it.steps[first])),
        cell(_by(it, first)),
        cell(f"{_rough(it.differences[-1])}, at {it.steps[-1]}"),
        cell(f"{_rough(it.differences[most])}, at {it.steps[most]}"),
    )
    return Row(name, cells)


def _size(difference: float) -> float:
    return math.inf if math.isnan(difference) else difference


def _by(it: Growth, at: int) -> str:
    size, among = it.ulps[at], _rough(it.differences[at])
    return f"{ulps(size)} ({among})" if size else among


def _rough(value: float) -> str:
    return rough(value) if math.isfinite(value) else "not finite"


def _plot(it: Growth, number: int, runs: tuple[str, str]) -> GrowthPlot:
    name, differing = name_text(it.name), apart(it)
    names = (name_text(runs[0]), name_text(runs[1]))
    sizes = tuple(NAN if size is None else float(size) for size in it.ulps)
    panels = [
        GrowthPanel(name, ((names[0], it.first), (names[1], it.second))),
        GrowthPanel(f"difference of {name}", (("", it.differences),), is_logarithmic=True),
        GrowthPanel(f"the same in ulps of {clean(it.form)}", (("", sizes),), is_logarithmic=True),
    ]
    return GrowthPlot(
        key=f"growth-{number}",
        title=f"{name} by {it.unit}",
        description=f"{growth_text(it) or f'{name}: equal at every {it.unit}'}.",
        steps_axis=it.unit,
        steps=it.steps,
        first=it.steps[differing[0]] if differing else None,
        names=names,
        panels=tuple(panels if differing else panels[:1]),
    )
