"""The way through all rooms: from a command to findings. Knows every room; prints nothing, and ends nothing."""

from deviate.pipeline.begin import begin
from deviate.pipeline.carry import (
    carry_out,
    fair_order,
    find,
    interpreter_labels,
    open_experiment,
    specs_of,
    tell_reported,
    work,
)
from deviate.pipeline.enough import Further, declare
from deviate.pipeline.judge import (
    Judging,
    describe,
    foresee,
    judge,
    read,
    read_variants,
    records_folder,
    report_path,
    write,
)
from deviate.pipeline.request import Begun, Growth, Request

__all__ = [
    "Begun",
    "Further",
    "Growth",
    "Judging",
    "Request",
    "begin",
    "carry_out",
    "declare",
    "describe",
    "fair_order",
    "find",
    "foresee",
    "interpreter_labels",
    "judge",
    "open_experiment",
    "read",
    "read_variants",
    "records_folder",
    "report_path",
    "specs_of",
    "tell_reported",
    "work",
    "write",
]
