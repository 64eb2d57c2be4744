"""When a margin was chosen: a verdict of equivalence needs one that was chosen before the difference could be seen."""

from deviate.model.comparisons import Comparison
from deviate.model.records import Experiment

MARGIN_AFTER = "margin given after the runs"
MARGIN_UNDATED = "when the margin was chosen is not recorded"


def date_margin(comparison: Comparison, baseline: Experiment, candidate: Experiment) -> str:
    """`MARGIN_AFTER` or `MARGIN_UNDATED`; empty where there is no margin, or a plan holds it.

    The plan of either side is enough, as no difference can be seen before both have run. A record that cannot hold a
    margin shows nothing: imported or given scores.
    """
    margin = comparison.metric.margin
    names = {comparison.metric.name, comparison.candidate_metric.name}
    sides = (baseline, candidate)
    planned = {metric.margin for side in sides for metric in side.metrics if metric.name in names}
    if margin is None or margin in planned:
        return ""
    return MARGIN_AFTER if any(_has_full_plan(side) for side in sides) else MARGIN_UNDATED


def _has_full_plan(experiment: Experiment) -> bool:
    return experiment.primary is not None and not experiment.imported
