"""What the snapshot tells of injected code and of what was not committed."""

import dataclasses
from pathlib import Path

from recorded import edit_record

from deviate.model.records import Revision
from deviate.records.read import read_experiment
from deviate.records.snapshot import MOST_CHARACTERS, list_injected, read_manifest, revision


def snapshot(root: Path, before: dict[str, str], after: dict[str, str]) -> Path:
    for folder, files in (("originals", before), ("tree", after)):
        for name, text in files.items():
            path = root / "snapshot" / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return root / "snapshot"


def test_only_lines_that_changed_are_kept_with_their_number(tmp_path: Path) -> None:
    folder = snapshot(
        tmp_path, {"lib/train.py": "a = 1\nb = 2\nc = 3\n"}, {"lib/train.py": "a = 1\nb = tap(2)\nc = 3\n"}
    )
    (code,) = list_injected(folder)
    assert code.file == "lib/train.py"
    assert code.diff == ("@@ 2 @@", "-b = 2", "+b = tap(2)")
    assert (code.n_lines, code.is_cut) == (1, False)
    assert (code.original, code.instrumented) == ("snapshot/originals/lib/train.py", "snapshot/tree/lib/train.py")


def test_a_file_that_is_as_it_was_is_left_out(tmp_path: Path) -> None:
    assert list_injected(snapshot(tmp_path, {"a.py": "x = 1\n"}, {"a.py": "x = 1\n"})) == ()


def test_without_originals_nothing_was_injected(tmp_path: Path) -> None:
    assert list_injected(tmp_path / "snapshot") == ()


def test_a_file_known_by_two_names_is_told_once(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, {"a.py": "x = 1\n", "link.py": "x = 1\n"}, {"a.py": "x = tap(1)\n"})
    (folder / "tree" / "link.py").symlink_to("a.py")
    assert [code.file for code in list_injected(folder)] == ["a.py"]


def test_secrets_in_changed_lines_are_redacted(tmp_path: Path) -> None:
    line = 'log(acc, api_key="3f9d1c7e5b2a4860")'
    (code,) = list_injected(snapshot(tmp_path, {"a.py": line}, {"a.py": f"tap({line})"}))
    assert "3f9d1c7e5b2a4860" not in "".join(code.diff)
    assert "[redacted]" in "".join(code.diff)


def test_a_long_change_is_cut_and_counted_whole(tmp_path: Path) -> None:
    n = MOST_CHARACTERS // 100
    before, after = ("".join(f"x{i} = {'1' * 100}{end}\n" for i in range(n)) for end in ("", "0"))
    (code,) = list_injected(snapshot(tmp_path, {"a.py": before}, {"a.py": after}))
    assert code.is_cut
    assert code.n_lines == n
    assert sum(map(len, code.diff)) <= MOST_CHARACTERS * 1.1


def test_bytes_that_are_no_utf8_are_replaced(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, {"a.py": ""}, {"a.py": ""})
    (folder / "originals" / "a.py").write_bytes(b"# \xe9\nx = 1\n")
    (folder / "tree" / "a.py").write_bytes(b"# \xe9\nx = tap(1)\n")
    (code,) = list_injected(folder)
    assert code.diff == ("@@ 2 @@", "-x = 1", "+x = tap(1)")


def test_the_diff_to_the_commit_is_read_in_whole_lines(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, {}, {"a.py": ""})
    commit = Revision("c0ffee", "main", is_dirty=True, n_untracked=2)
    (folder / "git.diff").write_text("-lr = 1\n+lr = 2\n", encoding="utf-8")
    found = revision(folder, commit)
    assert found is not None
    assert (found.commit, found.branch, found.is_dirty, found.n_untracked) == ("c0ffee", "main", True, 2)
    assert (found.diff, found.is_cut, found.file) == ("-lr = 1\n+lr = 2\n", False, "snapshot/git.diff")
    (folder / "git.diff").write_text(("+" + "x" * 98 + "\n") * 1000, encoding="utf-8")
    found = revision(folder, commit)
    assert found is not None
    assert found.is_cut
    assert found.diff.endswith("x\n")
    assert len(found.diff) <= MOST_CHARACTERS


def test_secrets_in_the_diff_are_redacted(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, {}, {"a.py": ""})
    (folder / "git.diff").write_text("+password=hunter2hunter2\n", encoding="utf-8")
    found = revision(folder, Revision("c0ffee", None, is_dirty=True, n_untracked=0))
    assert found is not None
    assert "hunter2" not in found.diff


def test_a_clean_commit_has_no_diff(tmp_path: Path) -> None:
    found = revision(tmp_path, Revision("c0ffee", "main", is_dirty=False, n_untracked=0))
    assert found is not None
    assert (found.diff, found.file, found.is_cut) == ("", "", False)
    assert revision(tmp_path, None) is None


def test_an_experiment_tells_both_of_all_its_variants(experiment: Path) -> None:
    folder = snapshot(experiment, {"train.py": "x = 1\n"}, {"train.py": "x = tap(1)\n"})
    path = folder / "manifest.json"
    git = {"commit": "c0ffee", "branch": "main", "is_dirty": False, "n_untracked": 0, "untracked": [], "is_cut": False}
    edit_record(path, git=git)
    (read,) = read_experiment(experiment)
    assert read.revision == dataclasses.replace(read.revision, commit="c0ffee", branch="main")  # type: ignore[type-var]
    assert [code.file for code in read.injected] == ["train.py"]
    assert read_manifest(folder).git == Revision("c0ffee", "main", is_dirty=False, n_untracked=0)
