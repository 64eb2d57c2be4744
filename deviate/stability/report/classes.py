"""Classes and sub-groups of an evaluation set as text: the spread of each over runs, and its size.

Source: the columns of sub-groups are those of Zhuang et al. (2022), Tables 3 and 5.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.stability import ClassStability, GroupMeasure, GroupStability, SetStability
from deviate.report.document import Absent, DocumentTable, Entry, Fold, Items, Section, TableRow, cell
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    counted_of,
    decimals,
    name_text,
    number,
    percentage,
    ratio,
)
from deviate.report.numbers import Pieces, ShownNumber, ends, factor, share, whole
from deviate.report.parts.compare import ratio_cell
from deviate.report.parts.describe import cell_of
from deviate.stability.report.measure_labels import hundredfold_cell, methods


class Rate(NamedTuple):
    """A rate of sub-groups: its field in the findings, and what it is called."""

    field: str
    name: str
    short: str

    @property
    def long_name(self) -> str:
        return self.name if self.short == self.name else f"{self.name} ({self.short})"

    def of(self, group: GroupStability) -> GroupMeasure | Unavailable:
        measure: GroupMeasure | Unavailable = getattr(group, self.field)
        return measure


RATES = (
    Rate("accuracy", "accuracy", "accuracy"),
    Rate("false_positive_rate", "false positive rate", "FPR"),
    Rate("false_negative_rate", "false negative rate", "FNR"),
)
ALL = "All"
NO_RATES = "False positive and false negative rates need two classes."
CHANCE = "If all {} classes were equally steady for their size and accuracy, the widest would by chance have {}"
ALIKE = (
    "Classes are sorted by SD, widest first. Accuracy of a class: share of its examples that are predicted correctly."
)


def places_of(spread: ClassStability | GroupMeasure, n_runs: int) -> int:
    """Decimals in percent, from the standard error of the mean over runs."""
    if isinstance(spread.sd, Unavailable) or not n_runs:
        return 1
    return max(0, decimals(100 * spread.sd / math.sqrt(n_runs)) or 0)


def class_places(spread: ClassStability) -> int:
    """Decimals in percent of the accuracy of a class."""
    return places_of(spread, len(spread.accuracies))


def class_part(captured: SetStability, place: int, labels: Sequence[str], *, is_folded: bool) -> Section:
    """Sentences and table of one set."""
    heading = f"Classes of {name_text(captured.name)}, {labels[captured.experiment]}"
    table = _class_table(captured, heading)
    block = Fold(f"Table of {len(captured.classes)} classes", (table,)) if is_folded else table
    return Section(f"classes-{place}", heading, (*sentences(captured), block, Items((), "footnotes")))


def sentences(captured: SetStability) -> Iterator[str]:
    yield widest(captured)
    if captured.classes[0].sd == 0:
        return
    expected = [
        f"{word} of about {number(100 * value, class_places(captured.classes[0]))} points"
        for word, value in (("an SD", captured.expected_largest_sd), ("a range", captured.expected_largest_range))
        if not isinstance(value, Unavailable)
    ]
    if expected:
        sentence = CHANCE.format(len(captured.classes), " and ".join(expected))
        yield (
            f"{sentence}. Class {captured.classes[0].label} has no more." if _is_chance(captured) else f"{sentence}."
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
        added = number(100 * first.sampling_sd, class_places(first))
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
    chance = ", no more than expected by chance" if _is_chance(captured) else ""
    size = counted_of(first.n_examples, "example")
    return f"class {first.label} is the least steady, accuracy {_describe_spread(first)}; {size}{chance}"


def _describe_spread(spread: ClassStability) -> str:
    """The range of a class: `83.2 … 95.6 % (SD 4.1 points, 18.6 times that of all)`."""
    places = class_places(spread)
    parts = [] if isinstance(spread.sd, Unavailable) else [f"SD {number(100 * spread.sd, places)} points"]
    parts += [] if isinstance(spread.ratio, Unavailable) else [f"{ratio(spread.ratio)} times that of all examples"]
    ends = between(100 * min(spread.accuracies), 100 * max(spread.accuracies), places)
    return f"{ends} % ({', '.join(parts)})"


def _class_table(captured: SetStability, heading: str) -> DocumentTable:
    interval = next((one.sd_interval for one in captured.classes if isinstance(one.sd_interval, Interval)), None)
    level = f"{confidence_text(interval.confidence)} CI of the SD" if interval else "CI of the SD"
    return DocumentTable(
        f"{heading}: spread over runs, in percent and points, widest first",
        ("Class", "examples", "mean", "SD", level, "range", "SD relative to all", "test-set sampling SD"),
        tuple(_row(one) for one in captured.classes),
    )


def _row(spread: ClassStability) -> TableRow:
    places = class_places(spread)
    return TableRow(
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
    return cell_of(interval, lambda known: ends(100 * known.low, 100 * known.high, places))


def footnotes(findings: Findings) -> Iterator[str]:
    sets = findings.stability.sets
    methods_text = methods(one.sd_interval for captured in sets for one in captured.classes)
    if any(captured.classes for captured in sets):
        yield ALIKE
        yield (
            "Test-set sampling SD: binomial, at the mean accuracy of the class. It is larger for small classes; more "
            "runs do not reduce it."
        )
    if methods_text:
        yield f"Intervals of SDs of classes: {methods_text}."
    groups = [one for captured in findings.stability.sets for one in captured.groups]
    if groups:
        yield "Sub-groups share their runs; those of different columns overlap."
    if any(_has_classes(captured) for captured in findings.stability.sets):
        yield (
            "FPR: false positives among examples whose true class is negative; FNR: false negatives among examples "
            "whose true class is positive."
        )
    measures = [one for group in groups for rate in RATES if isinstance(one := rate.of(group), GroupMeasure)]
    if methods_text := methods(one.ratio_interval for one in measures):
        yield f"Intervals of ratios: {methods_text}."


def group_name(group: GroupStability) -> str:
    return f"{name_text(group.column)} = {name_text(group.value)}" if group.column else ALL


def group_part(captured: SetStability, place: int, labels: Sequence[str]) -> Section:
    heading = f"Sub-groups of {name_text(captured.name)}, {labels[captured.experiment]}"
    worst = worst_group(captured)
    notes = (*(() if _has_classes(captured) else (NO_RATES,)), *(clean(note) for note in captured.group_notes))
    sentences = (worst,) if worst else ()
    return Section(f"groups-{place}", heading, (*sentences, _group_table(captured, heading), Items(notes, "footnotes")))


def worst_group(captured: SetStability) -> str:
    """The sub-group and rate with the widest spread relative to all examples; empty if no ratio is known."""
    worst = _worst(captured)
    if worst is None:
        return ""
    most, rate, group, measure = worst
    places = places_of(measure, len(captured.replicates))
    spread = "" if isinstance(measure.sd, Unavailable) else f"SD {number(100 * measure.sd, places)} points, "
    return (
        f"The {rate.name} of {group_name(group)} is the least steady relative to all examples: {spread}{most} times "
        f"that of all ({counted_of(group.n_examples, 'example')}, {percentage(group.share)} of all)."
    )


def worst_in_brief(captured: SetStability) -> str:
    """The sub-group and rate with the widest spread, for one line of a terminal."""
    worst = _worst(captured)
    if worst is None:
        return ""
    most, rate, group, _ = worst
    return f"the {rate.short} of {group_name(group)} varies {most} times as much as that of all examples"


def _worst(captured: SetStability) -> tuple[str, Rate, GroupStability, GroupMeasure] | None:
    """The ratio in words, the rate, the sub-group, and what is measured of it."""
    candidates = [
        (measure.ratio, rate, group, measure)
        for group in captured.groups[1:]
        for rate in RATES
        if isinstance(measure := rate.of(group), GroupMeasure) and not isinstance(measure.ratio, Unavailable)
    ]
    if not candidates:
        return None
    _, rate, group, measure = max(candidates, key=lambda candidate: candidate[0])
    return _ratio(measure).text, rate, group, measure


def composition(group: GroupStability) -> tuple[Entry, ...]:
    return (
        cell(*whole(group.n_examples), value=group.n_examples),
        cell(*share(group.share), value=group.share),
        *(
            Absent("not two classes") if n is None else cell(*whole(n), value=n)
            for n in (group.n_positive, group.n_negative)
        ),
    )


def spread_pieces(sd: float, measure: GroupMeasure, places: int) -> Pieces:
    """`0.54 (1.07)`: the SD in points, and its ratio to the SD of all examples."""
    points = ShownNumber(100 * sd, places)
    return (points,) if isinstance(measure.ratio, Unavailable) else (points, " (", ShownNumber(measure.ratio, 2), ")")


def present_rates(groups: Sequence[GroupStability]) -> list[Rate]:
    """The rates that some sub-group has."""
    return [rate for rate in RATES if any(isinstance(rate.of(group), GroupMeasure) for group in groups)]


def _group_table(captured: SetStability, heading: str) -> DocumentTable:
    rates, n_composed = present_rates(captured.groups), 4 if _has_classes(captured) else 2
    heads = [head for rate in rates for head in (f"{rate.short} (%)", "SD", "SD relative to all")]
    return DocumentTable(
        f"{heading}: mean over runs, SD in points, and SD relative to all examples with its interval",
        ("Sub-group", *("examples", "share", "positive", "negative")[:n_composed], *heads),
        tuple(
            TableRow(group_name(group), (*composition(group)[:n_composed], *_rates(group, captured, rates)))
            for group in captured.groups
        ),
    )


def _has_classes(captured: SetStability) -> bool:
    """Whether there are two classes, one of which is the positive one."""
    return any(one.n_positive is not None for one in captured.groups)


def _rates(group: GroupStability, captured: SetStability, rates: Sequence[Rate]) -> Iterator[Entry]:
    for rate in rates:
        measure = rate.of(group)
        if isinstance(measure, Unavailable):
            yield from (Absent(clean(measure.reason)), cell(""), cell(""))
            continue
        digits = places_of(measure, len(captured.replicates))
        for value in (measure.mean, measure.sd):
            yield hundredfold_cell(value, digits)
        yield _ratio(measure)


def _ratio(measure: GroupMeasure) -> Entry:
    return ratio_cell(measure.ratio, measure.ratio_interval)
