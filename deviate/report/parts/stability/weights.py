"""Final weights as text: how far apart those of two runs are, layer by layer, and after which step."""

from collections.abc import Sequence

from deviate.model import Findings, Unavailable, WeightStability
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
from deviate.report.view import QuantityRow
from deviate.report.view.stability import Fold, Quantities, StabilityPart

APART = "Equal weights are 0 apart, weights that point nowhere alike 1.41, opposite ones 2."
N_LAYERS, N_MATRICES = 200, 12
NORMALISED = "the weights of each run are scaled to length 1 before, so a distance is at most 2"


def weights_part(findings: Findings, labels: Sequence[str]) -> tuple[StabilityPart, ...]:
    """One part for all experiments; none where no weights were kept."""
    found = findings.stability.weights
    steps = weight_plot(findings, labels)
    if not found and steps is None:
        return ()
    matrices = [plot for it in found[:N_MATRICES] if (plot := distance_plot(it, labels)) is not None]
    columns = tuple(labels[it.experiment] for it in found)
    distances = tuple(measure_cell(it.distance) for it in found)
    rows = [QuantityRow("distance of weights", f"L2, mean over pairs; {NORMALISED}", distances)]
    difference = difference_row(findings, "", [it.experiment for it in found], labels)
    rows += [difference] if difference else []
    table = Quantities("Weights: how far apart those of two runs are", columns, tuple(rows))
    layers = _layers(found, columns)
    return (
        StabilityPart(
            anchor="stability-weights",
            heading="Weights",
            sentences=tuple(sentence(it, labels) for it in found),
            plots=(*matrices, *((steps,) if steps else ())),
            tables=(table,) if found else (),
            folds=(Fold(f"Distances of {whole(len(layers.rows), 'layer')}", tables=(layers,)),) if layers else (),
            notes=(*filter(None, (missing_intervals(labels[it.experiment], [it.distance]) for it in found)), APART),
        ),
    )


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


def _layers(found: Sequence[WeightStability], columns: tuple[str, ...]) -> Quantities | None:
    """Layers by name, experiments beside each other where they share them."""
    named = [{one.name: one for one in it.layers} for it in found]
    names = list(dict.fromkeys(name for it in named for name in it))
    if not names:
        return None
    rows = []
    for name in names[:N_LAYERS]:
        sizes = sorted({it[name].n_weights for it in named if name in it})
        cells = tuple(measure_cell(it[name].distance if name in it else None) for it in named)
        rows.append(QuantityRow(name_text(name), " or ".join(whole(n, "weight") for n in sizes), cells))
    more = f"; the first {N_LAYERS} of {len(names)}" if len(names) > N_LAYERS else ""
    return Quantities(f"Distance of weights per layer, in the order of the model{more}", columns, tuple(rows))
