"""Shell completion of experiment names."""

import glob
from pathlib import Path

from deviate import records, workflows
from deviate.errors import DeviateError


def experiments(incomplete: str) -> list[str]:
    """Recorded experiments, and NAME:VARIANT once the name is complete; empty if records cannot be read."""
    try:
        plans = records.list_experiments(workflows.records_folder(Path.cwd().resolve()))
    except (DeviateError, OSError):
        return []
    prefix = incomplete.partition(":")[0]
    names = [plan.name for plan in plans]
    names += [f"{plan.name}:{variant.name}" for plan in plans if plan.name == prefix for variant in plan.variants]
    return [name for name in names if name.startswith(incomplete)]


def sources(incomplete: str) -> list[str]:
    """Experiments, and files and folders, for arguments that accept either."""
    paths = sorted(Path(path) for path in glob.glob(f"{glob.escape(incomplete)}*"))  # noqa: PTH207  as a shell has it
    return [*experiments(incomplete), *(f"{path}/" if path.is_dir() else str(path) for path in paths)]
