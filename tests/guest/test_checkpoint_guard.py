"""A run that picks up a checkpoint of an earlier training tells so, and no other does."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import Child, Result

pytestmark = pytest.mark.requires("torch")

HEAD = "import os, torch\nmodel = torch.nn.Linear(2, 1)\nstart = 0\n"
RESUME = (
    HEAD
    + """\
if os.path.exists({path!r}):
    state = torch.load({path!r})
    model.load_state_dict(state["model"])
    start = state["epoch"] + 1
for epoch in range(start, 6):
    model(torch.ones(1, 2)).sum().backward()
    print("loss", epoch)
"""
)
WRITE = """\
    os.makedirs(os.path.dirname({path!r}) or '.', exist_ok=True)
    torch.save({{'model': model.state_dict(), 'epoch': epoch}}, {path!r})
"""
LOAD = (
    HEAD
    + """\
model.load_state_dict(torch.load({path!r})["model"])
for epoch in range(3):
    print("loss", epoch)
"""
)
READ = "open({path!r}, 'rb').read()\nfor epoch in range(3):\n    print('loss', epoch)\n"


def project(folder: Path) -> Path:
    work = folder / "attempt-1" / "work" / "parent" / "project"
    work.mkdir(parents=True, exist_ok=True)
    return work


def leave(folder: Path, path: str, epoch: int = 2) -> None:
    """What an earlier training has left: written by PyTorch, an hour before the run."""
    import torch

    place = project(folder) / path
    place.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": torch.nn.Linear(2, 1).state_dict(), "epoch": epoch}, place)
    os.utime(place, (time.time() - 3600,) * 2)


def put(folder: Path, path: str, content: bytes = b"old") -> None:
    """A file of any content that is as old."""
    place = project(folder) / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    os.utime(place, (time.time() - 3600,) * 2)


def run(folder: Path, text: str, *arguments: str, loop: str = "range(", lines: int = 4, **variables: str) -> Result:
    project(folder)
    child = Child(folder, text)
    marked = next(line for line in text.splitlines() if line.startswith(("for epoch", "while"))).partition(" in ")[2]
    first = text[: text.index(marked)].count("\n") + 1
    child.loop(marked.rstrip(":"), first + lines)
    result = child.run(*arguments, environment=dict(variables))
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def test_a_script_that_resumes_where_it_finds_a_checkpoint_is_told_of_with_its_file(tmp_path: Path) -> None:
    leave(tmp_path, "checkpoints/last.pt")
    result = run(tmp_path, RESUME.format(path="checkpoints/last.pt") + WRITE.format(path="checkpoints/last.pt"))
    assert result.of("checkpoint") == [["checkpoints/last.pt", "its name says that it is the checkpoint of a training"]]


def test_a_checkpoint_of_any_name_is_known_by_where_the_main_loop_begins(tmp_path: Path) -> None:
    leave(tmp_path, "out/resnet.pt")
    result = run(tmp_path, RESUME.format(path="out/resnet.pt"))
    assert result.of("checkpoint") == [["out/resnet.pt", "the main loop begins at 3"]]


def test_a_progress_bar_hides_nothing_of_where_the_main_loop_begins(tmp_path: Path) -> None:
    leave(tmp_path, "out/resnet.pt")
    bar = """\
class tqdm:
    def __init__(self, iterable):
        self.iterable = iterable
    def __iter__(self):
        return iter(self.iterable)
"""
    text = bar + RESUME.format(path="out/resnet.pt").replace("range(start, 6)", "tqdm(range(start, 6))")
    assert run(tmp_path, text).of("checkpoint") == [["out/resnet.pt", "the main loop begins at 3"]]


def test_a_checkpoint_of_any_name_is_known_by_the_run_that_writes_it_again(tmp_path: Path) -> None:
    leave(tmp_path, "out/resnet.pt", epoch=-1)
    result = run(tmp_path, RESUME.format(path="out/resnet.pt") + WRITE.format(path="out/resnet.pt"))
    assert result.of("checkpoint") == [["out/resnet.pt", "the run writes it again"]]


def test_a_checkpoint_that_is_written_beside_and_moved_is_known_too(tmp_path: Path) -> None:
    leave(tmp_path, "resnet.pt", epoch=-1)
    text = (
        RESUME.format(path="resnet.pt")
        + WRITE.format(path="resnet.tmp.pt")
        + "    os.replace('resnet.tmp.pt', 'resnet.pt')\n"
    )
    assert run(tmp_path, text, lines=5).of("checkpoint") == [["resnet.pt", "the run writes it again"]]


@pytest.mark.parametrize(
    ("library", "file", "load", "save"),
    [
        ("safetensors.numpy as st, numpy", "resnet.safetensors", "st.load_file(file)", "st.save_file(state, file)"),
        ("h5py", "model.h5", "h5py.File(file)['x'][()]", "h5py.File(file, 'w')['x'] = 1"),
    ],
)
def test_files_that_are_opened_in_other_languages_are_known_too(
    tmp_path: Path, library: str, file: str, load: str, save: str
) -> None:
    pytest.importorskip(library.partition(".")[0])
    text = f"""\
