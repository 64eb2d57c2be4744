"""The way through all rooms: from a command to findings. Knows every room; prints nothing, and ends nothing."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.workflows.begin import begin as begin
    from deviate.workflows.begin import keep_settings as keep_settings
    from deviate.workflows.begin import refuse_misfit as refuse_misfit
    from deviate.workflows.begin import resume_notes as resume_notes
    from deviate.workflows.cleanup import Tidied as Tidied
    from deviate.workflows.cleanup import size as size
    from deviate.workflows.cleanup import tidy as tidy
    from deviate.workflows.cleanup import tidy_cache as tidy_cache
    from deviate.workflows.columns_apart import columns_apart as columns_apart
    from deviate.workflows.execute import carry_out as carry_out
    from deviate.workflows.execute import fair_order as fair_order
    from deviate.workflows.execute import find as find
    from deviate.workflows.execute import interpreter_labels as interpreter_labels
    from deviate.workflows.execute import open_experiment as open_experiment
    from deviate.workflows.execute import specs_of as specs_of
    from deviate.workflows.execute import tell_compared as tell_compared
    from deviate.workflows.execute import tell_reported as tell_reported
    from deviate.workflows.execute import work as work
    from deviate.workflows.judge import Judging as Judging
    from deviate.workflows.judge import describe as describe
    from deviate.workflows.judge import foresee as foresee
    from deviate.workflows.judge import judge as judge
    from deviate.workflows.judge import write as write
    from deviate.workflows.live_estimates import Mean as Mean
    from deviate.workflows.live_estimates import Scores as Scores
    from deviate.workflows.live_estimates import Standing as Standing
    from deviate.workflows.plan import design as design
    from deviate.workflows.plan import pilot as pilot
    from deviate.workflows.report_files import write_tables as write_tables
    from deviate.workflows.request import Begun as Begun
    from deviate.workflows.request import Growth as Growth
    from deviate.workflows.request import Request as Request
    from deviate.workflows.same_data import SameData as SameData
    from deviate.workflows.sources import published_table as published_table
    from deviate.workflows.sources import read as read
    from deviate.workflows.sources import read_any as read_any
    from deviate.workflows.sources import read_files as read_files
    from deviate.workflows.sources import read_variants as read_variants
    from deviate.workflows.sources import records_folder as records_folder
    from deviate.workflows.sources import report_folder as report_folder
    from deviate.workflows.sources import report_path as report_path
    from deviate.workflows.states import AttemptState as AttemptState
    from deviate.workflows.states import Expected as Expected
    from deviate.workflows.states import RunState as RunState
    from deviate.workflows.states import attempt_states as attempt_states
    from deviate.workflows.states import expected as expected
    from deviate.workflows.states import in_use as in_use
    from deviate.workflows.states import n_steps_of as n_steps_of
    from deviate.workflows.states import run_states as run_states
    from deviate.workflows.states import rung_of as rung_of
    from deviate.workflows.states import runs_on_record as runs_on_record
    from deviate.workflows.stopping_rule import Further as Further
    from deviate.workflows.stopping_rule import declare as declare

load_on_first_use(
    __name__,
    {
        "deviate.workflows.begin": (
            "begin",
            "keep_settings",
            "refuse_misfit",
            "resume_notes",
        ),
        "deviate.workflows.report_files": ("write_tables",),
        "deviate.workflows.execute": (
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
        "deviate.workflows.columns_apart": ("columns_apart",),
        "deviate.workflows.stopping_rule": (
            "Further",
            "declare",
        ),
        "deviate.workflows.judge": (
            "Judging",
            "describe",
            "foresee",
            "judge",
            "write",
        ),
        "deviate.workflows.plan": (
            "design",
            "pilot",
        ),
        "deviate.workflows.request": (
            "Begun",
            "Growth",
            "Request",
        ),
        "deviate.workflows.sources": (
            "published_table",
            "read",
            "read_any",
            "read_files",
            "read_variants",
            "records_folder",
            "report_folder",
            "report_path",
        ),
        "deviate.workflows.same_data": ("SameData",),
        "deviate.workflows.live_estimates": (
            "Mean",
            "Scores",
            "Standing",
        ),
        "deviate.workflows.states": (
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
        "deviate.workflows.cleanup": (
            "Tidied",
            "size",
            "tidy",
            "tidy_cache",
        ),
    },
)
