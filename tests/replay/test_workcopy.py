"""Work copies: what paths mean in them, and that no original is changed."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.model import Snapshot
from deviate.records.manifest import read_manifest
from deviate.replay import workcopy
from deviate.replay.workcopy import (
    WorkCopy,
    child_environment,
    command_in_copy,
    make_work_copy,
    to_copy,
    verify_links,
)

from .conftest import Frozen

LARGE = b"x" * (1 << 20) + b"y"
Make = Callable[..., Frozen]


def copied(it: Frozen, number: int = 1) -> WorkCopy:
    return make_work_copy(it.snapshot, read_manifest(it.snapshot.folder), it.folder / f"runs/r/attempt-{number}", ".")


def test_the_copy_keeps_the_names_of_root_and_parent_and_reaches_the_siblings(frozen: Make) -> None:
    it = frozen(files={"data/a.csv": b"1"})
    (it.root.parent / "shared").mkdir()
    (it.root.parent / "shared/b.csv").write_text("2")
    copy = copied(it)
    assert copy.root == it.folder / "runs/r/attempt-1/work/home/project"
    assert (copy.cwd / "../shared/b.csv").read_text() == "2"
    assert (copy.cwd / "../project/data/a.csv").read_bytes() == b"1"
    assert copy.warnings == ()


def test_small_files_are_private_and_large_ones_shared(frozen: Make) -> None:
    it = frozen(files={"small.csv": b"1", "large.bin": LARGE})
    copy = copied(it)
    assert (copy.root / "large.bin").samefile(it.root / "large.bin")
    (copy.root / "small.csv").write_text("changed")
    assert (it.root / "small.csv").read_bytes() == b"1"
    assert (copied(it, 2).root / "small.csv").read_bytes() == b"1"


def test_copies_keep_mode_and_time(frozen: Make) -> None:
    it = frozen(files={"run.sh": b"#!/bin/sh\n"})
    (it.snapshot.folder / "tree/run.sh").chmod(0o750)
    os.utime(it.snapshot.folder / "tree/run.sh", ns=(5, 7_000_000_001))
    facts = (copied(it).root / "run.sh").stat()
    assert (facts.st_mode & 0o777, facts.st_mtime_ns) == (0o750, 7_000_000_001)


@pytest.mark.parametrize("can_clone", [True, False])
def test_bytes_are_the_same_with_and_without_clones(
    frozen: Make, monkeypatch: pytest.MonkeyPatch, *, can_clone: bool
) -> None:
    if not can_clone:
        monkeypatch.delattr(os, "copy_file_range", raising=False)
    it = frozen(files={"data.bin": bytes(range(256)) * 300, "empty": b""})
    copy = copied(it)
    assert (copy.root / "data.bin").read_bytes() == bytes(range(256)) * 300
    assert (copy.root / "empty").read_bytes() == b""


def test_a_crowd_of_siblings_is_limited_and_told(frozen: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workcopy, "MOST_SIBLINGS", 2)
    it = frozen()
    for name in "abc":
        (it.root.parent / name).touch()
    copy = copied(it)
    assert sorted(path.name for path in copy.root.parent.iterdir()) == ["a", "b", "project"]
    assert "3 entries" in copy.warnings[0]


def test_absolute_paths_into_the_project_are_taken_into_the_copy(frozen: Make) -> None:
    it = frozen(files={".venv/pyvenv.cfg": b"", "data/a.csv": b""})
    manifest, root = read_manifest(it.snapshot.folder), Path("/copy")
    assert command_in_copy(
        (f"{it.root}/.venv/bin/python", f"{it.root}/train.py", f"--data={it.root}/data", f"{it.root}x/y", "a=b", "rel"),
        manifest,
        root,
    ) == (f"{it.root}/.venv/bin/python", "/copy/train.py", "--data=/copy/data", f"{it.root}x/y", "a=b", "rel")
    assert to_copy(str(it.root), manifest, root) == "/copy"
    assert to_copy(f"{it.root}/.deviate/x", manifest, root) == f"{it.root}/.deviate/x"


def test_the_child_finds_the_guest_first_and_the_users_path_after(frozen: Make) -> None:
    it = frozen()
    copy = copied(it)
    (spec,) = it.specs(1)
    theirs = os.pathsep.join(["src", "", f"{it.root}/lib", "/elsewhere"])
    base = {"PYTHONPATH": theirs, "PWD": str(it.root), "HOME": "/h", "PYTHONDONTWRITEBYTECODE": "1"}
    attempt = it.folder / "runs/r/attempt-1"
    environment = child_environment(base, spec, it.snapshot, read_manifest(it.snapshot.folder), attempt, copy)
    guest = str(it.snapshot.folder / "guest")
    assert environment["PYTHONPATH"].split(os.pathsep) == [guest, "src", "", f"{copy.root}/lib", "/elsewhere"]
    assert environment["PWD"] == str(copy.cwd)
    assert environment["HOME"] == "/h"
    assert {key for key in environment if key not in base} == {
        "DEVIATE_RUN_DIR", "DEVIATE_SPEC", "DEVIATE_GUEST", "DEVIATE_ROOT", "DEVIATE_WORK", "DEVIATE_VARIANT",
        "DEVIATE_REPLICATE",
    }  # fmt: skip


def test_without_a_path_of_the_users_only_the_guest_is_on_it(frozen: Make) -> None:
    it = frozen()
    copy = copied(it)
    manifest = read_manifest(it.snapshot.folder)
    environment = child_environment({}, it.specs(1)[0], it.snapshot, manifest, it.folder, copy)
    assert environment["PYTHONPATH"] == str(it.snapshot.folder / "guest")


def test_what_a_shell_sets_for_determinism_does_not_reach_runs_whose_kernels_are_free(frozen: Make) -> None:
    it = frozen()
    copy = copied(it)
    manifest = read_manifest(it.snapshot.folder)
    base = {
        "CUBLAS_WORKSPACE_CONFIG": ":16:8",
        "XLA_FLAGS": "--xla_gpu_deterministic_ops=true --xla_dump_to=x",
        "HOME": "/h",
    }
    (spec,) = it.specs(1)
    free = dataclasses.replace(spec, controls=(("kernels", "default"),))
    untouched = dataclasses.replace(spec, controls=())
    environment = child_environment(base, free, it.snapshot, manifest, it.folder, copy)
    assert "CUBLAS_WORKSPACE_CONFIG" not in environment
    assert environment["XLA_FLAGS"] == "--xla_dump_to=x"
    assert base.items() <= child_environment(base, untouched, it.snapshot, manifest, it.folder, copy).items()


def breaches(snapshot: Snapshot) -> tuple[str, ...]:
    return verify_links(snapshot, read_manifest(snapshot.folder))


def test_a_large_file_changed_in_place_is_told_and_a_replaced_one_is_nobodys_harm(frozen: Make) -> None:
    it = frozen(files={"a.bin": LARGE, "b.bin": LARGE})
    assert breaches(it.snapshot) == ()
    (it.root / "new").write_bytes(b"new")
    (it.root / "new").replace(it.root / "a.bin")
    assert breaches(it.snapshot) == ()
    with (copied(it).root / "b.bin").open("r+b") as file:
        file.write(b"Z")
    (warning,) = breaches(it.snapshot)
    assert warning.startswith("b.bin was changed in place")


def test_the_working_folder_is_there_even_when_it_was_not_copied(frozen: Make) -> None:
    it = frozen()
    copy = make_work_copy(it.snapshot, read_manifest(it.snapshot.folder), it.folder / "runs/r/attempt-1", "out/deep")
    assert copy.cwd == copy.root / "out/deep"
    assert copy.cwd.is_dir()
