"""The work copy of a run: fast to create, with unchanged path names, and protected from changing originals."""
# One Path per file would double the time of a copy of many small files:
# ruff: noqa: PTH100, PTH101, PTH102, PTH115, PTH116, PTH123, PTH211

import contextlib
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deviate.base.setting_variables import without_settings
from deviate.model.places import project_in_attempt
from deviate.model.plan import Snapshot, Spec
from deviate.records.layout import spec_file
from deviate.records.schema import FileEntry, Manifest
from deviate.replay.variants import HELD

MOST_SIBLINGS = 1_000
"""Maximum number of entries beside the project that the copy links to; a folder with more is like /tmp."""
MOST_TOLD = 5
"""Maximum number of changed files that are named one by one."""
DETERMINISTIC = (
    "CUBLAS_WORKSPACE_CONFIG", "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TORCHINDUCTOR_DETERMINISTIC",
)  # fmt: skip
DETERMINISTIC_XLA = ("--xla_gpu_deterministic_ops", "--xla_gpu_exclude_nondeterministic_ops")
"""Settings of a shell that would hide implementation noise where kernels are free."""
MEASURING = (
    "TORCHINDUCTOR_MAX_AUTOTUNE", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM", "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE",
    "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING", "PYTORCH_TUNABLEOP_ENABLED",
)  # fmt: skip
"""Settings of a shell with which PyTorch chooses kernels by their measured time, where autotuning is held.

Source: torch/_inductor/config.py; torch/cuda/tunable.py.
"""


@dataclass(frozen=True, slots=True)
class WorkCopy:
    """The folder in which a run works.

    Attributes:
        root: what the project root is in the copy.
        cwd: the working folder of the command in it.
    """

    root: Path
    cwd: Path
    warnings: tuple[str, ...] = ()


def make_work_copy(snapshot: Snapshot, manifest: Manifest, attempt: Path, cwd: str) -> WorkCopy:
    """Copy the snapshot's tree to `work/<parent>/<root>/`, with links to the neighbours of the original root.

    The working folder, relative paths including `../data`, and paths on the command line therefore keep their meaning.
    """
    root = root_in_copy(snapshot, attempt)
    root.parent.mkdir(parents=True)
    warnings = _link_siblings(snapshot.root, root.parent)
    _copy_folder(os.fspath(snapshot.folder / "tree"), os.fspath(root), "", manifest.of_kind("shared", "linked").keys())
    folder = root / cwd
    folder.mkdir(parents=True, exist_ok=True)
    return WorkCopy(root, folder, warnings)


def root_in_copy(snapshot: Snapshot, attempt: Path) -> Path:
    """What the project root is in the work copy of an attempt."""
    return attempt / project_in_attempt(snapshot.root)


def remove_work_copy(attempt: Path) -> bool:
    """Remove a work copy without following links; returns whether nothing is left of it."""
    work = attempt / "work"
    if work.is_symlink():
        work.unlink()
    shutil.rmtree(work, ignore_errors=True)
    if work.exists():
        _unlock(os.fspath(work))
        shutil.rmtree(work, ignore_errors=True)
    return not work.exists()


def _unlock(folder: str) -> None:
    """Make folders writable before removal, as runs may have protected their files."""
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _unlock(entry.path)


def import_path(base: Mapping[str, str], spec: Spec) -> str:
    """The PYTHONPATH that the user set for the run, else that of the shell; empty if neither is set."""
    return dict(spec.environment).get("PYTHONPATH", base.get("PYTHONPATH", ""))


def child_environment(
    base: Mapping[str, str], spec: Spec, snapshot: Snapshot, manifest: Manifest, attempt: Path, copy: WorkCopy
) -> dict[str, str]:
    """Environment of the child: variables of the user, of the spec, and of the guest."""
    guest = str((snapshot.folder / "guest").absolute())
    theirs = import_path(base, spec)
    entries = [to_copy(entry, manifest, copy.root) for entry in theirs.split(os.pathsep)] if theirs else []
    environment = {
        **_without_contradictions(base, spec),
        "DEVIATE_REPLICATE": str(spec.replicate),  # a test of `deviate diverge` sets that of the run that it repeats
        **dict(spec.environment),
        "PYTHONPATH": os.pathsep.join([guest, *entries]),
        "DEVIATE_RUN_DIR": str(attempt.absolute()),
        "DEVIATE_SPEC": str(spec_file(attempt.parent).absolute()),
        "DEVIATE_GUEST": guest,
        "DEVIATE_ROOT": manifest.root,
        "DEVIATE_WORK": str(copy.root.absolute()),
        "DEVIATE_VARIANT": spec.variant,
    }
    if "PWD" in base:
        environment["PWD"] = str(copy.cwd.absolute())  # as a shell would set it
    return environment


def _without_contradictions(base: Mapping[str, str], spec: Spec) -> dict[str, str]:
    """The user's variables but those of settings, and those that undo what the variant holds or frees."""
    inherited, controls = without_settings(base), dict(spec.controls)
    if controls.get("autotune") == HELD["autotune"]:
        inherited = {name: value for name, value in inherited.items() if name not in MEASURING}
    if controls.get("kernels") != "default":
        return inherited
    inherited = {name: value for name, value in inherited.items() if name not in DETERMINISTIC}
    flags = [flag for flag in inherited.pop("XLA_FLAGS", "").split() if not flag.startswith(DETERMINISTIC_XLA)]
    return {**inherited, "XLA_FLAGS": " ".join(flags)} if flags else inherited


