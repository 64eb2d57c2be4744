"""The sheet of what determinism costs: a factor per quantity, and the longest kernels in both modes."""

from collections.abc import Iterator

from deviate.base import redacted_words
from deviate.model import Estimate, Interval, Unavailable
from deviate.model.cost import CostFactor, CostFindings, KernelCost, ProfileFindings
from deviate.report.document import Absent, Entry, Fact, Row, cell
from deviate.report.format import clean, confidence_text, counted, name_text, percentage, ratio
from deviate.report.numbers import Number, ends
from deviate.report.plots import KernelLine, KernelPlot
from deviate.report.view.sheet import Sheet, SheetFigure, SheetSection, SheetTable

SCHEMA = 1
# 2026-11-22  1  first format of the JSON of `deviate overhead`.
UNITS = ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (1e-6, "µs", 1e6), (0.0, "ns", 1e9))
"""From this size on, in seconds; the unit; and how many of it are a second."""
QUANTITIES = {"run": "whole run", "step": "main-loop step", "kernels": "kernels"}
TICKS = tuple(factor * 10.0**power for power in range(-9, 6) for factor in (1, 3))
FEW = 3
"""Runs of each mode from which on an interval is of use."""


def overhead_sheet(found: CostFindings) -> Sheet:
    free, held = name_text(found.free), name_text(found.held)
    return Sheet(
        title=f"Overhead of {name_text(found.experiment)}",
        subtitle=f"{free} (kernels free) against {held} (kernels held); runs that count: {found.n_free} and "
        f"{found.n_held}",
        paste=(_paste(found),),
        sections=(_times(found), _kernels(found)),
        warnings=tuple(_warnings(found)),
        footnotes=tuple(_footnotes(found)),
        facts=tuple(Fact(label, cell(clean(text))) for label, text in _facts(found)),
        schema=SCHEMA,
        data=found,
        csv_rows=tuple(_csv(found)),
    )


def _times(found: CostFindings) -> SheetSection:
    level = confidence_text(found.confidence)
    rows = tuple(
        Row(
            _quantity(it, found),
            (
                _time(it.free_mean_s),
                _time(it.held_mean_s),
                _factor(it.factor),
                Absent("none") if isinstance(it.interval, Unavailable) else _interval(it),
                cell(Number(len(it.free_s), 0), " and ", Number(len(it.held_s), 0)),
            ),
            note=f"no interval: {it.interval.reason}" if isinstance(it.interval, Unavailable) else "",
        )
        for it in found.factors
    )
    headers = (f"{name_text(found.free)}, mean", f"{name_text(found.held)}, mean", "factor", f"{level} CI", "n")
    caption = "Mean times with kernels free and with kernels held; the factor is held over free"
    return SheetSection("times", "Times", tables=(SheetTable(caption, "Time of", headers, rows),))


def _quantity(it: CostFactor, found: CostFindings) -> str:
    if it.quantity != "kernels" or isinstance(found.profile, Unavailable):
        return QUANTITIES[it.quantity]
    return "operators, in the window" if found.profile.device == "cpu" else "kernels, in the window"


def _kernels(found: CostFindings) -> SheetSection:
    profile = found.profile
    if isinstance(profile, Unavailable):
        return SheetSection("kernels", "Kernels", absent=f"No kernel times: {profile.reason}.")
    what = "operators" if profile.device == "cpu" else "kernels"
    rows = tuple(Row(name_text(it.name), _kernel_cells(it)) for it in profile.kernels)
    headers = (name_text(found.free), name_text(found.held), "factor", "calls, free and held")
    caption = f"The {len(rows)} longest {what} of {profile.n_kernels}, mean time in the window"
    figures = (SheetFigure(_plot(found, profile, what), _figure_caption(profile, what)),) if rows else ()
    return SheetSection(
        "kernels",
        what.capitalize(),
        sentences=(_window(profile),),
        figures=figures,
        tables=(SheetTable(caption, what.capitalize().removesuffix("s"), headers, rows),) if rows else (),
        absent="" if rows else f"The profiler saw no {what} in the window.",
    )


def _kernel_cells(it: KernelCost) -> tuple[Entry, ...]:
    absent = Absent("none")
    return (
        _time(it.free_s) if it.free_calls else absent,
        _time(it.held_s) if it.held_calls else absent,
        _factor(it.factor),
        cell(Number(it.free_calls, 0), ", ", Number(it.held_calls, 0)),
    )


def _window(profile: ProfileFindings) -> str:
    first, after = profile.window
    steps = f"step {first}" if after - first == 1 else f"steps {first} to {after - 1}"
    updates = f", {counted(profile.n_updates, 'update')} of the weights" if profile.n_updates is not None else ""
    slow = "" if isinstance(profile.slowdown, Unavailable) else f" Profiled runs took {_times_text(profile.slowdown)} "
    slow += "as long as the others, and none of them counts among the times above." if slow else ""
    return (
        f"Profiled by {profile.framework}: {profile.measure}, in {steps} of the main loop (from 0{updates}), "
        f"{profile.n_free} and {profile.n_held} runs that count.{slow}"
    )


