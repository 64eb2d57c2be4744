"""Where two runs part: traces laid side by side, the size of the first difference, and its likely causes."""

from typing import TYPE_CHECKING

from deviate.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.parting.compare import compare_traces as compare_traces
    from deviate.parting.growth import growth_of_losses as growth_of_losses
    from deviate.parting.growth import growth_of_metrics as growth_of_metrics
    from deviate.parting.sums import are_within as are_within
    from deviate.parting.ulps import float_form as float_form
    from deviate.parting.ulps import ulps as ulps
    from deviate.parting.ulps import value_ulps as value_ulps

load_on_first_use(
    __name__,
    {
        "deviate.parting.compare": ("compare_traces",),
        "deviate.parting.growth": (
            "growth_of_losses",
            "growth_of_metrics",
        ),
        "deviate.parting.sums": ("are_within",),
        "deviate.parting.ulps": (
            "float_form",
            "ulps",
            "value_ulps",
        ),
    },
)
