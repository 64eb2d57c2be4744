"""Checks out the project at a commit beside the working tree, for as long as it takes to freeze it.

A git worktree under `.cache/` contains tracked files. Files that git ignores, mostly data, are not part of a commit,
but a script at a commit needs them as well: they are linked from the working tree.
"""

import contextlib
import dataclasses
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deviate.base.git import only_there
from deviate.errors import InputError, writing
from deviate.instrument.tree import LEFT_OUT, is_environment, survey_of
from deviate.project.command import CONFIG, default_python, with_interpreter
from deviate.project.prepare import PreparedScript, find_target, prepare_script
from deviate.records.plans import make_deviate_folder

QUIETLY = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false")
MOST_LETTERS = 40
"""Maximum length of a ref in the name of an experiment."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A commit as the user specified it.

    Attributes:
        name: what the user wrote, or what was found for it: `main`, `origin/main`.
    """

    name: str
    commit: str

    def experiment(self, stem: str) -> str:
        """Name of the experiment that runs a script at this commit: `train@main-1a2b3c4d5e`."""
        letters = "".join(
            character if character.isascii() and (character.isalnum() or character in "._+=-") else "-"
            for character in self.name
        )
        label = "" if self.commit.startswith(letters) else f"{letters[:MOST_LETTERS]}-"
        return f"{stem}@{label}{self.commit[:10]}"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A commit checked out in a folder.

    Attributes:
        notes: what is not there as it would be in a clone of one's own.
    """

    reference: Reference
    root: Path
    place: Path
    notes: tuple[str, ...]


def find_reference(root: Path, ref: str) -> Reference:
    """The commit for a branch, tag or hash; a branch may exist on the remote `origin` only.

    Raises:
        InputError: the project is in no git repository, or has no such commit.
    """
    if not (root / ".git").exists():
        raise InputError(
            f"--ref {ref}: {root} is not in a git repository", "compare two commands: deviate run --versus"
        )
    for name in (ref, f"origin/{ref}"):
        query = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if query.returncode == 0:
            return Reference(name, query.stdout.strip())
        if "ownership" in query.stderr:
            raise InputError(
                f"--ref {ref}: {query.stderr.strip().splitlines()[0]}", "add the folder to git config safe.directory"
            )
    raise InputError(
        f"--ref {ref}: there is no such branch, tag or commit here",
        f"fetch it: git fetch origin {ref}; in a shallow clone add --depth, or set fetch-depth: 0 of actions/checkout",
    )


@contextlib.contextmanager
def checked_out(root: Path, reference: Reference, deviate: Path) -> Iterator[Checkout]:
    """The project at a commit, in a folder that is always removed afterwards.

    Args:
        deviate: the `.deviate/` folder, on whose disk large files can be linked.

    Raises:
        InputError: git cannot lay out the commit.
        RecordError: the folder cannot be made.
    """
    place = deviate / "cache" / f"ref-{reference.commit[:10]}-{time.time_ns()}" / root.name
    try:
        with writing(f"making {place.parent}"):
            make_deviate_folder(deviate)
            place.parent.mkdir(parents=True)
        creation = _git(root, "worktree", "add", "--quiet", "--detach", "--force", str(place), reference.commit)
        if creation.returncode:
            raise InputError(
                f"--ref {reference.name}: checkout of {reference.commit[:10]} failed: {creation.stderr.strip()[-500:]}",
                "fetch the missing files: git fetch --unshallow, git lfs fetch",
            )
        _mend_links(root, place)
        _take_config(root, place)
        _link_ignored(root, place)
        yield Checkout(reference, root, place, tuple(_notes(place)))
    finally:
        _remove(root, place)


def prepare_at(checkout: Checkout, words: Sequence[str], cwd: Path, python: str | None) -> PreparedScript:
    """The meaning of a command at that commit, according to the `deviate.toml` of the working tree.

    The result refers to the project root, where runs are executed after the checkout is removed.

    Raises:
        InputError: the commit has no such script or folder, or nothing can be recorded there.
    """
    root, place = checkout.root, checkout.place
    at = f"at {checkout.reference.name} ({checkout.reference.commit[:10]})"
    folder = place / cwd.relative_to(root)
    if not folder.is_dir():
        raise InputError(f"{at}: there is no folder {cwd.relative_to(root)}", "name a commit that has it")
    words_in_checkout = [
        str(place / Path(word).relative_to(root)) if Path(word).is_relative_to(root) else word for word in words
    ]
    try:
        prepared = prepare_script(find_target(words_in_checkout, folder, python, default=default_python()))
    except InputError as error:
        raise InputError(f"{at}: {error.message.replace(str(place), str(root))}", error.hint) from error
    interpreter = python or default_python()
    target = dataclasses.replace(
        prepared.target,
        root=root,
        script=root / prepared.target.script.relative_to(place),
        later_scripts=tuple(root / script.relative_to(place) for script in prepared.target.later_scripts),
        command=with_interpreter(words, interpreter) if words else prepared.target.command,
    )
    analysis = dataclasses.replace(prepared.analysis, root=root)
    return dataclasses.replace(prepared, target=target, analysis=analysis, sources=place)


def _mend_links(root: Path, place: Path) -> None:
    """Repair tracked symbolic links that leave the project, or that are absolute paths in it."""
    tracked = _git(place, "ls-files", "--stage", "-z").stdout.split("\0")
    names = [entry.partition("\t")[2] for entry in tracked if entry.startswith("120000 ")]
    mended = [name for name in names if _mend(root, place, name)]
    if mended:
        _git(place, "update-index", "--assume-unchanged", "-z", "--stdin", text="".join(f"{path}\0" for path in mended))


def _mend(root: Path, place: Path, name: str) -> bool:
    link = place / name
    if not link.is_symlink():
        return False
    target = link.readlink()
    meant = Path(os.path.normpath(root / PurePosixPath(name).parent / target))
    is_inside = meant.is_relative_to(root)
    if is_inside != target.is_absolute():
        return False
    link.unlink()
    link.symlink_to(os.path.relpath(meant, root / PurePosixPath(name).parent) if is_inside else meant)
    return True


def _take_config(root: Path, place: Path) -> None:
    """Copy `deviate.toml`, so that metrics of both sides are selected alike; it does not affect runs."""
    (place / CONFIG).unlink(missing_ok=True)
    if (root / CONFIG).is_file():
        shutil.copyfile(root / CONFIG, place / CONFIG)
    _git(place, "update-index", "--assume-unchanged", "--", CONFIG)


def _link_ignored(root: Path, place: Path) -> None:
    """Link files that git ignores, as far as a snapshot of the working tree would include them."""
    query = _git(root, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    names = [name.rstrip("/") for name in query.stdout.split("\0") if name]
    names = [name for name in names if name != CONFIG and LEFT_OUT.isdisjoint(PurePosixPath(name).parts)]
    if not names:
        return
    heavy = survey_of(root).heavy
    for name in names:
        with contextlib.suppress(OSError):  # what cannot be reached here cannot be in a snapshot either
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            _link(root, place, name, heavy)


def _link(root: Path, place: Path, name: str, heavy: frozenset[str]) -> None:
    """Link a file, or the files below a folder; files of the commit are kept."""
    source, target = root / name, place / name
    if os.path.lexists(target) and not (target.is_dir() and source.is_dir() and not target.is_symlink()):
        return
    if source.is_symlink():
        target.symlink_to(source.readlink())
        _mend(root, place, name)
    elif not source.is_dir():
        try:
            os.link(source, target)
        except OSError:  # another disk, or a file of somebody else's
            target.symlink_to(source)
    elif name in heavy or is_environment(str(source)):
        target.symlink_to(source, target_is_directory=True)
    else:
        target.mkdir(exist_ok=True)
        for entry in sorted(source.iterdir()):
            if entry.name not in LEFT_OUT:
                with contextlib.suppress(OSError):
                    _link(root, place, f"{name}/{entry.name}", heavy)


def _notes(place: Path) -> Iterator[str]:
    if (place / ".gitmodules").exists():
        yield "submodules are not checked out at the commit: their folders are empty there"
    attributes = place / ".gitattributes"
    if (
        shutil.which("git-lfs") is None
        and attributes.exists()
        and "filter=lfs" in attributes.read_text(errors="replace")
    ):
        yield "git-lfs is not installed: files of Git LFS are pointers at the commit"


def _remove(root: Path, place: Path) -> None:
    """Remove the folder and its git worktree entry, including those of an interrupted `git worktree add`."""
    _git(root, "worktree", "remove", "--force", "--force", str(place))
    shutil.rmtree(place.parent, ignore_errors=True)
    common = _git(root, "rev-parse", "--git-common-dir").stdout.strip()
    for note in Path(root, common).glob("worktrees/*/gitdir"):
        with contextlib.suppress(OSError):
            if note.read_text().strip() == str(place / ".git"):
                shutil.rmtree(note.parent, ignore_errors=True)


def _git(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run git in a folder with safe settings; the caller checks whether it succeeded."""
    return subprocess.run(
        [*QUIETLY, *arguments],
        cwd=folder,
        env={**only_there(), "LC_ALL": "C"},
        input=text,
        text=True,
        capture_output=True,
        check=False,
        errors="surrogateescape",
    )
