"""The snapshot: a frozen, instrumented copy of the project with the guest beside it.

snapshot/tree/        the project as runs see it
snapshot/guest/       goes on PYTHONPATH: sitecustomize.py and the private package _deviate_guest
snapshot/originals/   the text of instrumented files before
snapshot/git.diff      what was not committed, where the project is in git and differs from its commit
snapshot/manifest.json
"""

import hashlib
import io
import os
import shutil
import stat
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import msgspec.structs

import deviate
from deviate.base.decisions import log_decision
from deviate.base.digests import file_digest
from deviate.base.notebooks import notebook_script
from deviate.base.text_patterns import pattern_regex
from deviate.errors import InputError, RecordError, ToolError
from deviate.instrument.git import freeze_git, freeze_provenance
from deviate.instrument.input_taps import InputTaps
from deviate.instrument.rewrite import Instrumented, instrument_text
from deviate.instrument.tree import (
    COPY_BELOW,
    SOURCE_SUFFIXES,
    Tree,
    data_kind,
    freeze_tree,
    hash_tree,
    is_seen,
    survey_of,
)
from deviate.model.analysis import REPORTED_OTHERWISE, TEXT_SINK, Analysis
from deviate.model.places import is_notebook
from deviate.model.plan import Snapshot
from deviate.model.records import Revision
from deviate.records.files import read_json, write_record
from deviate.records.layout import manifest_file
from deviate.records.schema import FileEntry, Manifest
from deviate.records.snapshot import GUEST_MANIFEST, read_manifest
from deviate.registry import ADAPTERS, SINKS, Plugin, adapted_modules, travelling, warn_of

GUEST = "_deviate_guest"


def freeze(
    analysis: Analysis,
    destination: Path,
    *,
    cwd: str = ".",
    fresh: Sequence[str] = (),
    is_tapped: bool = True,
    has_input_taps: bool = False,
    sources: Path | None = None,
    received: Collection[str] = (),
) -> Snapshot:
    """Freeze the project of `analysis` into the folder `destination`.

    Args:
        destination: the experiment's `snapshot/`; what an interrupted freeze left there is replaced.
        cwd: working folder of the command, relative to the root: the outputs of the analysis are relative to it.
        fresh: further paths, relative to the root, that start empty.
        is_tapped: without taps the tree holds the original text; the guest is there all the same.
        has_input_taps: whether the runs are traced, so that inputs are tapped in all files of the project.
        sources: where the files are taken from, for another state of the project than the one at its root.
        received: files that output of earlier commands went to, relative to the root; they are not hashed.

    Raises:
        InputError: a file of the project cannot be read as its coding line says.
        RecordError: there is a whole snapshot already, or it cannot be written.
    """
    if manifest_file(destination).exists():
        raise RecordError(f"{destination} already has a snapshot", "choose another experiment name")
    root = sources or analysis.root
    try:
        shutil.rmtree(destination, ignore_errors=True)
        destination.mkdir(parents=True)
        git = freeze_provenance(root, destination / "git.diff")
        tree = freeze_tree(root, destination / "tree", empty=_empty(analysis, cwd, fresh), received=received)
        converted = _convert_notebooks(analysis, destination / "tree", tree)
        edits, tapped = _instrument(analysis, destination, has_input_taps=has_input_taps) if is_tapped else ({}, [])
        tapped = list(dict.fromkeys([*tapped, *converted]))
        changed = [*tapped, *tree.emptied]
        warning = freeze_git(root, destination / "tree", changed=changed, linked=list(tree.linked_folders))
        tree.warnings += [warning] if warning else []
        snapshot = Snapshot(destination, analysis.root, hash_tree(tree))
        _copy_guest(destination / "guest")
        adapters = copy_plugins(destination / "guest" / GUEST / "plugins")
        guest_manifest = _guest_manifest(
            analysis, destination, edits, adapters, has_input_taps=is_tapped and has_input_taps
        )
        write_record(destination / GUEST_MANIFEST, guest_manifest, is_compact=True)
        # Last: with it the snapshot is complete.
        write_record(manifest_file(destination), _manifest(analysis, snapshot, tree, git, tapped), is_compact=True)
    except OSError as error:
        raise RecordError(
            f"cannot copy {root} into {destination}: {error}", "check free space and permissions there"
        ) from error
    return snapshot


def _empty(analysis: Analysis, cwd: str, fresh: Sequence[str]) -> list[str]:
    """Paths that start empty, relative to the root; never a folder that contains code of the project."""
    outputs = [PurePosixPath(analysis.root, cwd, path) for path in analysis.outputs]
    paths = [os.path.relpath(path, analysis.root) for path in [*outputs, *(analysis.root / path for path in fresh)]]
    inside = [path for path in paths if not path.startswith(os.pardir)]
    code = {str(parent) for file in (analysis.script, *analysis.files) for parent in PurePosixPath(file).parents}
    return [path for path in inside if path not in code and path not in (analysis.script, *analysis.files)]


