"""The cost of determinism as a document: a factor per quantity, and the longest kernels in both modes."""

from collections.abc import Iterator

from deviate.base.redaction import redact_words
from deviate.model.cost import CostFactor, CostFindings, KernelCost, ProfileFindings
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.report.data.published import OVERHEAD_SCHEMA, document_data
from deviate.report.data.tables import shield_rows
from deviate.report.document import (
    Absent,
    Block,
    Document,
    DocumentTable,
    Entry,
    Fact,
    ReportFigure,
    Section,
    TableRow,
    cell,
)
from deviate.report.format import clean, confidence_text, counted, name_text, percentage, ratio
from deviate.report.numbers import Pieces, ShownNumber
from deviate.report.parts.describe import cell_of, interval_cell
from deviate.report.plots import KernelLine, KernelPlot

UNITS = ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (1e-6, "µs", 1e6), (0.0, "ns", 1e9))
"""From this size on, in seconds; the unit; and how many of it are a second."""
QUANTITIES = {"run": "whole run", "step": "main-loop step", "kernels": "kernels"}
TICKS = tuple(factor * 10.0**power for power in range(-9, 6) for factor in (1, 3))
FEW = 3
"""Runs of each mode from which on an interval is of use."""


def overhead_document(costs: CostFindings) -> Document:
    free, held_name = name_text(costs.free), name_text(costs.held)
    warnings = tuple(_warnings(costs))
    return Document(
        title=f"Overhead of {name_text(costs.experiment)}",
        subtitle=f"{free} (kernels free) against {held_name} (kernels held); runs that count: {costs.n_free} and "
        f"{costs.n_held}",
        paste=(_paste(costs),),
        sections=(_times(costs), _kernels(costs)),
        warnings=warnings,
        footnotes=tuple(_footnotes(costs)),
        facts=tuple(Fact(label, cell(clean(text))) for label, text in _facts(costs)),
        data=lambda: document_data(OVERHEAD_SCHEMA, costs, warnings),
        rows=lambda: shield_rows(_csv(costs)),
    )


def _times(costs: CostFindings) -> Section:
    level = confidence_text(costs.confidence)
    rows = tuple(
        TableRow(
            _quantity(factor, costs),
            (
                _time(factor.free_mean_s),
                _time(factor.held_mean_s),
                _factor(factor.factor),
                Absent("none") if isinstance(factor.interval, Unavailable) else _interval(factor.interval),
                cell(ShownNumber(len(factor.free_s), 0), " and ", ShownNumber(len(factor.held_s), 0)),
            ),
            note=f"no interval: {factor.interval.reason}" if isinstance(factor.interval, Unavailable) else "",
        )
        for factor in costs.factors
    )
    means = (f"{name_text(costs.free)}, mean", f"{name_text(costs.held)}, mean")
    caption = "Mean times with kernels free and with kernels held; the factor is held over free"
    table = DocumentTable(caption, ("Time of", *means, "factor", f"{level} CI", "n"), rows)
    return Section("times", "Times", (table,))


def _quantity(factor: CostFactor, costs: CostFindings) -> str:
    if factor.quantity != "kernels" or isinstance(costs.profile, Unavailable):
        return QUANTITIES[factor.quantity]
    return "operators, in the window" if costs.profile.device == "cpu" else "kernels, in the window"


def _kernels(costs: CostFindings) -> Section:
    profile = costs.profile
    if isinstance(profile, Unavailable):
        return Section("kernels", "Kernels", (Absent(f"No kernel times: {profile.reason}."),))
    kernel_word = "operators" if profile.device == "cpu" else "kernels"
    rows = tuple(TableRow(name_text(kernel.name), _kernel_cells(kernel)) for kernel in profile.kernels)
    blocks: tuple[Block, ...] = (Absent(f"The profiler recorded no {kernel_word} in the window."), _window(profile))
    if rows:
        first = kernel_word.capitalize().removesuffix("s")
        columns = (first, name_text(costs.free), name_text(costs.held), "factor", "calls, free and held")
        caption = f"The {len(rows)} longest {kernel_word} of {profile.n_kernels}, mean time in the window"
        plot = _plot(costs, profile, kernel_word)
        blocks = (_window(profile), ReportFigure(plot, plot.caption), DocumentTable(caption, columns, rows))
    return Section("kernels", kernel_word.capitalize(), blocks)


