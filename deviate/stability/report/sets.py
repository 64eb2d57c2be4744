"""Predictions and weights as text: how far runs disagree, on which examples, and what ensembles change."""

from collections.abc import Iterator, Sequence

from deviate.model import Findings, Reduction, SetStability, Unavailable, UnstableExample, WeightStability
from deviate.report import (
    Absent,
    Block,
    Entry,
    Figure,
    Fold,
    Items,
    Number,
    Row,
    Section,
    Table,
    between,
    cell,
    clean,
    counted_of,
    decimals,
    group_pairs,
    name_text,
    number,
    quantities,
    share,
    text_of,
    whole,
)
from deviate.stability.report.measure_labels import (
    MEASURES,
    SHARE,
    difference_row,
    figure_cell,
    figure_pieces,
    find_measure,
    measure_cell,
    measure_text,
    missing_intervals,
    over,
    scale_number,
)
from deviate.stability.report.plots import churn_plot, disagreement_plot, distance_plot, weight_plot

Sets = Sequence[SetStability]
N_OPEN, N_DRAWN, N_SETS, N_MATRICES = 2, 4, 12, 12
"""Evaluation sets whose figures are open on a page, whose pairs it draws, that it shows; and matrices of each."""
NOT_DRAWN = f"Pairs of runs are drawn for the first {N_DRAWN} evaluation sets; disagreement.csv has all."
ALIGNED = "Examples of runs were put beside each other by a hash of their input, for their order differs between runs."
KINDS = {
    "logits": "scores before a softmax",
    "log-probabilities": "logarithms of probabilities",
    "probabilities": "probabilities",
    "labels": "classes alone",
    "values": "numbers that are no scores of classes",
}


def by_name(findings: Findings) -> dict[str, list[SetStability]]:
    """Evaluation sets of all experiments by name, in order of first appearance."""
    return group_pairs((captured.name, captured) for captured in findings.stability.sets)


