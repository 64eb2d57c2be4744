"""What runs kept is read back as the arrays that they had, examples aligned; what cannot be read is a reason."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from artifacts import keep_predictions, keep_weights
from recorded import start, value_line

from deviate.eventlog import encode
from deviate.model.records import Captured, CapturedSet
from deviate.records.read import read_experiment
from deviate.stability.captures.collect import captured_of

AddRun = Callable[..., Path]
N, CLASSES = 12, 3
KEYS = np.arange(100, 100 + N).astype(np.uint64)
TRUTH = np.arange(N) % CLASSES


def scores(replicate: int) -> np.ndarray:
    return np.random.default_rng(replicate).normal(size=(N, CLASSES)).astype(np.float32)


def keep(attempt: Path, arrays: Mapping[str, np.ndarray], name: str = "test", *, step: int = -1, pid: int = 1) -> None:
    """Add a set to a run of one process, file and event."""
    line = keep_predictions(attempt, name, arrays, step=step, pid=pid)
    with (attempt / f"events-{pid}-1.jsonl").open("a") as file:
        file.write(line)


def keep_layers(attempt: Path, moment: str, arrays: Mapping[str, np.ndarray], *, step: int = -1) -> None:
    line = keep_weights(attempt, moment, arrays, step=step)
    with (attempt / "events-1-1.jsonl").open("a") as file:
        file.write(line)


def read(experiment: Path) -> Captured:
    (found,) = read_experiment(experiment)
    return captured_of(found)


def only(found: Captured) -> CapturedSet:
    (one,) = found.sets
    return one


def test_nothing_kept_is_nothing_captured(experiment: Path, add_run: AddRun) -> None:
    add_run(0, start() + value_line(0, 0.5))
    assert read(experiment).sets == ()
    assert read(experiment).reasons == ()


def test_outputs_come_back_as_they_were(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS})
    found = only(read(experiment))
    assert (found.name, found.step, found.replicates, found.kind) == ("test", None, (0, 1), "logits")
    assert found.outputs is not None
    assert found.labels is not None
    assert found.outputs.dtype == np.float32
    assert np.array_equal(found.outputs, [scores(0), scores(1)])
    assert np.array_equal(found.labels, found.outputs.argmax(2))
    assert found.truth is not None
    assert found.truth.tolist() == TRUTH.tolist()
    assert (found.alignment, found.notes, found.positions.tolist()) == ("position", (), list(range(N)))


def test_shuffled_evaluations_are_aligned_by_their_inputs(experiment: Path, add_run: AddRun) -> None:
    order = np.random.default_rng(3).permutation(N)
    keep(add_run(0, start()), {"outputs": scores(0), "truth": TRUTH, "keys": KEYS, "group": TRUTH % 2})
    keep(
        add_run(1, start()),
        {"outputs": scores(1)[order], "truth": TRUTH[order], "keys": KEYS[order], "group": TRUTH[order] % 2},
    )
    found = only(read(experiment))
    assert found.alignment == "input"
    assert np.array_equal(found.outputs, [scores(0), scores(1)])
    assert found.truth is not None
    assert found.truth.tolist() == TRUTH.tolist()
    assert found.columns["group"].tolist() == (TRUTH % 2).tolist()


def test_classes_that_a_run_numbers_differently_have_the_numbers_of_the_first(
    experiment: Path, add_run: AddRun
) -> None:
    numbers = np.array([2, 0, 1])  # of the second run, by that of the first
    keep(add_run(0, start()), {"outputs": scores(0), "truth": TRUTH, "keys": KEYS})
    keep(
        add_run(1, start()),
        {"outputs": scores(1)[:, np.argsort(numbers)], "truth": numbers[TRUTH], "keys": KEYS},
    )
    found = only(read(experiment))
    assert np.array_equal(found.outputs, [scores(0), scores(1)])
    assert np.array_equal(found.labels, np.argmax([scores(0), scores(1)], axis=2))
    assert found.truth is not None
    assert found.truth.tolist() == TRUTH.tolist()
    assert found.notes[0].startswith("The script numbers its classes differently in 1 of 2 runs")


def test_labels_that_differ_in_more_than_the_numbers_of_classes_do_not_count(experiment: Path, add_run: AddRun) -> None:
    keep(add_run(0, start()), {"outputs": scores(0), "truth": TRUTH, "keys": KEYS})
    keep(add_run(1, start()), {"outputs": scores(1), "truth": np.roll(np.sort(TRUTH), 1), "keys": KEYS})
    found = only(read(experiment))
    assert found.truth is None
    assert np.array_equal(found.outputs, [scores(0), scores(1)])


def test_an_earlier_evaluation_does_not_stand_for_the_last_one_that_found_no_room(
    experiment: Path, add_run: AddRun
) -> None:
    full = encode("not captured", "predictions", "test", "the limit is reached")
    for replicate in range(2):
        attempt = add_run(replicate, start())
        keep(attempt, {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS}, step=0)
        with (attempt / "events-1-1.jsonl").open("a") as file:
            file.write(full)
    found = read(experiment)
    assert found.sets == ()
    assert found.reasons[0] == ("Set test is left out: its last evaluation was not captured, only earlier ones.")


def test_examples_that_a_run_lacks_are_left_out_of_all(experiment: Path, add_run: AddRun) -> None:
    keep(add_run(0, start()), {"outputs": scores(0), "truth": TRUTH, "keys": KEYS})
    keep(add_run(1, start()), {"outputs": scores(1)[2:], "truth": TRUTH[2:], "keys": KEYS[2:]})
    found = only(read(experiment))
    assert found.positions.tolist() == list(range(2, N))
    assert np.array_equal(found.outputs, [scores(0)[2:], scores(1)[2:]])
    assert found.notes == (f"{N - 2} of {N} examples are in all runs; the others are left out.",)


def test_sets_that_cannot_be_aligned_are_left_out_with_the_reason(experiment: Path, add_run: AddRun) -> None:
    keep(add_run(0, start()), {"outputs": scores(0), "truth": TRUTH})
    keep(add_run(1, start()), {"outputs": scores(1), "truth": TRUTH[::-1].copy()})
    found = read(experiment)
    assert found.sets == ()
    assert found.reasons == (
        "Set test is left out: the order of true labels differs between runs, and no run has hashes of its inputs.",
    )


def test_several_sets_keep_the_order_in_which_they_came(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        attempt = add_run(replicate, start())
        for name in ("val", "test"):
            keep(attempt, {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS}, name)
    assert [it.name for it in read(experiment).sets] == ["val", "test"]


def test_runs_that_failed_are_left_aside(experiment: Path, add_run: AddRun) -> None:
    keep(add_run(0, start()), {"outputs": scores(0), "truth": TRUTH})
    keep(add_run(1, start(), "crashed"), {"outputs": scores(1), "truth": TRUTH})
    assert only(read(experiment)).replicates == (0,)


def test_the_last_evaluation_counts_and_steps_stand_apart(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        attempt = add_run(replicate, start())
        for step in (0, 1, 2):
            keep(attempt, {"outputs": scores(replicate) + step, "truth": TRUTH, "keys": KEYS}, step=step)
    found = read(experiment)
    assert np.array_equal(only(found).outputs, [scores(0) + 2, scores(1) + 2])
    assert [(it.step, it.name) for it in found.by_step] == [(0, "test"), (1, "test"), (2, "test")]
    assert np.array_equal(found.by_step[1].outputs, [scores(0) + 1, scores(1) + 1])


def test_steps_count_where_all_runs_have_them(experiment: Path, add_run: AddRun) -> None:
    for replicate, steps in enumerate([(0, 1, 2), (0, 1)]):
        attempt = add_run(replicate, start())
        for step in steps:
            keep(attempt, {"outputs": scores(replicate) + step, "truth": TRUTH, "keys": KEYS}, step=step)
            keep_layers(attempt, "step", {"a.weight": scores(replicate)}, step=step)
    found = read(experiment)
    assert [it.step for it in found.by_step] == [0, 1]
    assert [it.step for it in found.weights_by_step] == [0, 1]
    assert found.reasons == (
        "Set test: 1 of 3 steps are not in all runs and are left out.",
        "Weights: 1 of 3 steps are not in all runs and are left out.",
    )


def test_runs_that_end_at_other_steps_lack_no_step(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": scores(replicate), "truth": TRUTH}, step=replicate + 7)
    found = read(experiment)
    assert only(found).replicates == (0, 1)
    assert (found.by_step, found.reasons) == ((), ())


def test_steps_have_the_examples_in_the_order_of_the_last_evaluation(experiment: Path, add_run: AddRun) -> None:
    rng = np.random.default_rng(5)
    for replicate in range(2):
        attempt = add_run(replicate, start())
        for step in (0, 1):
            order = rng.permutation(N)
            arrays = {"outputs": scores(replicate)[order] + step, "truth": TRUTH[order], "keys": KEYS[order]}
            keep(attempt, arrays, step=step)
    found = read(experiment)
    last = only(found)
    assert last.outputs is not None
    for it in found.by_step:
        assert it.outputs is not None
        assert it.step is not None
        assert np.allclose(it.outputs, last.outputs - 1 + it.step, atol=1e-6)
        assert np.array_equal(it.truth, last.truth)


def test_one_step_that_is_the_end_itself_is_no_step(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS}, step=4)
    assert read(experiment).by_step == ()


def test_one_score_gets_one_of_the_other_class_beside_it(experiment: Path, add_run: AddRun) -> None:
    shares = np.linspace(0.05, 0.95, N).astype(np.float32)[:, None]
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": shares, "truth": (TRUTH > 0).astype(np.float32)[:, None]})
    found = only(read(experiment))
    assert found.outputs is not None
    assert found.labels is not None
    assert (found.kind, found.outputs.shape) == ("probabilities", (2, N, 2))
    assert np.allclose(found.outputs.sum(2), 1)
    assert found.labels[0].tolist() == (shares[:, 0] > 0.5).astype(int).tolist()
    assert found.truth is not None
    assert found.truth.tolist() == (TRUTH > 0).astype(int).tolist()


def test_pixels_without_a_true_class_are_left_out(experiment: Path, add_run: AddRun) -> None:
    truth = np.stack([np.arange(6) % 3] * 4)
    truth[0, 0] = -100
    outputs = np.random.default_rng(1).normal(size=(4, 3, 6)).astype(np.float32)
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": outputs, "truth": truth})
    found = only(read(experiment))
    assert found.outputs is not None
    assert found.outputs.shape == (2, 23, 3)
    assert np.array_equal(found.outputs[0], np.moveaxis(outputs, 1, 2).reshape(-1, 3)[1:])
    assert found.positions.tolist() == np.repeat(range(4), 6).tolist()[1:]
    assert any("1 of 24 predictions have no true class" in note for note in found.notes)


def test_classes_below_zero_that_nobody_predicts_mark_what_is_ignored(experiment: Path, add_run: AddRun) -> None:
    truth = np.where(np.arange(N) < 2, -100, TRUTH)
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": TRUTH, "truth": truth})
    found = only(read(experiment))
    assert found.truth is not None
    assert (found.truth.tolist(), found.positions.tolist()) == (TRUTH[2:].tolist(), list(range(2, N)))
    assert found.n_seen == N
    assert any("2 of 12 predictions have no true class" in note for note in found.notes)


@pytest.mark.parametrize("shape", [(N,), (N, CLASSES)])
def test_one_nan_does_not_turn_the_probabilities_of_all_runs_into_scores(
    experiment: Path, add_run: AddRun, shape: tuple[int, ...]
) -> None:
    odds = np.random.default_rng(0).random(size=(2, *shape)).astype(np.float32)
    shares = odds if len(shape) == 1 else odds / odds.sum(axis=2, keepdims=True)
    shares[1, 4] = np.nan
    truth = TRUTH % 2 if len(shape) == 1 else TRUTH
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": shares[replicate], "truth": truth})
    found = only(read(experiment))
    assert found.kind == "probabilities"
    assert found.labels is not None
    expected = shares > 0.5 if len(shape) == 1 else shares.argmax(2)
    assert np.array_equal(found.labels, expected)
    assert any("Outputs of run 1 contain NaN or infinite values" in note for note in found.notes)


def test_truth_of_another_form_than_the_outputs_is_told(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": TRUTH, "truth": np.eye(CLASSES)[TRUTH]})
    found = only(read(experiment))
    assert found.truth is None
    assert any("True labels of shape (3,) per example do not match" in note for note in found.notes)


def test_a_damaged_file_is_a_reason_and_the_others_count(experiment: Path, add_run: AddRun) -> None:
    attempts = [add_run(replicate, start()) for replicate in range(2)]
    for replicate, attempt in enumerate(attempts):
        keep(attempt, {"outputs": scores(replicate), "truth": TRUTH})
    file = next((attempts[1] / "artifacts").iterdir())
    content = bytearray(file.read_bytes())
    content[120:160] = bytes(40)
    file.write_bytes(content)
    found = read(experiment)
    assert only(found).replicates == (0,)
    (reason,) = found.reasons
    assert reason.startswith(f"Run 1: {file.name} cannot be read")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive at all"])
def test_what_is_no_file_of_arrays_is_a_reason(experiment: Path, add_run: AddRun, content: bytes) -> None:
    attempt = add_run(0, start())
    keep(attempt, {"outputs": scores(0)})
    next((attempt / "artifacts").iterdir()).write_bytes(content)
    found = read(experiment)
    assert found.sets == ()
    assert "cannot be read" in found.reasons[0]


def test_files_that_were_removed_are_told_once_and_warned_of(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        attempt = add_run(replicate, start())
        keep(attempt, {"outputs": scores(replicate)})
        next((attempt / "artifacts").iterdir()).unlink()
    (found,) = read_experiment(experiment)
    assert captured_of(found).reasons == ("Files with captured outputs of runs 0, 1 are missing.",)
    assert found.runs[0].warnings[-1:] == ("1 of 1 files with captured outputs or weights are missing",)


def test_what_the_guest_could_not_keep_is_a_reason(experiment: Path, add_run: AddRun) -> None:
    add_run(0, start() + encode("not captured", "predictions", "test", "the limit is reached"))
    assert read(experiment).reasons == ("Not captured in run 0: predictions of test: the limit is reached.",)


def test_what_was_asked_for_and_never_seen_is_a_reason(experiment: Path, add_run: AddRun) -> None:
    both = (("predictions", "on"), ("weights", "on"))
    keep(add_run(0, start(), capture=both), {"outputs": scores(0)})
    add_run(1, start(), capture=both[1:])
    (found,) = read_experiment(experiment)
    (first,), (second,) = (run.not_captured for run in found.runs)
    assert first == second
    assert str(first).startswith("weights: no model was detected in training")
    assert captured_of(found).reasons[-1].startswith("Not captured in runs 0, 1: weights: no model was detected")


def test_a_file_outside_of_the_folder_is_no_artifact(experiment: Path, add_run: AddRun) -> None:
    add_run(0, start() + encode("artifact", "predictions", "test", -1, "torch", "../../secret.npz", 3))
    (found,) = read_experiment(experiment)
    assert found.runs[0].artifacts == ()
    assert any("could not be read" in warning for warning in found.runs[0].warnings)


def test_shares_of_ranks_are_put_together_as_they_were_dealt_out(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        for rank in (0, 1):
            pid = 7 + rank
            attempt = add_run(replicate, start(pid=pid, rank=rank, at=5.0), process=f"{pid}-1")
            share = slice(rank, None, 2)
            arrays = {"outputs": scores(replicate)[share], "truth": TRUTH[share], "keys": KEYS[share]}
            keep(attempt, arrays, pid=pid)
    found = only(read(experiment))
    assert np.array_equal(found.outputs, [scores(0), scores(1)])
    assert found.truth is not None
    assert found.truth.tolist() == TRUTH.tolist()
    assert found.notes[0].startswith("Outputs of 2 processes are combined")


def test_ranks_that_saw_the_whole_set_count_once(experiment: Path, add_run: AddRun) -> None:
    for rank in (0, 1):
        pid = 7 + rank
        attempt = add_run(0, start(pid=pid, rank=rank, at=5.0), process=f"{pid}-1")
        keep(attempt, {"outputs": scores(rank), "truth": TRUTH, "keys": KEYS}, pid=pid)
    found = only(read(experiment))
    assert np.array_equal(found.outputs, [scores(0)])
    assert found.notes == ()


def test_the_command_that_follows_training_has_the_last_word(experiment: Path, add_run: AddRun) -> None:
    for pid, at in ((7, 5.0), (9, 8.0)):
        attempt = add_run(0, start(pid=pid, at=at), process=f"{pid}-1")
        keep(attempt, {"outputs": scores(pid), "truth": TRUTH, "keys": KEYS}, pid=pid)
    assert np.array_equal(only(read(experiment)).outputs, [scores(9)])


def test_weights_stand_beside_each_other_by_layer(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        attempt = add_run(replicate, start())
        for step in (0, 1):
            keep_layers(attempt, "step", {"0.weight": np.full((2, 3), replicate + step, np.float32)}, step=step)
        keep_layers(attempt, "loop", {"0.weight": np.full((2, 3), 8, np.float32)})
        arrays = {"0.weight": np.full((2, 3), replicate + 9, np.float32), "1.running_mean": np.ones(3, np.float32)}
        keep_layers(attempt, "exit", arrays)
    found = read(experiment)
    assert found.weights is not None
    assert (found.weights.step, found.weights.replicates, list(found.weights.layers)) == (None, (0, 1), ["0.weight"])
    assert found.weights.layers["0.weight"].dtype == np.float64
    assert found.weights.layers["0.weight"].tolist() == [[9.0] * 6, [10.0] * 6]
    assert [it.step for it in found.weights_by_step] == [0, 1]
    assert found.weights_by_step[1].layers["0.weight"].tolist() == [[1.0] * 6, [2.0] * 6]


def test_the_last_weights_of_each_run_count_whenever_they_were_kept(experiment: Path, add_run: AddRun) -> None:
    for replicate, moments in enumerate([("loop", "exit"), ("loop",)]):  # of the other nothing changed after its loop
        attempt = add_run(replicate, start())
        for moment in moments:
            keep_layers(attempt, moment, {"w": np.full(2, 1.0 if moment == "loop" else 5.0)})
    found = read(experiment).weights
    assert found is not None
    assert found.layers["w"].tolist() == [[5.0, 5.0], [1.0, 1.0]]


def test_layers_that_not_all_runs_have_in_one_shape_are_left_out(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        arrays = {"w": np.ones(2), "head": np.ones(2 + replicate), f"only_{replicate}": np.ones(1)}
        keep_layers(add_run(replicate, start()), "exit", arrays)
    found = read(experiment)
    assert found.weights is not None
    assert list(found.weights.layers) == ["w"]
    assert found.reasons == (
        "Weights that are not in all runs, or differ in shape, are left out: head, only_0, only_1.",
    )


def test_a_step_that_is_damaged_in_one_run_is_left_out_of_all(experiment: Path, add_run: AddRun) -> None:
    for replicate in range(2):
        attempt = add_run(replicate, start())
        for step in (0, 1, 2):
            keep(attempt, {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS}, step=step)
    next((attempt / "artifacts").glob("predictions-test-1-*")).write_bytes(b"torn")
    found = read(experiment)
    assert [it.step for it in found.by_step] == [0, 2]
    assert only(found).replicates == (0, 1)


def test_of_many_steps_those_are_read_that_memory_takes(
    experiment: Path, add_run: AddRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for replicate in range(2):
        attempt = add_run(replicate, start())
        for step in range(9):
            keep(attempt, {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS}, step=step)
    n_bytes = 2 * N * (CLASSES * 4 + 4)
    monkeypatch.setattr(sys.modules["deviate.stability.captures.collect"], "STEP_BYTES", 3 * n_bytes)
    found = read(experiment)
    assert [it.step for it in found.by_step] == [0, 4, 8]
    assert found.reasons == ("Set test: 3 of 9 steps are read, evenly spaced, to save memory.",)


def test_outputs_that_are_too_large_leave_the_classes(
    experiment: Path, add_run: AddRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for replicate in range(2):
        keep(add_run(replicate, start()), {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS})
    monkeypatch.setattr("deviate.stability.captures.sets.MOST_BYTES", 2 * N * CLASSES * 4 - 1)
    found = only(read(experiment))
    assert (found.kind, found.outputs) == ("labels", None)
    assert found.labels is not None
    assert np.array_equal(found.labels, [scores(0).argmax(1), scores(1).argmax(1)])
    assert "the predicted classes are read" in found.notes[0]


def test_sets_that_are_too_large_together_leave_the_classes_of_the_later_ones(
    experiment: Path, add_run: AddRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for replicate in range(2):
        attempt = add_run(replicate, start())
        for name in ("test", "val"):
            keep(attempt, {"outputs": scores(replicate), "truth": TRUTH, "keys": KEYS}, name)
    monkeypatch.setattr(sys.modules["deviate.stability.captures.collect"], "ALL_BYTES", 3 * N * CLASSES * 4)
    assert [(it.name, it.kind) for it in read(experiment).sets] == [("test", "logits"), ("val", "labels")]