import {library}
file, state = {file!r}, {{}}
{load}
for epoch in range(2):
    {save}
"""
    project(tmp_path)
    made = text.replace(load, save).partition("for ")[0]
    subprocess.run([sys.executable, "-c", made], cwd=project(tmp_path), check=True)
    os.utime(project(tmp_path) / file, (time.time() - 3600,) * 2)
    assert run(tmp_path, text, lines=1).of("checkpoint") == [[file, "the run writes it again"]]


def test_a_checkpoint_outside_the_project_is_known_by_its_whole_path(tmp_path: Path) -> None:
    leave(tmp_path, "../../../../elsewhere/resnet.pt")
    path = str(tmp_path / "elsewhere" / "resnet.pt")
    assert run(tmp_path, RESUME.format(path=path)).of("checkpoint") == [[path, "the main loop begins at 3"]]


@pytest.mark.parametrize(
    "path",
    [
        "checkpoint.pth.tar", "ckpt.pt", "runs/3/latest.pth", "out/checkpoint-500/optimizer.pt", "model_epoch_12.pth",
        "lightning_logs/version_0/checkpoints/epoch=9-step=1000.ckpt", "epoch=3-val_loss=0.20.ckpt", "checkpoint_10",
    ],
)  # fmt: skip
def test_a_name_that_says_nothing_but_checkpoint_is_enough(tmp_path: Path, path: str) -> None:
    put(tmp_path, path)
    assert [name for name, _ in run(tmp_path, READ.format(path=path)).of("checkpoint")] == [path]


@pytest.mark.parametrize(
    "path",
    [
        "resnet18.pth", "checkpoints/resnet18-f37072fd.pth", "weights/yolov5s_last.pt", "pretrained/checkpoint.pth",
        "checkpoints/sam_vit_h_4b8939.pth", "teacher/last.pt", "bert_model.ckpt", "sd-v1-4.ckpt", "best.pt",
        "faster_rcnn_epoch_12.pth", "init_checkpoint.pt", "model.pt", "checkpoints/model.pt",
    ],
)  # fmt: skip
def test_pretrained_weights_that_are_only_read_are_no_earlier_training(tmp_path: Path, path: str) -> None:
    put(tmp_path, path)
    assert run(tmp_path, READ.format(path=path)).of("checkpoint") == []


def test_a_checkpoint_that_the_command_names_is_meant_but_not_to_be_written_again(tmp_path: Path) -> None:
    leave(tmp_path, "ckpt.pt")
    text = LOAD.format(path="ckpt.pt")
    assert run(tmp_path, text, "--weights=ckpt.pt").of("checkpoint") == []
    again = run(tmp_path, text + WRITE.format(path="ckpt.pt"), "--weights", "ckpt.pt")
    assert again.of("checkpoint") == [["ckpt.pt", "the run writes it again"]]


def test_what_the_run_itself_has_written_may_be_read(tmp_path: Path) -> None:
    text = (
        HEAD
        + """\
torch.save({"model": model.state_dict(), "epoch": 0}, "checkpoint.pt")
torch.load("checkpoint.pt")
for epoch in range(3):
    torch.save({"model": model.state_dict(), "epoch": 0}, "checkpoint.pt")
    torch.load("checkpoint.pt")
torch.load("checkpoint.pt")
"""
    )
    assert run(tmp_path, text, lines=2).of("checkpoint") == []


def test_a_file_that_another_process_of_the_run_has_written_may_be_read(tmp_path: Path) -> None:
    text = (
        "import os, torch, subprocess, sys\n"
        + HEAD
        + """\
