"""Classes of an evaluation set as text: the spread of the accuracy of each over runs, and its size."""

import math
from collections.abc import Iterator, Sequence

from deviate.model import ClassStability, Findings, Interval, SetStability, Unavailable
from deviate.report import (
    Absent,
    BreakdownLine,
    BreakdownPlot,
    Entry,
    Figure,
    Fold,
    Items,
    Row,
    Section,
    Table,
    between,
    cell,
    cell_of,
    clean,
    confidence_text,
    counted_of,
    decimals,
    ends,
    factor,
    name_text,
    number,
    ratio,
    whole,
)
from deviate.stability.report.measure_labels import POINTS, SHARE, estimate_text, hundredfold_cell, methods

N_FIGURES = 12
N_DRAWN, FEWEST_DRAWN, MOST_POINTS = 30, 5, 3000
"""Classes of a figure, and how many points it has at most, where that leaves room for a few classes."""
CHANCE = "By chance alone: of {} classes that are equally steady for their size and accuracy, the widest would have {}"
ALIKE = (
    "Classes in the order of their SD, the widest first. Accuracy of a class: share of its examples predicted right."
)


def places_of(spread: ClassStability) -> int:
    """Decimals in percent, from the standard error of the mean over runs."""
    if isinstance(spread.sd, Unavailable) or not spread.accuracies:
        return 1
    return max(0, decimals(100 * spread.sd / math.sqrt(len(spread.accuracies))) or 0)


def class_part(captured: SetStability, place: int, labels: Sequence[str], *, is_folded: bool) -> Section:
    """Sentences, figure and table of one set; only the first sets have a figure."""
    heading = f"Classes of {name_text(captured.name)}, {labels[captured.experiment]}"
    plot = _plot(captured, place, heading) if place < N_FIGURES else None
    figures = (Figure(plot, plot.caption, plot.title),) if plot else ()
    exhibits = (*figures, _table(captured, heading))
    fold = Fold(f"{'Figure and table' if plot else 'Table'} of {len(captured.classes)} classes", exhibits)
    blocks = (fold,) if is_folded else exhibits
    return Section(f"classes-{place}", heading, (*sentences(captured), *blocks, Items((), "footnotes")))


def sentences(captured: SetStability) -> Iterator[str]:
    yield widest(captured)
    if captured.classes[0].sd == 0:
        return
    expected = [
        f"{word} of about {number(100 * value, places_of(captured.classes[0]))} points"
        for word, value in (("an SD", captured.expected_largest_sd), ("a range", captured.expected_largest_range))
        if not isinstance(value, Unavailable)
    ]
    if expected:
        sentence = CHANCE.format(len(captured.classes), " and ".join(expected))
        yield (
            f"{sentence}: class {captured.classes[0].label} has no more." if _is_chance(captured) else f"{sentence}."
        )


def _is_chance(captured: SetStability) -> bool:
    """Whether the widest spread is what chance alone gives on average for classes of equal steadiness."""
    sd, expected = captured.classes[0].sd, captured.expected_largest_sd
    return not isinstance(sd, Unavailable) and not isinstance(expected, Unavailable) and sd <= expected


def widest(captured: SetStability) -> str:
    """The class with the widest spread, its size, and the spread that another test set would add."""
    first = captured.classes[0]
    if isinstance(first.sd, Unavailable):
        return f"No class has a spread: {clean(first.sd.reason)}."
    if first.sd == 0:
        return f"The accuracy of each class is the same in all {len(first.accuracies)} runs."
    sampling = ""
    if not isinstance(first.sampling_sd, Unavailable):
        added = number(100 * first.sampling_sd, places_of(first))
        sampling = f"; another test set would add an SD of {added} points"
    return (
        f"Class {first.label} is the least steady: accuracy {_describe_spread(first)} over {len(first.accuracies)} "
        f"runs. It has {counted_of(first.n_examples, 'example')}{sampling}."
    )


