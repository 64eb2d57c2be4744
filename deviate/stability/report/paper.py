"""What a paper takes of stability: tables, and the publications to cite."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.stability import GroupMeasure, GroupStability, Measure
from deviate.report.document import Absent, Cell, DocumentTable, Entry, TableRow, cell
from deviate.report.format import clean, name_text
from deviate.report.numbers import ShownNumber, share
from deviate.report.parts.describe import Footnotes, absent
from deviate.report.parts.table import EMPTY, short
from deviate.stability.measures.intervals import JACKKNIFE
from deviate.stability.report.classes import Rate, group_name, places_of, present_rates, spread_pieces
from deviate.stability.report.measure_labels import (
    MEASURES,
    all_measures,
    figure_pieces,
    find_measure,
    methods,
)
from deviate.stability.report.sets import sets_by_name

NOT_MEASURED = Absent("not measured")


def citations(findings: Findings) -> Iterator[str]:
    """Keys of the publications behind the measures of a report."""
    stability = findings.stability
    measures = all_measures(stability)
    names = {measure.name for measure in measures if not isinstance(measure.value, Unavailable)}
    intervals = [measure.interval for measure in measures if isinstance(measure.interval, Interval)]
    uses = {
        "tukey1958": any(interval.method == JACKKNIFE for interval in intervals),
        "milanifard2016": "churn" in names,
        "summers2021": bool({"ensemble-accuracy", "ensemble-cross-entropy"} & names),
        "zhuang2022": "weight-distance" in names or any(captured.groups for captured in stability.sets),
        "pham2020": bool(stability.convergence) or any(captured.classes for captured in stability.sets),
        "kornblith2019": "cka" in names,
        "guo2017": "ece" in names,
    }
    return (key for key, is_used in uses.items() if is_used)


def paper_tables(findings: Findings, labels: Sequence[str]) -> dict[str, DocumentTable]:
    """Tables for a paper by name; none where nothing was captured."""
    tables = {"stability": stability_table(findings, labels), "groups": group_table(findings, labels)}
    return {name: table for name, table in tables.items() if table is not None}


def stability_table(findings: Findings, labels: Sequence[str]) -> DocumentTable | None:
    """A column per experiment; None if nothing was captured."""
    if not findings.stability.sets and not findings.stability.weights:
        return None
    notes, rows = Footnotes(), []
    for title, by_label in _blocks(findings, labels):
        rows.append(TableRow(title, (EMPTY,) * len(labels), is_heading=True))
        for name, words in MEASURES.items():
            measures = [find_measure(by_label.get(label, ()), name) for label in labels]
            if any(measures):
                cells = tuple(_both(measure, notes) for measure in measures)
                rows.append(TableRow(words.head, cells, begins=False))
    return DocumentTable(
        _caption(findings, labels), ("", *map(short, labels)), tuple(rows), footnotes=tuple(notes.texts)
    )


def group_table(findings: Findings, labels: Sequence[str]) -> DocumentTable | None:
    """SDs over runs with their ratios to all examples, below the sizes of the groups; None without groups."""
    sets = [captured for captured in findings.stability.sets if captured.groups]
    if not sets:
        return None
    notes, rows = Footnotes(), []
    rates = present_rates([group for captured in sets for group in captured.groups])
    for captured in sets:
        n = len(captured.replicates)
        heading = f"{name_text(captured.name)}, {short(labels[captured.experiment])}, n = {n}"
        rows.append(TableRow(heading, (EMPTY,) * (3 + len(rates)), is_heading=True))
        rows += [_group_row(group, n, rates, notes) for group in captured.groups]
    return DocumentTable(
        f"Sub-groups: SD over n runs (ddof 1), in points, of {_list_words([rate.long_name for rate in rates])}; "
        "in brackets: ratio to the SD of all examples. N: examples, with their share and the number of positives.",
        ("sub-group", "N", "%", "positive", *(rate.short for rate in rates)),
        tuple(rows),
        footnotes=tuple(notes.texts),
    )


def _group_row(group: GroupStability, n_runs: int, rates: Sequence[Rate], notes: Footnotes) -> TableRow:
    positive: Entry = Absent("not two classes") if group.n_positive is None else cell(ShownNumber(group.n_positive, 0))
    entries: list[Entry] = [cell(ShownNumber(group.n_examples, 0)), cell(*share(group.share)), positive]
    for measure in (rate.of(group) for rate in rates):
        if isinstance(measure, GroupMeasure) and not isinstance(measure.sd, Unavailable):
            entries.append(cell(*spread_pieces(measure.sd, measure, places_of(measure, n_runs))))
        else:
            why = measure if isinstance(measure, Unavailable) else measure.sd
            entries.append(_absent(why, notes))
    return TableRow(short(group_name(group)), tuple(entries), begins=False)


def _list_words(names: Sequence[str]) -> str:
    """A list in words: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _absent(why: object, notes: Footnotes) -> Absent:
    return absent(clean(why.reason) if isinstance(why, Unavailable) else "not measured", notes)


def _blocks(findings: Findings, labels: Sequence[str]) -> Iterator[tuple[str, dict[str, tuple[Measure, ...]]]]:
    """Evaluation sets, then weights, with their measures by the label of their experiment."""
    for name, sets in sets_by_name(findings).items():
        yield name_text(name), {labels[captured.experiment]: captured.measures for captured in sets}
    if weights := findings.stability.weights:
        yield "final weights", {labels[one.experiment]: (one.distance,) for one in weights}


def _both(measure: Measure | None, notes: Footnotes) -> Entry:
    if measure is None:
        return NOT_MEASURED
    if isinstance(measure.value, Unavailable):
        return _absent(measure.value, notes)
    missing = measure.interval.reason if isinstance(measure.interval, Unavailable) else ""
    estimate, bracket = figure_pieces(measure.value, measure.interval, replace(MEASURES[measure.name], unit=""))
    return Cell((*estimate, *bracket), marks=notes.numbers(f"no interval: {missing}" if missing else ""))


def _caption(findings: Findings, labels: Sequence[str]) -> str:
    stability = findings.stability
    runs = {labels[one.experiment]: len(one.replicates) for one in stability.weights}
    runs |= {labels[one.experiment]: len(one.replicates) for one in stability.sets}
    counts = ", ".join(f"{short(label)} {n}" for label, n in sorted(runs.items(), key=lambda one: labels.index(one[0])))
    text = methods(measure.interval for measure in all_measures(stability))
    brackets = f" Brackets: intervals ({text}), over runs and not over pairs." if text else ""
    return (
        f"Similarity of runs beyond their scores, over all pairs of runs (n: {counts}).{brackets} Gain: "
        "mean output of two runs minus single run. ECE: expected calibration error. SDs have ddof 1."
    )
