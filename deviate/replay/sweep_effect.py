"""Whether the swept argument changes anything: what the first runs of a sweep show, while the others go on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from deviate.errors import DeviateError
from deviate.model.plan import Spec
from deviate.model.records import Experiment, Series
from deviate.records.read import read_experiment
from deviate.replay.experiments import PreparedExperiment
from deviate.replay.protocol import RunUpdate

Values = dict[str, Series]


@dataclass(slots=True)
class SweepEffect:
    """Accepts updates on runs, and reports once if runs with two values of the argument gave the same in all metrics.

    Runs are compared that have the same variant and replicate, and so the same seeds.
    """

    experiments: Sequence[PreparedExperiment]
    _first: dict[tuple[str, int], tuple[str, Values]] = field(default_factory=dict)
    _is_over: bool = False

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None."""
        if self._is_over or not update.is_completed:
            return None
        spec = update.order.spec
        experiment = next((item for item in self.experiments if item.folder == update.order.experiment), None)
        swept = experiment.plan.sweep if experiment is not None else None
        if experiment is None or swept is None:
            return None
        try:
            values = _quality_of(read_experiment(experiment.folder), spec)
        except DeviateError:  # reported when the records are read at the end
            return None
        value, others = self._first.setdefault((spec.variant, spec.replicate), (swept.value, values))
        if value == swept.value or not values:
            return None
        self._is_over = True
        if values != others:
            return None
        return (
            f"{swept.argument} changed nothing so far: the first runs with {value} and with {swept.value} reported "
            "bitwise identical values; check that the script uses it"
        )


def _quality_of(variants: Sequence[Experiment], spec: Spec) -> Values:
    """The values of one run, without times, which always differ, and settings, which may be the argument itself."""
    return {
        metric.name: run.series[metric.name]
        for variant in variants
        for run in variant.runs
        if (run.variant, run.replicate) == (spec.variant, spec.replicate)
        for metric in variant.metrics
        if metric.role == "quality" and metric.name in run.series
    }