def widest_in_brief(captured: SetStability) -> str:
    """The class with the widest spread for one line of a terminal; empty if no class has a spread."""
    first = captured.classes[0] if captured.classes else None
    if first is None or isinstance(first.sd, Unavailable) or first.sd == 0:
        return ""
    chance = ", no more than by chance" if _is_chance(captured) else ""
    size = counted_of(first.n_examples, "example")
    return f"class {first.label} is the least steady, accuracy {_describe_spread(first)}; {size}{chance}"


def _describe_spread(spread: ClassStability) -> str:
    """The range of a class: `83.2 … 95.6 % (SD 4.1 points, 18.6 times that of all)`."""
    places = places_of(spread)
    parts = [] if isinstance(spread.sd, Unavailable) else [f"SD {number(100 * spread.sd, places)} points"]
    parts += [] if isinstance(spread.ratio, Unavailable) else [f"{ratio(spread.ratio)} times that of all examples"]
    ends = between(100 * min(spread.accuracies), 100 * max(spread.accuracies), places)
    return f"{ends} % ({', '.join(parts)})"


def _table(captured: SetStability, heading: str) -> Table:
    interval = next((one.sd_interval for one in captured.classes if isinstance(one.sd_interval, Interval)), None)
    level = f"{confidence_text(interval.confidence)} CI of the SD" if interval else "CI of the SD"
    return Table(
        f"{heading}: spread over runs, in percent and points, the widest first",
        ("Class", "examples", "mean", "SD", level, "range", "SD over that of all", "SD of another test set"),
        tuple(_row(one) for one in captured.classes),
    )


def _row(spread: ClassStability) -> Row:
    places = places_of(spread)
    return Row(
        str(spread.label),
        (
            cell(*whole(spread.n_examples), value=spread.n_examples),
            *(hundredfold_cell(value, places) for value in (spread.mean, spread.sd)),
            _interval(spread.sd_interval, places),
            hundredfold_cell(spread.range, places),
            cell_of(spread.ratio, factor),
            hundredfold_cell(spread.sampling_sd, places),
        ),
    )


def _interval(interval: Interval | Unavailable, places: int) -> Entry:
    if isinstance(interval, Unavailable):
        return Absent(clean(interval.reason))
    return cell(*ends(100 * interval.low, 100 * interval.high, places), value=interval.low)


def _plot(captured: SetStability, place: int, heading: str) -> BreakdownPlot:
    drawn = captured.classes[: max(FEWEST_DRAWN, min(N_DRAWN, MOST_POINTS // max(1, len(captured.replicates))))]
    text = "; ".join(
        f"class {one.label}: {estimate_text(one.mean, places_of(one), SHARE)} ± "
        f"{estimate_text(one.sd, places_of(one), POINTS)}, {counted_of(one.n_examples, 'example')}"
        for one in drawn
    )
    more = (
        f" The widest {len(drawn)} of {len(captured.classes)} are drawn." if len(drawn) < len(captured.classes) else ""
    )
    return BreakdownPlot(
        key=f"classes-{place}-plot",
        title=f"{heading}: accuracy of every run, per class",
        description=f"Accuracy in percent, mean ± SD over runs: {text}.{more}",
        caption="Each point is the accuracy of one run, the thin line their range; dot and line below: mean and one SD "
        f"to either side. In brackets the examples of the class.{more}",
        axis="accuracy (%)",
        index=captured.experiment,
        lines=tuple(_line(one) for one in drawn),
        has_range=True,
    )


def _line(spread: ClassStability) -> BreakdownLine:
    return BreakdownLine(
        label=f"{spread.label} ({spread.n_examples:,})",
        values=tuple(100 * value for value in spread.accuracies),
        mean=None if isinstance(spread.mean, Unavailable) else 100 * spread.mean,
        sd=None if isinstance(spread.sd, Unavailable) else 100 * spread.sd,
    )


def footnotes(findings: Findings) -> Iterator[str]:
    sets = findings.stability.sets
    methods_text = methods(one.sd_interval for captured in sets for one in captured.classes)
    if any(captured.classes for captured in sets):
        yield ALIKE
        yield (
            "SD of another test set: binomial, at the mean accuracy of the class. A small class spreads more for that "
            "alone, and no number of runs reduces it."
        )
    if methods_text:
        yield f"Intervals of SDs of classes: {methods_text}."
