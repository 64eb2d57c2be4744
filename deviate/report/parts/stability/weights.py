"""Final weights as text: how far apart those of two runs are, layer by layer, and after which step."""

from collections.abc import Sequence

from deviate.model import Findings, Unavailable, WeightStability
from deviate.report.document import Block, Figure, Fold, Items, Row, Section, Table, quantities
from deviate.report.format import clean, name_text
from deviate.report.parts.stability.matrices import distance_plot
from deviate.report.parts.stability.measure_labels import (
    difference_row,
    measure_cell,
    measure_text,
    missing_intervals,
    over,
    whole,
)
from deviate.report.parts.stability.steps import weight_plot

APART = "Equal weights are 0 apart, weights that point nowhere alike 1.41, opposite ones 2."
N_LAYERS, N_MATRICES = 200, 12
NORMALISED = "the weights of each run are scaled to length 1 before, so a distance is at most 2"


def weights_part(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    """One part for all experiments; none where no weights were kept."""
    found = findings.stability.weights
    steps = weight_plot(findings, labels)
    if not found and steps is None:
        return ()
    matrices = [plot for it in found[:N_MATRICES] if (plot := distance_plot(it, labels)) is not None]
    columns = tuple(labels[it.experiment] for it in found)
    distances = tuple(measure_cell(it.distance) for it in found)
    rows = [Row("distance of weights", distances, method=f"L2, mean over pairs; {NORMALISED}")]
    difference = difference_row(findings, "", [it.experiment for it in found], labels)
    rows += [difference] if difference else []
    table = quantities("Weights: how far apart those of two runs are", columns, rows)
    layers = _layers(found, columns)
    notes = (*filter(None, (missing_intervals(labels[it.experiment], [it.distance]) for it in found)), APART)
    blocks: tuple[Block, ...] = (
        *(sentence(it, labels) for it in found),
        *(Figure(plot, plot.caption, plot.title) for plot in (*matrices, *((steps,) if steps else ()))),
        *([table] if found else []),
        *([Fold(f"Distances of {whole(len(layers.rows), 'layer')}", (layers,))] if layers else []),
        Items(notes, "footnotes"),
    )
    return (Section("stability-weights", "Weights", blocks),)


def sentence(it: WeightStability, labels: Sequence[str]) -> str:
    """The distance, and the layer that is farthest apart."""
    label = labels[it.experiment]
    if isinstance(it.distance.value, Unavailable):
        return f"How far apart the weights of two runs of {label} are is not known: {clean(it.distance.value.reason)}."
    told = f"The final weights of two runs of {label} are {measure_text(it.distance, has_level=True)} apart, {over(it)}"
    known = [(one.distance.value, one) for one in it.layers if not isinstance(one.distance.value, Unavailable)]
    if len(known) > 1:
        farthest = max(known, key=lambda one: one[0])[1]
        told += f"; farthest is {name_text(farthest.name)} with {measure_text(farthest.distance)}"
    return f"{told}."


def _layers(found: Sequence[WeightStability], columns: tuple[str, ...]) -> Table | None:
    """Layers by name, experiments beside each other where they share them."""
    named = [{one.name: one for one in it.layers} for it in found]
    names = list(dict.fromkeys(name for it in named for name in it))
    if not names:
        return None
    rows = []
    for name in names[:N_LAYERS]:
        sizes = sorted({it[name].n_weights for it in named if name in it})
        cells = tuple(measure_cell(it[name].distance if name in it else None) for it in named)
        rows.append(Row(name_text(name), cells, method=" or ".join(whole(n, "weight") for n in sizes)))
    more = f"; the first {N_LAYERS} of {len(names)}" if len(names) > N_LAYERS else ""
    return quantities(f"Distance of weights per layer, in the order of the model{more}", columns, rows)
