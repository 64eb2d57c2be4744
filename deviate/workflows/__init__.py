"""Tasks that combine several packages, one file each; nothing here prints or exits. `pipeline` combines them."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.workflows.begin import begin as begin
    from deviate.workflows.begin import keep_settings as keep_settings
    from deviate.workflows.begin import name_of as name_of
    from deviate.workflows.begin import refuse_misfit as refuse_misfit
    from deviate.workflows.begin import resume_notes as resume_notes
    from deviate.workflows.between_runs import SameData as SameData
    from deviate.workflows.between_runs import StoppingRule as StoppingRule
    from deviate.workflows.between_runs import declare as declare
    from deviate.workflows.check import Gate as Gate
    from deviate.workflows.check import asked_metrics as asked_metrics
    from deviate.workflows.check import baseline_of as baseline_of
    from deviate.workflows.check import check as check
    from deviate.workflows.check import margins_of as margins_of
    from deviate.workflows.check import warn_of_few_runs as warn_of_few_runs
    from deviate.workflows.cleanup import Cleanup as Cleanup
    from deviate.workflows.cleanup import clean_up as clean_up
    from deviate.workflows.cleanup import clean_up_cache as clean_up_cache
    from deviate.workflows.cleanup import size as size
    from deviate.workflows.defect_report import defect_report as defect_report
    from deviate.workflows.execute import PreparedExperiment as PreparedExperiment
    from deviate.workflows.execute import Request as Request
    from deviate.workflows.execute import SampleSizeRule as SampleSizeRule
    from deviate.workflows.execute import fair_order as fair_order
    from deviate.workflows.execute import find as find
    from deviate.workflows.execute import interpreter_labels as interpreter_labels
    from deviate.workflows.execute import make_executor as make_executor
    from deviate.workflows.execute import open_experiment as open_experiment
    from deviate.workflows.execute import record_comparison as record_comparison
    from deviate.workflows.execute import record_end as record_end
    from deviate.workflows.execute import record_report as record_report
    from deviate.workflows.execute import specs_of as specs_of
    from deviate.workflows.execute import work as work
    from deviate.workflows.first_run import FirstNames as FirstNames
    from deviate.workflows.first_run import FirstRun as FirstRun
    from deviate.workflows.judge import AnalysisOptions as AnalysisOptions
    from deviate.workflows.judge import describe as describe
    from deviate.workflows.judge import design as design
    from deviate.workflows.judge import judge as judge
    from deviate.workflows.judge import pilot as pilot
    from deviate.workflows.judge import refuse_disjoint as refuse_disjoint
    from deviate.workflows.live_estimates import ExperimentScores as ExperimentScores
    from deviate.workflows.live_estimates import LiveEstimates as LiveEstimates
    from deviate.workflows.live_estimates import Mean as Mean
    from deviate.workflows.overhead import find_cost as find_cost
    from deviate.workflows.overhead import modes_of as modes_of
    from deviate.workflows.overhead import profiled_name as profiled_name
    from deviate.workflows.overhead import why_no_profiler as why_no_profiler
    from deviate.workflows.overhead import window_for as window_for
    from deviate.workflows.refs import checked_out as checked_out
    from deviate.workflows.refs import find_reference as find_reference
    from deviate.workflows.refs import prepare_at as prepare_at
    from deviate.workflows.report_files import refuse_output as refuse_output
    from deviate.workflows.report_files import refuse_paper_folder as refuse_paper_folder
    from deviate.workflows.report_files import write as write
    from deviate.workflows.report_files import write_paper as write_paper
    from deviate.workflows.report_files import write_tables as write_tables
    from deviate.workflows.run_cost import FirstCost as FirstCost
    from deviate.workflows.run_cost import Outlook as Outlook
    from deviate.workflows.run_cost import foresee as foresee
    from deviate.workflows.run_cost import outlook_of as outlook_of
    from deviate.workflows.run_cost import refuse_short_budget as refuse_short_budget
    from deviate.workflows.sources import published_table as published_table
    from deviate.workflows.sources import read as read
    from deviate.workflows.sources import read_any as read_any
    from deviate.workflows.sources import read_files as read_files
    from deviate.workflows.sources import read_variants as read_variants
    from deviate.workflows.sources import records_folder as records_folder
    from deviate.workflows.sources import report_folder as report_folder
    from deviate.workflows.sources import report_path as report_path
    from deviate.workflows.sources import split_columns as split_columns
    from deviate.workflows.states import AttemptState as AttemptState
    from deviate.workflows.states import Expected as Expected
    from deviate.workflows.states import RunState as RunState
    from deviate.workflows.states import attempt_states as attempt_states
    from deviate.workflows.states import expected_runs as expected_runs
    from deviate.workflows.states import in_use as in_use
    from deviate.workflows.states import n_steps_of as n_steps_of
    from deviate.workflows.states import run_states as run_states
    from deviate.workflows.states import rung_of as rung_of
    from deviate.workflows.sweep import has_sweep as has_sweep
    from deviate.workflows.sweep import judge_sweep as judge_sweep
    from deviate.workflows.sweep import parse_sweep as parse_sweep
    from deviate.workflows.sweep import points as points
    from deviate.workflows.sweep import read_sweep as read_sweep
    from deviate.workflows.sweep_effect import SweepEffect as SweepEffect
    from deviate.workflows.validate import has_all_names as has_all_names
    from deviate.workflows.validate import refuse_missing_programs as refuse_missing_programs
    from deviate.workflows.validate import validate_metrics as validate_metrics
    from deviate.workflows.validate import validate_request as validate_request

load_on_first_use(__name__)
