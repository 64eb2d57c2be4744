"""Sub-groups of an evaluation set as text: accuracy and error rates over runs, and the ratio to all examples.

Source: the columns are those of Zhuang et al. (2022), Tables 3 and 5.
"""

import math
from collections.abc import Iterator, Sequence

from deviate.model import Findings, GroupMeasure, GroupStability, SetStability, Unavailable
from deviate.report import (
    Absent,
    Entry,
    Items,
    Number,
    Pieces,
    Row,
    Section,
    Table,
    cell,
    clean,
    counted_of,
    decimals,
    name_text,
    number,
    percentage,
    ratio_cell,
    share,
    whole,
)
from deviate.stability.report.measure_labels import hundredfold_cell, methods

RATES = ("accuracy", "false positive rate", "false negative rate")
SHORT = ("accuracy", "FPR", "FNR")
ALL = "All"
NO_RATES = "False positives and false negatives are told where there are two classes."


def group_name(group: GroupStability) -> str:
    return f"{name_text(group.column)} = {name_text(group.value)}" if group.column else ALL


def rates_of(group: GroupStability) -> tuple[GroupMeasure | Unavailable, ...]:
    """Rates of a sub-group in the order of `RATES`."""
    return (group.accuracy, group.false_positive_rate, group.false_negative_rate)


def group_part(captured: SetStability, place: int, labels: Sequence[str]) -> Section:
    heading = f"Sub-groups of {name_text(captured.name)}, {labels[captured.experiment]}"
    worst = worst_group(captured)
    notes = (*(() if _has_classes(captured) else (NO_RATES,)), *(clean(note) for note in captured.group_notes))
    sentences = (worst,) if worst else ()
    return Section(f"groups-{place}", heading, (*sentences, _table(captured, heading), Items(notes, "footnotes")))


def worst_group(captured: SetStability) -> str:
    """The sub-group and rate with the widest spread relative to all examples; empty if no ratio is known."""
    worst = _worst(captured)
    if worst is None:
        return ""
    most, place, group, measure = worst
    places = _places(measure, captured)
    spread = "" if isinstance(measure.sd, Unavailable) else f"SD {number(100 * measure.sd, places)} points, "
    return (
        f"The {RATES[place]} of {group_name(group)} is the least steady beside all examples: {spread}{most} times that "
        f"of all ({counted_of(group.n_examples, 'example')}, {percentage(group.share)} of them)."
    )


def worst_in_brief(captured: SetStability) -> str:
    """The sub-group and rate with the widest spread, for one line of a terminal."""
    worst = _worst(captured)
    if worst is None:
        return ""
    most, place, group, _ = worst
    return f"the {SHORT[place]} of {group_name(group)} varies {most} times as much as that of all examples"


def _worst(captured: SetStability) -> tuple[str, int, GroupStability, GroupMeasure] | None:
    """The ratio in words, the index of the rate in `RATES`, and the sub-group."""
    candidates = [
        (measure.ratio, place, group, measure)
        for group in captured.groups[1:]
        for place, measure in enumerate(rates_of(group))
        if isinstance(measure, GroupMeasure) and not isinstance(measure.ratio, Unavailable)
    ]
    if not candidates:
        return None
    _, place, group, measure = max(candidates, key=lambda one: one[0])
    return _ratio(measure).text, place, group, measure


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
    points = Number(100 * sd, places)
    return (points,) if isinstance(measure.ratio, Unavailable) else (points, " (", Number(measure.ratio, 2), ")")


def shown_rates(groups: Sequence[GroupStability]) -> tuple[int, ...]:
    """Indices in `RATES` of the rates that some sub-group has."""
    return tuple(
        place for place in range(len(RATES)) if any(isinstance(rates_of(one)[place], GroupMeasure) for one in groups)
    )


def _table(captured: SetStability, heading: str) -> Table:
    places, has_classes = shown_rates(captured.groups), _has_classes(captured)
    heads = [head for place in places for head in (f"{SHORT[place]} (%)", "SD", "SD over that of all")]
    n_composed = 4 if has_classes else 2
    return Table(
        f"{heading}: mean over runs, SD in points, and its ratio to that of all examples with an interval",
        ("Sub-group", *("examples", "share", "positive", "negative")[:n_composed], *heads),
        tuple(
            Row(group_name(one), (*composition(one)[:n_composed], *_rates(one, captured, places)))
            for one in captured.groups
        ),
    )


def _has_classes(captured: SetStability) -> bool:
    """Whether there are two classes, one of which is the positive one."""
    return any(one.n_positive is not None for one in captured.groups)


def _rates(group: GroupStability, captured: SetStability, places: Sequence[int]) -> Iterator[Entry]:
    for place in places:
        measure = rates_of(group)[place]
        if isinstance(measure, Unavailable):
            yield from (Absent(clean(measure.reason)), cell(""), cell(""))
            continue
        digits = _places(measure, captured)
        for value in (measure.mean, measure.sd):
            yield hundredfold_cell(value, digits)
        yield _ratio(measure)


def _ratio(measure: GroupMeasure) -> Entry:
    return ratio_cell(measure.ratio, measure.ratio_interval)


def _places(measure: GroupMeasure, captured: SetStability) -> int:
    return places_of(measure, len(captured.replicates))


def places_of(measure: GroupMeasure, n_runs: int) -> int:
    """Decimals in percent, from the standard error of the mean over runs."""
    if isinstance(measure.sd, Unavailable) or not n_runs:
        return 1
    return max(0, decimals(100 * measure.sd / math.sqrt(n_runs)) or 0)


def footnotes(findings: Findings) -> Iterator[str]:
    groups = [one for captured in findings.stability.sets for one in captured.groups]
    if groups:
        yield "Sub-groups share their runs, and overlap where they stand in several columns."
    if any(_has_classes(captured) for captured in findings.stability.sets):
        yield (
            "FPR: false positives among the examples whose true class is not the positive one; FNR: false negatives "
            "among those whose class it is."
        )
    measures = [one for group in groups for one in rates_of(group) if isinstance(one, GroupMeasure)]
    if methods_text := methods(one.ratio_interval for one in measures):
        yield f"Intervals of ratios: {methods_text}."
