"""The way through all rooms: from a command to findings. Knows every room; prints nothing, and ends nothing."""

from typing import TYPE_CHECKING

from deviate.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.pipeline.begin import begin as begin
    from deviate.pipeline.begin import keep_settings as keep_settings
    from deviate.pipeline.begin import refuse_misfit as refuse_misfit
    from deviate.pipeline.begin import resume_notes as resume_notes
    from deviate.pipeline.beside import write_tables as write_tables
    from deviate.pipeline.carry import carry_out as carry_out
    from deviate.pipeline.carry import fair_order as fair_order
    from deviate.pipeline.carry import find as find
    from deviate.pipeline.carry import interpreter_labels as interpreter_labels
    from deviate.pipeline.carry import open_experiment as open_experiment
    from deviate.pipeline.carry import specs_of as specs_of
    from deviate.pipeline.carry import tell_compared as tell_compared
    from deviate.pipeline.carry import tell_reported as tell_reported
    from deviate.pipeline.carry import work as work
    from deviate.pipeline.columns_apart import columns_apart as columns_apart
    from deviate.pipeline.enough import Further as Further
    from deviate.pipeline.enough import declare as declare
    from deviate.pipeline.judge import Judging as Judging
    from deviate.pipeline.judge import describe as describe
    from deviate.pipeline.judge import foresee as foresee
    from deviate.pipeline.judge import judge as judge
    from deviate.pipeline.judge import write as write
    from deviate.pipeline.plan import design as design
    from deviate.pipeline.plan import pilot as pilot
    from deviate.pipeline.request import Begun as Begun
    from deviate.pipeline.request import Growth as Growth
    from deviate.pipeline.request import Request as Request
    from deviate.pipeline.same_data import SameData as SameData
    from deviate.pipeline.scores import experiment_of_scores as experiment_of_scores
    from deviate.pipeline.sources import published_table as published_table
    from deviate.pipeline.sources import read as read
    from deviate.pipeline.sources import read_any as read_any
    from deviate.pipeline.sources import read_files as read_files
    from deviate.pipeline.sources import read_variants as read_variants
    from deviate.pipeline.sources import records_folder as records_folder
    from deviate.pipeline.sources import report_folder as report_folder
    from deviate.pipeline.sources import report_path as report_path
    from deviate.pipeline.stability import captured_of as captured_of
    from deviate.pipeline.standing import Mean as Mean
    from deviate.pipeline.standing import Scores as Scores
    from deviate.pipeline.standing import Standing as Standing
    from deviate.pipeline.states import AttemptState as AttemptState
    from deviate.pipeline.states import Expected as Expected
    from deviate.pipeline.states import RunState as RunState
    from deviate.pipeline.states import attempt_states as attempt_states
    from deviate.pipeline.states import expected as expected
    from deviate.pipeline.states import in_use as in_use
    from deviate.pipeline.states import n_steps_of as n_steps_of
    from deviate.pipeline.states import run_states as run_states
    from deviate.pipeline.states import rung_of as rung_of
    from deviate.pipeline.states import runs_on_record as runs_on_record
    from deviate.pipeline.tidy import Tidied as Tidied
    from deviate.pipeline.tidy import size as size
    from deviate.pipeline.tidy import tidy as tidy
    from deviate.pipeline.tidy import tidy_cache as tidy_cache

load_on_first_use(
    __name__,
    {
        "deviate.pipeline.begin": (
            "begin",
            "keep_settings",
            "refuse_misfit",
            "resume_notes",
        ),
        "deviate.pipeline.beside": ("write_tables",),
        "deviate.pipeline.carry": (
            "carry_out",
            "fair_order",
            "find",
            "interpreter_labels",
            "open_experiment",
            "specs_of",
            "tell_compared",
            "tell_reported",
            "work",
        ),
        "deviate.pipeline.columns_apart": ("columns_apart",),
        "deviate.pipeline.enough": (
            "Further",
            "declare",
        ),
        "deviate.pipeline.judge": (
            "Judging",
            "describe",
            "foresee",
            "judge",
            "write",
        ),
        "deviate.pipeline.plan": (
            "design",
            "pilot",
        ),
        "deviate.pipeline.request": (
            "Begun",
            "Growth",
            "Request",
        ),
        "deviate.pipeline.scores": ("experiment_of_scores",),
        "deviate.pipeline.sources": (
            "published_table",
            "read",
            "read_any",
            "read_files",
            "read_variants",
            "records_folder",
            "report_folder",
            "report_path",
        ),
        "deviate.pipeline.stability": ("captured_of",),
        "deviate.pipeline.same_data": ("SameData",),
        "deviate.pipeline.standing": (
            "Mean",
            "Scores",
            "Standing",
        ),
        "deviate.pipeline.states": (
            "AttemptState",
            "Expected",
            "RunState",
            "attempt_states",
            "expected",
            "in_use",
            "n_steps_of",
            "run_states",
            "rung_of",
            "runs_on_record",
        ),
        "deviate.pipeline.tidy": (
            "Tidied",
            "size",
            "tidy",
            "tidy_cache",
        ),
    },
)
