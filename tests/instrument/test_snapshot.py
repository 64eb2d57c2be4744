"""The snapshot: what is frozen, instrumented, and left alone."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from frozen import TRAIN, analysis_of

from deviate.errors import InputError, RecordError
from deviate.instrument.snapshot import freeze
from deviate.model.analysis import Hazard, Span


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "home" / "project"
    root.mkdir(parents=True)
    (root / "train.py").write_text(TRAIN)
    return root


def listing(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_the_tree_holds_taps_and_the_originals_hold_the_text_before(root: Path, tmp_path: Path) -> None:
    snapshot = freeze(analysis_of(root), tmp_path / "s")
    tapped = (snapshot.folder / "tree/train.py").read_text()
    assert "__deviate_log__(0, (acc))" in tapped
    assert "__deviate_loop__(0)((range(3)))" in tapped
    assert tapped.count("\n") == TRAIN.count("\n")
    assert (snapshot.folder / "originals/train.py").read_text() == TRAIN
    assert (root / "train.py").read_text() == TRAIN


def test_files_of_traced_runs_have_taps_of_inputs_and_those_of_other_runs_do_not(root: Path, tmp_path: Path) -> None:
    (root / "data.py").write_text("def load(names):\n    return list(names)\n")
    (root / "empty.py").write_text("X = 1\n")
    found = analysis_of(root)
    hazards = tuple(Hazard("set-order", "data.py", line, "list(names)", "") for line in (2, 9))
    analysis = dataclasses.replace(found, files=("train.py", "data.py", "empty.py"), hazards=hazards)
    plain = freeze(found, tmp_path / "plain").folder
    assert {name: (plain / "tree" / name).read_text() for name in ("data.py", "empty.py")} == {
        name: (root / name).read_text() for name in ("data.py", "empty.py")
    }
    traced = freeze(analysis, tmp_path / "traced", has_input_taps=True).folder
    line = (traced / "tree/data.py").read_text().splitlines()[1]
    assert line.endswith("return __deviate_ran__(0, (list(__deviate_order__((names)))))")
    assert (traced / "tree/empty.py").read_text() == "X = 1\n"
    manifests = [json.loads((it / "guest/_deviate_guest/manifest.json").read_text()) for it in (plain, traced)]
    assert [sorted(manifest["files"]) for manifest in manifests] == [["train.py"], ["data.py", "train.py"]]
    assert [manifest.get("inputs") for manifest in manifests] == [None, {"watched": {"0": ["data.py", 2, 0]}}]


def test_what_a_module_of_lightning_logs_in_a_step_has_no_tap(root: Path, tmp_path: Path) -> None:
    found = analysis_of(root)
    sites = tuple(dataclasses.replace(site, sink="lightning") for site in found.sites)
    snapshot = freeze(dataclasses.replace(found, sites=sites), tmp_path / "s")
    tapped = (snapshot.folder / "tree/train.py").read_text()
    assert "__deviate_loop__(0)((range(3)))" in tapped
    assert "__deviate_log__(0" not in tapped


def test_without_taps_the_tree_holds_the_original_text(root: Path, tmp_path: Path) -> None:
    snapshot = freeze(analysis_of(root), tmp_path / "s", is_tapped=False)
    assert (snapshot.folder / "tree/train.py").read_text() == TRAIN
    assert (snapshot.folder / "guest/_deviate_guest/manifest.json").exists()


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"\xef\xbb\xbf# \xc3\xa9\r\n", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\r\n# \xe9\r\n", "latin-1"),
        (b"# form feed \x0c \xe2\x80\xa8 line separator\n", "utf-8"),
    ],
)
def test_outside_the_insertions_every_byte_stays(root: Path, tmp_path: Path, head: bytes, encoding: str) -> None:
    newline = b"\r\n" if head.endswith(b"\r\n") else b"\n"
    original = head + TRAIN.encode().replace(b"\n", newline)
    (root / "train.py").write_bytes(original)
    snapshot = freeze(analysis_of(root, line=1 + head.count(b"\n")), tmp_path / "s")
    tapped = (snapshot.folder / "tree/train.py").read_bytes()
    edits = json.loads((snapshot.folder / "guest/_deviate_guest/manifest.json").read_bytes())["files"]["train.py"][
        "edits"
    ]
    lines = tapped.decode(encoding).split("\n")
    for line, column, gained in reversed(edits):
        text = lines[line - 1]
        lines[line - 1] = text[:column] + text[column + gained :]
    assert "\n".join(lines).encode(encoding) == original
    assert tapped != original


def test_an_undecodable_file_is_named(root: Path, tmp_path: Path) -> None:
    (root / "train.py").write_bytes(b"# \xe9\n" + TRAIN.encode())
    with pytest.raises(InputError, match=r"train\.py"):
        freeze(analysis_of(root, line=2), tmp_path / "s")


def test_small_files_are_copied_and_large_ones_linked_but_code_is_always_copied(root: Path, tmp_path: Path) -> None:
    (root / "small.csv").write_bytes(b"1")
    (root / "large.bin").write_bytes(b"x" * (1 << 20) + b"y")
    (root / "generated.py").write_bytes(b"#" * (1 << 20) + b"#")
    tree = freeze(analysis_of(root), tmp_path / "s").folder / "tree"
    same_file = {name: (tree / name).samefile(root / name) for name in ("small.csv", "large.bin", "generated.py")}
    assert same_file == {"small.csv": False, "large.bin": True, "generated.py": False}
    files = json.loads((tmp_path / "s/manifest.json").read_bytes())["files"]
    assert files["large.bin"]["kind"] == "linked"
    assert files["large.bin"]["mtime_ns"] == (root / "large.bin").stat().st_mtime_ns


def test_empty_and_ignored_folders_are_taken_and_caches_are_not(root: Path, tmp_path: Path) -> None:
    (root / ".gitignore").write_text("data/\n")
    for folder in ("data/raw", "empty", "__pycache__", "pkg/__pycache__", ".deviate/experiments", ".mypy_cache"):
        (root / folder).mkdir(parents=True)
    (root / "data/raw/a.csv").write_text("1")
    (root / "pkg/__pycache__/x.pyc").write_text("stale")
    tree = freeze(analysis_of(root), tmp_path / "s").folder / "tree"
    assert sorted(listing(tree)) == [".gitignore", "data", "data/raw", "data/raw/a.csv", "empty", "pkg", "train.py"]


def test_a_virtual_environment_is_linked_whole_so_that_its_interpreter_can_be_called(
    root: Path, tmp_path: Path
) -> None:
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    (root / ".venv/bin/python").symlink_to(sys.executable)
    tree = freeze(analysis_of(root), tmp_path / "s").folder / "tree"
    assert (tree / ".venv").is_symlink()
    assert (tree / ".venv").samefile(root / ".venv")


def test_links_mean_in_the_tree_what_they_meant_in_the_project(root: Path, tmp_path: Path) -> None:
    (root / "data").mkdir()
    (root / "data/a.csv").write_text("a")
    (root.parent / "shared").mkdir()
    (root / "inside").symlink_to("data/a.csv")
    (root / "inside_absolute").symlink_to(root / "data")
    (root / "outside").symlink_to("../shared")
    (root / "dangling").symlink_to("nowhere")
    tree = freeze(analysis_of(root), tmp_path / "s").folder / "tree"
    pointed = {name: str((tree / name).readlink()) for name in ("inside", "inside_absolute", "outside", "dangling")}
    assert pointed == {
        "inside": "data/a.csv",
        "inside_absolute": "data",
        "outside": str(root.parent / "shared"),
        "dangling": "nowhere",
    }


def test_code_behind_a_link_out_of_the_project_is_never_written(root: Path, tmp_path: Path) -> None:
    (root.parent / "shared").mkdir()
    (root.parent / "shared/train.py").write_text(TRAIN)
    (root / "code").symlink_to(root.parent / "shared")
    snapshot = freeze(analysis_of(root, script="code/train.py"), tmp_path / "s")
    assert (root.parent / "shared/train.py").read_text() == TRAIN
    assert not (snapshot.folder / "originals").exists()


def test_a_link_to_a_file_of_the_project_stays_one_and_the_file_behind_it_is_tapped_once(
    root: Path, tmp_path: Path
) -> None:
    (root / "scripts").mkdir()
    (root / "train.py").rename(root / "scripts/train.py")
    (root / "train.py").symlink_to("scripts/train.py")
    (root / "same").symlink_to("scripts")
    found = analysis_of(root)
    other = dataclasses.replace(found.loops[0], id=1, file="same/train.py", kind="managed")
    snapshot = freeze(dataclasses.replace(found, loops=(*found.loops, other)), tmp_path / "s")
    assert (snapshot.folder / "tree/train.py").is_symlink()
    tapped = (snapshot.folder / "tree/scripts/train.py").read_text()
    assert tapped == (snapshot.folder / "tree/train.py").read_text()
    assert tapped.count("__deviate_log__(0, (acc))") == 1
    known = json.loads((snapshot.folder / "guest/_deviate_guest/manifest.json").read_bytes())["files"]
    assert known.keys() == {"train.py", "scripts/train.py", "same/train.py"}
    originals = snapshot.folder / "originals"
    assert {path.relative_to(originals).as_posix() for path in originals.rglob("*.py")} == known.keys()


def test_a_file_behind_a_link_out_of_the_project_gets_a_copy_of_its_own(root: Path, tmp_path: Path) -> None:
    (root / "train.py").rename(root.parent / "shared.py")
    (root / "train.py").symlink_to("../shared.py")
    (root / "gone.py").symlink_to("nowhere.py")
    (root / "circle.py").symlink_to("circle.py")
    found = analysis_of(root)
    sites = [dataclasses.replace(found.sites[0], id=n, file=name) for n, name in enumerate(("gone.py", "circle.py"), 1)]
    snapshot = freeze(dataclasses.replace(found, sites=(*found.sites, *sites)), tmp_path / "s")
    assert "__deviate_log__" in (snapshot.folder / "tree/train.py").read_text()
    assert not (snapshot.folder / "tree/train.py").is_symlink()
    assert (root.parent / "shared.py").read_text() == TRAIN


def test_every_file_with_a_site_or_a_loop_loads_the_guest_by_itself(root: Path, tmp_path: Path) -> None:
    (root / "pkg").mkdir()
    (root / "pkg/__init__.py").write_text("'Doc.'\n")
    engine = b"# coding: latin-1\ndef fit():\n  '\xe9'\n" + TRAIN.encode()
    (root / "pkg/engine.py").write_bytes(engine.replace(b"\nfor", b"\n  for").replace(b"\n    ", b"\n     "))
    (root / "fit.py").write_text("import keras\nmodel.fit()\n")
    found = analysis_of(root)
    managed = dataclasses.replace(found.loops[0], id=1, file="fit.py", kind="managed")
    site = dataclasses.replace(found.sites[0], id=1, file="pkg/engine.py", span=Span(6, 18, 6, 21))
    analysis = dataclasses.replace(found, loops=(*found.loops, managed), sites=(*found.sites, site))
    snapshot = freeze(analysis, tmp_path / "s")
    texts = {name: (snapshot.folder / "tree" / name).read_bytes() for name in ("train.py", "fit.py", "pkg/engine.py")}
    assert [text.count(b'exec("import builtins as b') for text in texts.values()] == [1, 1, 1]
    assert b"'\xe9'" in texts["pkg/engine.py"]
    assert b"__deviate_log__(1, (acc))" in texts["pkg/engine.py"]
    assert (snapshot.folder / "tree/pkg/__init__.py").read_text() == "'Doc.'\n"


def test_outputs_and_fresh_folders_start_empty_but_never_a_folder_of_code(root: Path, tmp_path: Path) -> None:
    for path in ("best.pt", "logs/old.txt", "checkpoints/3.pt", "kept/a.txt"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text("old")
    analysis = analysis_of(root, outputs=("best.pt", "./logs/", ".", "../elsewhere", "train.py"))
    tree = freeze(analysis, tmp_path / "s", fresh=("checkpoints/",)).folder / "tree"
    assert sorted(listing(tree)) == ["checkpoints", "kept", "kept/a.txt", "logs", "train.py"]


def test_outputs_are_relative_to_the_working_folder(root: Path, tmp_path: Path) -> None:
    (root / "sub").mkdir()
    for path in ("best.pt", "sub/best.pt"):
        (root / path).write_text("old")
    tree = freeze(analysis_of(root, outputs=("best.pt",)), tmp_path / "s", cwd="sub").folder / "tree"
    assert (tree / "best.pt").exists()
    assert not (tree / "sub/best.pt").exists()


def test_the_guest_folder_holds_the_guest_and_nothing_else(root: Path, tmp_path: Path) -> None:
    guest = freeze(analysis_of(root), tmp_path / "s").folder / "guest"
    assert sorted(path.name for path in guest.iterdir()) == ["__pycache__", "_deviate_guest", "sitecustomize.py"]
    assert (guest / "__pycache__").is_file()  # where Python would keep the bytecode of sitecustomize.py
    inside = {path.name for path in (guest / "_deviate_guest").iterdir()}
    assert inside == {"__init__.py", "eventlog.py", "logs.py", "manifest.json", "runtime", "sinks"}
    assert not list((guest / "_deviate_guest").rglob("__pycache__"))
    assert (guest / "_deviate_guest/__init__.py").read_bytes() == b""


def test_the_same_project_has_the_same_hash_and_every_change_of_source_another(root: Path, tmp_path: Path) -> None:
    (root / "deviate.toml").write_text("")
    (root / "config.yaml").write_text("lr: 1")
    first = freeze(analysis_of(root), tmp_path / "1").sources_hash
    (root / "deviate.toml").write_text("[metrics.acc]\nname = 'a'\n")
    (root / "report.html").write_text("<p>")
    assert freeze(analysis_of(root), tmp_path / "2").sources_hash == first
    (root / "config.yaml").write_text("lr: 2")
    second = freeze(analysis_of(root), tmp_path / "3").sources_hash
    (root / "config.yaml").rename(root / "other.yaml")
    assert len({first, second, freeze(analysis_of(root), tmp_path / "4").sources_hash}) == 3


def test_a_whole_snapshot_is_never_replaced_and_a_torn_one_is(root: Path, tmp_path: Path) -> None:
    snapshot = freeze(analysis_of(root), tmp_path / "s")
    with pytest.raises(RecordError, match="already"):
        freeze(analysis_of(root), tmp_path / "s")
    (snapshot.folder / "manifest.json").unlink()
    assert freeze(analysis_of(root), tmp_path / "s").sources_hash == snapshot.sources_hash


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(root: Path) -> Path:
    (root / "best.pt").write_text("tracked output")
    (root / ".gitignore").write_text(".venv/\n")
    (root / ".venv").mkdir()
    (root / ".venv/pyvenv.cfg").touch()
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def test_git_history_is_readable_and_tapped_files_show_as_unchanged(repository: Path, tmp_path: Path) -> None:
    (repository / "notes.txt").write_text("untracked")
    tree = freeze(analysis_of(repository, outputs=("best.pt",)), tmp_path / "s").folder / "tree"
    for query in (("rev-parse", "HEAD"), ("log", "--oneline"), ("status", "--porcelain"), ("diff",)):
        assert git(tree, *query) == git(repository, *query)
    assert git(tree, "rev-parse", "--show-toplevel").strip() == str(tree)


def test_a_commit_in_a_run_leaves_the_users_repository_as_it_was(repository: Path, tmp_path: Path) -> None:
    before = listing(repository / ".git")
    tree = freeze(analysis_of(repository), tmp_path / "s").folder / "tree"
    (tree / "new.txt").write_text("n")
    git(tree, "add", "new.txt")
    git(tree, "commit", "-q", "-m", "in a run")
    assert listing(repository / ".git") == before


def test_history_is_readable_from_a_worktree_and_from_a_project_with_a_submodule(
    repository: Path, tmp_path: Path
) -> None:
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "sub")
    git(repository, "commit", "-q", "-m", "submodule")
    git(repository, "worktree", "add", "-q", str(tmp_path / "worktree"), "-b", "side")
    for number, folder in enumerate((repository, repository / "sub", tmp_path / "worktree")):
        tree = freeze(analysis_of(folder), tmp_path / f"s{number}").folder / "tree"
        for query in (("rev-parse", "HEAD"), ("branch", "--show-current"), ("status", "--porcelain")):
            assert git(tree, *query) == git(folder, *query)


def test_a_broken_repository_is_a_warning_and_no_failure(root: Path, tmp_path: Path) -> None:
    (root / ".git").write_text("gitdir: /nowhere\n")
    snapshot = freeze(analysis_of(root), tmp_path / "s")
    warnings = json.loads((snapshot.folder / "manifest.json").read_bytes())["warnings"]
    assert len(warnings) == 1
    assert "git history" in warnings[0]
    assert not (snapshot.folder / "tree/.git").exists()
