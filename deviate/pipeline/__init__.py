"""The way through all rooms: from a command to findings. Knows every room; prints nothing, and ends nothing."""

from deviate.pipeline.begin import begin, keep_settings, refuse_misfit, resume_notes
from deviate.pipeline.beside import write_tables
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
from deviate.pipeline.columns_apart import columns_apart
from deviate.pipeline.enough import Further, declare
from deviate.pipeline.judge import Judging, describe, foresee, judge, write
from deviate.pipeline.plan import design, pilot
from deviate.pipeline.request import Begun, Growth, Request
from deviate.pipeline.scores import experiment_of_scores
from deviate.pipeline.sources import (
    published_table,
    read,
    read_any,
    read_files,
    read_variants,
    records_folder,
    report_folder,
    report_path,
)
from deviate.pipeline.stability import captured_of
from deviate.pipeline.standing import Mean, Scores, Standing
from deviate.pipeline.states import (
    AttemptState,
    Expected,
    RunState,
    attempt_states,
    expected,
    in_use,
    n_steps_of,
    run_states,
    rung_of,
    runs_on_record,
)
from deviate.pipeline.tidy import Tidied, size, tidy, tidy_cache

__all__ = [
    "AttemptState",
    "Begun",
    "Expected",
    "Further",
    "Growth",
    "Judging",
    "Mean",
    "Request",
    "RunState",
    "Scores",
    "Standing",
    "Tidied",
    "attempt_states",
    "begin",
    "captured_of",
    "carry_out",
    "columns_apart",
    "declare",
    "describe",
    "design",
    "expected",
    "experiment_of_scores",
    "fair_order",
    "find",
    "foresee",
    "in_use",
    "interpreter_labels",
    "judge",
    "keep_settings",
    "n_steps_of",
    "open_experiment",
    "pilot",
    "published_table",
    "read",
    "read_any",
    "read_files",
    "read_variants",
    "records_folder",
    "refuse_misfit",
    "report_folder",
    "report_path",
    "resume_notes",
    "run_states",
    "rung_of",
    "runs_on_record",
    "size",
    "specs_of",
    "tell_reported",
    "tidy",
    "tidy_cache",
    "work",
    "write",
    "write_tables",
]
