"""The folder format: plans, specs, attempts and events, written and read back."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.records.attempts import HEARTBEAT_S as HEARTBEAT_S
    from deviate.records.attempts import STALE_S as STALE_S
    from deviate.records.attempts import Claim as Claim
    from deviate.records.attempts import Result as Result
    from deviate.records.attempts import continued as continued
    from deviate.records.attempts import damaged_files as damaged_files
    from deviate.records.attempts import read_claim as read_claim
    from deviate.records.attempts import read_intact_result as read_intact_result
    from deviate.records.attempts import read_result as read_result
    from deviate.records.attempts import write_claim as write_claim
    from deviate.records.attempts import write_result as write_result
    from deviate.records.captured import captured as captured
    from deviate.records.environment import ALWAYS_TOLD as ALWAYS_TOLD
    from deviate.records.environment import PACKAGES as PACKAGES
    from deviate.records.environment import SHOWN_ONLY as SHOWN_ONLY
    from deviate.records.environment import VARIABLE as VARIABLE
    from deviate.records.environment import Platform as Platform
    from deviate.records.environment import RunEnvironment as RunEnvironment
    from deviate.records.environment import facts_of as facts_of
    from deviate.records.environment import write_environment as write_environment
    from deviate.records.environment import write_platform as write_platform
    from deviate.records.environment_diff import environment_changed as environment_changed
    from deviate.records.environment_diff import environment_misfits as environment_misfits
    from deviate.records.events import UNKNOWN_MAIN as UNKNOWN_MAIN
    from deviate.records.events import evaluation_of as evaluation_of
    from deviate.records.events import read_events as read_events
    from deviate.records.files import locked as locked
    from deviate.records.flags import WARNS as WARNS
    from deviate.records.imported import experiment_of as experiment_of
    from deviate.records.imported import write_imported as write_imported
    from deviate.records.importers.baseline import Baseline as Baseline
    from deviate.records.importers.baseline import BaselineRun as BaselineRun
    from deviate.records.importers.baseline import baseline_text as baseline_text
    from deviate.records.importers.registry import IMPORTERS as IMPORTERS
    from deviate.records.importers.registry import Imported as Imported
    from deviate.records.importers.registry import ImportedRun as ImportedRun
    from deviate.records.importers.registry import importer as importer
    from deviate.records.importing import folder_names as folder_names
    from deviate.records.importing import published_table as published_table
    from deviate.records.importing import read_files as read_files
    from deviate.records.items import CONTAINERS as CONTAINERS
    from deviate.records.items import item_direction as item_direction
    from deviate.records.items import item_role as item_role
    from deviate.records.layout import artifacts_folder as artifacts_folder
    from deviate.records.layout import attempt_folder as attempt_folder
    from deviate.records.layout import attempt_number as attempt_number
    from deviate.records.layout import attempts as attempts
    from deviate.records.layout import claim_file as claim_file
    from deviate.records.layout import deviate_folder as deviate_folder
    from deviate.records.layout import event_files as event_files
    from deviate.records.layout import experiment_file as experiment_file
    from deviate.records.layout import experiments_folder as experiments_folder
    from deviate.records.layout import log_files as log_files
    from deviate.records.layout import result_file as result_file
    from deviate.records.layout import runs_folder as runs_folder
    from deviate.records.layout import snapshot_folder as snapshot_folder
    from deviate.records.layout import spec_file as spec_file
    from deviate.records.machine import machine_name as machine_name
    from deviate.records.machine import this_machine as this_machine
    from deviate.records.machine import writer_name as writer_name
    from deviate.records.manifest import LinkedFile as LinkedFile
    from deviate.records.manifest import Manifest as Manifest
    from deviate.records.manifest import damaged_sources as damaged_sources
    from deviate.records.manifest import read_manifest as read_manifest
    from deviate.records.measure import Catalog as Catalog
    from deviate.records.measure import measure as measure
    from deviate.records.plan import Change as Change
    from deviate.records.plan import Plan as Plan
    from deviate.records.plan import Reported as Reported
    from deviate.records.plan import VariantPlan as VariantPlan
    from deviate.records.plans import change_experiment as change_experiment
    from deviate.records.plans import create_experiment as create_experiment
    from deviate.records.plans import find_experiment as find_experiment
    from deviate.records.plans import free_place as free_place
    from deviate.records.plans import list_experiments as list_experiments
    from deviate.records.plans import make_deviate_folder as make_deviate_folder
    from deviate.records.plans import new_experiment_folder as new_experiment_folder
    from deviate.records.plans import on_record as on_record
    from deviate.records.plans import place_of as place_of
    from deviate.records.plans import read_plan as read_plan
    from deviate.records.plans import siblings as siblings
    from deviate.records.plans import tell_reported as tell_reported
    from deviate.records.profiles import pace_of as pace_of
    from deviate.records.profiles import profile_of as profile_of
    from deviate.records.read import TAP_FAILED as TAP_FAILED
    from deviate.records.read import log_end as log_end
    from deviate.records.read import read_experiment as read_experiment
    from deviate.records.read import stderr_tail as stderr_tail
    from deviate.records.schema import Cause as Cause
    from deviate.records.schema import Commit as Commit
    from deviate.records.specs import keep_spec as keep_spec
    from deviate.records.specs import read_spec as read_spec
    from deviate.records.specs import run_id as run_id
    from deviate.records.specs import spec_hash as spec_hash
    from deviate.records.stored_arrays import names_in as names_in
    from deviate.records.stored_arrays import read_array as read_array
    from deviate.records.trace_log import Texts as Texts
    from deviate.records.traces import kept_arrays as kept_arrays
    from deviate.records.traces import read_traces as read_traces

load_on_first_use(
    __name__,
    {
        "deviate.records.attempts": (
            "Claim",
            "HEARTBEAT_S",
            "Result",
            "STALE_S",
            "continued",
            "damaged_files",
            "read_claim",
            "read_intact_result",
            "read_result",
            "write_claim",
            "write_result",
        ),
        "deviate.records.captured": ("captured",),
        "deviate.records.environment": (
            "ALWAYS_TOLD",
            "PACKAGES",
            "Platform",
            "RunEnvironment",
            "SHOWN_ONLY",
            "VARIABLE",
            "facts_of",
            "write_environment",
            "write_platform",
        ),
        "deviate.records.environment_diff": (
            "environment_changed",
            "environment_misfits",
        ),
        "deviate.records.events": (
            "UNKNOWN_MAIN",
            "evaluation_of",
            "read_events",
        ),
        "deviate.records.files": ("locked",),
        "deviate.records.flags": ("WARNS",),
        "deviate.records.imported": (
            "experiment_of",
            "write_imported",
        ),
        "deviate.records.importers.baseline": (
            "Baseline",
            "BaselineRun",
            "baseline_text",
        ),
        "deviate.records.importers.registry": (
            "IMPORTERS",
            "Imported",
            "ImportedRun",
            "importer",
        ),
        "deviate.records.importing": (
            "folder_names",
            "published_table",
            "read_files",
        ),
        "deviate.records.items": (
            "CONTAINERS",
            "item_direction",
            "item_role",
        ),
        "deviate.records.layout": (
            "artifacts_folder",
            "attempt_folder",
            "attempt_number",
            "attempts",
            "claim_file",
            "deviate_folder",
            "event_files",
            "experiment_file",
            "experiments_folder",
            "log_files",
            "result_file",
            "runs_folder",
            "snapshot_folder",
            "spec_file",
        ),
        "deviate.records.machine": (
            "machine_name",
            "this_machine",
            "writer_name",
        ),
        "deviate.records.manifest": (
            "LinkedFile",
            "Manifest",
            "damaged_sources",
            "read_manifest",
        ),
        "deviate.records.measure": (
            "Catalog",
            "measure",
        ),
        "deviate.records.plan": (
            "Change",
            "Plan",
            "Reported",
            "VariantPlan",
        ),
        "deviate.records.plans": (
            "change_experiment",
            "create_experiment",
            "find_experiment",
            "free_place",
            "list_experiments",
            "make_deviate_folder",
            "new_experiment_folder",
            "on_record",
            "place_of",
            "read_plan",
            "siblings",
            "tell_reported",
        ),
        "deviate.records.profiles": (
            "pace_of",
            "profile_of",
        ),
        "deviate.records.read": (
            "TAP_FAILED",
            "log_end",
            "read_experiment",
            "stderr_tail",
        ),
        "deviate.records.schema": (
            "Cause",
            "Commit",
        ),
        "deviate.records.specs": (
            "keep_spec",
            "read_spec",
            "run_id",
            "spec_hash",
        ),
        "deviate.records.stored_arrays": (
            "names_in",
            "read_array",
        ),
        "deviate.records.trace_log": ("Texts",),
        "deviate.records.traces": (
            "kept_arrays",
            "read_traces",
        ),
    },
)