def _convert_notebooks(analysis: Analysis, folder: Path, tree: Tree) -> list[str]:
    """Replace the notebooks that run by their scripts, under the same names; returns these.

    What identifies such a file is its script: outputs and text cells may change without making it another.
    """
    names = [file for file in analysis.files if is_notebook(file) and file in tree.files]
    for name in names:
        place = folder / name
        script = notebook_script(place.read_bytes(), name).text.encode()
        facts = place.stat()
        place.unlink()  # it may be a link, and another name of the user's own file
        place.write_bytes(script)
        os.utime(place, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        tree.files[name] = FileEntry("copied", facts.st_mtime_ns, len(script), hashlib.sha256(script).hexdigest())
    tree.notebooks = names
    return names


def _instrument(
    analysis: Analysis, destination: Path, *, has_input_taps: bool
) -> tuple[dict[str, Instrumented], list[str]]:
    """Insert taps into the tree, and store the original text.

    Returns: what was done to each file, under each name by which the project knows it; and the files that changed.
    """
    tree = (destination / "tree").resolve()
    names: dict[Path, list[str]] = {}
    files = {site.file for site in analysis.sites} | {loop.file for loop in analysis.loops}
    for name in sorted({*files, *analysis.files} if has_input_taps else files):
        place = _place(tree, name)
        if place is not None:
            names.setdefault(place, []).append(name)
    texts = {place: _decode(place.read_bytes(), names[place][0]) for place in names}
    inputs = InputTaps.of_texts(text for text, _ in texts.values()) if has_input_taps else None
    done: dict[str, Instrumented] = {}
    for place, project_names in names.items():
        text, encoding = texts[place]
        sites = [site for site in analysis.sites if site.file in project_names and site.sink not in REPORTED_OTHERWISE]
        loops = [loop for loop in analysis.loops if loop.file in project_names]
        lines = enumerate((hazard.file, hazard.line) for hazard in analysis.hazards)
        watched = [(number, line) for number, (file, line) in lines if file in project_names]
        try:
            instrumented = instrument_text(text, sites, loops, inputs, watched)
        except ToolError as error:
            if inputs is None:
                raise
            log_decision("instrument", "%s has no taps of inputs: %s", project_names[0], error)
            instrumented = instrument_text(text, sites, loops)
        if not instrumented.edits:
            continue
        name_in_tree = place.relative_to(tree).as_posix()
        for name in {name_in_tree, *project_names}:
            done[name] = instrumented
            _keep(place, destination / "originals" / name)
        place.unlink()  # it may be a link, and another name of the user's own file
        place.write_bytes(instrumented.text.encode(encoding))
        shutil.copystat(destination / "originals" / name_in_tree, place)
    return done, [name for place in names if (name := place.relative_to(tree).as_posix()) in done]


def _place(tree: Path, name: str) -> Path | None:
    """Location of a file's text in the tree.

    A link to another file of the project stays a link: Python takes the folder of a script, from which it imports, to
    be that of the file behind the link. A file behind a link that leaves the project is replaced by a copy of its own,
    and left alone in a folder behind one, which is not ours to change.
    """
    place = tree / name
    try:
        real, folder = place.resolve(strict=True), place.parent.resolve()
    except (OSError, RuntimeError):  # missing, or circular links
        return None
    if real.is_relative_to(tree):
        return real
    return folder / place.name if folder.is_relative_to(tree) else None


def _keep(place: Path, original: Path) -> None:
    original.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(place, original)


def _decode(data: bytes, name: str) -> tuple[str, str]:
    """Text and encoding of a source file; encoding the text again gives the same bytes, including a byte-order mark."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), encoding
    except (SyntaxError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {name}: {error}", "save it as UTF-8, or declare its encoding in the first line"
        ) from error


def _copy_guest(guest: Path) -> None:
    """Copy the files for the user's process: the guest under a private name, and nothing else."""
    package = Path(deviate.__file__).parent
    try:
        without = shutil.ignore_patterns("__pycache__")
        (guest / GUEST).mkdir(parents=True)
        (guest / GUEST / "__init__.py").touch()
        shutil.copy2(package / "guest" / "sitecustomize.py", guest)
        # Python imports that before anything of ours can look after its bytecode, which a full disk may have cut off:
        # a file in its place keeps it from being written. The rest of the guest sees to its own.
        (guest / "__pycache__").touch()
        for name in ("eventlog.py", "logs.py"):
            shutil.copy2(package / name, guest / GUEST)
        for part, name in (("guest", "runtime"), ("sinks", "sinks")):
            shutil.copytree(package / part, guest / GUEST / name, ignore=without)
    except FileNotFoundError as error:
        raise ToolError(f"the installation of deviate lacks {error.filename}", "reinstall deviate") from error
    (guest / GUEST / "runtime" / "sitecustomize.py").unlink()


def _manifest(
    analysis: Analysis, snapshot: Snapshot, tree: Tree, git: Revision | None, edited: Sequence[str]
) -> Manifest:
    return Manifest(
        root=str(analysis.root),
        sources_hash=snapshot.sources_hash,
        main_loop=analysis.main_loop.id if analysis.main_loop else None,
        files=tree.files,
        linked_folders=tree.linked_folders,
        own_output=tuple(tree.own_output),
        notebooks=tuple(tree.notebooks),
        sites=analysis.sites,
        loops=analysis.loops,
        metrics=analysis.metrics,
        unreached=analysis.unreached,
        warnings=tuple(tree.warnings),
        git=git,
        digests=digests_of(snapshot.folder, edited),
    )


def digests_of(snapshot: Path, edited: Sequence[str]) -> dict[str, str]:
    """SHA-256 of snapshot files that deviate wrote and that reports show or runs load.

    The guest's manifest keeps its own, for a snapshot that is taken over gets another one.

    Args:
        edited: files of the tree with taps.
    """
    guest = sorted(path for path in (snapshot / "guest").rglob("*.py") if path.is_file())
    originals = sorted(path for path in (snapshot / "originals").rglob("*") if path.is_file())
    inputs = [snapshot / "tree" / name for name in edited] + [snapshot / "git.diff"]
    paths = [*guest, *originals, *(path for path in inputs if path.is_file())]
    return {path.relative_to(snapshot).as_posix(): file_digest(path) for path in paths}


def _guest_manifest(
    analysis: Analysis,
    destination: Path,
    edits: dict[str, Instrumented],
    adapters: dict[str, list[str]],
    *,
    has_input_taps: bool,
) -> dict[str, object]:
    texts = [metric.expression for metric in analysis.metrics if metric.sink == TEXT_SINK]
    patterns = {text: pattern_regex(text, f"{analysis.script}") for text in texts}
    return {
        "root": str(analysis.root),
        "originals": str((destination / "originals").absolute()),
        "files": {name: {"edits": done.edits} for name, done in edits.items()},
        "sites": {
            str(site.id): {"file": site.file, "line": site.line, "form": site.form, "fields": site.fields}
            for site in analysis.sites
        },
        "loops": {
            str(loop.id): {
                "file": loop.file,
                "line": loop.line,
                "end_line": loop.end_line,
                "kind": loop.kind,
                "main": loop.is_main,
            }
            for loop in analysis.loops
        },
        **({"inputs": {"watched": _watched(analysis, edits)}} if has_input_taps else {}),
        **({"adapters": adapters} if adapters else {}),
        **({"patterns": patterns} if patterns else {}),
    }


def _watched(analysis: Analysis, edits: dict[str, Instrumented]) -> dict[str, tuple[str, int, int]]:
    """File, line and marker of each hazard that is watched, by its number."""
    markers = {number: marker for done in edits.values() for number, marker in done.watched.items()}
    hazards = analysis.hazards
    return {str(number): (hazards[number].file, hazards[number].line, markers[number]) for number in sorted(markers)}


# ---------------------------------------------------------------- plug-ins
#
# Files of sinks and framework adapters are copied into the snapshot, like the guest.


def travelling_plugins() -> tuple[Plugin, ...]:
    """All sinks and adapters, since only a run shows which of them it needs."""
    return (*travelling(SINKS), *travelling(ADAPTERS))


def copy_plugins(folder: Path) -> dict[str, list[str]]:
    """Copy the files into the folder, which is created if there are any.

    Returns: package to the adapters that wait for modules of it, as the guest's table has them.
    """
    adapters: dict[str, list[str]] = {}
    for plugin in travelling_plugins():
        path = travelling(plugin.group)[plugin]
        folder.mkdir(exist_ok=True)
        shutil.copyfile(path, folder / f"{plugin.module}.py")
        for package in _packages(plugin, path) if plugin.group == ADAPTERS else ():
            adapters.setdefault(package, []).append(f"plugins.{plugin.module}")
    return adapters


def _packages(plugin: Plugin, path: Path) -> list[str]:
    """Packages of the modules that an adapter waits for; a file without that information causes a warning."""
    try:
        return list(dict.fromkeys(name.partition(".")[0] for name in adapted_modules(path)))
    except ToolError as error:
        warn_of(plugin, error)
        return []


# ---------------------------------------------------------------- prepared files
#
# What preparing commands created in the tree is added to the manifest, so that runs share large files.

SHARED = frozenset({"shared", "linked"})
"""Kinds of files that runs link; the links are verified."""


def note_prepared(snapshot: Snapshot) -> None:
    """Add changed and new data files of the tree to the manifest, if runs should share them.

    Call this after the command has ended and before the first run; repeated calls are harmless. A small file that is
    not one of very many is not added: each run has its own copy.

    Raises:
        RecordError: the manifest or the tree cannot be read, or the manifest cannot be written.
    """
    path, tree = manifest_file(snapshot.folder), snapshot.folder / "tree"
    manifest = read_manifest(snapshot.folder)
    prepared: dict[str, FileEntry | None] = {}
    seen: set[str] = set()
    try:
        crowds = survey_of(tree, links_folders=False)
        for name, facts in _files(os.fspath(tree), ""):
            seen.add(name)
            frozen = manifest.files.get(name, FileEntry("copied", -1))
            if (frozen.size, frozen.mtime_ns) == (facts.st_size, facts.st_mtime_ns):
                continue
            is_shared = facts.st_size > COPY_BELOW or crowds.has_in_crowd(name)
            if data_kind(name) is not None and (is_shared or frozen.kind != "copied"):
                prepared[name] = FileEntry("shared" if is_shared else "copied", facts.st_mtime_ns, facts.st_size)
        prepared |= {name: None for name, file in manifest.files.items() if file.kind in SHARED and name not in seen}
        edited = [name.removeprefix("tree/") for name in manifest.digests if name.startswith("tree/")]
        digests = digests_of(snapshot.folder, edited)
    except OSError as error:
        raise RecordError(f"reading {tree}: {error}", "run under another --name") from error
    write_record(path, msgspec.structs.replace(manifest, prepared=prepared, digests=digests), is_compact=True)


def _files(folder: str, relative: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            facts = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(facts.st_mode):
                yield from _files(entry.path, f"{relative}{entry.name}/")
            elif stat.S_ISREG(facts.st_mode):
                yield f"{relative}{entry.name}", facts


# ---------------------------------------------------------------- snapshots of other experiments


def take_over(snapshot: Snapshot, destination: Path) -> Snapshot:
    """Link a snapshot into another folder, including prepared files; remains of an earlier attempt are replaced.

    Nothing writes to a snapshot, so two experiments can share its files.

    Raises:
        RecordError: it cannot be read or written.
    """
    try:
        shutil.rmtree(destination, ignore_errors=True)
        shutil.copytree(snapshot.folder, destination, symlinks=True, copy_function=_link)
    except (OSError, shutil.Error) as error:
        raise RecordError(
            f"cannot copy {snapshot.folder} into {destination}: {error}", "check free space and permissions there"
        ) from error
    document = read_json(destination / GUEST_MANIFEST)
    document["originals"] = str((destination / "originals").absolute())
    write_record(destination / GUEST_MANIFEST, document, is_compact=True)
    return replace(snapshot, folder=destination)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file system without hard links, or a file with too many
        shutil.copy2(source, target, follow_symlinks=False)


CODE = SOURCE_SUFFIXES | {".cfg", ".ini", ".toml", ".yaml", ".yml"}
"""Suffixes of new files that can change a run. Other new files are ignored: recorded runs did not have them either, and
they are often outputs saved beside the script."""


def changed_files(before: Path, after: Path) -> tuple[str, ...]:
    """Files whose code or data differ between two snapshots.

    Raises:
        RecordError: a manifest is missing or damaged.
    """
    (old, old_output), (new, new_output) = _contents(before), _contents(after)
    changed = [name for name in old.keys() - old_output - new_output if new.get(name) != old[name]]
    added = [name for name in new.keys() - old.keys() if PurePosixPath(name).suffix in CODE]
    return tuple(sorted(changed + added))


def is_current(snapshot: Path, root: Path) -> bool:
    """Whether code and configuration of a snapshot are in the project as they were; new files and data do not count.

    Raises:
        RecordError: the manifest is missing or damaged.
    """
    code = CODE | {".ipynb", ".json"}
    contents, _ = _contents(snapshot)
    return all(
        _is_same(root / name, content) for name, content in contents.items() if PurePosixPath(name).suffix in code
    )


def _is_same(path: Path, content: str) -> bool:
    """Whether a file has these contents, as `_contents` identifies them."""
    try:
        if " " in content:
            facts = path.stat()
            return content == f"{facts.st_size} {facts.st_mtime_ns}"
        return content == hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return False


def _contents(snapshot: Path) -> tuple[Mapping[str, str], frozenset[str]]:
    """What identifies each file, and the names of own output."""
    manifest = read_manifest(snapshot)
    seen = {name: file.content for name, file in manifest.files.items() if is_seen(name, manifest.notebooks)}
    return seen, frozenset(manifest.own_output)
