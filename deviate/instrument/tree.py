"""The tree of a snapshot: what of a project is copied, what is linked, and what starts empty.

Folders are real, source and small files are copied, large files are linked one by one, and only a folder of very many
files is linked whole. Nothing that the script may need is left out: files that git ignores are often the data.
"""
# A data set may have a million files, and one Path per file would take most of the time:
# ruff: noqa: PTH110, PTH112, PTH115, PTH117, PTH118, PTH120, PTH122, PTH123, PTH206

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

COPY_BELOW = 1 << 20
"""Bytes up to which a file is copied rather than linked."""
LINK_WHOLE_ABOVE = 10_000
"""Files above which a folder is linked whole."""
SOURCE_SUFFIXES = frozenset({".py", ".pyi", ".pyx", ".sh", ".bash"})
"""Code: copied whatever its size, for nothing may be instrumented or changed through a link."""
LEFT_OUT = frozenset({".deviate", ".git", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"})
NOT_HASHED = frozenset({"deviate.toml"})
"""The user's choice of metrics is no part of what runs."""
DOCUMENTS = frozenset({".html", ".pdf", ".tex", ".svg", ".md", ".log"})
"""Nor is what people read: a report written beside the script must not make it another script."""

FileKind = Literal["copied", "linked", "symlinked"]


@dataclass(frozen=True, slots=True)
class FrozenFile:
    """A file of the tree: `sha256` for a copied one, size and time for a linked one, which may change under us."""

    kind: FileKind
    size: int
    mtime_ns: int
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class LinkedFolder:
    """A folder that the tree only points to."""

    mtime_ns: int
    is_environment: bool


@dataclass(slots=True)
class Tree:
    """What was frozen, by path relative to the root with forward slashes.

    Attributes:
        links: symbolic links of the project and where they point in the tree.
        emptied: outputs that were there and start empty or absent.
        warnings: what could not be taken, for the user.
    """

    files: dict[str, FrozenFile] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    linked_folders: dict[str, LinkedFolder] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    emptied: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def freeze_tree(
    root: Path, target: Path, *, empty: Sequence[str], copy_below: int = COPY_BELOW, link_above: int = LINK_WHOLE_ABOVE
) -> Tree:
    """Copy and link the project into `target`, which must not exist.

    Args:
        empty: paths relative to the root that start empty (a folder) or absent (a file).
    """
    tree = Tree()
    heavy = _heavy_folders(root, link_above)
    without = {str(PurePosixPath(path)) for path in empty} - {"."}
    target.mkdir(parents=True)
    _freeze_folder(root, target, "", tree, heavy, without, copy_below)
    return tree


def is_seen(name: str) -> bool:
    """Whether a file is part of what runs: neither a document nor the user's choice of metrics."""
    return name not in NOT_HASHED and os.path.splitext(name)[1] not in DOCUMENTS


def hash_tree(tree: Tree) -> str:
    """SHA-256 over the names of all files and links, the bytes of copied files, size and time of linked ones.

    Documents and `deviate.toml` are left out.
    """
    digest = hashlib.sha256()
    entries = [
        (name, file.sha256 or f"{file.size} {file.mtime_ns}") for name, file in tree.files.items() if is_seen(name)
    ]
    entries += [(name, f"-> {target}") for name, target in tree.links.items()]
    entries += [(name, f"{it.mtime_ns}") for name, it in tree.linked_folders.items() if not it.is_environment]
    for name, content in sorted(entries):
        digest.update(f"{name}\0{content}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _heavy_folders(root: Path, link_above: int) -> frozenset[str]:
    """Folders that are linked whole: the deepest ones that hold too many files, and no code."""
    heavy: set[str] = set()

    def count(folder: str, relative: str) -> tuple[int, bool]:
        n_files, has_source = 0, False
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in LEFT_OUT and not _is_environment(entry.path):
                    inner, inner_source = count(entry.path, f"{relative}{entry.name}/")
                    n_files, has_source = n_files + inner, has_source or inner_source
            else:
                n_files += 1
                has_source = has_source or os.path.splitext(entry.name)[1] in SOURCE_SUFFIXES
        if n_files > link_above and relative and not has_source:
            heavy.add(relative.rstrip("/"))
            return 0, False
        return n_files, has_source

    count(os.fspath(root), "")
    return frozenset(heavy)


def _freeze_folder(
    root: Path, target: Path, relative: str, tree: Tree, heavy: frozenset[str], without: set[str], copy_below: int
) -> None:
    for entry in sorted(_entries(root / relative, tree.warnings), key=lambda entry: entry.name):
        name = f"{relative}{entry.name}"
        place = target / name
        try:
            if entry.is_symlink():
                if name not in without:
                    tree.links[name] = _link_target(root, name, os.readlink(entry.path))
                    place.symlink_to(tree.links[name])
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == ".git" or (is_folder and entry.name in LEFT_OUT):
                continue
            if name in without:
                tree.emptied.append(name)
                if is_folder:
                    place.mkdir()
                    tree.folders.append(name)
            elif is_folder and (name in heavy or _is_environment(entry.path)):
                place.symlink_to(entry.path, target_is_directory=True)
                is_environment = name not in heavy
                tree.linked_folders[name] = LinkedFolder(entry.stat().st_mtime_ns, is_environment)
            elif is_folder:
                place.mkdir()
                tree.folders.append(name)
                _freeze_folder(root, target, f"{name}/", tree, heavy, without, copy_below)
            elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
                tree.files[name] = _freeze_file(entry, place, copy_below)
        except OSError as error:
            tree.warnings.append(f"{name} could not be taken into the snapshot: {error.strerror or error}")


def _freeze_file(entry: os.DirEntry[str], place: Path, copy_below: int) -> FrozenFile:
    facts = entry.stat(follow_symlinks=False)
    if facts.st_size <= copy_below or place.suffix in SOURCE_SUFFIXES:
        try:
            shutil.copy2(entry.path, place)
            with open(place, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            return FrozenFile("copied", facts.st_size, facts.st_mtime_ns, digest)
        except PermissionError:  # the run may not be able to read it either; it decides
            place.unlink(missing_ok=True)
    try:
        os.link(entry.path, place, follow_symlinks=False)
        return FrozenFile("linked", facts.st_size, facts.st_mtime_ns)
    except OSError:  # another device, or a file of somebody else's
        place.symlink_to(entry.path)
        return FrozenFile("symlinked", facts.st_size, facts.st_mtime_ns)


def _link_target(root: Path, name: str, target: str) -> str:
    """Where a symbolic link has to point in the tree: within the project relative, outside it absolute."""
    folder = os.path.join(root, os.path.dirname(name))
    absolute = os.path.normpath(os.path.join(folder, target))
    inside = os.path.relpath(absolute, root)
    if inside.split(os.sep)[0] == os.pardir:
        return absolute
    if any(part in LEFT_OUT for part in Path(inside).parts):
        return absolute
    return target if not os.path.isabs(target) else os.path.relpath(absolute, folder)


def _is_environment(folder: str) -> bool:
    """Virtual environments are linked, so that `.venv/bin/python` and `source .venv/bin/activate` work in a run."""
    return os.path.exists(os.path.join(folder, "pyvenv.cfg")) or os.path.isdir(os.path.join(folder, "conda-meta"))


def _entries(folder: str | Path, warnings: list[str] | None = None) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as error:
        if warnings is not None:
            warnings.append(f"folder {folder} could not be read: {error.strerror or error}")
