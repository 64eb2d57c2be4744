"""Sets of runs with the columns of the artifact of Pham et al. (ASE 2020), one row per criterion of convergence.

Column names and what they mean: README of github.com/lin-tan/dl-variance, files `analysis_result.csv` and
`analysis_raw.csv`. What the README leaves open is stated here: SDs have ddof 1; accuracies, of classes too, are in the
unit in which the metric was reported; times are seconds since the start of the run, epochs steps of the main loop;
classes are those of the last evaluation that was captured. A cell is empty where nothing is on record. Columns behind
those of the artifact are ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deviate.model.estimates import Estimate, Unavailable
from deviate.model.findings import ExperimentFindings, Findings
from deviate.model.records import Experiment
from deviate.model.stability import SetStability
from deviate.report.data.tables import csv_text, plain_text
from deviate.stats.estimates.one_sample import mean_of, range_of, relative_range, sd_of
from deviate.stats.estimates.sampling import is_accuracy, whole_of

SET = ("backend", "backend_version", "cuda_version", "cudnn_version", "network", "random_seed", "stopping_type")


def _spread_columns(name: str, unit: str = "") -> tuple[str, ...]:
    """Range, maximum, minimum, SD and mean."""
    heads = (f"max_{name}_diff", f"max_{name}", f"min_{name}", f"std_dev_{name}", f"mean_{name}")
    return tuple(f"{head}{unit}" for head in heads)


RESULT = (
    *(*SET, "no_try", *_spread_columns("accuracy")),
    *("max_diff_label", "max_per_label_acc_diff", "max_label_accuracy", "min_label_accuracy", "no_samples_max_diff"),
    *("max_std_label", "max_per_label_acc_std", "no_samples_max_std"),
    *(*_spread_columns("convergent"), *_spread_columns("convergent", "_epoch")),
)
OURS = ("relative_convergent_diff_percent", "relative_convergent_diff_epoch_percent", "ddof", "label_set")
RAW = (*SET, "try", "accuracy", "convergent", "convergent_epoch")
LAST = "last step"
BACKENDS = ("tensorflow", "torch", "jax", "keras", "scikit-learn")
CUDA = ("CUDA of torch", "cuda_version of TensorFlow")
CUDNN = ("cuDNN", "cudnn_version of TensorFlow")
ALGORITHMIC = frozenset({"init", "shuffle", "augment", "dropout", "other"})

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class _Set:
    """Runs of one experiment by one criterion: accuracy, seconds and steps of each, None if not recorded."""

    index: int
    findings: ExperimentFindings
    criterion: str
    replicates: tuple[int, ...]
    accuracies: tuple[float | None, ...]
    seconds: tuple[float | None, ...]
    steps: tuple[int | None, ...]


def dl_variance_files(findings: Findings) -> Iterator[tuple[str, bytes]]:
    """The two files of the artifact by name."""
    sets = [run_set for index, one in enumerate(findings.experiments) for run_set in _sets(one, index, findings)]
    yield "analysis_result.csv", _text((*RESULT, *OURS), (_result_row(run_set, findings) for run_set in sets))
    rows = (
        (*_names(run_set), *row)
        for run_set in sets
        for row in zip(run_set.replicates, run_set.accuracies, run_set.seconds, run_set.steps, strict=True)
    )
    yield "analysis_raw.csv", _text(RAW, rows)


def _sets(findings: ExperimentFindings, index: int, everything: Findings) -> Iterator[_Set]:
    """A set per criterion; without values in the main loop, one set of the final scores."""
    by_name = {description.metric.name: description for description in findings.descriptions}
    converged = next((one for one in everything.stability.convergence if one.experiment == index), None)
    if converged is not None:
        described = by_name.get(converged.metric)
        nothing: tuple[None, ...] = (None,) * len(converged.replicates)
        for row in converged.rows:
            scores = row.scores if described is not None and is_accuracy(described.metric) else nothing
            yield _Set(index, findings, row.criterion, converged.replicates, scores, row.seconds, row.steps)
        return
    accuracy = next((description for description in findings.descriptions if is_accuracy(description.metric)), None)
    if accuracy is not None:
        nothing = (None,) * len(accuracy.scores)
        replicates = tuple(score.replicate for score in accuracy.scores)
        scores = tuple(score.value for score in accuracy.scores)
        yield _Set(index, findings, accuracy.metric.aggregate, replicates, scores, nothing, nothing)


def _result_row(run_set: _Set, everything: Findings) -> tuple[Value, ...]:
    accuracies, seconds, steps = map(_drop_missing, (run_set.accuracies, run_set.seconds, run_set.steps))
    captured = _find_captured(run_set, everything)
    return (
        *_names(run_set),
        len(run_set.replicates),
        *_describe_spread(accuracies),
        *_classes(run_set, captured, accuracies),
        *_describe_spread(seconds),
        *_describe_spread(steps),
        _number(relative_range(seconds), 100),
        _number(relative_range(steps), 100),
        1,
        plain_text(captured.name) if captured else "",
    )


def _names(run_set: _Set) -> tuple[Value, ...]:
    experiment = run_set.findings.experiment
    facts = experiment.runs[0].environment if experiment.runs else {}
    backend = next((name for name in BACKENDS if name in facts), "")
    versions = (next((facts[name] for name in names if name in facts), "") for names in (CUDA, CUDNN))
    network = f"{experiment.name}:{experiment.variant}" if experiment.variant else experiment.name
    names = plain_text(network), _seed_kind(experiment), plain_text(run_set.criterion)
    return (backend, facts.get(backend, ""), *versions, *names)


def _seed_kind(experiment: Experiment) -> Value:
    """1 for fixed seeds, -1 if an algorithmic factor varies, empty if the script's seeds are not changed."""
    if ALGORITHMIC & set(experiment.varied):
        return -1
    return 1 if {"init", "shuffle"} <= set(experiment.held) else None


