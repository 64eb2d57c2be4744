"""Sweeps on record: the experiments that were started together, one per value of an argument."""

from pathlib import Path

from deviate.errors import InputError
from deviate.model.plan import SweptValue
from deviate.model.records import Experiment
from deviate.model.sweep import number_of
from deviate.records.experiments import read_variants
from deviate.records.plans import list_experiments, on_record


def has_sweep(folder: Path, name: str) -> bool:
    """Whether experiments of a sweep with this name are on record."""
    return any(plan.sweep is not None and plan.sweep.sweep == name for plan in list_experiments(folder))


def read_sweep(folder: Path, name: str) -> tuple[tuple[SweptValue, tuple[Experiment, ...]], ...]:
    """All experiments of a sweep with their variants: numbers ascending, words in the order of their start.

    Raises:
        InputError: there is no such sweep, or the experiments sweep different arguments.
        RecordError: an experiment that may be of it is damaged.
    """
    plans_on_record, damaged = on_record(folder)
    for experiment, error in damaged.items():
        if experiment.startswith(name):
            raise error
    plans = [plan for plan in plans_on_record if plan.sweep is not None and plan.sweep.sweep == name]
    if not plans:
        names = sorted({plan.sweep.sweep for plan in plans_on_record if plan.sweep is not None})
        advice = f"recorded sweeps: {', '.join(names)}" if names else "run one: deviate run TRAIN.py --sweep …"
        raise InputError(f"no sweep named {name!r} under {folder}", advice)
    arguments = sorted({plan.sweep.argument for plan in plans if plan.sweep is not None})
    if len(arguments) > 1:
        raise InputError(
            f"the sweep {name} has several arguments: {', '.join(arguments)}",
            "use a separate --name for the sweep of each argument",
        )
    points = [(plan.sweep, read_variants(folder, plan.name)) for plan in plans if plan.sweep is not None]
    places = [number_of(point.value) for point, _ in points]
    if None not in places:
        points.sort(key=lambda point: float(point[0].value))
    return tuple(points)