def _figure_caption(profile: ProfileFindings, what: str) -> str:
    share = percentage(profile.shown_share)
    return (
        f"Mean time of each of the longest {what} in the window, on a logarithmic axis; the line joins both modes. "
        f"Those shown take {share} of the time of all."
    )


def _plot(found: CostFindings, profile: ProfileFindings, what: str) -> KernelPlot:
    lines = tuple(KernelLine(name_text(it.name), it.free_s or None, it.held_s or None) for it in profile.kernels)
    told = "; ".join(f"{line.label}: {_time(line.free or 0.0).text}, {_time(line.held or 0.0).text}" for line in lines)
    return KernelPlot(
        key="kernels",
        title=f"Longest {what} in both modes",
        description=f"Seconds free and held. {told}.",
        axis="time in the window, logarithmic",
        ticks=tuple((at, _tick(at)) for at in TICKS),
        free=f"{name_text(found.free)} (free)",
        held=f"{name_text(found.held)} (held)",
        lines=lines,
    )


def _paste(found: CostFindings) -> str:
    parts = []
    for it in found.factors:
        if isinstance(it.factor, Unavailable):
            continue
        interval = _interval(it)
        bracket = f"no interval: {interval.text}"
        if not isinstance(interval, Absent):
            bracket = f"{confidence_text(found.confidence)} CI {interval.text}"
        n = f"n = {len(it.free_s)} and {len(it.held_s)}"
        parts.append(f"{_times_text(it.factor)} the time of {_spoken(it, found)} [{bracket}; {n}]")
    if not parts:
        reasons = [it.factor.reason for it in found.factors if isinstance(it.factor, Unavailable)]
        return f"What determinism costs is not known: {reasons[0] if reasons else 'nothing was timed'}."
    return f"Determinism ({name_text(found.held)} over {name_text(found.free)}) takes {'; '.join(parts)}."


def _spoken(it: CostFactor, found: CostFindings) -> str:
    return f"all {_quantity(it, found)}" if it.quantity == "kernels" else f"a {_quantity(it, found)}"


def _footnotes(found: CostFindings) -> Iterator[str]:
    yield "A factor of 1.00x is free of charge; what others publish as 746% is 7.46x here, not 746% more."
    yield "The first run of each mode warms up caches for those that follow, and is left out."
    yield "Intervals of the ratio of two means: Fieller (1954), with variances of their own."
    yield "Both modes hold the same seeds, so that they do the same work; they ran in turn, in random order."
    if not isinstance(found.profile, Unavailable):
        yield f"Kernel times: {found.profile.measure}. A kernel that one mode does without has no factor."


def _warnings(found: CostFindings) -> Iterator[str]:
    yield from found.notes
    if min(found.n_free, found.n_held) < FEW:
        yield "few runs count: with --runs 5 or more the interval becomes one to rely on"


def _facts(found: CostFindings) -> Iterator[tuple[str, str]]:
    yield "command", " ".join(redacted_words(found.command))
    yield from found.facts


def _csv(found: CostFindings) -> Iterator[tuple[str, ...]]:
    """A row per run and quantity, and a row per kernel and mode."""
    yield "quantity", "kernel", "variant", "run", "seconds", "calls"
    for it in found.factors:
        for variant, values in ((found.free, it.free_s), (found.held, it.held_s)):
            for number_, value in enumerate(values, start=1):
                yield it.quantity, "", variant, str(number_), repr(value), ""
    if not isinstance(found.profile, Unavailable):
        for kernel in found.profile.kernels:
            yield "kernel", kernel.name, found.free, "mean", repr(kernel.free_s), repr(kernel.free_calls)
            yield "kernel", kernel.name, found.held, "mean", repr(kernel.held_s), repr(kernel.held_calls)


def _factor(value: Estimate) -> Entry:
    if isinstance(value, Unavailable):
        return Absent(value.reason)
    return cell(Number(value, 2), "x", value=value)


def _times_text(value: float) -> str:
    return f"{ratio(value)}x"


def _interval(it: CostFactor) -> Entry:
    if isinstance(it.interval, Interval):
        return cell(*ends(it.interval.low, it.interval.high, 2))
    return Absent(it.interval.reason)


def _time(seconds: Estimate) -> Entry:
    """A time with three digits, in the unit that suits it."""
    if isinstance(seconds, Unavailable):
        return Absent(seconds.reason)
    _, unit, per_s = next(it for it in UNITS if seconds >= it[0])
    scaled = seconds * per_s
    return cell(Number(scaled, 0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2), f" {unit}", value=seconds)


def _tick(seconds: float) -> str:
    """A round time in the largest unit of which it is one at least."""
    _, unit, per_s = next(it for it in UNITS if seconds >= it[0] * (1 - 1e-9))
    return f"{seconds * per_s:.6g} {unit}"
