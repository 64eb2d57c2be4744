"""How the difference between two runs grows: in a line, and as figures."""

import math

from deviate.diverge.findings import DivergenceFindings, Growth
from deviate.diverge.report.difference_text import ulps
from deviate.report import (
    Absent,
    Block,
    Figure,
    GrowthPanel,
    GrowthPlot,
    Number,
    Row,
    Section,
    Table,
    cell,
    clean,
    counted_of,
    name_text,
    rough,
)

MOST_PLOTS = 6
"""Reported quantities that are drawn; the loss or the primary metric is the first."""
CAPTION = (
    "Both runs, and how far they are apart, in absolute terms and in units in the last place. "
    "The lower axes are logarithmic, with a place for 0; the dotted line is where the two differ first."
)
EQUAL = "Both runs, which are equal at every step."
NAN = math.nan


def apart(growth: Growth) -> list[int]:
    """Indices at which the two values differ."""
    pairs = enumerate(zip(growth.first, growth.second, strict=True))
    return [at for at, (a, b) in pairs if a != b and not (math.isnan(a) and math.isnan(b))]


def growth_text(growth: Growth) -> str:
    """`loss: 1 ulp (1.2e−7) at update 3, 2.1e−5 at 30, 0.034 at 120`; empty where the two are equal at every step."""
    differing = apart(growth)
    if not differing:
        return ""
    first, last = differing[0], len(growth.steps) - 1
    middle = (first + last) // 2
    parts = [f"{_size_text(growth, first)} at {growth.unit} {growth.steps[first]}"]
    later = [at for at in dict.fromkeys((middle, last)) if at > first]
    if later and not any(growth.differences[at] for at in later):
        later = later[-1:]
    parts += [
        f"{_rough(growth.differences[at]) if growth.differences[at] else 'equal'} at {growth.steps[at]}" for at in later
    ]
    return f"{name_text(growth.name)}: {', '.join(parts)}"


def growth_section(findings: DivergenceFindings) -> Section:
    plots = [_plot(growth, number, findings.runs) for number, growth in enumerate(findings.growth) if growth.steps]
    figures = tuple(Figure(plot, f"{plot.title}. {plot.caption}") for plot in plots[:MOST_PLOTS])
    rows = tuple(_row(growth) for growth in findings.growth if growth.steps)
    columns = ("Quantity", "differs first", "by", "at the end by", "at most by")
    blocks: list[Block] = [*figures]
    blocks += [] if figures else [Absent("No loss and no metric was reported by both runs at the same steps.")]
    blocks += [Table("How far apart both runs are in what they report", columns, rows)] if rows else []
    return Section(
        "growth", "How they grow apart" if any(map(apart, findings.growth)) else "What both reported", tuple(blocks)
    )


def _row(growth: Growth) -> Row:
    differing, name = apart(growth), f"{name_text(growth.name)}, by {growth.unit}"
    if not differing:
        text = f"equal at each of {counted_of(len(growth.steps), 'step')}"
        return Row(name, (cell(text), *(Absent("none") for _ in range(3))))
    first, most = differing[0], max(differing, key=lambda at: _size(growth.differences[at]))
    cells = (
        cell(f"{growth.unit} ", Number(growth.steps[first], 0), value=float(growth.steps[first])),
        cell(_size_text(growth, first)),
        cell(f"{_rough(growth.differences[-1])}, at {growth.steps[-1]}"),
        cell(f"{_rough(growth.differences[most])}, at {growth.steps[most]}"),
    )
    return Row(name, cells)


def _size(difference: float) -> float:
    return math.inf if math.isnan(difference) else difference


def _size_text(growth: Growth, at: int) -> str:
    size, among = growth.ulps[at], _rough(growth.differences[at])
    return f"{ulps(size)} ({among})" if size else among


def _rough(value: float) -> str:
    return rough(value) if math.isfinite(value) else "not finite"


def _plot(growth: Growth, number: int, runs: tuple[str, str]) -> GrowthPlot:
    name, differing = name_text(growth.name), apart(growth)
    names = (name_text(runs[0]), name_text(runs[1]))
    sizes = tuple(NAN if size is None else float(size) for size in growth.ulps)
    panels = [
        GrowthPanel(name, ((names[0], growth.first), (names[1], growth.second))),
        GrowthPanel(f"difference of {name}", (("", growth.differences),), is_logarithmic=True),
        GrowthPanel(f"the same in ulps of {clean(growth.form)}", (("", sizes),), is_logarithmic=True),
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
