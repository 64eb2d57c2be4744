"""What a notebook holds, as experiments: numbers, mappings, pandas objects, experiments, names and paths."""

import itertools
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard

from deviate.errors import InputError
from deviate.model.analysis import Metric
from deviate.model.metric_vocabulary import item_traits
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Run, Series
from deviate.records.experiments import read_any

SCORE = "score"
SEED = "seed"
LABELS = frozenset({"run", "run_id", "replicate", SEED})
"""Columns that identify runs and are not metrics."""
KINDS = "scores, a mapping of metrics to scores, a DataFrame, an Experiment, a name or a path"
ONE_EACH = "pass one number per run"

Scores = dict[str, list[float | None]]


def is_name(source: object) -> TypeGuard[str | PathLike[str]]:
    """Whether something names what is to be read: an experiment on record, a file, a folder, a pattern."""
    return isinstance(source, str | PathLike)


def experiments_of(sources: Sequence[object], names: Sequence[str] | None, folder: Path) -> tuple[Experiment, ...]:
    """One experiment for each thing given, and for each that a file holds.

    Args:
        names: what to call them; None for what they are called already, or for their place.
        folder: the `.deviate/` folder in which names are looked up.

    Raises:
        InputError: something is of no kind that is known, or there are other names than experiments.
    """
    sources = [one for source in sources for one in (source if _are_experiments(source) else (source,))]
    paths = [fspath(source) for source in sources if is_name(source)]
    if len(paths) == len(sources):
        experiments = list(read_any(folder, paths))
    else:
        called = zip(sources, _names_of(sources), strict=True)
        experiments = [one for source, names_of_it in called for one in _experiments(source, *names_of_it, folder)]
    if names is None:
        return tuple(_with_distinct_names(experiments))
    if isinstance(names, str) or len(names) != len(experiments) or len(set(names)) < len(names):
        raise InputError(
            f"{len(experiments)} experiments cannot be called {names!r}", "pass one distinct name for each"
        )
    return tuple(replace(experiment, name=str(name)) for experiment, name in zip(experiments, names, strict=True))


def _are_experiments(source: object) -> TypeGuard[Sequence[Experiment]]:
    """Whether it is what `read` gives: experiments one after another."""
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(entry, Experiment) for entry in source)


def _names_of(sources: Sequence[object]) -> list[tuple[str, str]]:
    """Name of the experiment, and of the metric where there is a single one, for each thing given.

    Columns taken from one table for baseline and candidate are named after what they hold; columns of the same name
    from two tables are the same metric.
    """
    places = ["scores"] if len(sources) == 1 else ["baseline", "candidate"]
    if len(sources) > 2:
        places = ["baseline", *(f"candidate {index}" for index in range(1, len(sources)))]
    titles = [_title(source) for source in sources]
    if None not in titles and len(set(titles)) == 1:
        return [(place, titles[0] or SCORE) for place in places]
    return [(title or place, SCORE) for place, title in zip(places, titles, strict=True)]


def _title(source: object) -> str | None:
    """The name of a Series."""
    return None if not _is_pandas(source, "Series") or source.name is None else _label(source.name)


def _with_distinct_names(experiments: Sequence[Experiment]) -> Iterable[Experiment]:
    """Equal names with their variants are told apart in the report; equal ones of both get a number here."""
    seen: dict[tuple[str, str], int] = {}
    for experiment in experiments:
        key = (experiment.name, experiment.variant)
        seen[key] = seen.get(key, 0) + 1
        yield experiment if seen[key] == 1 else replace(experiment, name=f"{experiment.name} {seen[key]}")


def _experiments(source: object, name: str, metric: str, folder: Path) -> tuple[Experiment, ...]:
    if is_name(source):
        return read_any(folder, [fspath(source)])
    if isinstance(source, Experiment):
        return (source,)
    notes: list[str] = []
    seeds: dict[str, list[int]] = {}
    if _is_pandas(source, "DataFrame"):
        columns = ((_label(key), source.iloc[:, position]) for position, key in enumerate(source.columns))
        scores = _columns(itertools.chain(_index(source), columns), seeds, notes)
    elif isinstance(source, Mapping):
        scores = _columns(((_label(key), values) for key, values in source.items()), seeds, notes)
    elif _is_pandas(source, "Series"):
        scores = _columns([*_index(source), (metric, source)], seeds, notes)
    else:
        scores = {metric: _numbers(source, name)}
    if not scores:
        raise InputError(f"{name} holds no metric", f"pass {KINDS}")
    return (experiment_of_scores(name, scores, seeds=seeds, notes=notes),)


