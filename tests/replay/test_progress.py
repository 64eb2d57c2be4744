"""Progress read from growing event files."""

from collections.abc import Callable
from pathlib import Path

from recorded import start, value_line

from deviate.analysis import analyze
from deviate.eventlog import encode
from deviate.instrument import freeze
from deviate.model import SelectedMetric
from deviate.records.snapshot import read_manifest
from deviate.replay.progress import Progress
from deviate.replay.slots import default_jobs

from .conftest import Frozen


def test_the_last_step_and_value_are_seen_and_nothing_twice(frozen: Callable[..., Frozen], tmp_path: Path) -> None:
    manifest = read_manifest(frozen().snapshot.folder)
    progress = Progress(tmp_path, manifest)
    assert not progress.look()
    path = tmp_path / "events-1-1.jsonl"
    path.write_text(start() + encode("step", 0, 4, 0.1) + value_line(0, 0.5) + encode("step", 7, 9, 0.2) + '["st')
    assert progress.look()
    assert (progress.step, progress.value) == (4, "acc 0.5")
    assert not progress.look()
    with path.open("a") as file:
        file.write('ep", 0, 5, 0.3]\n' + value_line(1, 9))
    assert progress.look()
    assert (progress.step, progress.value) == (5, "acc 0.5")


def test_a_long_file_is_read_at_its_end_only(frozen: Callable[..., Frozen], tmp_path: Path) -> None:
    progress = Progress(tmp_path, read_manifest(frozen().snapshot.folder))
    lines = [encode("step", 0, index, 0.1) + value_line(0, float("nan")) for index in range(5000)]
    (tmp_path / "events-1-1.jsonl").write_text(start() + "".join(lines))
    assert progress.look()
    assert (progress.step, progress.value) == (4999, "acc nan")


def test_the_primary_metric_is_shown_once_it_was_reported(frozen: Callable[..., Frozen], tmp_path: Path) -> None:
    manifest = read_manifest(frozen().snapshot.folder)
    (metric,) = manifest.metrics
    primary = SelectedMetric("test_acc", metric, "quality", "max")
    progress = Progress(tmp_path, manifest, primary)
    path = tmp_path / "events-1-1.jsonl"
    path.write_text(start() + encode("named", "loss", 0, [], 0.1, 0.3))
    progress.look()
    assert progress.value == "loss 0.3"
    with path.open("a") as file:
        file.write(value_line(0, 0.5) + encode("named", "loss", 0, [], 0.1, 0.2))
    progress.look()
    assert progress.value == "acc 0.5"
    with path.open("a") as file:
        file.write(encode("named", "loss", 0, [], 0.1, 0.1))
    progress.look()
    assert progress.value == "acc 0.5"


def test_there_is_always_one_job() -> None:
    assert default_jobs() >= 1


def test_values_are_named_by_their_label_and_times_are_no_values(project: Path) -> None:
    (project / "train.py").write_text(
        "import time\n"
        "def evaluate(split, acc):\n"
        "    print(f'{split} acc {acc:.4f}')\n"
        "for epoch in range(3):\n"
        "    start = time.time()\n"
        "    loss = 1 / (epoch + 1)\n"
        "    evaluate('train', epoch / 3)\n"
        "    evaluate('test', epoch / 4)\n"
        "    print('loss %.4f' % loss, time.time() - start)\n"
    )
    found = analyze(project / "train.py", project)
    sites = {metric.name: metric.site for metric in found.metrics}
    freeze(found, project / "snapshot")
    progress = Progress(project, read_manifest(project / "snapshot"))
    path = project / "events-1-1.jsonl"
    path.write_text(start() + value_line(sites["train_acc"], 0.5, label="train"))
    progress.look()
    assert progress.value == "train_acc 0.5"
    with path.open("a") as file:
        file.write(value_line(sites["test_acc"], 0.25, label="test"))
        file.write(value_line(next(m.site for m in found.metrics if m.role == "time"), 9.0))
    progress.look()
    assert progress.value == "test_acc 0.25"
