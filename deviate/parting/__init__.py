"""Where two runs part: traces laid side by side, the size of the first difference, and its likely causes."""

from deviate.parting.compare import compare_traces
from deviate.parting.growth import growth_of_losses, growth_of_metrics
from deviate.parting.sums import are_within
from deviate.parting.ulps import float_form, ulps, value_ulps

__all__ = ["are_within", "compare_traces", "float_form", "growth_of_losses", "growth_of_metrics", "ulps", "value_ulps"]
