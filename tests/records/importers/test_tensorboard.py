import json
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from writers import write

from deviate.errors import InputError
from deviate.model.records import Series
from deviate.records.importers import IMPORTERS, Imported
from deviate.records.importers.tensorboard import read_tensorboard
from deviate.records.trackers.addresses import read_project
from deviate.records.trackers.groups import group_runs, import_groups

WRITE = """
import json, time
from pathlib import Path
import numpy, torch
import tensorflow as tf
from torch.utils.tensorboard import SummaryWriter

for seed in range(2):
    with SummaryWriter(f"torch/seed{seed}") as writer:
        for step in range(20):
            writer.add_scalar("loss", 1 / (3 + step + seed), step, walltime=1000 + step)
            writer.add_scalar("tensor", 1 / (3 + step), step, new_style=True)
            writer.add_scalar("double", 1 / (3 + step), step, new_style=True, double_precision=True)
            writer.add_scalars("acc/top", {"train": step / 7, "test": step / 9}, step)
            writer.add_scalar("stepless", step / 3)
        writer.add_scalar("final", 0.1)
        writer.add_text("note", "hello")
        writer.add_histogram("weights", torch.arange(10.0), 1)
        writer.add_hparams({"lr": 0.1, "seed": seed, "opt": "sgd", "nesterov": True}, {"hparam/final": 0.3})

with SummaryWriter("purged/run") as writer:
    for step in range(10):
        writer.add_scalar("loss", step / 3, step)
        writer.add_scalar("old", step / 3, step)
time.sleep(1.1)
with SummaryWriter("purged/run", purge_step=6) as writer:
    for step in range(6, 8):
        writer.add_scalar("loss", step / 7, step)

with SummaryWriter("restarted/run") as writer:
    for step in range(10):
        writer.add_scalar("loss", step / 3, step)
time.sleep(1.1)
with SummaryWriter("restarted/run") as writer:
    for step in range(6, 8):
        writer.add_scalar("loss", step / 7, step)

with tf.summary.create_file_writer("tf2/run").as_default():
    for step in range(5):
        tf.summary.scalar("loss", 1 / (3 + step), step)
        tf.summary.scalar("zero", 0.0, step)
        tf.summary.histogram("weights", tf.range(10.0), step)
        tf.summary.text("note", "hello", step)
with tf.compat.v1.Graph().as_default():
    writer = tf.compat.v1.summary.FileWriter("tf1/run")
    for step in range(3):
        value = tf.compat.v1.Summary.Value(tag="loss", simple_value=1 / (3 + step))
        writer.add_summary(tf.compat.v1.Summary(value=[value]), step)
    writer.close()

inputs, outputs = numpy.arange(8.0).reshape(8, 1), numpy.arange(8.0)
histories = []
for seed in range(2):
    tf.keras.utils.set_random_seed(seed)
    model = tf.keras.Sequential([tf.keras.layers.Input((1,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callback = tf.keras.callbacks.TensorBoard(f"keras/seed{seed}", histogram_freq=1)
    fitted = model.fit(inputs, outputs, epochs=3, validation_data=(inputs, outputs), verbose=0, callbacks=[callback])
    histories.append(fitted.history)

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

def shown(folder):
    events = EventAccumulator(folder, {"scalars": 0, "tensors": 0}).Reload()
    plain = events.Tags()["scalars"]
    scalars = {tag: [(it.step, it.value, it.wall_time) for it in events.Scalars(tag)] for tag in plain}
    for tag in events.Tags()["tensors"]:
        if events.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
            values = [(it.step, float(tf.make_ndarray(it.tensor_proto)), it.wall_time) for it in events.Tensors(tag)]
            scalars[tag] = values
    return scalars

folders = sorted({str(path.parent) for path in Path().rglob("*tfevents*")})
print(json.dumps({"histories": histories, "shown": {folder: shown(folder) for folder in folders}}))
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory, require: Callable[[str], None]) -> Path:
    """Folders of all writers; `told.json` says what Keras reported, and what TensorBoard itself reads."""
    for name in ("tensorboard", "torch", "tensorflow"):
        require(name)
    folder = tmp_path_factory.mktemp("logs")
    (folder / "told.json").write_text(write(folder, WRITE).splitlines()[-1])
    return folder


def single(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def read_one(path: Path) -> Imported:
    (imported,) = read_tensorboard(path)
    return imported


def points(series: Series) -> list[tuple[int | None, float]]:
    return list(zip(series.steps, series.values, strict=True))


def test_each_folder_of_a_writer_is_a_run_with_all_bits_of_its_values(logs: Path) -> None:
    imported = read_one(logs / "torch")
    assert imported.name == "torch"
    assert [run.label for run in imported.runs] == ["seed0", "seed1"]
    for seed, run in enumerate(imported.runs):
        assert points(run.series["loss"]) == [(step, single(1 / (3 + step + seed))) for step in range(20)]
        assert points(run.series["tensor"]) == [(step, single(1 / (3 + step))) for step in range(20)]
        assert points(run.series["double"]) == [(step, 1 / (3 + step)) for step in range(20)]
        assert points(run.series["acc/top/train"]) == [(step, single(step / 7)) for step in range(20)]
        assert points(run.series["acc/top/test"]) == [(step, single(step / 9)) for step in range(20)]
        assert points(run.series["hparam/final"]) == [(None, single(0.3))]
        assert (run.status, run.environment["hparam.lr"], run.seeds) == ("completed", "0.1", {"seed": seed})
        assert run.series.keys() == {
            *("loss", "tensor", "double", "stepless", "final", "acc/top/train", "acc/top/test", "hparam/final")
        }


def test_what_was_logged_without_steps_is_a_score_or_numbered(logs: Path) -> None:
    imported = read_one(logs / "torch")
    assert points(imported.runs[0].series["final"]) == [(None, single(0.1))]
    assert points(imported.runs[0].series["stepless"]) == [(step, single(step / 3)) for step in range(20)]
    assert "stepless: logged without a step: numbered in the order of logging" in imported.notes


def test_times_count_from_the_first_event_of_the_run(logs: Path) -> None:
    run = read_one(logs / "torch").runs[0]
    times = run.series["loss"].times
    assert [time - times[0] for time in times] == list(range(20))
    assert run.started + times[0] == pytest.approx(1000)
    assert all(time >= 0 for time in run.series["double"].times)


@pytest.mark.parametrize("name", ["torch", "purged", "tf1", "tf2", "keras"])
def test_the_values_are_those_that_tensorboard_reads(logs: Path, name: str) -> None:
    shown = json.loads((logs / "told.json").read_text())["shown"]
    n_compared = 0
    for run in read_one(logs / name).runs:
        for tag, values in shown.get(f"{name}/{run.label}", {}).items():
            series = run.series[tag]
            if tag == "stepless" or list(series.steps) == [None]:
                continue
            assert points(series) == [(step, value) for step, value, _ in values]
            assert [time + run.started for time in series.times] == pytest.approx([time for *_, time in values])
            n_compared += 1
        for part in ("train", "validation"):
            for tag, values in shown.get(f"{name}/{run.label}/{part}", {}).items():
                assert points(run.series[f"{part}/{tag}"]) == [(step, value) for step, value, _ in values]
                n_compared += 1
    assert n_compared


def test_training_and_validation_of_keras_are_one_run(logs: Path) -> None:
    imported = read_one(logs / "keras")
    assert [run.label for run in imported.runs] == ["seed0", "seed1"]
    for run, history in zip(imported.runs, json.loads((logs / "told.json").read_text())["histories"], strict=True):
        assert points(run.series["train/epoch_loss"]) == [(it, single(loss)) for it, loss in enumerate(history["loss"])]
        expected = [(it, single(loss)) for it, loss in enumerate(history["val_loss"])]
        assert points(run.series["validation/epoch_loss"]) == expected
    (alone,) = read_one(logs / "keras" / "seed0").runs
    assert (alone.label, alone.series) == ("seed0", imported.runs[0].series)
    (part,) = read_one(logs / "keras" / "seed0" / "train").runs
    assert part.series["epoch_loss"] == alone.series["train/epoch_loss"]


def test_a_zero_of_tensorflow_is_a_value(logs: Path) -> None:
    (run,) = read_one(logs / "tf2").runs
    assert points(run.series["zero"]) == [(step, 0.0) for step in range(5)]
    assert run.series.keys() == {"loss", "zero"}


def test_a_declared_start_replaces_what_all_metrics_had_from_there_on(logs: Path) -> None:
    imported = read_one(logs / "purged")
    (run,) = imported.runs
    third, seventh = [(it, single(it / 3)) for it in range(6)], [(it, single(it / 7)) for it in range(6, 8)]
    assert points(run.series["loss"]) == third + seventh
    assert points(run.series["old"]) == third
    assert any(note.startswith("run: started again") for note in imported.notes)


def test_a_second_file_replaces_what_the_metric_had_from_its_first_step_on(logs: Path) -> None:
    imported = read_one(logs / "restarted")
    (run,) = imported.runs
    third, seventh = [(it, single(it / 3)) for it in range(6)], [(it, single(it / 7)) for it in range(6, 8)]
    assert points(run.series["loss"]) == third + seventh
    assert any(note.startswith("run: started again") for note in imported.notes)
    first, second = sorted((logs / "restarted" / "run").iterdir())
    assert points(read_one(first).runs[0].series["loss"]) == [(it, single(it / 3)) for it in range(10)]
    assert points(read_one(second).runs[0].series["loss"]) == seventh
    assert read_one(second).runs[0].label == second.name


def test_a_root_with_events_of_its_own_does_not_swallow_the_runs_below(logs: Path, tmp_path: Path) -> None:
    root = shutil.copytree(logs / "torch", tmp_path / "torch")
    shutil.copy(next((logs / "tf1" / "run").iterdir()), root)
    assert [run.label for run in read_one(root).runs] == ["torch", "seed0", "seed1"]


@pytest.mark.parametrize("n_bytes", [1, 4, 5, 13, 30])
def test_a_last_record_that_is_torn_is_left_out_and_said(logs: Path, tmp_path: Path, n_bytes: int) -> None:
    root = shutil.copytree(logs / "tf1", tmp_path / "tf1")
    path = next((root / "run").iterdir())
    path.write_bytes(path.read_bytes()[:-n_bytes])
    imported = read_one(root)
    (run,) = imported.runs
    assert points(run.series["loss"]) == [(step, single(1 / (3 + step))) for step in range(2)]
    assert run.status == "lost"
    assert imported.notes[0].startswith("run: killed or still running")


def test_zeros_at_the_end_are_a_torn_record(logs: Path, tmp_path: Path) -> None:
    path = shutil.copy(next((logs / "tf1" / "run").iterdir()), tmp_path)
    with Path(path).open("ab") as file:
        file.write(bytes(500))
    (run,) = read_one(Path(path)).runs
    assert run.status == "lost"
    assert len(run.series["loss"].values) == 3


@pytest.mark.parametrize("place", [-2, -10, -60])
def test_a_flipped_bit_is_an_error_with_its_place(logs: Path, tmp_path: Path, place: int) -> None:
    path = Path(shutil.copy(next((logs / "tf1" / "run").iterdir()), tmp_path))
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged at byte"):
        read_tensorboard(path)


def test_files_of_something_else_are_told(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_text("no event file, but long enough to be read")
    with pytest.raises(InputError, match="not a TensorBoard event file"):
        read_tensorboard(tmp_path)


def test_a_missing_library_is_named_with_how_to_get_it(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(next((logs / "tf1" / "run").iterdir()), tmp_path))
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    with pytest.raises(InputError, match="is not installed here") as caught:
        read_tensorboard(path)
    assert f"reading {path}: the package tensorboard" in caught.value.message
    assert "pip install --upgrade tensorboard" in caught.value.hint


def test_event_files_are_read_without_importing_tensorflow(logs: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from deviate.records.importers.tensorboard import read_tensorboard
read_tensorboard(Path({str(logs / "torch")!r}))
print([name for name in ("tensorflow", "torch") if name in sys.modules])
"""
    assert write(logs, script) == "[]\n"