program = "import torch; torch.save({'model': torch.nn.Linear(2, 1).state_dict()}, 'checkpoint.pt')"
subprocess.run([sys.executable, "-c", program], check=True)
"""
        + LOAD.format(path="checkpoint.pt").partition("start = 0\n")[2]
    )
    assert run(tmp_path, text, lines=1).of("checkpoint") == []


def test_a_checkpoint_that_is_read_for_the_test_after_training_is_no_start(tmp_path: Path) -> None:
    leave(tmp_path, "last.pt")
    text = HEAD + "for epoch in range(3):\n    print('loss', epoch)\ntorch.load('last.pt')\n"
    assert run(tmp_path, text, lines=1).of("checkpoint") == []


def test_data_that_are_read_and_written_again_are_no_checkpoint(tmp_path: Path) -> None:
    names = ["data.csv", "data.npy", "train.pt", "vocab.pkl", "results.pkl", "history.json", "features.h5", "cache.bin"]
    for name in names:
        put(tmp_path, name)
    text = f"""\
names = {names!r}
for name in names:
    open(name, "rb").read()
for epoch in range(2, 4):
    for name in names:
        open(name, "wb").write(b"new")
"""
    assert run(tmp_path, text, lines=2).of("checkpoint") == []


def test_a_script_that_asks_in_vain_is_no_fault(tmp_path: Path) -> None:
    text = (
        HEAD
        + """\
try:
    torch.load("checkpoint.pt")
except FileNotFoundError:
    print("new")
for epoch in range(2):
    torch.save(model.state_dict(), "checkpoint.pt")
"""
    )
    assert run(tmp_path, text, lines=1).of("checkpoint") == []


@pytest.mark.parametrize("attempt", ["1", "3"])
def test_a_run_that_goes_on_in_its_own_work_copy_picks_up_what_it_has_left(tmp_path: Path, attempt: str) -> None:
    leave(tmp_path, "checkpoint.pt")
    text = RESUME.format(path="checkpoint.pt") + WRITE.format(path="checkpoint.pt")
    went_on = run(tmp_path, text, DEVIATE_CONTINUED=attempt)
    assert (went_on.stdout, went_on.of("checkpoint")) == ("loss 3\nloss 4\nloss 5\n", [])


def test_output_and_exit_are_the_same_with_and_without_the_watch(tmp_path: Path) -> None:
    leave(tmp_path, "out/resnet.pt")
    text = RESUME.format(path="out/resnet.pt")
    watched, free = run(tmp_path, text), run(tmp_path, text, DEVIATE_CONTINUED="1")
    assert (watched.stdout, watched.stderr) == (free.stdout, free.stderr) == ("loss 3\nloss 4\nloss 5\n", "")


AFTER = READ.replace("'rb').read()\nfor", "'rb').close()\nfor").partition("\n")[2]


@pytest.mark.parametrize(
    ("before", "path", "told"),
    [
        ("", "output/best.pt", [["output/best.pt", "train.py"]]),
        ("open('output/best.pt', 'rb').close()\n", "output/best.pt", [["output/best.pt", "train.py"]]),
        ("open('output/best.pt', 'wb').close()\n", "output/best.pt", []),
        ("", "pretrained/resnet.pt", []),
        ("", "output/data.csv", []),
    ],
)
def test_a_model_of_before_that_is_read_after_training_began_is_told_once(
    tmp_path: Path, before: str, path: str, told: list[list[str]]
) -> None:
    put(tmp_path, path)
    text = before + AFTER + f"for _ in 'ab':\n    open({path!r}, 'rb').close()\n"
    result = run(tmp_path, text, lines=1)
    assert [event[:2] for event in result.of("old model")] == told
    assert result.of("checkpoint") == []


def test_a_model_that_the_run_has_left_is_none_of_before(tmp_path: Path) -> None:
    put(tmp_path, "output/best.pt")
    text = AFTER + "open('output/best.pt', 'wb').close()\nos.utime('output/best.pt', (1, 1))\nopen('output/best.pt')\n"
    assert run(tmp_path, "import os\n" + text, lines=1).of("old model") == []


@pytest.mark.parametrize(("path", "told"), [("best.npz", [["best.npz", "train.py", 1]]), ("pretrained/best.npz", [])])
def test_a_model_of_before_is_told_where_no_main_loop_is_known(
    tmp_path: Path, path: str, told: list[list[str | int]]
) -> None:
    put(tmp_path, path)
    child = Child(tmp_path, f"open({path!r}, 'rb').close()\n")
    assert child.run(varied=()).of("old model") == told
