"""Folders of TensorBoard runs with their settings: from `add_hparams`, or from a file of settings beside the events."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from deviate.base import first_few
from deviate.errors import InputError
from deviate.records.importers.tensorboard import LoggedRun, runs_below
from deviate.records.importers.tracked import TrackedRun
from deviate.records.importers.wandb import flatten, settings
from deviate.records.trackers.project import Project, read_nothing

FILES = (
    *("hparams.yaml", "config.yaml", "config.yml", "args.yaml", ".hydra/config.yaml"),
    *("config.json", "args.json", "params.json", "hparams.json"),
)
"""Files in which Lightning, Hydra, Ray and many scripts keep the settings of a run."""
SEED_IN_NAME = re.compile(r"(?i)(?<![a-z])(?:seed|rs|s)[_=-]?(\d+)(?!\d)")
INDEX_IN_NAME = re.compile(r"(?i)(?<![a-z])(?:version|run|rep|replicate|trial)[_=-]?\d+(?!\d)")


def read_tensorboard_folder(place: str) -> Project:
    """Read the runs below a folder; where a run has no settings, its folder is one, without seed and number of the run.

    Raises:
        InputError: there is no such folder, it has no event files, or one is damaged.
    """
    root = Path(place)
    if not root.is_dir():
        raise InputError(f"reading tensorboard:{place}: there is no such folder", "name the folder that runs lie in")
    unread: list[str] = []
    homes = runs_below(root)
    runs = [_run(home, root, logged, unread) for home, logged in homes.items() if logged.trails]
    notes = (f"{first_few(unread, 3)}: settings that cannot be read",) if unread else ()
    return Project(
        f"tensorboard:{place}", root.resolve().name, "tensorboard", "hparam.", runs, read_nothing, notes=notes
    )


def _run(home: Path, root: Path, logged: LoggedRun, unread: list[str]) -> TrackedRun:
    label = root.resolve().name if home == root else home.relative_to(root).as_posix()
    params = {name: value for folder in logged.folders for name, value in folder.params.items()}
    params = {**dict(_of_files(home, unread)), **params}
    run = TrackedRun(
        label, "", logged.status, logged.began, max(0.0, logged.ended - logged.began), logged.trails, params
    )
    if not params:
        if seed := SEED_IN_NAME.search(label):
            run.params["seed"] = seed[1]
        run.labels["folder"] = INDEX_IN_NAME.sub("<run>", SEED_IN_NAME.sub("<seed>", label))
    return run


def _of_files(home: Path, unread: list[str]) -> Iterator[tuple[str, str]]:
    """The settings in the first file of settings."""
    path = next((home / name for name in FILES if (home / name).is_file()), None)
    if path is None:
        return
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else _yaml(text)
    except (OSError, ValueError) as error:
        unread.append(f"{path} ({error})")
        return
    if isinstance(values, dict):
        for name, value in values.items():
            yield from settings(flatten(str(name), value))


def _yaml(text: str) -> object:
    """Parse YAML, where PyYAML is installed, as it is wherever Lightning or Hydra is. Raises ValueError."""
    try:
        import yaml
    except ImportError as error:
        raise ValueError("PyYAML is not installed here") from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).splitlines()[0]) from error
