"""Where two runs part: traces laid side by side, the size of the first difference, and its likely causes."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.diverge.compare import compare_traces as compare_traces
    from deviate.diverge.growth import growth_of_losses as growth_of_losses
    from deviate.diverge.growth import growth_of_metrics as growth_of_metrics
    from deviate.diverge.sums import are_within as are_within
    from deviate.diverge.ulps import float_form as float_form
    from deviate.diverge.ulps import ulps as ulps
    from deviate.diverge.ulps import value_ulps as value_ulps

load_on_first_use(
    __name__,
    {
        "deviate.diverge.compare": ("compare_traces",),
        "deviate.diverge.growth": (
            "growth_of_losses",
            "growth_of_metrics",
        ),
        "deviate.diverge.sums": ("are_within",),
        "deviate.diverge.ulps": (
            "float_form",
            "ulps",
            "value_ulps",
        ),
    },
)
