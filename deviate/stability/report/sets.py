"""Predictions and weights as text and plots: how far runs disagree, on which examples, and what ensembles change."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.stability import Measure, Reduction, SetStability, UnstableExample, WeightStability
from deviate.report.document import (
    Absent,
    Block,
    DocumentTable,
    Entry,
    Fold,
    Items,
    Section,
    TableRow,
    cell,
    quantities,
)
from deviate.report.format import between, clean, counted_of, decimals, group_pairs, name_text, number
from deviate.report.numbers import ShownNumber, share, text_of, whole
from deviate.report.plots import StepLine, StepsPlot
from deviate.stability.report.measure_labels import (
    MEASURES,
    SHARE,
    difference_rows,
    figure_cell,
    figure_pieces,
    figures_of,
    find_measure,
    measure_cell,
    measure_rows,
    measure_text,
    missing_intervals,
    over,
    rows_of,
    scale_number,
)

Sets = Sequence[SetStability]
N_OPEN, N_SETS = 2, 12
"""Maximum number of evaluation sets with open figures, and on the page."""
ALIGNED = "Examples were matched by a hash of their input, because their order differs between runs."
KINDS = {
    "logits": "scores before a softmax",
    "log-probabilities": "logarithms of probabilities",
    "probabilities": "probabilities",
    "labels": "classes",
    "values": "values that are not class scores",
}


N_LAYERS = 200
APART = "The distance of equal weights is 0, of orthogonal weights 1.41, of opposite weights 2."
REDUCED = "mean relative reduction of these measures, compared with the single model"
SIZES: tuple[tuple[str, str, Callable[[SetStability], Entry]], ...] = (
    ("runs", "with captured outputs", lambda captured: _count(len(captured.replicates))),
    ("examples", "in the set", lambda captured: _count(captured.n_examples)),
)
SAMPLING: tuple[tuple[str, str, Callable[[SetStability], Entry]], ...] = (
    (
        "error of the test set",
        "binomial SD of the mean accuracy; more runs do not reduce it",
        lambda captured: figure_cell(captured.mean_accuracy_sampling_sd, Unavailable("none"), MEASURES["accuracy-sd"]),
    ),
)
DISTANCE: tuple[tuple[str, str, Callable[[WeightStability], Entry]], ...] = (
    (
        "distance of weights",
        "L2 after scaling the weights of each run to length 1, mean over pairs; at most 2",
        lambda weights: measure_cell(weights.distance),
    ),
)


def sets_by_name(findings: Findings) -> dict[str, list[SetStability]]:
    """Evaluation sets of all experiments by name, in order of first appearance."""
    return group_pairs((captured.name, captured) for captured in findings.stability.sets)


def set_parts(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    named_sets = list(sets_by_name(findings).items())[:N_SETS]
    return tuple(_part(findings, name, sets, place, labels) for place, (name, sets) in enumerate(named_sets))


def _part(findings: Findings, name: str, sets: Sets, place: int, labels: Sequence[str]) -> Section:
    title, anchor = name_text(name), f"stability-{place}"
    columns = tuple(labels[captured.experiment] for captured in sets)
    figures = figures_of([churn_plot(sets, anchor, title, labels)])
    unstable = tuple(_unstable(captured, labels) for captured in sets if captured.unstable)
    reductions = [row for name in _reduction_names(sets) for row in _reduction(name, sets)]
    caption = f"{title}: variability of ensembles of a run's own outputs"
    is_folded = place >= N_OPEN
    notes = tuple(filter(None, dict.fromkeys(_notes(sets, labels))))
    blocks: tuple[Block, ...] = (
        *(sentence for captured in sets for sentence in sentences(captured, labels)),
        *(() if is_folded else figures),
        quantities(f"{title}: similarity of runs", columns, _measures(findings, name, sets, labels)),
        *([quantities(caption, columns, reductions)] if reductions else []),
        *([Fold("Figures", figures)] if is_folded and figures else []),
        *([Fold("Examples on which runs disagree most", unstable)] if unstable else []),
        Items(notes, "footnotes"),
    )
    return Section(anchor, f"Predictions on {title}", blocks)


def sentences(captured: SetStability, labels: Sequence[str]) -> Iterator[str]:
    """Introductory sentences on one set of one experiment."""
    yield headline(captured, labels[captured.experiment])
    majority, unstable = (
        find_measure(captured.measures, "majority-agreement"),
        find_measure(captured.measures, "unstable-examples"),
    )
    if majority and unstable and not isinstance(unstable.value, Unavailable) and unstable.value > 0:
        yield (
            f"Not all {len(captured.replicates)} runs agree on {measure_text(unstable)} of the examples; a run "
            f"agrees with the majority on {measure_text(majority)}."
        )


def headline(captured: SetStability, label: str) -> str:
    """The key result: two runs disagree on some share of examples, even though their accuracies are almost equal."""
    examples = f"the {counted_of(captured.n_examples, 'example')} of {name_text(captured.name)}"
    churn, pearson = find_measure(captured.measures, "churn"), find_measure(captured.measures, "pearson")
    if churn is None and pearson and isinstance(pearson.value, Unavailable):
        return (
            f"The similarity of outputs of two runs of {label} on {examples} is unknown: {clean(pearson.value.reason)}."
        )
    if churn is None:
        text = (
            f": correlation {measure_text(pearson, has_level=True)}, {over(captured)}" if pearson else " were captured"
        )
        return f"Outputs of two runs of {label} on {examples}{text}."
    if isinstance(churn.value, Unavailable):
        return f"The disagreement of two runs of {label} on {examples} is unknown: {clean(churn.value.reason)}."
    if churn.value == 0:
        return f"All {len(captured.replicates)} runs of {label} predict the same class for each of {examples}."
    value, interval = figure_pieces(churn.value, churn.interval, MEASURES["churn"], has_level=True)
    text = f"Two runs of {label} disagree on {text_of(value)} of {examples}{text_of(interval)}"
    return f"{text}{_although(captured, churn.value)}."


def _although(captured: SetStability, churn: float) -> str:
    if len(captured.accuracies) < 2:
        return f", {over(captured)}"
    low, high = 100 * min(captured.accuracies), 100 * max(captured.accuracies)
    places = max(0, decimals(high - low) or 0)
    size, ends = f"{number(high - low, places)} points", f"({between(low, high, places)} %)"
    if high - low < 100 * churn:
        return f", although the accuracies of all {len(captured.accuracies)} runs lie within {size} {ends}"
    return f"; the accuracies of {len(captured.accuracies)} runs range over {size} {ends}"


def _measures(findings: Findings, name: str, sets: Sets, labels: Sequence[str]) -> list[TableRow]:
    rows = list(measure_rows([captured.measures for captured in sets]))
    rows[1:1] = difference_rows(findings, name, [captured.experiment for captured in sets], labels)
    sampling = rows_of(SAMPLING, sets) if any(captured.accuracies for captured in sets) else []
    return [*rows_of(SIZES, sets), *rows, *sampling]


def _count(n: int) -> Entry:
    return cell(*whole(n), value=n)


def _reduction_names(sets: Sets) -> Iterable[str]:
    return dict.fromkeys(reduction.name for captured in sets for reduction in captured.reductions)


def _reduction(name: str, sets: Sets) -> Iterator[TableRow]:
    """For one ensemble the five measures, and the reduction of variability."""
    columns = [next((one for one in captured.reductions if one.name == name), None) for captured in sets]
    sizes = sorted({one.n_members for one in columns if one is not None and one.n_members is not None})
    group = name_text(name)
    if sizes:
        group += f", mean of {' or '.join(map(str, sizes))} outputs"
    yield from rows_of([("accuracy", "mean over runs", _mean_accuracy)], columns, group)
    yield from measure_rows([reduction.measures if reduction else () for reduction in columns], group)
    yield from rows_of([("variability reduced by", REDUCED, _reduced)], columns, group)


def _reduced(reduction: Reduction | None) -> Entry:
    if reduction is None:
        return measure_cell(None)
    return figure_cell(reduction.reduction, reduction.reduction_interval, SHARE)


def _mean_accuracy(one: Reduction | None) -> Entry:
    if one is None or not one.accuracies:
        return measure_cell(None)
    value = sum(one.accuracies) / len(one.accuracies)
    return cell(scale_number(value, 2, SHARE), " %", value=value)


def _unstable(captured: SetStability, labels: Sequence[str]) -> DocumentTable:
    label = labels[captured.experiment]
    return DocumentTable(
        f"{name_text(captured.name)}, {label}: examples on which the most pairs of runs disagree",
        ("Example", "true class", "pairs that disagree", "predicted class: runs"),
        tuple(_example(one) for one in captured.unstable),
    )


def _example(one: UnstableExample) -> TableRow:
    votes = ", ".join(f"{name}: {n}" for name, n in one.votes)
    truth = Absent("unknown") if one.truth is None else cell(ShownNumber(one.truth, 0), value=one.truth)
    return TableRow(str(one.position), (truth, cell(*share(one.flip_rate), value=one.flip_rate), cell(votes)))


def _notes(sets: Sets, labels: Sequence[str]) -> Iterator[str]:
    for captured in sets:
        label = labels[captured.experiment]
        yield missing_intervals(label, captured.measures)
        if captured.alignment == "input":
            yield ALIGNED
        yield from (clean(note) for note in captured.notes)
    kinds = dict.fromkeys(KINDS[captured.kind] for captured in sets)
    yield f"Outputs are {', '.join(kinds)}."
    if any(captured.unstable for captured in sets):
        yield "Examples are numbered from 0, in the order of the first run."
    if sets and sets[0].n_classes is None:
        yield "Outputs are not classes, so disagreement is not defined."


def weights_part(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    """One part for all experiments; none if no weights were captured."""
    weights = findings.stability.weights
    if not weights:
        return ()
    columns = tuple(labels[one.experiment] for one in weights)
    rows = rows_of(DISTANCE, weights)
    rows += difference_rows(findings, "", [one.experiment for one in weights], labels)
    layers = _layers(weights, columns)
    without_interval = (missing_intervals(labels[one.experiment], [one.distance]) for one in weights)
    blocks: tuple[Block, ...] = (
        *(sentence(one, labels) for one in weights),
        *figures_of([weight_plot(findings, labels)]),
        quantities("Weights: distance between two runs", columns, rows),
        *([Fold(f"Distances of {counted_of(len(layers.rows), 'layer')}", (layers,))] if layers else []),
        Items((*filter(None, without_interval), APART), "footnotes"),
    )
    return (Section("stability-weights", "Weights", blocks),)


def sentence(weight_stability: WeightStability, labels: Sequence[str]) -> str:
    """The distance, and the layer with the largest distance."""
    label = labels[weight_stability.experiment]
    if isinstance(weight_stability.distance.value, Unavailable):
        reason = clean(weight_stability.distance.value.reason)
        return f"The distance between the weights of two runs of {label} is unknown: {reason}."
    distance = measure_text(weight_stability.distance, has_level=True)
    text = f"The final weights of two runs of {label} are {distance} apart, {over(weight_stability)}"
    distances = [
        (one.distance.value, one) for one in weight_stability.layers if not isinstance(one.distance.value, Unavailable)
    ]
    if len(distances) > 1:
        farthest = max(distances, key=lambda one: one[0])[1]
        text += f"; the largest distance is that of {name_text(farthest.name)}, {measure_text(farthest.distance)}"
    return f"{text}."


def _layers(weights: Sequence[WeightStability], columns: tuple[str, ...]) -> DocumentTable | None:
    """Layers by name; experiments that share layers are side by side."""
    layers = [{one.name: one for one in weight_stability.layers} for weight_stability in weights]
    names = list(dict.fromkeys(name for by_name in layers for name in by_name))
    if not names:
        return None
    rows = []
    for name in names[:N_LAYERS]:
        sizes = sorted({by_name[name].n_weights for by_name in layers if name in by_name})
        cells = tuple(measure_cell(by_name[name].distance if name in by_name else None) for by_name in layers)
        rows.append(TableRow(name_text(name), cells, method=" or ".join(counted_of(n, "weight") for n in sizes)))
    more = f"; the first {N_LAYERS} of {len(names)}" if len(names) > N_LAYERS else ""
    return quantities(f"Distance of weights per layer, in the order of the model{more}", columns, rows)


# Plots over steps: disagreement on examples, distance of weights.

Steps = Sequence[tuple[int, Measure]]


def churn_plot(sets: Sequence[SetStability], anchor: str, title: str, labels: Sequence[str]) -> StepsPlot | None:
    lines = [
        (captured.experiment, len(captured.replicates), [(one.step, one.churn) for one in captured.steps])
        for captured in sets
    ]
    return _steps_plot(
        lines, labels, f"{anchor}-steps", f"{title}: churn by step", "% of examples on which two runs disagree"
    )


def weight_plot(findings: Findings, labels: Sequence[str]) -> StepsPlot | None:
    return _steps_plot(
        [(one.experiment, len(one.replicates), one.steps) for one in findings.stability.weights],
        labels,
        "stability-weights-steps",
        "Distance of weights by step",
        "distance of the weights of two runs",
    )


def _steps_plot(
    curves: Sequence[tuple[int, int, Steps]], labels: Sequence[str], key: str, title: str, axis: str
) -> StepsPlot | None:
    """A plot; None if no experiment has a value at a step."""
    drawn = [(index, n, [step for step in steps if _has_value(step[1])]) for index, n, steps in curves]
    drawn = [curve for curve in drawn if curve[2]]
    if not drawn:
        return None
    text = "; ".join(f"{labels[index]}: {_describe(steps)}" for index, _, steps in drawn)
    has_band = any(isinstance(estimate.interval, Interval) for _, _, steps in drawn for _, estimate in steps)
    band = "; band: pointwise interval over runs" if has_band else ""
    return StepsPlot(
        key=key,
        title=title,
        description=f"Mean over pairs of runs. {text}.",
        caption=f"Mean over all pairs of runs after a step of the main loop{band}.",
        axis=axis,
        lines=tuple(_line(index, n, steps, labels[index]) for index, n, steps in drawn),
    )


def _describe(steps: Steps) -> str:
    first, last = steps[0], steps[-1]
    parts = [
        f"{measure_text(estimate)} at step {step}" for step, estimate in ([first, last] if len(steps) > 1 else [first])
    ]
    return ", ".join(parts)


def _line(index: int, n: int, steps: Steps, label: str) -> StepLine:
    scale = MEASURES[steps[0][1].name].scale
    return StepLine(
        index=index,
        label=label,
        note=f"n = {n}",
        steps=tuple(step for step, _ in steps),
        values=tuple(
            math.nan if isinstance(estimate.value, Unavailable) else scale * estimate.value for _, estimate in steps
        ),
        band=tuple(
            (scale * estimate.interval.low, scale * estimate.interval.high)
            if isinstance(estimate.interval, Interval)
            else (math.nan, math.nan)
            for _, estimate in steps
        ),
    )


def _has_value(measure: Measure) -> bool:
    return not isinstance(measure.value, Unavailable)
