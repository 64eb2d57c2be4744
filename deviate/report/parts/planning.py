"""Planning as text: detectable differences with current runs, runs needed for a margin, benefits of more runs."""

from collections.abc import Iterator, Sequence

from deviate.model.design import Planning, PlanningRow
from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.report.document import (
    Absent,
    Block,
    DocumentTable,
    Entry,
    Fold,
    Items,
    ReportFigure,
    Section,
    TableRow,
    cell,
)
from deviate.report.format import (
    between,
    confidence_text,
    counted,
    decimals,
    difference_unit,
    name_text,
    number,
    ratio,
    unit_head,
    with_unit,
)
from deviate.report.numbers import ends, factor
from deviate.report.parts.compare import places_of_difference
from deviate.report.parts.describe import cell_of, estimate_cell, places_of, unit_of
from deviate.report.plots import PlanningPlot

N_OPEN = 3
"""Candidates whose planning is open on a page; that of others is folded."""
NO_PRIMARY = "There is no primary metric to plan for: name one with --metric."


def planning_section(findings: Findings, labels: Sequence[str]) -> Section:
    """One part per candidate, or one for a single experiment."""
    plans = findings.planning
    candidates = [label for pair, label in zip(findings.pairs, labels[1:], strict=False) if pair.headline is not None]
    blocks: list[Block] = [] if plans else [Absent(_no_planning(findings))]
    blocks += [
        _part(plan, index, (candidates[index:] or [name_text(plan.candidate or plan.baseline)])[0], findings)
        for index, plan in enumerate(plans)
    ]
    notes = tuple(_footnotes(findings)) if any(plan.rows for plan in plans) else ()
    return Section("planning", "Planning", (*blocks, Items(notes, "footnotes")))


def _no_planning(findings: Findings) -> str:
    if findings.primary is None:
        return NO_PRIMARY
    if not findings.pairs:
        return "This part of the results has no planning: see all results."
    return f"No candidate reported {name_text(findings.primary)}, so there is no comparison to plan."


def _part(plan: Planning, index: int, label: str, findings: Findings) -> Section:
    heading = (
        name_text(plan.metric.shown) if len(findings.planning) == 1 else f"{name_text(plan.metric.shown)}, {label}"
    )
    key, is_folded = f"planning-{index}", index >= N_OPEN
    if isinstance(plan.sd, Unavailable):
        missing = Absent(f"The detectable differences are unknown: {plan.sd.reason}.")
        return Section(key, heading, (missing,), is_folded)
    places = _places(plan, index, findings)
    first = "pairs" if plan.is_paired else "runs of each"
    columns = (
        first,
        f"detectable difference ({_unit(plan) or 'in its own unit'})",
        f"for the {confidence_text(plan.confidence)} CI of the SD",
        "in SDs",
    )
    rows = tuple(_row(row, plan, places) for row in plan.rows)
    table = DocumentTable(f"{heading}: what numbers of {first} can detect", columns, rows)
    plot = _plot(plan, index, _series(plan, index, findings), places)
    figures = (ReportFigure(plot, f"{plot.title}. {plot.caption}"),) if plot else ()
    return Section(key, heading, (*_sentences(plan, places), *figures, Fold("Table", (table,))), is_folded)


def _places(plan: Planning, index: int, findings: Findings) -> int | None:
    """Decimals of the verdict or the description, so that repeated numbers look the same."""
    headlines = [pair.headline for pair in findings.pairs if pair.headline is not None]
    if index < len(headlines):
        return places_of_difference(headlines[index])
    for item in findings.experiments:
        if plan.baseline in {item.experiment.name, item.experiment.variant}:
            for description in item.descriptions:
                if description.metric.name == plan.metric.name:
                    return places_of(description)
    return None


def _unit(plan: Planning) -> str:
    return difference_unit(unit_of(plan.metric))


def _size(value: float, plan: Planning, places: int | None) -> str:
    return with_unit(number(value, _finer(value, places)), _unit(plan))


