"""The folder format: plans, specs, attempts and events, written and read back."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.records.environment import Platform as Platform
    from deviate.records.environment_diff import environment_changed as environment_changed
    from deviate.records.environment_diff import environment_misfits as environment_misfits
    from deviate.records.events import evaluation_of as evaluation_of
    from deviate.records.files import locked as locked
    from deviate.records.imported import experiment_of as experiment_of
    from deviate.records.imported import write_imported as write_imported
    from deviate.records.importers.registry import Imported as Imported
    from deviate.records.importers.registry import ImportedRun as ImportedRun
    from deviate.records.importing import all_importers as all_importers
    from deviate.records.importing import folder_names as folder_names
    from deviate.records.importing import published_table as published_table
    from deviate.records.importing import read_files as read_files
    from deviate.records.layout import deviate_folder as deviate_folder
    from deviate.records.layout import experiment_file as experiment_file
    from deviate.records.layout import experiments_folder as experiments_folder
    from deviate.records.layout import snapshot_folder as snapshot_folder
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
    from deviate.records.read import log_end as log_end
    from deviate.records.read import read_experiment as read_experiment
    from deviate.records.read import stderr_tail as stderr_tail
    from deviate.records.traces import kept_arrays as kept_arrays
    from deviate.records.traces import read_traces as read_traces

load_on_first_use(
    __name__,
    {
        "deviate.records.environment": ("Platform",),
        "deviate.records.events": ("evaluation_of",),
        "deviate.records.files": ("locked",),
        "deviate.records.imported": (
            "experiment_of",
            "write_imported",
        ),
        "deviate.records.importers.registry": (
            "Imported",
            "ImportedRun",
        ),
        "deviate.records.importing": (
            "all_importers",
            "folder_names",
            "published_table",
            "read_files",
        ),
        "deviate.records.layout": (
            "deviate_folder",
            "experiment_file",
            "experiments_folder",
            "snapshot_folder",
        ),
        "deviate.records.environment_diff": (
            "environment_changed",
            "environment_misfits",
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
        "deviate.records.read": (
            "log_end",
            "read_experiment",
            "stderr_tail",
        ),
        "deviate.records.traces": (
            "kept_arrays",
            "read_traces",
        ),
    },
)
