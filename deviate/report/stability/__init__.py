"""How alike runs are beyond their scores, as text: predictions, weights, classes and groups, time to converge."""

from deviate.report.stability.build import stability_view

__all__ = ["stability_view"]
