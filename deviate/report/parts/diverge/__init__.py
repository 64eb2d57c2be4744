"""Where two runs part, as a sheet: the answer first, then what stands behind it."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.parts.diverge.sheet import SCHEMA as SCHEMA
    from deviate.report.parts.diverge.sheet import diverge_sheet as diverge_sheet

load_on_first_use(
    __name__,
    {
        "deviate.report.parts.diverge.sheet": (
            "SCHEMA",
            "diverge_sheet",
        ),
    },
)
