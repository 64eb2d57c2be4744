"""Which source belongs to which metric, and which process counts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from recorded import make_metric, select, write_manifest

from deviate.model import Metric, Place, Selection, Series
from deviate.records.catalog import Catalog
from deviate.records.columns import NO_STEP
from deviate.records.events import Points, ProcessLog, Source
from deviate.records.merge_processes import measure, process_warnings
from deviate.records.snapshot import read_manifest

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


def item_source(label: str, *path: Place) -> Source:
    return Source(0, None, path, label)


def test_items_of_a_reported_mapping_are_metrics_of_their_own(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("val_logs"), make_metric("accuracy", number=1, site=1)])
    assert [it.name(Source(0, None, (), label)) for label in (None, "accuracy", "val_loss", "hidden")] == [
        "val_logs",
        "val_accuracy",
        "val_loss",
        "val_hidden",
    ]
    assert [(metric.metric.id, metric.role, metric.direction) for metric in it.added] == [
        (2, "quality", "max"),
        (3, "quality", "min"),
        (4, "quality", "max"),
    ]


def test_items_called_counters_or_settings_are_metrics_in_old_records_alone(tmp_path: Path) -> None:
    labels = ("epoch", "train/epsilon", "lr", "step_time", "total", "epoch_loss")
    new = catalog(tmp_path, [make_metric("logs")])
    assert [it for label in labels if (it := new.name(item_source(label)))] == ["step_time", "total", "epoch_loss"]
    two = catalog(tmp_path, [make_metric("train_logs", path=(A,)), make_metric("test_logs", number=1, path=(B,))])
    assert [two.name(item_source(label, C)) for label in ("epoch", "step_time")] == [
        None,
        "train_step_time (train.py:30)",
    ]
    old = Catalog(new.manifest, new.selection, judges_items=False)
    assert all(old.name(item_source(label)) for label in labels)


def test_an_item_has_one_name_whatever_way_led_to_its_metric(tmp_path: Path) -> None:
    train, test = make_metric("train_metrics", path=(A,)), make_metric("test_metrics", number=1, path=(B,))
    it = catalog(tmp_path, [train, test])
    assert [it.name(item_source("f1", *path)) for path in ((A,), (C, A), (B,))] == ["train_f1", "train_f1", "test_f1"]
    assert it.name(item_source("f1", C)) == "train_f1 (train.py:30)"


def test_an_item_of_a_deselected_metric_stays_out(tmp_path: Path) -> None:
    train, test = make_metric("train_metrics", path=(A,)), make_metric("test_metrics", number=1, path=(B,))
    it = catalog(tmp_path, [train, test], select(test))
    assert [it.name(item_source("f1", path)) for path in (A, B)] == [None, "test_f1"]


def test_an_item_that_was_selected_by_itself_keeps_its_name(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("metrics"), make_metric("mine", number=1, label="f1")])
    assert [it.name(item_source(label)) for label in ("f1", "auc")] == ["mine", "auc"]


def test_an_item_that_the_source_names_is_one_of_its_mapping_where_that_alone_was_selected(tmp_path: Path) -> None:
    whole, item = make_metric("logs"), replace(make_metric("loss", number=1, label="loss"), is_item=True)
    it = catalog(tmp_path, [whole, item], label="key")
    assert [it.name(item_source(label)) for label in ("loss", "acc")] == ["loss", "acc"]
    listed = catalog(tmp_path, [whole, item], select(whole))
    assert [listed.name(item_source(label)) for label in ("loss", "acc")] == ["loss", "acc"]
    assert [metric.name for metric in it.added] == ["acc"]
    assert [metric.name for metric in listed.added] == ["loss", "acc"]


def test_a_name_that_is_taken_is_told_apart(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("metrics"), make_metric("auc", number=1, site=1)])
    assert [it.name(item_source(label)) for label in ("auc", "metrics/auc", "AUC")] == [
        "metrics_auc",
        "metrics_metrics_auc",
        "metrics_auc #2",
    ]


def test_keys_that_only_the_runs_know_are_metrics_of_their_own(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("v")], label="key")
    assert [it.name(item_source(label)) for label in ("loss", "acc", "loss")] == ["loss", "acc", "loss"]
    assert [metric.direction for metric in it.added] == ["min", "max"]


def test_items_under_a_label_variable_belong_to_its_metric(tmp_path: Path) -> None:
    a, b = make_metric("train_metrics", label="train"), make_metric("test_metrics", number=1, label="test")
    it = catalog(tmp_path, [a, b], label="split")
    labels = ("train", "train: f1", "test: f1", "dev: f1")
    assert [it.name(item_source(label)) for label in labels] == [
        "train_metrics",
        "train_f1",
        "test_f1",
        "train_f1[dev]",
    ]


def test_named_values_match_by_name_and_otherwise_appear(tmp_path: Path) -> None:
    managed = make_metric("validation accuracy", site=None, expression="val_accuracy")
    graph = make_metric("loss", number=1, site=None, expression="loss_op", label="model/loss")
    it = catalog(tmp_path, [managed, graph])
    assert it.name(Source(None, "val_accuracy", (A,), None)) == "validation accuracy"
    assert it.name(Source(None, "model/loss", (A,), None)) == "loss"
    assert it.name(Source(None, "precision", (A,), None)) == "precision"
    assert it.name(Source(None, "loss_op", (A,), None)) == "loss_op"


def test_the_words_of_a_named_value_tell_its_direction(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    names = [it.name(Source(None, name, (), None)) for name in ("dtest_rmsle", "dtrain_auc", "dtest_gini")]
    assert [(metric.name, metric.direction) for metric in it.added] == list(
        zip(names, ("min", "max", None), strict=True)
    )


def log(pid: int, span: tuple[float, float], values: dict[int | None, float], *, rank: int | None = None) -> ProcessLog:
    points = Points()
    for step, value in values.items():
        points.add(NO_STEP if step is None else step, value, 0.5 * len(points.values))
    return ProcessLog(pid, rank, *span, points={"acc": points})


def test_of_several_ranks_the_lowest_counts() -> None:
    logs = [log(7, (0, 9), {0: 7.0}, rank=1), log(8, (0, 9), {0: 8.0}, rank=0), log(9, (0, 9), {0: 9.0, 1: 9.0})]
    assert measure(logs)["acc"] == Series((0,), (8.0,))


def test_without_ranks_the_process_that_reported_most_counts_then_the_first() -> None:
    logs = [log(1, (0, 9), {None: 1.0}), log(3, (1.1, 9), {0: 3.0, 1: 3.0}), log(2, (1.0, 9), {0: 2.0, 1: 2.0})]
    assert measure(logs)["acc"].values == (2.0, 2.0)


@pytest.mark.parametrize(
    ("second", "attempts", "warning"),
    [
        (log(6, (0, 9), {0: 0.6}), [1, 1], "acc was reported by 2 processes at the same time"),
        (log(6, (3, 9), {0: 0.6}), [1, 1], "acc was reported by 2 processes one after the other"),
        (log(6, (0, 9), {0: 0.5}), [1, 1], None),
        (log(6, (3, 9), {0: 0.6}), [1, 2], None),
        (log(6, (0, 9), {0: 0.6}, rank=1), [1, 1], None),
    ],
)
def test_processes_that_report_one_metric_are_warned_of_where_no_rank_tells_which_counts(
    second: ProcessLog, attempts: list[int], warning: str | None
) -> None:
    logs = [log(5, (0, 3), {0: 0.5}, rank=None if second.rank is None else 0), second]
    told = process_warnings(logs, select(make_metric("acc")).metrics, attempts)
    assert [text.partition(":")[0].partition(",")[0] for text in told] == ([warning] if warning else [])


def test_processes_that_follow_one_another_are_joined_and_their_steps_rise() -> None:
    logs = [log(2, (10, 19), {0: 3.0, 1: 4.0}), log(1, (0, 9), {0: 1.0, 1: 2.0}), log(3, (20, 21), {None: 5.0})]
    assert measure(logs)["acc"] == Series((0, 1, 2, 3, None), (1.0, 2.0, 3.0, 4.0, 5.0))


def test_times_count_from_the_start_of_the_first_process() -> None:
    logs = [log(2, (110, 119), {0: 3.0, 1: 4.0}), log(1, (100, 109), {0: 1.0, 1: 2.0}), log(3, (100.25, 101), {})]
    assert measure(logs)["acc"].times == (0.0, 0.5, 10.0, 10.5)


def test_a_run_that_reports_from_its_second_process_alone_has_the_times_of_the_run() -> None:
    quiet = ProcessLog(1, None, 100.0, 103.0)
    assert measure([quiet, log(2, (104, 109), {0: 3.0, 1: 4.0})])["acc"].times == (4.0, 4.5)


def test_the_time_between_a_lost_attempt_and_the_one_that_goes_on_is_no_time_of_the_run() -> None:
    logs = [log(1, (100, 109), {0: 1.0, 1: 2.0}), log(2, (5000, 5009), {0: 3.0, 1: 4.0})]
    assert measure(logs, attempts=[1, 2])["acc"].times == (0.0, 0.5, 9.0, 9.5)


def test_a_process_whose_start_is_not_on_record_begins_with_the_run() -> None:
    logs = [log(1, (0.0, 0.5), {0: 1.0}), log(2, (100, 109), {0: 3.0, 1: 4.0})]
    assert measure(logs)["acc"].times == (0.0, 0.0, 0.5)


def test_what_stood_in_lines_that_could_not_be_read_is_no_series() -> None:
    assert measure([ProcessLog(1, None, 100, 109, points={"acc": Points()})]) == {}
