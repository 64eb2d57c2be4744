"""Where two runs diverge: comparison of traces, size of the first difference, and its likely causes."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.diverge.compare import compare_traces as compare_traces
    from deviate.diverge.engine import diverge as diverge
    from deviate.diverge.findings import RUNGS as RUNGS
    from deviate.diverge.findings import DivergenceFindings as DivergenceFindings
    from deviate.diverge.findings import Rung as Rung
    from deviate.diverge.outcomes import growth_of_losses as growth_of_losses
    from deviate.diverge.outcomes import growth_of_metrics as growth_of_metrics
    from deviate.diverge.recorded import compare_recorded as compare_recorded
    from deviate.diverge.recorded import is_of_records as is_of_records
    from deviate.diverge.report.document import diverge_document as diverge_document
    from deviate.diverge.report.document import diverge_schema as diverge_schema
    from deviate.diverge.requests import ENDED as ENDED
    from deviate.diverge.requests import DivergeRequest as DivergeRequest
    from deviate.diverge.requests import Side as Side
    from deviate.diverge.requests import ending as ending
    from deviate.diverge.requests import free_base as free_base
    from deviate.diverge.requests import refuse_varied as refuse_varied
    from deviate.diverge.source import attach_source_context as attach_source_context
    from deviate.diverge.ulps import float_form as float_form
    from deviate.diverge.ulps import ulps as ulps
    from deviate.diverge.ulps import value_ulps as value_ulps

load_on_first_use(__name__)
