"""Folders of TensorBoard runs with their settings: from `add_hparams`, or from a file of settings beside the events."""

import json
import re
from pathlib import Path

from deviate.errors import InputError
from deviate.records.importers.tensorboard import runs_below
from deviate.records.importers.tracked import note_on
from deviate.records.importers.wandb import flatten, settings
from deviate.records.trackers.project import Project, read_nothing, split_aggregates

FILES = (
    *("hparams.yaml", "config.yaml", "config.yml", "args.yaml", ".hydra/config.yaml"),
    *("config.json", "args.json", "params.json", "hparams.json"),
)
"""Files in which Lightning, Hydra, Ray and many scripts keep the settings of a run."""
AGGREGATE = "*tfevents*.deviate"
"""Event files that `deviate report --to tensorboard` writes."""
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
    logs = {home: log for home, log in runs_below(root).items() if log.trails}
    for home, log in logs.items():
        log.params = {**_settings(home, unread), **log.params}
        if not log.params:
            if seed := SEED_IN_NAME.search(log.label):
                log.params["seed"] = seed[1]
            log.labels["folder"] = INDEX_IN_NAME.sub("<run>", SEED_IN_NAME.sub("<seed>", log.label))
    aggregates = {log.id for home, log in logs.items() if any(home.glob(AGGREGATE))}
    runs, notes = split_aggregates(list(logs.values()), lambda run: run.id in aggregates)
    notes += tuple(note_on(unread, "settings that cannot be read"))
    return Project(
        f"tensorboard:{place}", root.resolve().name, "tensorboard", "hparam.", runs, read_nothing, notes=notes
    )


def _settings(home: Path, unread: list[str]) -> dict[str, str]:
    """The settings in the first file of settings."""
    path = next((home / name for name in FILES if (home / name).is_file()), None)
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else _yaml(text)
    except (OSError, ValueError) as error:
        unread.append(f"{path} ({error})")
        return {}
    items = values.items() if isinstance(values, dict) else ()
    return dict(settings(item for name, value in items for item in flatten(str(name), value)))


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
