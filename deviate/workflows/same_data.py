"""Checks whether runs are tested on the same data as soon as two of them have ended, when a fix is cheapest."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deviate import records
from deviate.errors import DeviateError
from deviate.model import DrawEvent, EvaluationData, Variant
from deviate.replay import RunUpdate
from deviate.workflows.request import PreparedExperiment

ENOUGH = 2
"""Runs of a variant that are looked at."""


@dataclass(slots=True)
class SameData:
    """Accepts updates on runs, and reports if the first runs of a variant had different test data.

    Data that is not known to be examples is ignored, as are variants that vary the split.
    """

    experiments: Sequence[PreparedExperiment]
    _seen: dict[tuple[str, str], list[tuple[EvaluationData, ...]]] = field(default_factory=dict)
    _drawn: dict[tuple[str, str], list[DrawEvent]] = field(default_factory=dict)

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None."""
        if update.kind != "finished" or update.status != "completed":
            return None
        variant = self._variant(update)
        key = (update.experiment, update.variant)
        seen = self._seen.setdefault(key, [])
        if variant is None or "split" in variant.varied or len(seen) >= ENOUGH:
            return None
        try:
            evaluation, drawn = records.evaluation_of(Path(update.folder))
        except (DeviateError, OSError):  # reported when the records are read at the end
            return None
        seen.append(evaluation)
        events = self._drawn.setdefault(key, [])
        events += drawn
        return _sentence(variant, seen, events) if len(seen) == ENOUGH else None

    def _variant(self, update: RunUpdate) -> Variant | None:
        plans = [experiment.plan for experiment in self.experiments if update.experiment == experiment.folder.name]
        variants = (variant.definition for plan in plans for variant in plan.variants if variant.name == update.variant)
        return next(variants, None)


def _sentence(
    variant: Variant, evaluations: Sequence[Sequence[EvaluationData]], drawn: Sequence[DrawEvent]
) -> str | None:
    from deviate.stats import agreement, cure, hash_words  # numpy, which the report loads in any case

    if agreement(evaluations) != "differ":
        return None
    hashed = hash_words([word for run in evaluations for word in run])
    split_note = ", although the seed of split is held" if "split" in variant.held else ""
    sentence = f"{variant.name}: the first {ENOUGH} runs were not tested on the same data, by {hashed}{split_note}"
    return f"{sentence}. {cure(variant.varied, drawn)}"