def to_copy(path: str, manifest: Manifest, root: Path) -> str:
    """Map an absolute path in the project to the copy; other paths are unchanged.

    Linked files keep their original path: an interpreter in `.venv` is the user's, not a copy.
    """
    if not path.startswith(f"{manifest.root}/") and path != manifest.root:
        return path
    inside = PurePosixPath(os.path.relpath(path, manifest.root))
    if inside.parts[:1] in ((".deviate",), ("..",)):
        return path
    linked = manifest.of_kind("symlinked", "environment")
    if any(str(part) in linked for part in (inside, *inside.parents)):
        return path
    return str(root.absolute() / inside)


def command_in_copy(command: tuple[str, ...], manifest: Manifest, root: Path) -> tuple[str, ...]:
    """The command with absolute paths in the project mapped to the copy, including `--option=/path`."""
    words: list[str] = []
    for word in command:
        option, equals, value = word.partition("=")
        is_option = bool(equals) and option.startswith("-")
        words.append(f"{option}={to_copy(value, manifest, root)}" if is_option else to_copy(word, manifest, root))
    return tuple(words)


def verify_links(snapshot: Snapshot, manifest: Manifest) -> tuple[str, ...]:
    """Sentences about linked files and folders that changed since they were frozen, by a run or by someone else."""
    tree = os.fspath(snapshot.folder / "tree")
    shared = _list_few(_list_changed(tree, manifest.of_kind("shared")))
    linked = _list_few(_list_changed(tree, manifest.of_kind("linked", "symlinked")))
    return (
        *(
            f"{names} was changed in place by a run: your own file is unchanged, but later runs read the change"
            for names in shared
        ),
        *(
            f"{names} was changed in place after it was frozen, by a run or another program: your file may be "
            "damaged, and later runs read the change"
            for names in linked
        ),
    )


def _list_changed(tree: str, links: Mapping[str, FileEntry]) -> list[str]:
    return [name for name, frozen in links.items() if not _is_unchanged(f"{tree}/{name}", frozen)]


def _is_unchanged(path: str, frozen: FileEntry) -> bool:
    try:
        facts = os.stat(path)
    except OSError:
        return False
    return facts.st_mtime_ns == frozen.mtime_ns and frozen.size in (None, facts.st_size)


def _list_few(names: Sequence[str]) -> list[str]:
    """Sentences for each path, or one sentence for all if there are many."""
    more = len(names) - MOST_TOLD
    return list(names) if more <= 0 else [*names[: MOST_TOLD - 1], f"{names[MOST_TOLD - 1]} and {more} others"]


def _link_siblings(root: Path, parent: Path) -> tuple[str, ...]:
    try:
        siblings = sorted(entry.name for entry in os.scandir(root.parent) if entry.name != root.name)
    except OSError as error:
        return (f"entries beside the project cannot be reached in the runs: {error}",)
    for name in siblings[:MOST_SIBLINGS]:
        (parent / name).symlink_to(root.parent / name)
    if len(siblings) > MOST_SIBLINGS:
        reached = f"runs reach the first {MOST_SIBLINGS} by `..`, the others only by an absolute path"
        # Without their number, which may be another in each run: the report merges equal sentences.
        return (f"{root.parent} holds more than {MOST_SIBLINGS} entries beside the project; {reached}",)
    return ()


def _copy_folder(source: str, target: str, relative: str, links: AbstractSet[str]) -> None:
    os.mkdir(target)
    with os.scandir(source) as entries:
        for entry in entries:
            place, name = f"{target}/{entry.name}", f"{relative}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                _copy_folder(entry.path, place, f"{name}/", links)
            elif name in links or entry.is_symlink():  # a symbolic link cannot be written to, so one can be shared
                _link(entry, place)
            else:
                _copy_file(entry.path, place)


def _link(entry: os.DirEntry[str], place: str) -> None:
    try:
        os.link(entry.path, place, follow_symlinks=False)
    except OSError:  # ext4 limits a file to 65,000 hard links, and some file systems have no links
        os.symlink(os.readlink(entry.path) if entry.is_symlink() else os.path.abspath(entry.path), place)


def _copy_file(source: str, target: str) -> None:
    """Copy contents, mode and times, by reference where the file system supports it.

    Source: copy_file_range(2), which clones extents on Btrfs, XFS and others; elsewhere it copies in the kernel.
    """
    if not _clone(source, target):
        shutil.copyfile(source, target)
    shutil.copystat(source, target)


def _clone(source: str, target: str) -> bool:
    if not hasattr(os, "copy_file_range"):
        return False
    with contextlib.suppress(OSError), open(source, "rb", 0) as reader, open(target, "wb", 0) as writer:
        remaining = os.fstat(reader.fileno()).st_size
        while remaining:
            done = os.copy_file_range(reader.fileno(), writer.fileno(), remaining)
            if not done:
                return False
            remaining -= done
        return True
    return False