def _finer(value: float, places: int | None) -> int | None:
    """At least the decimals of the verdict, and two significant digits for smaller numbers."""
    own_places = decimals(value)
    return places if own_places is None or (places is not None and places >= own_places) else own_places


def _of_each(n: int | Unavailable, plan: Planning) -> str:
    if isinstance(n, Unavailable):
        return n.reason
    return counted(n, "pair") if plan.is_paired else f"{counted(n, 'run')} of each"


def _now_text(plan: Planning) -> str:
    """The number of runs: `10 + 9 runs`, `8 pairs`, or `10 runs of each` for one experiment."""
    if plan.is_paired:
        return counted(plan.n_now[0], "pair")
    return " + ".join(map(str, plan.n_now)) + " runs" if plan.candidate else f"{plan.n_now[0]} runs of each"


def _recorded_text(plan: Planning) -> str:
    """The number of recorded runs; a single experiment has runs on one side only."""
    return _now_text(plan) if plan.candidate or plan.is_paired else counted(plan.n_now[0], "run")


def _sentences(plan: Planning, places: int | None) -> Iterator[str]:
    if isinstance(plan.now, Unavailable):
        return
    size, chance = _size(plan.now, plan, places), f"{confidence_text(plan.power)} power"
    if plan.candidate:
        sentence = f"These {_now_text(plan)} can detect a true difference of {size} ({chance})"
    else:
        sentence = (
            f"With {_now_text(plan)}, two methods that both spread as {name_text(plan.baseline)} does could be told "
            f"apart from a true difference of {size} on ({chance})"
        )
    if isinstance(plan.now_interval, Interval):
        level, finer = confidence_text(plan.confidence), _finer(plan.now, places)
        around = with_unit(between(plan.now_interval.low, plan.now_interval.high, finer), _unit(plan))
        sentence += f"; the SD is known from few runs, and for the ends of its {level} interval that is {around}"
    yield f"{sentence}."
    yield from _margin_sentences(plan)
    # What twice as many would see, from the row that there is of it.
    n = 2 * max(plan.n_now)
    for twice in (row for row in plan.rows if row.n == n):
        more = f"Twice as many, {_of_each(n, plan)}," if len(set(plan.n_now)) == 1 else _of_each(n, plan)
        yield (
            f"{more} would detect {_size(twice.detectable, plan, places)}, "
            f"{ratio(twice.detectable / plan.now)} times as much; to halve it takes about four times as many."
        )


def _margin_sentences(plan: Planning) -> Iterator[str]:
    if plan.margin is None:
        unit = f" in {_unit(plan)}" if _unit(plan) else ""
        names = " ".join(name_text(name) for name in (plan.baseline, plan.candidate) if name)
        yield f"For a difference of X{unit}: deviate plan {names} --difference X; for a margin: --margin X."
        return
    margin, around = with_unit(number(plan.margin, None), _unit(plan)), ""
    if isinstance(plan.runs_for_margin_range, tuple):
        low, high = (n.reason if isinstance(n, Unavailable) else str(n) for n in plan.runs_for_margin_range)
        around = f" ({low} … {high} for the ends of the interval of the SD)"
    n_runs = _of_each(plan.runs_for_margin, plan)
    yield f"To detect a true difference as large as the margin of {margin} takes {n_runs}{around}."
    n_runs = _of_each(plan.runs_for_equivalence, plan)
    yield f"To show equivalence within it, if there is no difference, takes {n_runs}."


def _row(row: PlanningRow, plan: Planning, places: int | None) -> TableRow:
    finer = _finer(row.detectable, places)
    around: Entry = Absent("not known")
    if row.low is not None and row.high is not None:
        around = cell(*ends(row.low, row.high, finer))
    in_sds = Unavailable("not known") if isinstance(plan.sd, Unavailable) else row.detectable / plan.sd
    cells = (estimate_cell(row.detectable, finer), around, cell_of(in_sds, factor))
    return TableRow(str(row.n), cells, note=_note(row.n, plan))


