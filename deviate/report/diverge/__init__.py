"""Where two runs part, as a sheet: the answer first, then what stands behind it."""

from deviate.report.diverge.sheet import SCHEMA, diverge_sheet

__all__ = ["SCHEMA", "diverge_sheet"]
