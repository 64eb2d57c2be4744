"""Diversity of runs beside their scores: what predictions and weights would tell, and why they do not."""

from deviate.model import Findings
from deviate.report.view.stability import StabilityView

MEASURES = "on how many predictions runs disagree (churn), how far apart and how alike their weights are (L2, CKA)"


def stability_view(findings: Findings) -> StabilityView:
    """Nothing of the kind is on record today; of weights there may be a hash."""
    experiments = [it.experiment for it in findings.experiments]
    told = f"Neither predictions nor weights of these runs are on record, so this report does not say {MEASURES}."
    if any(run.weights for it in experiments for run in it.runs):
        told += " The final weights have a hash of each run (Provenance): it tells equal from different, not how far."
    return StabilityView(no_stability=told)