def _is_pandas(source: object, kind: str) -> TypeGuard[Any]:
    """Whether it is of pandas, which is not imported for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, getattr(pandas, kind))


def _columns(columns: Iterable[tuple[str, Any]], seeds: dict[str, list[int]], notes: list[str]) -> Scores:
    """The metrics; what tells runs apart is noted, and kept where it pairs runs whatever order they stand in."""
    scores: Scores = {}
    for name, values in columns:
        if name.lower() in LABELS:
            notes.append(f"the column {name} identifies runs and is not a metric")
            seeds |= {SEED: seed_values} if name.lower() == SEED and (seed_values := _seeds(values)) else {}
            continue
        if name in scores:
            raise InputError(f"two columns are called {name}", "rename one of them")
        scores[name] = _numbers(values, f"column {name}")
    return scores


def _index(data: Any) -> list[tuple[str, Any]]:
    """The index of a pandas object, where it is called `seed`."""
    name = data.index.name
    return [(name, data.index)] if isinstance(name, str) and name.lower() == SEED else []


def _seeds(values: Any) -> list[int]:
    """One whole number per run and none of them twice; empty for anything else."""
    try:
        numbers = [int(value) for value in values]
        is_whole = all(seed == value for seed, value in zip(numbers, values, strict=True))
    except (TypeError, ValueError, OverflowError):
        return []
    return numbers if is_whole and len(set(numbers)) == len(numbers) else []


def _label(key: object) -> str:
    """The name of a column; that of several levels is joined."""
    return " / ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _numbers(values: object, name: str) -> list[float | None]:
    if is_name(values) or isinstance(values, bytes | Mapping | set | frozenset) or not isinstance(values, Iterable):
        raise InputError(f"{name} holds {type(values).__name__}, not scores", f"{ONE_EACH}; accepted are {KINDS}")
    if getattr(values, "ndim", 1) != 1:
        raise InputError(
            f"{name} has {getattr(values, 'ndim', 0)} dimensions", f"{ONE_EACH}, separately for each metric"
        )
    return [_number(value, name) for value in values]


def _number(value: Any, name: str) -> float | None:
    """A score; None for what pandas and numpy hold where there is no value."""
    pandas = sys.modules.get("pandas")
    if value is None or (pandas is not None and (value is pandas.NA or value is pandas.NaT)):
        return None
    if type(value).__name__ == "MaskedConstant":  # of numpy: what is left out of a masked array
        return None
    kind = f"{type(value).__name__} {getattr(value, 'dtype', '')}"
    is_number = hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0
    if not is_number or isinstance(value, str) or "bool" in kind or "complex" in kind:
        hint = f"{ONE_EACH}, and remove columns that are not metrics"
        raise InputError(f"{name} holds {str(value)[:40]!r} of type {type(value).__name__}, not a score", hint)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} holds a value that is not a number: {error}", ONE_EACH) from error


# Scores that somebody holds in memory become an experiment that can be judged like any other.

VARIANT = "as given"


def experiment_of_scores(
    name: str,
    scores: Mapping[str, Sequence[float | None]],
    *,
    seeds: Mapping[str, Sequence[int]] = MappingProxyType({}),
    notes: Sequence[str] = (),
) -> Experiment:
    """An experiment whose replicates are the positions in the sequences.

    Role and direction of a metric are told by the words of its name.

    Args:
        scores: metric to one score per run; None where a run gave none. Other metrics of that run stand.
        seeds: name to one seed per run, by which runs of two experiments are pairs.
        notes: sentences on how the scores were read.
    """
    n_runs = max((len(values) for values in scores.values()), default=0)
    return Experiment(
        name=name,
        variant=VARIANT,
        command=(),
        n_planned=n_runs,
        metrics=tuple(_metric(index, metric) for index, metric in enumerate(scores)),
        runs=tuple(_run(replicate, scores, seeds) for replicate in range(n_runs)),
        imported=tuple(notes),
    )


def _metric(index: int, name: str) -> SelectedMetric:
    role, direction = item_traits(name)
    source = Metric(index, name, name, "", 0, "scores", role, direction, ("guessed from its name",), None)
    return SelectedMetric(name, source, role, direction)


def _run(replicate: int, scores: Mapping[str, Sequence[float | None]], seeds: Mapping[str, Sequence[int]]) -> Run:
    reported = {name: values[replicate] for name, values in scores.items() if replicate < len(values)}
    return Run(
        id=str(replicate),
        replicate=replicate,
        variant=VARIANT,
        status="completed",
        exit_code=None,
        started=0.0,
        wall_time_s=0.0,
        folder=Path(),
        series={name: Series((None,), (value,)) for name, value in reported.items() if value is not None},
        seeds={name: values[replicate] for name, values in seeds.items() if replicate < len(values)},
    )
