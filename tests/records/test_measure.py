"""Which source belongs to which metric, and which process counts."""

from collections.abc import Sequence
from pathlib import Path

from recorded import make_metric, select, write_manifest

from deviate.model import Metric, Place, Selection, Series
from deviate.records.events import Points, ProcessLog, Source
from deviate.records.manifest import read_manifest
from deviate.records.measure import Catalog, measure

A, B, C = (Place("train.py", line) for line in (10, 20, 30))


def catalog(
    tmp_path: Path, known: Sequence[Metric], selection: Selection | None = None, *, label: str | None = None
) -> Catalog:
    write_manifest(tmp_path, known, label=label)
    return Catalog(read_manifest(tmp_path), select(*known) if selection is None else selection)


def test_a_site_with_one_metric_takes_the_values_of_every_path(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("acc")])
    assert [it.name(Source(0, None, path, None)) for path in ((), (A,), (A, B))] == ["acc"] * 3
    assert it.added == []


def test_the_call_path_tells_the_metrics_of_a_site_apart(tmp_path: Path) -> None:
    train, test = make_metric("train", path=(A,)), make_metric("test", number=1, path=(B,))
    it = catalog(tmp_path, [train, test])
    assert it.name(Source(0, None, (A,), None)) == "train"
    assert it.name(Source(0, None, (C, B), None)) == "test"


def test_the_longest_path_that_fits_wins(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("any", path=(B,)), make_metric("one", number=1, path=(A, B))])
    assert it.name(Source(0, None, (A, B), None)) == "one"
    assert it.name(Source(0, None, (C, B), None)) == "any"


def test_labels_tell_metrics_of_one_path_apart(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("a", label="train"), make_metric("b", number=1, label="test")], label="split")
    assert it.name(Source(0, None, (A,), "test")) == "b"
    assert it.name(Source(0, None, (A,), "validation")) == "a[validation]"


def test_a_path_that_no_metric_knows_becomes_a_metric_of_its_own(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("train", path=(A,)), make_metric("test", number=1, path=(B,))])
    assert it.name(Source(0, None, (C,), None)) == "train (train.py:30)"
    assert it.name(Source(0, None, (A, C), None)) == "train (train.py:30) #2"
    assert [(metric.metric.id, metric.role, metric.direction) for metric in it.added] == [
        (2, "quality", "max"),
        (3, "quality", "max"),
    ]


def test_what_the_user_deselected_or_the_analysis_rejected_stays_out(tmp_path: Path) -> None:
    train, test = make_metric("train", path=(A,)), make_metric("test", number=1, path=(B,))
    it = catalog(tmp_path, [train, test, make_metric("loss", number=2, site=1)], select(test))
    sources = (Source(0, None, (A,), None), Source(1, None, (), None), Source(2, None, (), None))
    assert [it.name(source) for source in sources] == [None, None, None]
    assert it.added == []


def test_a_rejected_site_can_be_selected_later(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("acc")], select(make_metric("lr", number=5, site=2, expression="lr")))
    assert it.name(Source(2, None, (A,), None)) == "lr"


def test_items_of_a_reported_mapping_are_metrics_of_their_own(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("logs")])
    assert [it.name(Source(0, None, (), label)) for label in (None, "loss")] == ["logs", "logs[loss]"]


def test_named_values_match_by_name_and_otherwise_appear(tmp_path: Path) -> None:
    managed = make_metric("validation accuracy", site=None, expression="val_accuracy")
    it = catalog(tmp_path, [managed])
    assert it.name(Source(None, "val_accuracy", (A,), None)) == "validation accuracy"
    assert it.name(Source(None, "precision", (A,), None)) == "precision"


def log(pid: int, span: tuple[float, float], values: dict[int | None, float], *, rank: int | None = None) -> ProcessLog:
    points = Points(list(values), list(values.values()))
    return ProcessLog(pid, rank, *span, points={"acc": points})


def test_of_several_ranks_the_lowest_counts() -> None:
    logs = [log(7, (0, 9), {0: 7.0}, rank=1), log(8, (0, 9), {0: 8.0}, rank=0), log(9, (0, 9), {0: 9.0, 1: 9.0})]
    assert measure(logs)["acc"] == Series((0,), (8.0,))


def test_without_ranks_the_process_that_reported_most_counts_then_the_first() -> None:
    logs = [log(1, (0, 9), {None: 1.0}), log(3, (1.1, 9), {0: 3.0, 1: 3.0}), log(2, (1.0, 9), {0: 2.0, 1: 2.0})]
    assert measure(logs)["acc"].values == (2.0, 2.0)


def test_processes_that_follow_one_another_are_joined_and_their_steps_rise() -> None:
    logs = [log(2, (10, 19), {0: 3.0, 1: 4.0}), log(1, (0, 9), {0: 1.0, 1: 2.0}), log(3, (20, 21), {None: 5.0})]
    assert measure(logs)["acc"] == Series((0, 1, 2, 3, None), (1.0, 2.0, 3.0, 4.0, 5.0))
