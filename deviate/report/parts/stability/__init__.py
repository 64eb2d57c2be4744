"""How alike runs are beyond their scores, as text: predictions, weights, classes and groups, time to converge."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.parts.stability.build import stability_view as stability_view

load_on_first_use(
    __name__,
    {
        "deviate.report.parts.stability.build": ("stability_view",),
    },
)