def _describe_spread(values: Sequence[float]) -> tuple[Value, ...]:
    ends = (max(values), min(values)) if values else (None, None)
    return _number(range_of(values)), *ends, _number(sd_of(values)), _number(mean_of(values))


def _classes(run_set: _Set, captured: SetStability | None, accuracies: Sequence[float]) -> tuple[Value, ...]:
    """Columns of the classes with the largest range and the largest SD.

    Label, range, maximum, minimum and size of the first; label, SD and size of the second. Classes are those of the
    final models.
    """
    ranged = [row for row in captured.classes if not isinstance(row.range, Unavailable)] if captured else []
    if not ranged:
        return (None,) * 8
    metric = next((one.metric for one in run_set.findings.descriptions if is_accuracy(one.metric)), None)
    unit = (whole_of(metric, accuracies) if metric and accuracies else None) or 1.0
    by_range = max(ranged, key=lambda row: (_size(row.range), -row.label))
    by_sd = max(ranged, key=lambda row: (_size(row.sd), -row.label))
    ends = unit * max(by_range.accuracies), unit * min(by_range.accuracies)
    return (
        *(by_range.label, unit * _size(by_range.range), *ends, by_range.n_examples),
        *(by_sd.label, unit * _size(by_sd.sd), by_sd.n_examples),
    )


def _find_captured(run_set: _Set, everything: Findings) -> SetStability | None:
    """The first set of the experiment with classes, where the models at the end are meant."""
    sets = [one for one in everything.stability.sets if one.experiment == run_set.index and one.classes]
    return sets[0] if sets and run_set.criterion in {LAST, "last"} else None


def _drop_missing(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _size(value: Estimate) -> float:
    return 0.0 if isinstance(value, Unavailable) else value


def _number(value: Estimate, factor: int = 1) -> float | None:
    return None if isinstance(value, Unavailable) else factor * value


def _text(columns: Sequence[str], rows: Iterator[tuple[Value, ...]]) -> bytes:
    return "".join(csv_text((columns, *rows))).encode()
