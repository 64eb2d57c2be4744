"""The folder format: plans, specs, attempts and events, written and read back."""

from deviate.records.environment import Platform
from deviate.records.files import locked
from deviate.records.imported import experiment_of, write_imported
from deviate.records.importers.registry import Imported, ImportedRun
from deviate.records.importing import all_importers, folder_names, published_table, read_files
from deviate.records.layout import deviate_folder, experiment_file, experiments_folder, snapshot_folder
from deviate.records.misfits import environment_changed, environment_misfits
from deviate.records.plan import Change, Plan, Reported, VariantPlan
from deviate.records.plans import (
    change_experiment,
    create_experiment,
    find_experiment,
    free_place,
    list_experiments,
    make_deviate_folder,
    new_experiment_folder,
    place_of,
    read_plan,
    tell_reported,
)
from deviate.records.read import log_end, read_experiment, stderr_tail
from deviate.records.traces import kept_arrays, read_traces

__all__ = [
    "Change",
    "Imported",
    "ImportedRun",
    "Plan",
    "Platform",
    "Reported",
    "VariantPlan",
    "all_importers",
    "change_experiment",
    "create_experiment",
    "deviate_folder",
    "environment_changed",
    "environment_misfits",
    "experiment_file",
    "experiment_of",
    "experiments_folder",
    "find_experiment",
    "folder_names",
    "free_place",
    "kept_arrays",
    "list_experiments",
    "locked",
    "log_end",
    "make_deviate_folder",
    "new_experiment_folder",
    "place_of",
    "published_table",
    "read_experiment",
    "read_files",
    "read_plan",
    "read_traces",
    "snapshot_folder",
    "stderr_tail",
    "tell_reported",
    "write_imported",
]