def set_parts(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    sets_by_name = list(by_name(findings).items())[:N_SETS]
    return tuple(_part(findings, name, sets, place, labels) for place, (name, sets) in enumerate(sets_by_name))


def _part(findings: Findings, name: str, sets: Sets, place: int, labels: Sequence[str]) -> Section:
    title, anchor = name_text(name), f"stability-{place}"
    drawn = sets[:N_MATRICES] if place < N_DRAWN else ()
    matrices = tuple(plot for captured in drawn if (plot := disagreement_plot(captured, anchor, labels)) is not None)
    steps = churn_plot(sets, anchor, title, labels)
    figures = tuple(Figure(plot, plot.caption, plot.title) for plot in (*matrices, *((steps,) if steps else ())))
    unstable = tuple(_unstable(captured, labels) for captured in sets if captured.unstable)
    reductions = _reductions(title, sets, labels)
    is_folded = place >= N_OPEN
    folds = [Fold("Figures", figures)] if is_folded and figures else []
    folds += [Fold("Examples on which runs disagree most", unstable)] if unstable else []
    notes = (*filter(None, dict.fromkeys(_notes(sets, labels))), *((NOT_DRAWN,) if place >= N_DRAWN else ()))
    blocks: tuple[Block, ...] = (
        *(sentence for captured in sets for sentence in sentences(captured, labels)),
        *(() if is_folded else figures),
        _measures(findings, name, sets, labels),
        *([reductions] if reductions else []),
        *folds,
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
            f"predicts what most runs do on {measure_text(majority)}."
        )


def headline(captured: SetStability, label: str) -> str:
    """The key result: two runs disagree on some share of examples, even though their accuracies are almost equal."""
    examples = f"the {counted_of(captured.n_examples, 'example')} of {name_text(captured.name)}"
    churn, pearson = find_measure(captured.measures, "churn"), find_measure(captured.measures, "pearson")
    if churn is None and pearson and isinstance(pearson.value, Unavailable):
        return (
            f"How alike outputs of two runs of {label} on {examples} are is not known: {clean(pearson.value.reason)}."
        )
    if churn is None:
        text = (
            f": correlation {measure_text(pearson, has_level=True)}, {over(captured)}" if pearson else " are on record"
        )
        return f"Outputs of two runs of {label} on {examples}{text}."
    if isinstance(churn.value, Unavailable):
        return f"On how many of {examples} two runs of {label} disagree is not known: {clean(churn.value.reason)}."
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


def _measures(findings: Findings, name: str, sets: Sets, labels: Sequence[str]) -> Table:
    rows = [
        Row(
            words.label,
            tuple(measure_cell(find_measure(captured.measures, measure)) for captured in sets),
            method=words.how,
        )
        for measure, words in MEASURES.items()
        if any(find_measure(captured.measures, measure) for captured in sets)
    ]
    difference = difference_row(findings, name, [captured.experiment for captured in sets], labels)
    rows[1:1] = [difference] if difference else []
    rows += [_sampling(sets)] if any(captured.accuracies for captured in sets) else []
    columns = tuple(labels[captured.experiment] for captured in sets)
    return quantities(f"{name_text(name)}: how alike runs are", columns, (*_sizes(sets), *rows))


def _sizes(sets: Sets) -> Iterator[Row]:
    yield Row(
        "runs", tuple(_count(len(captured.replicates)) for captured in sets), method="whose outputs are on record"
    )
    yield Row("examples", tuple(_count(captured.n_examples) for captured in sets), method="of the set")


def _count(n: int) -> Entry:
    return cell(*whole(n), value=n)


def _sampling(sets: Sets) -> Row:
    """The spread that another test set would add, compared with the spread of runs."""
    how = "binomial SD of the mean accuracy: what another test set would add; no number of runs reduces it"
    cells = tuple(_points(captured.mean_accuracy_sampling_sd) for captured in sets)
    return Row("error of the test set", cells, method=how)


def _points(value: float | Unavailable) -> Entry:
    words = MEASURES["accuracy-sd"]
    return figure_cell(value, Unavailable("none"), words)


def _reductions(title: str, sets: Sets, labels: Sequence[str]) -> Table | None:
    """For each ensemble the five measures, and the reduction of variability."""
    names = dict.fromkeys(one.name for captured in sets for one in captured.reductions)
    rows = [row for name in names for row in _reduction(name, sets)]
    if not rows:
        return None
    caption = f"{title}: variability of ensembles of a run's own outputs"
    return quantities(caption, tuple(labels[captured.experiment] for captured in sets), rows)


def _reduction(name: str, sets: Sets) -> Iterator[Row]:
    columns = [next((one for one in captured.reductions if one.name == name), None) for captured in sets]
    sizes = sorted({one.n_members for one in columns if one is not None and one.n_members is not None})
    group = name_text(name)
    if sizes:
        group += f", mean of {' or '.join(map(str, sizes))} outputs"
    accuracies = tuple(_mean_accuracy(one) for one in columns)
    yield Row("accuracy", accuracies, method="mean over runs", group=group)
    measures = [measure for measure in MEASURES if any(one and find_measure(one.measures, measure) for one in columns)]
    for measure in measures:
        cells = tuple(measure_cell(find_measure(one.measures, measure) if one else None) for one in columns)
        yield Row(MEASURES[measure].label, cells, method=MEASURES[measure].how, group=group)
    cells = tuple(
        figure_cell(one.reduction, one.reduction_interval, SHARE) if one else measure_cell(None) for one in columns
    )
    how = "mean of the relative reductions of these measures against the single model"
    yield Row("variability reduced by", cells, method=how, group=group)


def _mean_accuracy(one: Reduction | None) -> Entry:
    if one is None or not one.accuracies:
        return measure_cell(None)
    value = sum(one.accuracies) / len(one.accuracies)
    return cell(scale_number(value, 2, SHARE), " %", value=value)


def _unstable(captured: SetStability, labels: Sequence[str]) -> Table:
    label = labels[captured.experiment]
    return Table(
        f"{name_text(captured.name)}, {label}: the examples on which most pairs of runs disagree",
        ("Example", "true class", "pairs that disagree", "class predicted: runs"),
        tuple(_example(one) for one in captured.unstable),
    )


def _example(one: UnstableExample) -> Row:
    votes = ", ".join(f"{name}: {n}" for name, n in one.votes)
    truth = Absent("not known") if one.truth is None else cell(Number(one.truth, 0), value=one.truth)
    return Row(str(one.position), (truth, cell(*share(one.flip_rate), value=one.flip_rate), cell(votes)))


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
        yield "Examples count from 0, in the order of the first run."
    if sets and sets[0].n_classes is None:
        yield "Outputs are no classes: nothing can be said of disagreement."


APART = "Equal weights are 0 apart, weights that point nowhere alike 1.41, opposite ones 2."
N_LAYERS, N_MATRICES = 200, 12
NORMALISED = "the weights of each run are scaled to length 1 before, so a distance is at most 2"


def weights_part(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    """One part for all experiments; none if no weights were captured."""
    weights = findings.stability.weights
    steps = weight_plot(findings, labels)
    if not weights and steps is None:
        return ()
    matrices = [
        plot
        for weight_stability in weights[:N_MATRICES]
        if (plot := distance_plot(weight_stability, labels)) is not None
    ]
    columns = tuple(labels[weight_stability.experiment] for weight_stability in weights)
    distances = tuple(measure_cell(weight_stability.distance) for weight_stability in weights)
    rows = [Row("distance of weights", distances, method=f"L2, mean over pairs; {NORMALISED}")]
    difference = difference_row(findings, "", [weight_stability.experiment for weight_stability in weights], labels)
    rows += [difference] if difference else []
    table = quantities("Weights: how far apart those of two runs are", columns, rows)
    layers = _layers(weights, columns)
    notes = (
        *filter(
            None,
            (
                missing_intervals(labels[weight_stability.experiment], [weight_stability.distance])
                for weight_stability in weights
            ),
        ),
        APART,
    )
    blocks: tuple[Block, ...] = (
        *(sentence(weight_stability, labels) for weight_stability in weights),
        *(Figure(plot, plot.caption, plot.title) for plot in (*matrices, *((steps,) if steps else ()))),
        *([table] if weights else []),
        *([Fold(f"Distances of {counted_of(len(layers.rows), 'layer')}", (layers,))] if layers else []),
        Items(notes, "footnotes"),
    )
    return (Section("stability-weights", "Weights", blocks),)


def sentence(weight_stability: WeightStability, labels: Sequence[str]) -> str:
    """The distance, and the layer with the largest distance."""
    label = labels[weight_stability.experiment]
    if isinstance(weight_stability.distance.value, Unavailable):
        reason = clean(weight_stability.distance.value.reason)
        return f"How far apart the weights of two runs of {label} are is not known: {reason}."
    distance = measure_text(weight_stability.distance, has_level=True)
    text = f"The final weights of two runs of {label} are {distance} apart, {over(weight_stability)}"
    distances = [
        (one.distance.value, one) for one in weight_stability.layers if not isinstance(one.distance.value, Unavailable)
    ]
    if len(distances) > 1:
        farthest = max(distances, key=lambda one: one[0])[1]
        text += f"; farthest is {name_text(farthest.name)} with {measure_text(farthest.distance)}"
    return f"{text}."


def _layers(weights: Sequence[WeightStability], columns: tuple[str, ...]) -> Table | None:
    """Layers by name; experiments that share layers are side by side."""
    layers = [{one.name: one for one in weight_stability.layers} for weight_stability in weights]
    names = list(dict.fromkeys(name for by_name in layers for name in by_name))
    if not names:
        return None
    rows = []
    for name in names[:N_LAYERS]:
        sizes = sorted({by_name[name].n_weights for by_name in layers if name in by_name})
        cells = tuple(measure_cell(by_name[name].distance if name in by_name else None) for by_name in layers)
        rows.append(Row(name_text(name), cells, method=" or ".join(counted_of(n, "weight") for n in sizes)))
    more = f"; the first {N_LAYERS} of {len(names)}" if len(names) > N_LAYERS else ""
    return quantities(f"Distance of weights per layer, in the order of the model{more}", columns, rows)
