"""Work copies: what paths mean in them, and that no original is changed."""

import dataclasses
import os
import random
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.instrument.snapshot import note_prepared
from deviate.instrument.tree import CROWD_ABOVE
from deviate.model.plan import Snapshot
from deviate.records.snapshot import read_manifest
from deviate.replay import workcopy
from deviate.replay.workcopy import (
    WorkCopy,
    child_environment,
    command_in_copy,
    make_work_copy,
    remove_work_copy,
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
    assert "holds more than 2 entries" in copy.warnings[0]


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
    shell = {**base, "DEVIATE_RUNS": "9", "DEVIATE_DEBUG": "1"}
    environment = child_environment(shell, spec, it.snapshot, read_manifest(it.snapshot.folder), attempt, copy)
    guest = str(it.snapshot.folder / "guest")
    assert environment["PYTHONPATH"].split(os.pathsep) == [guest, "src", "", f"{copy.root}/lib", "/elsewhere"]
    assert environment["PWD"] == str(copy.cwd)
    assert environment["HOME"] == "/h"
    assert {key for key in environment if key not in base} == {
        "DEVIATE_RUN_DIR", "DEVIATE_SPEC", "DEVIATE_GUEST", "DEVIATE_ROOT", "DEVIATE_WORK", "DEVIATE_VARIANT",
        "DEVIATE_REPLICATE",
    }  # fmt: skip


def test_a_path_that_is_given_to_the_runs_stands_in_place_of_the_shells(frozen: Make) -> None:
    it = frozen()
    copy = copied(it)
    spec = dataclasses.replace(it.specs(1)[0], environment=(("PYTHONPATH", f"{it.root}/lib"),))
    base = {"PYTHONPATH": "/elsewhere"}
    environment = child_environment(base, spec, it.snapshot, read_manifest(it.snapshot.folder), it.folder, copy)
    assert environment["PYTHONPATH"].split(os.pathsep) == [str(it.snapshot.folder / "guest"), f"{copy.root}/lib"]


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


def crowd(*, more: int = 1) -> dict[str, bytes]:
    return {f"data/{number}.png": b"%d" % number for number in range(CROWD_ABOVE + more)}


def test_files_of_a_crowd_are_names_of_the_snapshots_copy_and_never_of_the_users_file(frozen: Make) -> None:
    it = frozen(files={**crowd(), "data/labels.csv": b"1"})
    one, two = copied(it, 1).root, copied(it, 2).root
    assert (one / "data/7.png").samefile(two / "data/7.png")
    assert (one / "data/7.png").samefile(it.snapshot.folder / "tree/data/7.png")
    assert not (one / "data/7.png").samefile(it.root / "data/7.png")
    assert not (one / "data/labels.csv").samefile(two / "data/labels.csv")


def test_a_crowd_costs_no_inodes_per_run(frozen: Make) -> None:
    it = frozen(files=crowd())
    kept = {path.lstat().st_ino for path in (it.snapshot.folder / "tree").rglob("*")}
    made = {path.lstat().st_ino for path in copied(it).root.rglob("*")} - kept
    assert len(made) == 2  # the folder data, and the script


def test_a_shell_that_writes_in_place_damages_no_file_of_the_users_and_is_told(frozen: Make) -> None:
    it = frozen(files=crowd())
    subprocess.run("echo more >> data/3.png; echo new > data/4.png", shell=True, cwd=copied(it).root, check=True)
    assert [(it.root / f"data/{number}.png").read_bytes() for number in (3, 4)] == [b"3", b"4"]
    told = breaches(it.snapshot)
    assert [text.split(" in place")[0] for text in told] == ["data/3.png was changed", "data/4.png was changed"]
    assert all("your own file is unchanged" in text for text in told)


def test_much_damage_is_told_in_a_few_sentences(frozen: Make) -> None:
    it = frozen(files=crowd())
    for path in (it.snapshot.folder / "tree/data").iterdir():
        os.utime(path)
    told = breaches(it.snapshot)
    assert len(told) == workcopy.MOST_TOLD
    assert f"and {CROWD_ABOVE + 1 - workcopy.MOST_TOLD} others was changed" in told[-1]


def test_an_edit_by_the_user_is_seen_by_no_run_and_is_no_breach(frozen: Make) -> None:
    it = frozen(files=crowd())
    (it.root / "data/3.png").write_text("edited")
    assert (copied(it).root / "data/3.png").read_bytes() == b"3"
    assert breaches(it.snapshot) == ()


def test_large_files_that_were_prepared_in_the_tree_are_linked_and_verified(frozen: Make) -> None:
    it = frozen()
    made = it.snapshot.folder / "tree/made.bin"
    made.write_bytes(LARGE)
    (it.snapshot.folder / "tree/small.csv").write_text("1")
    note_prepared(it.snapshot)
    copy = copied(it)
    assert (copy.root / "made.bin").samefile(made)
    assert (copy.root / "small.csv").read_text() == "1"
    assert breaches(it.snapshot) == ()
    with (copy.root / "made.bin").open("ab") as file:
        file.write(b"more")
    assert len(breaches(it.snapshot)) == 1


def test_symbolic_links_cost_no_inodes_and_point_where_they_pointed(frozen: Make) -> None:
    it = frozen(files={"a.csv": b"1"})
    (it.snapshot.folder / "tree/link").symlink_to("a.csv")
    (it.snapshot.folder / "tree/dangling").symlink_to("nowhere")
    root = copied(it).root
    assert {name: str((root / name).readlink()) for name in ("link", "dangling")} == {
        "link": "a.csv", "dangling": "nowhere",
    }  # fmt: skip
    assert (root / "link").lstat().st_ino == (it.snapshot.folder / "tree/link").lstat().st_ino
    (root / "link").unlink()
    assert (it.snapshot.folder / "tree/link").is_symlink()


def test_without_hard_links_a_crowd_is_reached_through_symbolic_ones(
    frozen: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = frozen(files=crowd())
    (it.snapshot.folder / "tree/link").symlink_to("data")

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    root = copied(it).root
    assert (root / "data/3.png").resolve() == (it.snapshot.folder / "tree/data/3.png").resolve()
    assert str((root / "link").readlink()) == "data"


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_of_any_tree_has_its_content_modes_times_and_links(frozen: Make, seed: int) -> None:
    rng = random.Random(seed)
    it = frozen(files=crowd(more=rng.choice([0, 1])))
    tree = it.snapshot.folder / "tree"
    for number in range(40):
        path = tree / f"{rng.choice(['', 'a b/', 'data/', 'data/ö/'])}x{number}{rng.choice(['', '.py', '.csv'])}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.randbytes(rng.choice([0, 10, 5_000])))
        path.chmod(rng.choice([0o644, 0o600, 0o755, 0o444]))
        os.utime(path, ns=(5, rng.randrange(10**18)))
    root = copied(it).root

    def facts(folder: Path) -> dict[str, tuple[int, int, bytes]]:
        return {
            str(path.relative_to(folder)): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
            for path in folder.rglob("*")
            if path.is_file()
        }

    assert facts(root) == facts(tree)
    assert [path.name for path in root.rglob("*") if path.is_dir()] == [
        path.name for path in tree.rglob("*") if path.is_dir()
    ]


def test_a_work_copy_is_removed_without_following_links_and_what_it_was_made_of_stays(frozen: Make) -> None:
    it = frozen(files={**crowd(), "large.bin": LARGE})
    (it.root.parent / "shared").mkdir()
    (it.root.parent / "shared/b.csv").write_text("2")
    root = copied(it).root
    (root / "way_out").symlink_to(it.root)
    (root / "locked/deep").mkdir(parents=True)
    (root / "locked/deep/file").touch()
    (root / "locked/deep").chmod(stat.S_IRUSR)
    (root / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
    attempt = it.folder / "runs/r/attempt-1"
    (attempt / "stdout.log").write_text("kept")
    assert remove_work_copy(attempt)
    assert remove_work_copy(attempt)  # there is none any more
    assert [path.name for path in attempt.iterdir()] == ["stdout.log"]
    assert (it.root.parent / "shared/b.csv").read_text() == "2"
    assert (it.root / "large.bin").stat().st_size == len(LARGE)
    assert len(list((it.root / "data").iterdir())) == CROWD_ABOVE + 1
    assert breaches(it.snapshot) == ()


def test_a_work_folder_that_is_a_link_loses_the_link_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").touch()
    (tmp_path / "work").symlink_to(tmp_path / "elsewhere")
    remove_work_copy(tmp_path)
    assert not (tmp_path / "work").is_symlink()
    assert (tmp_path / "elsewhere/file").exists()
