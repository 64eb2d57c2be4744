"""Final weights as text: distance between two runs, by layer and by step."""

from collections.abc import Sequence

from deviate.model import Findings, Unavailable, WeightStability
from deviate.report import Block, Figure, Fold, Items, Row, Section, Table, clean, counted_of, name_text, quantities
from deviate.stability.report.matrices import distance_plot
from deviate.stability.report.measure_labels import (
    difference_row,
    measure_cell,
    measure_text,
    missing_intervals,
    over,
)
from deviate.stability.report.steps import weight_plot

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
