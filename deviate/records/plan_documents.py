"""A plan as the JSON object of `experiment.json`, and back."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deviate.errors import RecordError
from deviate.model import PastComparison, SelectedMetric, Selection, Settings, Variant
from deviate.model.plan import SCORES_NUMBER, STREAMS_NUMBER, SweptValue
from deviate.records.manifest import metric_from
from deviate.records.plan import Change, Plan, Reported, VariantPlan
from deviate.registry import Plugin

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@-]{0,99}")
"""What an experiment may be called."""
NUMBERS = ("streams", "scores")
"""Fields that say by which rules an experiment is run and read."""


def to_document(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        "created": plan.created,
        "root": str(plan.root),
        "command": list(plan.command),
        "cwd": plan.cwd,
        "seed": plan.seed,
        "sources_hash": plan.sources_hash,
        "jobs": plan.jobs,
        "variants": [_variant_document(variant) for variant in plan.variants],
        "selection": [dataclasses.asdict(metric) for metric in plan.selection.metrics],
        "history": [dataclasses.asdict(change) for change in plan.history],
        "environment": dict(plan.environment),
        "prepare": [list(command) for command in plan.prepare],
        "then": [list(command) for command in plan.then],
        "wrap": list(plan.wrap),
        "n_threads": plan.n_threads,
        "settings": {**dataclasses.asdict(plan.settings), "options": dict(plan.settings.options)},
        "looks": list(plan.looks),
        "spending": plan.spending,
        "precision": plan.precision,
        "reported": [dataclasses.asdict(it) for it in plan.reported],
        "past_comparisons": [dataclasses.asdict(it) for it in plan.past_comparisons],
        "imported": list(plan.imported),
        "tasks": list(plan.tasks),
        "capture": dict(plan.capture),
        "sweep": None if plan.sweep is None else dataclasses.asdict(plan.sweep),
        **{name: number for name in NUMBERS if (number := getattr(plan, name)) != _usual_number(plan.imported)},
        **({"plugins": [dataclasses.asdict(plugin) for plugin in plan.plugins]} if plan.plugins else {}),
    }


def from_document(document: dict[str, Any]) -> Plan:
    """A plan from its JSON object, in any format that ever was.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it has another shape.
    """
    jobs = int(document["jobs"])
    imported = tuple(map(str, document.get("imported", [])))
    return Plan(
        name=_name_from(document),
        created=float(document["created"]),
        root=Path(document["root"]),
        command=tuple(map(str, document["command"])),
        cwd=str(document["cwd"]),
        seed=int(document["seed"]),
        sources_hash=str(document["sources_hash"]),
        variants=tuple(_variant_from(entry) for entry in document["variants"]),
        selection=Selection(tuple(_selected_from(entry) for entry in document["selection"])),
        jobs=jobs,
        history=tuple(Change(float(entry["time"]), dict(entry["fields"])) for entry in document["history"]),
        environment=_levels_from(document.get("environment", {})),
        prepare=_commands_from(document.get("prepare", [])),
        then=_commands_from(document.get("then", [])),
        wrap=tuple(map(str, document.get("wrap", []))),
        n_threads=document.get("n_threads"),
        settings=_settings_from(document["settings"]) if "settings" in document else Settings(jobs=jobs),
        looks=tuple(map(int, document.get("looks", []))),
        spending=document.get("spending", "obrien-fleming"),
        precision=str(document.get("precision", "")),
        reported=tuple(
            Reported(float(it["time"]), int(it["n_runs"]), bool(it["is_comparison"]))
            for it in document.get("reported", [])
        ),
        past_comparisons=tuple(map(_past_comparison_from, document.get("past_comparisons", []))),
        imported=imported,
        tasks=tuple(map(str, document.get("tasks", []))),
        capture=_levels_from(document.get("capture", {})),
        sweep=_swept_from(document.get("sweep")),
        streams=_number_from(document, "streams", imported, STREAMS_NUMBER),
        scores=_number_from(document, "scores", imported, SCORES_NUMBER),
        plugins=tuple(Plugin(**entry) for entry in document.get("plugins", [])),
    )


def _name_from(document: dict[str, Any]) -> str:
    """Raises ValueError for a name that is a path: reports are written to folders of these names."""
    name = str(document["name"])
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name an experiment")
    return name


def _usual_number(imported: Sequence[str]) -> int | None:
    """The number that is left out: the first one of experiments that deviate ran, none of others."""
    return None if imported else 1


def _number_from(document: dict[str, Any], name: str, imported: Sequence[str], highest: int) -> int | None:
    """Raises RecordError for a number of a newer deviate: what it means is not known here."""
    number = document.get(name, _usual_number(imported))
    if number is not None and int(number) > highest:
        raise RecordError(
            f"{document['name']} has {name} of number {number}; this deviate knows up to {highest}",
            "update deviate: a newer version began this experiment",
        )
    return None if number is None else int(number)


def _swept_from(entry: dict[str, Any] | None) -> SweptValue | None:
    return None if entry is None else SweptValue(str(entry["sweep"]), str(entry["argument"]), str(entry["value"]))


def _past_comparison_from(entry: dict[str, Any]) -> PastComparison:
    p = entry["p"]
    return PastComparison(
        candidate=str(entry["candidate"]),
        variant=str(entry["variant"]),
        created=float(entry["created"]),
        metric=str(entry["metric"]),
        p=None if p is None else float(p),
    )


def _commands_from(entries: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(str, words)) for words in entries)


def _settings_from(entry: dict[str, Any]) -> Settings:
    gpus = entry["gpus"]
    return Settings(**{
        **entry,
        "options": _levels_from(entry["options"]),
        "gpus": None if gpus is None else tuple(map(str, gpus)),
        "ignored_codes": tuple(map(int, entry["ignored_codes"])),
    })  # fmt: skip


def _variant_document(variant: VariantPlan) -> dict[str, Any]:
    document: dict[str, Any] = {"name": variant.name, "n_runs": variant.n_runs}
    if variant.definition is not None:
        document |= {
            "description": variant.definition.description,
            "varied": list(variant.definition.varied),
            "held": list(variant.definition.held),
            "controls": dict(variant.definition.controls),
            "perturbations": [dict(levels) for levels in variant.definition.perturbations],
            "are_trackers_offline": variant.definition.are_trackers_offline,
        }
    return document


def _variant_from(entry: dict[str, Any]) -> VariantPlan:
    name, n_runs = str(entry["name"]), int(entry["n_runs"])
    if "varied" not in entry:
        return VariantPlan(name, n_runs)
    definition = Variant(
        name=name,
        description=str(entry["description"]),
        varied=tuple(map(str, entry["varied"])),
        held=tuple(map(str, entry["held"])),
        controls=_levels_from(entry["controls"]),
        perturbations=tuple(_levels_from(levels) for levels in entry["perturbations"]),
        are_trackers_offline=bool(entry["are_trackers_offline"]),
    )
    return VariantPlan(name, n_runs, definition)


def _levels_from(levels: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(level)) for name, level in levels.items())


def _selected_from(entry: dict[str, Any]) -> SelectedMetric:
    return SelectedMetric(
        name=str(entry["name"]),
        metric=metric_from(entry["metric"]),
        role=entry["role"],
        direction=entry["direction"],
        aggregate=str(entry["aggregate"]),
        unit=str(entry["unit"]),
        is_primary=bool(entry["is_primary"]),
        margin=None if entry["margin"] is None else float(entry["margin"]),
        target=None if entry.get("target") is None else float(entry["target"]),
        n_examples=None if entry.get("n_examples") is None else int(entry["n_examples"]),
    )