def _note(n: int, plan: Planning) -> str:
    sentences = [
        "recorded" if set(plan.n_now) == {n} else "",
        "see a difference of the margin" if plan.runs_for_margin == n else "",
        "show equivalence within the margin" if plan.runs_for_equivalence == n else "",
    ]
    return ", ".join(filter(None, sentences))


def _series(plan: Planning, index: int, findings: Findings) -> int:
    """Index of the experiment whose colour is used: the candidate, or the single experiment."""
    if plan.candidate:
        judged = [place for place, pair in enumerate(findings.pairs, start=1) if pair.headline is not None]
        return (judged[index:] or [1])[0]
    variants = [item.experiment.variant for item in findings.experiments]
    return variants.index(plan.baseline) if plan.baseline in variants else 0


def _plot(plan: Planning, index: int, series: int, places: int | None) -> PlanningPlot | None:
    if isinstance(plan.now, Unavailable):
        return None
    name, first = name_text(plan.metric.shown), "pairs" if plan.is_paired else "runs of each"
    now = sum(plan.n_now) / len(plan.n_now)
    last = _reach(plan)
    points = tuple((row.n, row.detectable) for row in plan.rows if row.n <= last)
    band = tuple(
        (row.n, row.low, row.high)
        for row in plan.rows
        if row.n <= last and row.low is not None and row.high is not None
    )
    of_ends = f"; the band is for the ends of the {confidence_text(plan.confidence)} interval of the SD" if band else ""
    margin = None if plan.margin is None else with_unit(number(plan.margin, None), _unit(plan))
    text = "; ".join(f"{n} {first}: {_size(value, plan, places)}" for n, value in points)
    names = " and ".join(name_text(side) for side in (plan.baseline, plan.candidate) if side)
    return PlanningPlot(
        key=f"planning-{index}",
        title=f"Detectable difference of {name} against the number of {first}",
        description=(
            f"Smallest true difference detected with {confidence_text(plan.power)} power, by the spread of {names}: "
            f"{text}. On record: {_recorded_text(plan)}, {_size(plan.now, plan, places)}."
            + (f" The margin is {margin}." if margin else "")
        ),
        caption=f"Each point was computed{of_ends}.",
        axis=unit_head(f"detectable difference of {name}", _unit(plan)),
        n_axis=first,
        index=series,
        points=points,
        band=band,
        now=(now, plan.now),
        now_label=f"recorded: {_recorded_text(plan)}",
        margin=plan.margin,
        margin_label=f"margin {margin}" if margin else "",
    )


def _reach(plan: Planning) -> int:
    """The largest number of runs in the figure; numbers in the thousands are only in the table."""
    wanted = [plan.runs_for_margin, plan.runs_for_equivalence]
    base = max(50, 2 * max(plan.n_now))
    return max([base, *(n_runs for n_runs in wanted if isinstance(n_runs, int) and n_runs <= 10 * base)])


def _footnotes(findings: Findings) -> Iterator[str]:
    plan = next(plan for plan in findings.planning if plan.rows)
    level = confidence_text(plan.confidence)
    test = "paired t and sign flips" if plan.is_paired else "Welch's t with equal SDs on both sides and permutation"
    yield (
        f"Detectable is the smallest true difference that a two-sided test at {level} confidence sees with "
        f"{confidence_text(plan.power)} power: {test}, noncentral t. For scores near normal; skewed scores need more."
    )
    yield f"Brackets and band: the ends of the {level} interval of the SD (chi-square), which takes scores as normal."
    yield "These numbers use the spread alone: the power of the observed difference would only restate its p."
    yield "Another data set, machine or setting may have another spread, which needs other numbers of runs."
    if len(findings.pairs) > 1:
        yield (
            f"For one comparison each: {len(findings.pairs)} candidates share the error, which takes more runs "
            f"(deviate plan --candidates {len(findings.pairs)})."
        )
    if findings.pairs and any(item.experiment.looks for item in findings.experiments):
        yield "For one test at the end: declared looks take somewhat more runs (deviate plan --looks)."
