"""The tree of a snapshot: which files of a project are copied, which are linked, and which start empty.

Folders are real; source files and small files are copied, once for all runs if there are very many; large files are
linked individually; only folders with very many files are linked as a whole. Nothing that the script may need is left
out: files that git ignores are often the data.
"""
# A data set may have a million files, and one Path per file would take most of the time:
# ruff: noqa: PTH102, PTH108, PTH110, PTH112, PTH115, PTH117, PTH118, PTH120, PTH122, PTH123, PTH206, PTH211

import contextlib
import hashlib
import os
import shutil
import stat
import string
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from deviate.model.places import is_notebook
from deviate.records.schema import FileEntry

# ---------------------------------------------------------------- output of this command
#
# Files that receive it grow while it runs, and do not belong to the project.

Identity = tuple[int, int]
"""Device and inode of a file."""
PROCESSES = Path("/proc")


def own_output() -> frozenset[Identity]:
    """Files that receive standard output and standard error, directly or through a program in a pipe.

    With `deviate run train.py | tee log.txt`, output goes to a pipe, and `tee` writes the file. The reader of the pipe
    is found by its open files, where the system shows them (Linux's /proc, for processes of the same user). Only files
    opened for writing alone are included, since a file that is also read may be a database that the script needs. A
    program that started this one and reads its output, such as a notebook, writes other files and is ignored, as are
    programs further down a pipeline.
    """
    files: set[Identity] = set()
    pipes: set[Identity] = set()
    for number in (1, 2):
        with contextlib.suppress(OSError):  # closed
            facts = os.fstat(number)
            (pipes if stat.S_ISFIFO(facts.st_mode) else files).add((facts.st_dev, facts.st_ino))
    return frozenset(files.union(*(_written_by(process) for process in _readers(pipes))) if pipes else files)


def _readers(pipes: set[Identity]) -> Iterator[Path]:
    ancestors = set(_ancestry())
    for process in PROCESSES.glob("[0-9]*"):
        if process.name not in ancestors and any(
            _identity(file, stat.S_ISFIFO) in pipes for file in _open_files(process, stat.S_IRUSR) if _is_pipe(file)
        ):
            yield process


def _ancestry() -> Iterator[str]:
    """Ids of this process and its ancestors."""
    number = str(os.getpid())
    while number not in ("", "0"):
        yield number
        try:
            stat_line = (PROCESSES / number / "stat").read_text(encoding="utf-8", errors="replace")
            number = stat_line.rpartition(")")[2].split()[1]  # behind the name, which may hold anything: state, parent
        except (OSError, IndexError):
            return


def _written_by(process: Path) -> set[Identity]:
    written = {_identity(file, stat.S_ISREG) for file in _open_files(process, stat.S_IWUSR)}
    return {identity for identity in written if identity is not None}


def _open_files(process: Path, mode: int) -> list[Path]:
    """Files that a process has opened for reading only or for writing only.

    A descriptor stands there as a link that its owner may read, write or both; see proc(5).
    """
    both = stat.S_IRUSR | stat.S_IWUSR
    try:
        return [file for file in (process / "fd").iterdir() if file.lstat().st_mode & both == mode]
    except OSError:  # it has ended, or belongs to another user
        return []


def _is_pipe(descriptor: Path) -> bool:
    """Whether a path is a pipe, by name only: accessing a file on an unavailable disk could block forever."""
    try:
        return str(descriptor.readlink()).startswith("pipe:")
    except OSError:
        return False


def _identity(descriptor: Path, is_kind: Callable[[int], bool]) -> Identity | None:
    try:
        facts = descriptor.stat()
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino) if is_kind(facts.st_mode) else None


# ---------------------------------------------------------------- tree

