"""Where two runs diverge: comparison of traces, size of the first difference, and its likely causes."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.diverge.engine import diverge as diverge
    from deviate.diverge.findings import RUNGS as RUNGS
    from deviate.diverge.findings import DivergenceFindings as DivergenceFindings
    from deviate.diverge.findings import Rung as Rung
    from deviate.diverge.holds import parse_holds as parse_holds
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
    from deviate.diverge.requests import with_levels as with_levels
    from deviate.diverge.source import attach_source_context as attach_source_context

load_on_first_use(__name__)
