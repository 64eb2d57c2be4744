"""What metric a source belongs to, and what it is called; which process counts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from recorded import make_metric, select, write_manifest

from deviate.model.analysis import Metric, Place
from deviate.model.plan import Selection
from deviate.model.records import Series
from deviate.records.catalog import Catalog
from deviate.records.columns import NO_STEP
from deviate.records.events import Points, ProcessLog, ValueSource
from deviate.records.merge_processes import measure, process_warnings
from deviate.records.snapshot import read_manifest
from deviate.series.captions import captions_of
from deviate.series.lines import read_lines
from deviate.series.naming import LoggedOutput, Stream, StreamKey

A, B, C = (Place("train.py", line) for line in (10, 20, 30))


def catalog(
    tmp_path: Path, known: Sequence[Metric], selection: Selection | None = None, *, is_fixed: bool = False
) -> Catalog:
    write_manifest(tmp_path, known)
    chosen = select(*known) if selection is None else selection
    return Catalog(read_manifest(tmp_path), replace(chosen, is_fixed=is_fixed))


def output(log: str, *, phased: Sequence[str] = ()) -> tuple[LoggedOutput, dict[str, ValueSource]]:
    """What a run wrote, and a source for each of its series by its words."""
    streams: dict[StreamKey, Stream] = {}
    sources: dict[str, ValueSource] = {}
    lines = list(read_lines(log))
    for line, captions in zip(lines, captions_of(lines), strict=True):
        for number, caption in zip(line.numbers, captions, strict=True):
            stream = streams.setdefault(StreamKey(caption.key), Stream(StreamKey(caption.key), caption))
            stream.values.append(number.value)
            stream.is_whole = stream.is_whole and number.is_whole
            sources.setdefault(caption.text, ValueSource(0, None, (), None, caption))
    return LoggedOutput({}, tuple(streams.values())), sources


# What `deviate.toml` lists.


def test_a_listed_site_with_one_metric_takes_the_values_of_every_path(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("acc")], is_fixed=True)
    assert [it.name(ValueSource(0, None, path, None)) for path in ((), (A,), (A, B))] == ["acc"] * 3
    assert it.added == []


def test_the_call_path_tells_the_listed_metrics_of_a_site_apart(tmp_path: Path) -> None:
    train, test = make_metric("train", path=(A,)), make_metric("test", number=1, path=(B,))
    it = catalog(tmp_path, [train, test], is_fixed=True)
    assert it.name(ValueSource(0, None, (A,), None)) == "train"
    assert it.name(ValueSource(0, None, (C, B), None)) == "test"
    assert it.name(ValueSource(0, None, (C,), None)) is None


def test_the_longest_path_that_fits_wins(tmp_path: Path) -> None:
    known = [make_metric("any", path=(B,)), make_metric("one", number=1, path=(A, B))]
    it = catalog(tmp_path, known, is_fixed=True)
    assert it.name(ValueSource(0, None, (A, B), None)) == "one"
    assert it.name(ValueSource(0, None, (C, B), None)) == "any"


def test_labels_tell_listed_metrics_of_one_path_apart(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("a", label="train"), make_metric("b", number=1, label="test")], is_fixed=True)
    assert [it.name(ValueSource(0, None, (A,), label)) for label in ("train", "test", "dev")] == ["a", "b", None]


def test_what_the_user_does_not_list_stays_out_whatever_its_words(tmp_path: Path) -> None:
    loss = make_metric("loss", number=2, site=1)
    it = catalog(tmp_path, [make_metric("acc"), loss], select(loss), is_fixed=True)
    _, sources = output("test acc: 0.5")
    assert it.name(sources["test acc"]) is None
    assert [it.name(ValueSource(site, None, (), None)) for site in (1, 2)] == ["loss", None]
    assert (it.name(ValueSource(None, "val_acc", (), None)), it.added) == (None, [])


def test_what_is_listed_keeps_its_name_and_not_the_words_of_the_run(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("mine")], is_fixed=True)
    written, sources = output("test acc: 0.5")
    it.learn(written)
    assert it.name(sources["test acc"]) == "mine"


def test_a_rejected_site_can_be_listed_later(tmp_path: Path) -> None:
    chosen = select(make_metric("lr", number=5, site=2, expression="lr"))
    assert catalog(tmp_path, [make_metric("acc")], chosen, is_fixed=True).name(ValueSource(2, None, (A,), None)) == "lr"


def test_items_of_a_listed_mapping_are_metrics_of_their_own(tmp_path: Path) -> None:
    known = [make_metric("val_logs"), make_metric("mine", number=1, site=0, label="f1")]
    it = catalog(tmp_path, known, is_fixed=True)
    labels = (None, "accuracy", "loss", "f1", "accuracy")
    names = [it.name(ValueSource(0, None, (), label)) for label in labels]
    assert names == ["val_logs", "val_logs_accuracy", "val_logs_loss", "mine", "val_logs_accuracy"]
    assert [(metric.metric.id, metric.name, metric.direction) for metric in it.added] == [
        (2, "val_logs_accuracy", "max"),
        (3, "val_logs_loss", "min"),
    ]


def test_imported_and_listed_named_values_match_by_name(tmp_path: Path) -> None:
    managed = make_metric("validation accuracy", site=None, expression="val_accuracy")
    it = catalog(tmp_path, [managed], is_fixed=True)
    names = ("val_accuracy", "precision")
    assert [it.name(ValueSource(None, name, (A,), None)) for name in names] == ["validation accuracy", None]
    imported = replace(it, is_imported=True, selection=replace(it.selection, is_fixed=False))
    assert [imported.name(ValueSource(None, name, (A,), None)) for name in names] == [
        "validation accuracy",
        "precision",
    ]
    assert [metric.name for metric in imported.metrics] == ["validation accuracy", "precision"]


# What the runs show.


def test_the_words_that_a_run_wrote_name_its_metrics_and_not_the_source(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("history_acc"), make_metric("total", number=1, site=1)])
    written, sources = output(
        "epoch 1 lr 0.1 took 3.5s loss: 0.5 val acc: 0.7\nepoch 2 lr 0.1 took 3.4s loss: 0.4 val acc: 0.8\n"
    )
    it.learn(written)
    assert [(one.name, one.role, one.direction) for one in it.metrics] == [
        ("lr", "other", None),
        ("took", "time", "min"),
        ("loss", "quality", "min"),
        ("val_acc", "quality", "max"),
    ]
    assert it.name(sources["val acc"]) == "val_acc"
    assert [one.metric.words for one in it.metrics] == ["lr", "took", "loss", "val acc"]


def test_a_series_that_another_run_alone_writes_gets_a_name_then(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    it.learn(output("val acc: 0.7")[0])
    _, sources = output("test acc: 0.7")
    assert it.name(sources["test acc"]) == "test_acc"
    assert [one.name for one in it.metrics] == ["val_acc", "test_acc"]


def test_counters_and_cells_are_no_metrics(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    written, sources = output("Epoch 1/10\nEpoch 2/10\n[[12  3]\n [ 4 11]]\n")
    it.learn(written)
    assert (it.metrics, {it.name(source) for source in sources.values()}) == ((), {None})


def test_a_mean_without_words_of_its_own_carries_the_name_of_what_it_is_the_mean_of(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    it.learn(output("".join(f"accuracy: {value}\n" for value in (0.5, 0.75, 1.0)) + "average over 3 runs: 0.75\n")[0])
    assert [one.name for one in it.metrics] == ["accuracy", "average_accuracy"]
    assert it.metrics[1].direction == "max"


def test_a_number_without_any_words_that_is_the_mean_of_a_series_is_called_so(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    written, _ = output("".join(f"r2: {value}\n" for value in (0.5, 0.75, 1.0)) + "0.75\n")
    it.learn(written)
    assert [one.name for one in it.metrics] == ["r2", "mean_r2"]
    bare = written.streams[1]
    assert it.name(ValueSource(0, None, (), None, bare.caption)) == "mean_r2"


def test_arguments_that_are_written_with_results_are_settings(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    it.learn(output('{"args": {"noise": 0.25}, "test": {"acc": 0.91}}')[0])
    assert [(one.name, one.role) for one in it.metrics] == [("noise", "other"), ("test_acc", "quality")]


def test_of_tables_rows_that_count_are_settings(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    it.learn(output("        test_f1  test_auc\ncount  10.00  10.00\nmean    0.95   0.99\n25%     0.94   0.98\n")[0])
    assert [(one.name, one.role) for one in it.metrics] == [
        ("count_test_f1", "other"), ("count_test_auc", "other"), ("mean_test_f1", "quality"),
        ("mean_test_auc", "quality"), ("25_test_f1", "quality"), ("25_test_auc", "quality"),
    ]  # fmt: skip


def test_values_under_a_tag_or_a_key_are_named_by_it(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("logs")])
    labels = ("val/accuracy", "train/epsilon", "lr", "step_time", "epoch_loss", "epoch")
    assert [it.name(ValueSource(0, None, (), label)) for label in labels] == [
        "val_accuracy", "train_epsilon", "lr", "step_time", "epoch_loss", None,
    ]  # fmt: skip
    assert [one.role for one in it.added] == ["quality", "other", "other", "time", "quality"]
    assert it.name(ValueSource(0, None, (A,), "val/accuracy")) == "val_accuracy"  # the way to it makes no other metric


@pytest.mark.parametrize(("sink", "expected"), [("tensorboard", ["loss", "loss"]), ("json", ["loss", "loss #2"])])
def test_a_tag_of_a_tracker_is_one_series_whichever_statement_reports_it(
    tmp_path: Path, sink: str, expected: list[str]
) -> None:
    known = [replace(make_metric("logs", number=site, site=site), sink=sink) for site in (0, 1)]
    it = catalog(tmp_path, known)
    assert [it.name(ValueSource(site, None, (), "loss")) for site in (0, 1)] == expected


def test_a_variable_beside_a_value_without_a_line_stands_before_its_name(tmp_path: Path) -> None:
    known = [make_metric("rmse"), replace(make_metric("scores", number=1, site=1), words="best")]
    it = catalog(tmp_path, known)
    first, *others = it.manifest.sites
    it.manifest = msgspec.structs.replace(it.manifest, sites=(replace(first, label="split"), *others))
    labels = [
        (0, "train"),
        (0, "val"),
        (0, "mae"),
        (1, "f1"),
        (1, None),
        (0, "2026-11-29 10:42:46,803"),
        (0, "2026-11-29 10:42:46,803: alpha"),
    ]
    assert [it.name(ValueSource(site, None, (), label)) for site, label in labels] == [
        "train_rmse", "val_rmse", "mae", "best_f1", "best", None, None,
    ]  # fmt: skip


def test_the_words_of_a_named_value_tell_its_direction(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    names = [it.name(ValueSource(None, name, (), None)) for name in ("dtest_rmsle", "dtrain_auc", "dtest_zorp")]
    assert [(metric.name, metric.direction) for metric in it.added] == list(
        zip(names, ("min", "max", None), strict=True)
    )


def test_without_any_words_a_site_is_called_what_the_source_calls_it_and_ways_tell_apart(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("accuracy")])
    assert [it.name(ValueSource(0, None, path, None)) for path in ((A,), (B,), (A,))] == [
        "accuracy", "accuracy #2", "accuracy",
    ]  # fmt: skip
    assert it.name(ValueSource(1, None, (A,), None)) is None


def test_a_line_without_words_leaves_the_name_to_the_source(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("epoch_loss"), make_metric("row", number=1, site=1)])
    written, sources = output("0 0.5\n1 0.25\n")
    it.learn(written)
    assert it.name(sources[""]) == "epoch_loss"
    assert it.name(replace(sources[""], site=1, label="0")) is None


def test_sizes_and_options_that_are_written_before_training_are_no_metrics(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    written, _ = output("vocab size: 27\nlearning rate: 0.1\nval acc: 0.5\n")
    streams = tuple(replace(stream, phase="before") for stream in written.streams)
    it.learn(replace(written, streams=streams, has_main=True))
    assert [one.name for one in it.metrics] == ["val_acc"]


def test_keys_of_what_is_written_whole_are_no_metrics(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("model"), make_metric("config", number=1, site=1)])
    it.learn(replace(output("val acc: 0.5")[0], has_main=True, dumped=frozenset({0, "tree.leaves"})))
    assert it.name(ValueSource(None, "tree.leaves", (), None, phase="after")) is None
    assert it.name(ValueSource(0, None, (), "tree.shrinkage", phase="after")) is None
    assert it.name(ValueSource(1, None, (), "model.dropout", phase="before")) is None
    assert it.name(ValueSource(1, None, (), "model.auc", phase="after")) == "model_auc"


def test_of_a_recursion_no_more_ways_than_eight_are_metrics(tmp_path: Path) -> None:
    it = catalog(tmp_path, [make_metric("accuracy")])
    names = {it.name(ValueSource(0, None, (A,) * depth, None)) for depth in range(20)}
    assert len(names) == len(it.added) == 8


def test_the_score_of_what_counts_trainings_is_the_mean_over_them(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    it.learn(output("".join(f"fold {number} AUC: 0.9{number}\n" for number in range(1, 6)) + "test AUC: 0.92\n")[0])
    assert [(one.name, one.aggregate, one.metric.over) for one in it.metrics] == [
        ("auc", "mean", "fold"),
        ("test_auc", "last", ""),
    ]
    known = replace(it, n_trainings=5, added=[], _streams={})
    known.learn(output("".join(f"fold {number} AUC: 0.9{number}\n" for number in range(1, 6)))[0])
    assert known.metrics[0].aggregate == "mean-last:5"
    named = replace(it, n_trainings=3, added=[], _streams={})
    named.learn(output("".join(f"{model} accuracy: 0.9\n" for model in ("svm", "knn", "mlp")))[0])
    assert [(one.aggregate, one.metric.over) for one in named.metrics] == [("last", "")] * 3


def test_a_name_that_is_taken_is_told_apart(tmp_path: Path) -> None:
    it = catalog(tmp_path, [])
    it.learn(output("val acc: 0.7")[0])
    assert [it.name(ValueSource(None, name, (), None)) for name in ("val_acc", "val/acc")] == [
        "val_acc #2",
        "val_acc #3",
    ]


# Which process counts.


def log(
    pid: int, span: tuple[float, float], values: dict[int | None, float], *, rank: int | None = None, attempt: int = 1
) -> ProcessLog:
    points = Points()
    for step, value in values.items():
        points.add(NO_STEP if step is None else step, value, 0.5 * len(points.values))
    return ProcessLog(pid, rank, *span, points={"acc": points}, attempt=Path(f"attempt-{attempt}"))


def test_of_several_ranks_the_lowest_counts() -> None:
    logs = [log(7, (0, 9), {0: 7.0}, rank=1), log(8, (0, 9), {0: 8.0}, rank=0), log(9, (0, 9), {0: 9.0, 1: 9.0})]
    assert measure(logs)["acc"] == Series((0,), (8.0,))


def test_without_ranks_the_process_that_reported_most_counts_then_the_first() -> None:
    logs = [log(1, (0, 9), {None: 1.0}), log(3, (1.1, 9), {0: 3.0, 1: 3.0}), log(2, (1.0, 9), {0: 2.0, 1: 2.0})]
    assert measure(logs)["acc"].values == (2.0, 2.0)


@pytest.mark.parametrize(
    ("second", "warning"),
    [
        (log(6, (0, 9), {0: 0.6}), "acc was reported by 2 processes at the same time"),
        (log(6, (3, 9), {0: 0.6}), "acc was reported by 2 processes one after the other"),
        (log(6, (0, 9), {0: 0.5}), None),
        (log(6, (3, 9), {0: 0.6}, attempt=2), None),
        (log(6, (0, 9), {0: 0.6}, rank=1), None),
    ],
)
def test_processes_that_report_one_metric_are_warned_of_where_no_rank_tells_which_counts(
    second: ProcessLog, warning: str | None
) -> None:
    logs = [log(5, (0, 3), {0: 0.5}, rank=None if second.rank is None else 0), second]
    told = process_warnings(logs, select(make_metric("acc")).metrics)
    assert [text.partition(":")[0].partition(",")[0] for text in told] == ([warning] if warning else [])


def test_processes_that_follow_one_another_are_joined_and_their_steps_rise() -> None:
    logs = [log(2, (10, 19), {0: 3.0, 1: 4.0}), log(1, (0, 9), {0: 1.0, 1: 2.0}), log(3, (20, 21), {None: 5.0})]
    assert measure(logs)["acc"] == Series((0, 1, 2, 3, None), (1.0, 2.0, 3.0, 4.0, 5.0))


def test_times_count_from_the_start_of_the_first_process() -> None:
    logs = [log(2, (110, 119), {0: 3.0, 1: 4.0}), log(1, (100, 109), {0: 1.0, 1: 2.0}), log(3, (100.25, 101), {})]
    assert measure(logs)["acc"].times == (0.0, 0.5, 10.0, 10.5)


def test_a_run_that_reports_from_its_second_process_alone_has_the_times_of_the_run() -> None:
    quiet = ProcessLog(1, None, 100.0, 103.0, attempt=Path("attempt-1"))
    assert measure([quiet, log(2, (104, 109), {0: 3.0, 1: 4.0})])["acc"].times == (4.0, 4.5)


def test_the_time_between_a_lost_attempt_and_the_one_that_goes_on_is_no_time_of_the_run() -> None:
    logs = [log(1, (100, 109), {0: 1.0, 1: 2.0}), log(2, (5000, 5009), {0: 3.0, 1: 4.0}, attempt=2)]
    assert measure(logs)["acc"].times == (0.0, 0.5, 9.0, 9.5)


def test_a_process_whose_start_is_not_on_record_begins_with_the_run() -> None:
    logs = [log(1, (0.0, 0.5), {0: 1.0}), log(2, (100, 109), {0: 3.0, 1: 4.0})]
    assert measure(logs)["acc"].times == (0.0, 0.0, 0.5)


def test_what_stood_in_lines_that_could_not_be_read_is_no_series() -> None:
    assert measure([ProcessLog(1, None, 100, 109, points={"acc": Points()})]) == {}