COPY_BELOW = 1 << 20
"""Maximum size in bytes of a file to copy; larger files are linked."""
CROWD_ABOVE = 1_000
"""Number of data files of one kind above which runs share the copies of the snapshot."""
CROWD_BYTES = 2 << 30
"""Maximum total size in bytes of such copies; beyond it, the files are linked."""
LINK_WHOLE_ABOVE = 200_000
"""Number of files above which a folder without code is linked as a whole: single links would take seconds per run."""
SOURCE_SUFFIXES = frozenset({".py", ".pyi", ".pyx", ".sh", ".bash"})
"""Code, which is always copied: a link must not be instrumented."""
LEFT_OUT = frozenset({".deviate", ".git", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"})
NOT_HASHED = frozenset({"deviate.toml"})
"""Files that do not affect runs: the choice of metrics."""
DOCUMENTS = frozenset({".html", ".pdf", ".tex", ".svg", ".md", ".log"})
"""Suffixes of documents, which do not affect runs: a report beside the script must not change its hash."""

NO_DIGITS = str.maketrans("", "", string.digits)


@dataclass(slots=True)
class Tree:
    """A frozen tree, by path relative to the root with forward slashes.

    Attributes:
        files: those that are copied have a digest; those that are linked may change, and have size and time alone.
        links: symbolic links of the project and where they point in the tree.
        emptied: outputs that were there and start empty or absent, this command's own among them.
        own_output: files that receive output of this command, or received that of an earlier one. The latter are
            copied, but not hashed.
        notebooks: those of which the tree has the script.
        warnings: what could not be taken, for the user.
    """

    files: dict[str, FileEntry] = field(default_factory=dict)
    linked_folders: dict[str, FileEntry] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    emptied: list[str] = field(default_factory=list)
    own_output: list[str] = field(default_factory=list)
    notebooks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TreeSurvey:
    """Sizes and numbers of the project's files.

    Attributes:
        heavy: folders that are linked whole.
        crowds: kinds of data files, None for all of them, whose files are too many to copy them for each run.
        is_bulky: whether the crowds are too large to copy them even once.
        own_output: the files that this command's output goes to: they grow while it runs.
        received: names of files that output of earlier commands went to.
    """

    heavy: frozenset[str]
    crowds: frozenset[str] | None
    is_bulky: bool
    own_output: frozenset[Identity]
    received: frozenset[str] = frozenset()

    def has_in_crowd(self, name: str) -> bool:
        kind = data_kind(name)
        return kind is not None and (self.crowds is None or kind in self.crowds)


def freeze_tree(root: Path, target: Path, *, empty: Sequence[str], received: Collection[str] = ()) -> Tree:
    """Copy and link the project into `target`, which must not exist.

    Args:
        empty: paths relative to the root that start empty (a folder) or absent (a file).
        received: paths relative to the root of files that output of earlier commands went to.
    """
    tree = Tree()
    survey = replace(survey_of(root), received=frozenset(received))
    without = {str(PurePosixPath(path)) for path in empty} - {"."}
    target.mkdir(parents=True)
    _freeze_folder(os.fspath(root), os.fspath(target), "", tree, survey, without)
    return tree


def data_kind(name: str) -> str | None:
    """The kind of a data file: its suffix, ignoring digits (`.0001`); None for code."""
    suffix = os.path.splitext(name)[1]
    return None if suffix in SOURCE_SUFFIXES else suffix.translate(NO_DIGITS)


def is_seen(name: str, notebooks: Sequence[str] = ()) -> bool:
    """Whether a file can affect runs; documentation and `deviate.toml` do not.

    Args:
        notebooks: those that run. Where one does, the others are what people read: Jupyter keeps copies of them that
            change whenever one is saved.
    """
    if notebooks and is_notebook(name):
        return name in notebooks
    return name not in NOT_HASHED and os.path.splitext(name)[1] not in DOCUMENTS


def hash_tree(tree: Tree) -> str:
    """SHA-256 over the names of all files and links, the bytes of copied files, size and time of linked ones.

    Documents, `deviate.toml` and output of earlier commands are left out.
    """
    own_output = frozenset(tree.own_output)
    digest = hashlib.sha256()
    entries = [
        (name, file.content)
        for name, file in tree.files.items()
        if is_seen(name, tree.notebooks) and name not in own_output
    ]
    entries += [(name, f"-> {target}") for name, target in tree.links.items()]
    entries += [
        (name, f"{folder.mtime_ns}") for name, folder in tree.linked_folders.items() if folder.kind != "environment"
    ]
    for name, content in sorted(entries):
        digest.update(f"{name}\0{content}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def survey_of(root: Path, *, links_folders: bool = True) -> TreeSurvey:
    """Collect names and sizes of all files below `root`; `links_folders`: large folders may be linked whole."""
    heavy: set[str] = set()

    def count(folder: str, relative: str) -> tuple[Counter[str | None], Counter[str | None]]:
        """Number and bytes of the files below a folder, by kind; files to be linked individually are not counted."""
        n_files: Counter[str | None] = Counter()
        n_bytes: Counter[str | None] = Counter()
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in LEFT_OUT and not is_environment(entry.path):
                    inner_files, inner_bytes = count(entry.path, f"{relative}{entry.name}/")
                    n_files.update(inner_files)
                    n_bytes.update(inner_bytes)
            else:
                kind = data_kind(entry.name)
                n_files[kind] += 1
                size = _size(entry)
                n_bytes[kind] += size if size <= COPY_BELOW else 0
        if links_folders and n_files.total() > LINK_WHOLE_ABOVE and relative and not n_files[None]:
            heavy.add(relative.rstrip("/"))
            return Counter(), Counter()
        return n_files, n_bytes

    n_files, n_bytes = count(os.fspath(root), "")
    crowds = frozenset(kind for kind, n in n_files.items() if n > CROWD_ABOVE and kind is not None)
    n_others = sum(n for kind, n in n_files.items() if kind not in crowds and kind is not None)
    size = sum(n_bytes[kind] for kind in n_files if kind is not None and (kind in crowds or n_others > CROWD_ABOVE))
    crowded = None if n_others > CROWD_ABOVE else crowds
    return TreeSurvey(frozenset(heavy), crowded, size > CROWD_BYTES, own_output())


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _freeze_folder(root: str, target: str, relative: str, tree: Tree, survey: TreeSurvey, without: set[str]) -> None:
    for entry in sorted(_entries(f"{root}/{relative}", tree.warnings), key=lambda entry: entry.name):
        name = f"{relative}{entry.name}"
        place = f"{target}/{name}"
        try:
            if entry.is_symlink():
                if name not in without:
                    tree.links[name] = _link_target(root, name, os.readlink(entry.path))
                    os.symlink(tree.links[name], place)
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == ".git" or (is_folder and entry.name in LEFT_OUT):
                continue
            if name in without:
                tree.emptied.append(name)
                if is_folder:
                    os.mkdir(place)
            elif is_folder and (name in survey.heavy or is_environment(entry.path)):
                os.symlink(entry.path, place, target_is_directory=True)
                kind = "symlinked" if name in survey.heavy else "environment"
                tree.linked_folders[name] = FileEntry(kind, entry.stat().st_mtime_ns)
            elif is_folder:
                os.mkdir(place)
                _freeze_folder(root, target, f"{name}/", tree, survey, without)
            elif stat.S_ISREG((facts := entry.stat(follow_symlinks=False)).st_mode):
                if (facts.st_dev, facts.st_ino) in survey.own_output and data_kind(name) is not None:
                    tree.emptied.append(name)
                    tree.own_output.append(name)
                else:
                    tree.files[name] = _freeze_file(entry, place, survey)
                    tree.own_output += [name] if name in survey.received and data_kind(name) is not None else []
        except OSError as error:
            tree.warnings.append(f"{name} could not be copied into the snapshot: {error.strerror or error}")


def _freeze_file(entry: os.DirEntry[str], place: str, survey: TreeSurvey) -> FileEntry:
    facts = entry.stat(follow_symlinks=False)
    is_in_crowd = survey.has_in_crowd(entry.name)
    is_small = facts.st_size <= COPY_BELOW and not (is_in_crowd and survey.is_bulky)
    if is_small or data_kind(entry.name) is None:
        try:
            digest = _copy(entry.path, place)
            return FileEntry("shared" if is_in_crowd else "copied", facts.st_mtime_ns, facts.st_size, digest)
        except PermissionError:  # the run may not be able to read it either; it decides
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)
    try:
        os.link(entry.path, place, follow_symlinks=False)
        return FileEntry("linked", facts.st_mtime_ns, facts.st_size)
    except OSError:  # another device, or a file of somebody else's
        os.symlink(entry.path, place)
        return FileEntry("symlinked", facts.st_mtime_ns, facts.st_size)


def _copy(source: str, place: str) -> str:
    """Copy contents, mode and times; returns the SHA-256 of the contents.

    Source: copy_file_range(2), which clones extents on Btrfs, XFS and others; elsewhere it copies in the kernel.
    """
    with open(source, "rb", 0) as reader, open(place, "xb") as writer:
        data = reader.read()
        try:
            n_copied = os.copy_file_range(reader.fileno(), writer.fileno(), len(data), 0) if data else 0
        except (AttributeError, OSError):  # another system, or another device
            n_copied = 0
        if n_copied < len(data):
            writer.seek(0)
            writer.write(data)
    shutil.copystat(source, place)
    return hashlib.sha256(data).hexdigest()


def _link_target(root: str, name: str, target: str) -> str:
    """Target of a symbolic link in the tree: relative inside of the project, absolute outside."""
    folder = os.path.join(root, os.path.dirname(name))
    absolute = os.path.normpath(os.path.join(folder, target))
    inside = os.path.relpath(absolute, root)
    if inside.split(os.sep)[0] == os.pardir:
        return absolute
    if any(part in LEFT_OUT for part in Path(inside).parts):
        return absolute
    return target if not os.path.isabs(target) else os.path.relpath(absolute, folder)


def is_environment(folder: str) -> bool:
    """Whether a folder is a virtual environment, which is linked so that its `python` and `activate` work in a run."""
    return os.path.exists(os.path.join(folder, "pyvenv.cfg")) or os.path.isdir(os.path.join(folder, "conda-meta"))


def _entries(folder: str | Path, warnings: list[str] | None = None) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as error:
        if warnings is not None:
            warnings.append(f"folder {folder} could not be read: {error.strerror or error}")
