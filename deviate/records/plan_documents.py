"""A plan as its file, `experiment.json`, and back."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from deviate.errors import RecordError
from deviate.model import Selection, Settings, Variant
from deviate.model.plan import SCORES_NUMBER, STREAMS_NUMBER
from deviate.records.plan import Plan, VariantPlan
from deviate.records.schema import ExperimentFile, SettingsEntry, VariantEntry

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@-]{0,99}")
"""What an experiment may be called."""
NUMBERS = {"streams": STREAMS_NUMBER, "scores": SCORES_NUMBER}
"""Fields that say by which rules an experiment is run and read, with the highest number that is known here."""


def to_file(plan: Plan) -> ExperimentFile:
    fields = _fields(plan)
    usual = _usual_number(plan.imported)
    return ExperimentFile(**{
        **fields,
        "root": str(plan.root),
        "variants": tuple(map(_variant_entry, plan.variants)),
        "selection": plan.selection.metrics,
        "environment": dict(plan.environment),
        "settings": SettingsEntry(**{**_fields(plan.settings), "options": dict(plan.settings.options)}),
        "capture": dict(plan.capture),
        "plugins": plan.plugins or UNSET,
        **{name: UNSET for name in NUMBERS if fields[name] == usual},
    })  # fmt: skip


def from_file(file: ExperimentFile) -> Plan:
    """A plan from its file, in any format that ever was.

    Raises:
        RecordError: a newer deviate began it.
        ValueError: no experiment can have its name, which is a path (reports are written to folders of these names);
            or a variant lacks a part of its definition.
    """
    if not NAME.fullmatch(file.name):
        raise ValueError(f"{file.name!r} cannot name an experiment")
    return Plan(**{
        **asdict(file),
        "root": Path(file.root),
        "variants": tuple(map(_variant, file.variants)),
        "selection": Selection(file.selection),
        "environment": tuple(file.environment.items()),
        "settings": Settings(jobs=file.jobs) if file.settings is None else _settings(file.settings),
        "capture": tuple(file.capture.items()),
        "plugins": () if isinstance(file.plugins, UnsetType) else file.plugins,
        **{name: _number(file, name) for name in NUMBERS},
    })  # fmt: skip


def _fields(value: Plan | Settings | Variant) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _usual_number(imported: Sequence[str]) -> int | None:
    """The number that is left out: the first one of experiments that deviate ran, none of others."""
    return None if imported else 1


def _number(file: ExperimentFile, name: str) -> int | None:
    """Raises RecordError for a number of a newer deviate: what it means is not known here."""
    number: int | UnsetType | None = getattr(file, name)
    if isinstance(number, UnsetType):
        return _usual_number(file.imported)
    if number is not None and number > NUMBERS[name]:
        raise RecordError(
            f"{file.name} has {name} of number {number}; this deviate knows up to {NUMBERS[name]}",
            "update deviate: a newer version began this experiment",
        )
    return number


def _settings(entry: SettingsEntry) -> Settings:
    return Settings(**{**asdict(entry), "options": tuple(entry.options.items())})


def _variant_entry(variant: VariantPlan) -> VariantEntry:
    if variant.definition is None:
        return VariantEntry(variant.name, variant.n_runs)
    fields = _fields(variant.definition) | {
        "controls": dict(variant.definition.controls),
        "perturbations": tuple(map(dict, variant.definition.perturbations)),
    }
    return VariantEntry(n_runs=variant.n_runs, **fields)


def _variant(entry: VariantEntry) -> VariantPlan:
    """Raises ValueError where a part of the definition is missing."""
    if isinstance(entry.varied, UnsetType):
        return VariantPlan(entry.name, entry.n_runs)
    fields = asdict(entry)
    del fields["n_runs"]
    missing = [name for name, value in fields.items() if value is UNSET]
    if missing:
        raise ValueError(f"{missing[0]!r} is missing")
    fields["controls"] = tuple(fields["controls"].items())
    fields["perturbations"] = tuple(tuple(levels.items()) for levels in fields["perturbations"])
    return VariantPlan(entry.name, entry.n_runs, Variant(**fields))