def test_folders_without_scalars_are_told(logs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no TensorBoard event files"):
        read_tensorboard(tmp_path)
    (tmp_path / "events.out.tfevents.1").touch()
    with pytest.raises(InputError, match="hold no scalars"):
        read_tensorboard(tmp_path)
    shutil.copytree(logs / "tf1" / "run", tmp_path / "run")
    imported = read_one(tmp_path)
    assert len(imported.runs) == 1
    assert any(note.endswith("no scalars in the event files, left out") for note in imported.notes)


@pytest.mark.parametrize(
    ("make", "is_claimed"),
    [
        (lambda folder: (folder / "a.csv").touch(), False),
        (lambda folder: (folder / "events.out.tfevents.1.host").touch(), True),
        (lambda folder: ((folder / "a/b").mkdir(parents=True), (folder / "a/b/x.tfevents.1").touch()), True),
    ],
)
def test_event_files_are_claimed_wherever_they_lie(
    tmp_path: Path, make: Callable[[Path], object], *, is_claimed: bool
) -> None:
    make(tmp_path)
    assert IMPORTERS["tensorboard"].claims(tmp_path) is is_claimed
    assert not IMPORTERS["tensorboard"].claims(tmp_path / "missing")


def test_runs_are_grouped_by_the_settings_that_add_hparams_wrote(logs: Path) -> None:
    project = read_project(f"tensorboard:{logs / 'torch'}")
    assert project.runs[1].params == {"lr": "0.1", "seed": "1", "opt": "sgd", "nesterov": "1"}
    grouping = group_runs(project)
    assert ([len(group.runs) for group in grouping.groups], grouping.left_out) == ([2], ("seed",))
    (imported,) = import_groups(grouping, grouping.groups)
    assert [run.series for run in imported.runs] == [run.series for run in read_one(logs / "torch").runs]
    assert [run.seeds for run in imported.runs] == [{"seed": 0}, {"seed": 1}]


def test_runs_without_hparams_are_grouped_by_a_file_of_settings_or_by_folder(logs: Path, tmp_path: Path) -> None:
    for lr in ("0.1", "0.01"):
        for seed in range(2):
            shutil.copytree(logs / "tf2" / "run", tmp_path / f"names/lr{lr}/seed_{seed}")
            folder = shutil.copytree(logs / "tf2" / "run", tmp_path / f"files/{lr}/version_{seed}")
            (folder / "config.json").write_text(f'{{"optim": {{"lr": {lr}}}, "seed": {seed}}}', encoding="utf-8")
    names = {"files": ["files-lr=0.01", "files-lr=0.1"], "names": ["names-folder=lr0.01", "names-folder=lr0.1"]}
    for place, expected in names.items():
        grouping = group_runs(read_project(f"tensorboard:{tmp_path / place}"))
        assert [(group.name, len(group.runs)) for group in grouping.groups] == [(name, 2) for name in expected]
        assert grouping.left_out == ("seed",)


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no TensorBoard event files"):
        read_project(f"tensorboard:{tmp_path}")
    with pytest.raises(InputError, match="there are no TensorBoard event files"):
        read_project(f"tensorboard:{tmp_path}/nothing")
