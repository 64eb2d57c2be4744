"""The JSON Schemas of sheets as JSON, made as those of the report are."""

from deviate.model.cost import CostFindings
from deviate.model.divergence import DivergenceFindings
from deviate.model.sweep import SweepFindings
from deviate.report.data.schema import Schema, document_schema
from deviate.report.parts.diverge import SCHEMA as DIVERGE_SCHEMA
from deviate.report.parts.overhead import SCHEMA as OVERHEAD_SCHEMA
from deviate.report.parts.sweep import SCHEMA as SWEEP_SCHEMA


def diverge_schema() -> Schema:
    """The schema (draft 2020-12) of `--json` of diverge: nothing is optional, nothing else allowed."""
    return document_schema(
        "diverge",
        DIVERGE_SCHEMA,
        DivergenceFindings,
        "Where two runs part, unrounded. Updates of the weights, steps of the main loop and ranks count from 0, lines "
        "from 1; times are in seconds, files relative to the project.",
    )


def overhead_schema() -> Schema:
    """The schema (draft 2020-12) of `--json` of overhead: nothing is optional, nothing else allowed."""
    return document_schema(
        "overhead",
        OVERHEAD_SCHEMA,
        CostFindings,
        "What determinism costs, unrounded. Times are in seconds; a factor is held over free; main-loop steps and "
        "replicates count from 0.",
    )


def sweep_schema() -> Schema:
    """The schema (draft 2020-12) of `--json` of a sweep: nothing is optional, nothing else allowed."""
    return document_schema(
        "sweep",
        SWEEP_SCHEMA,
        SweepFindings,
        "Measures against an argument, unrounded: scores in the unit of the metric, churn as a share.",
    )