def _kernel_cells(kernel: KernelCost) -> tuple[Entry, ...]:
    absent = Absent("none")
    return (
        _time(kernel.free_s) if kernel.free_calls else absent,
        _time(kernel.held_s) if kernel.held_calls else absent,
        _factor(kernel.factor),
        cell(ShownNumber(kernel.free_calls, 0), ", ", ShownNumber(kernel.held_calls, 0)),
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


def _plot(costs: CostFindings, profile: ProfileFindings, kernel_word: str) -> KernelPlot:
    lines = tuple(
        KernelLine(name_text(kernel.name), kernel.free_s or None, kernel.held_s or None) for kernel in profile.kernels
    )
    text = "; ".join(f"{line.label}: {_time(line.free or 0.0).text}, {_time(line.held or 0.0).text}" for line in lines)
    return KernelPlot(
        key="kernels",
        title=f"Longest {kernel_word} in both modes",
        description=f"Seconds free and held. {text}.",
        caption=f"Mean time of each of the longest {kernel_word} in the window, on a logarithmic axis; the line joins "
        f"both modes. Those shown take {percentage(profile.shown_share)} of the time of all.",
        axis="time in the window, logarithmic",
        ticks=tuple((at, _tick(at)) for at in TICKS),
        free=f"{name_text(costs.free)} (free)",
        held=f"{name_text(costs.held)} (held)",
        lines=lines,
    )


def _paste(costs: CostFindings) -> str:
    parts, reasons = [], ["nothing was timed"]
    for factor in costs.factors:
        if isinstance(factor.factor, Unavailable):
            reasons.insert(-1, factor.factor.reason)
            continue
        is_known = isinstance(factor.interval, Interval)
        head = f"{confidence_text(costs.confidence)} CI" if is_known else "no interval:"
        bracket = f"{head} {_interval(factor.interval).text}; n = {len(factor.free_s)} and {len(factor.held_s)}"
        of = f"{'all' if factor.quantity == 'kernels' else 'a'} {_quantity(factor, costs)}"
        parts.append(f"{_times_text(factor.factor)} the time of {of} [{bracket}]")
    if not parts:
        return f"The cost of determinism is not known: {reasons[0]}."
    return f"Determinism ({name_text(costs.held)} over {name_text(costs.free)}) takes {'; '.join(parts)}."


def _footnotes(costs: CostFindings) -> Iterator[str]:
    yield "1.00x means no cost. A published 746% is 7.46x here."
    yield "The first run of each mode warms up caches and is left out."
    yield "Intervals of the ratio of two means: Fieller (1954), with variances of their own."
    yield "Both modes hold the same seeds, so that they do the same work; they ran in turn, in random order."
    if not isinstance(costs.profile, Unavailable):
        yield f"Kernel times: {costs.profile.measure}. A kernel that only one mode uses has no factor."


def _warnings(costs: CostFindings) -> Iterator[str]:
    yield from costs.notes
    if min(costs.n_free, costs.n_held) < FEW:
        yield "few runs count: use --runs 5 or more for a reliable interval"


def _facts(costs: CostFindings) -> Iterator[tuple[str, str]]:
    yield "command", " ".join(redact_words(costs.command))
    yield from costs.facts


def _csv(costs: CostFindings) -> Iterator[tuple[str | float, ...]]:
    """CSV with a row per run and quantity, and a row per kernel and mode."""
    yield "quantity", "kernel", "variant", "run", "seconds", "calls"
    for factor in costs.factors:
        for variant, values in ((costs.free, factor.free_s), (costs.held, factor.held_s)):
            for number_, value in enumerate(values, start=1):
                yield factor.quantity, "", variant, number_, value, ""
    if not isinstance(costs.profile, Unavailable):
        for kernel in costs.profile.kernels:
            yield "kernel", kernel.name, costs.free, "mean", kernel.free_s, kernel.free_calls
            yield "kernel", kernel.name, costs.held, "mean", kernel.held_s, kernel.held_calls


def _factor(value: Estimate) -> Entry:
    return cell_of(value, lambda factor: (ShownNumber(factor, 2), "x"))


def _times_text(value: float) -> str:
    return f"{ratio(value)}x"


def _interval(interval: Interval | Unavailable) -> Entry:
    return interval_cell(interval, 2)


def _time(seconds: Estimate) -> Entry:
    """A duration with three digits, in a suitable unit."""
    return cell_of(seconds, _three_digits)


def _three_digits(seconds: float) -> Pieces:
    _, unit, per_s = next(scale for scale in UNITS if seconds >= scale[0])
    scaled = seconds * per_s
    return ShownNumber(scaled, 0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2), f" {unit}"


def _tick(seconds: float) -> str:
    """A round duration as a tick label, in the largest unit that gives at least one."""
    _, unit, per_s = next(scale for scale in UNITS if seconds >= scale[0] * (1 - 1e-9))
    return f"{seconds * per_s:.6g} {unit}"
