"""The tree: which files are copied, shared and linked, and that an edit of the user's changes nothing in it."""

import os
import random
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from deviate.instrument.tree import Tree, freeze_tree, hash_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text("print(1)\n")
    return root


def fill(folder: Path, *names: str, text: str = "data") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def frozen(root: Path, target: str = "tree", **limits: int) -> Tree:
    with patch.multiple("deviate.instrument.tree", **limits):
        return freeze_tree(root, root.parent / target, empty=[])


def kinds(tree: Tree) -> dict[str, str]:
    return {name: file.kind for name, file in tree.files.items()}


def test_few_files_are_copied(root: Path) -> None:
    fill(root, "a.png", "b.png", "c.txt")
    assert set(kinds(frozen(root, CROWD_ABOVE=3)).values()) == {"copied"}


@pytest.mark.parametrize("layout", ["data/{}.png", "data/{}/x.png", "{}.png", "class{}/x.png", "data/x.{}"])
def test_files_of_a_kind_that_are_very_many_are_shared_wherever_they_lie(root: Path, layout: str) -> None:
    many = [layout.format(number) for number in range(3)]
    fill(root, *many, "config.yaml", "data/loader.py")
    assert kinds(frozen(root, CROWD_ABOVE=2)) == {
        **dict.fromkeys(many, "shared"), "config.yaml": "copied", "data/loader.py": "copied", "train.py": "copied",
    }  # fmt: skip


def test_many_files_of_many_kinds_are_a_crowd_too_and_code_never_is(root: Path) -> None:
    fill(root, "a.png", "b.jpg", "c", "d.py", "e.py", "f.sh")
    assert kinds(frozen(root, CROWD_ABOVE=2)) == {
        "a.png": "shared", "b.jpg": "shared", "c": "shared",
        "d.py": "copied", "e.py": "copied", "f.sh": "copied", "train.py": "copied",
    }  # fmt: skip


def test_a_shared_file_is_the_snapshots_own_and_an_edit_changes_nothing_in_it(root: Path) -> None:
    fill(root, "a.png", "b.png", "c.png")
    tree = frozen(root, CROWD_ABOVE=2)
    with (root / "a.png").open("a") as file:
        file.write(" edited")
    assert (root.parent / "tree/a.png").read_text() == "data"
    assert (root.parent / "tree/a.png").stat().st_nlink == 1
    (root.parent / "again").mkdir()
    assert hash_tree(tree) != hash_tree(frozen(root, "again/tree", CROWD_ABOVE=2))


def test_a_crowd_too_large_to_copy_is_linked_file_by_file_and_the_rest_is_not(root: Path) -> None:
    fill(root, "a.png", "b.png", "c.png", "d.txt")
    tree = frozen(root, CROWD_ABOVE=2, CROWD_BYTES=11)
    assert kinds(tree) == {
        "a.png": "linked", "b.png": "linked", "c.png": "linked", "d.txt": "copied", "train.py": "copied",
    }  # fmt: skip
    assert (root.parent / "tree/a.png").samefile(root / "a.png")


def test_large_files_do_not_make_a_crowd_too_large(root: Path) -> None:
    fill(root, "a.png", "b.png", "c.png")
    fill(root, "large.png", text="x" * 100)
    assert kinds(frozen(root, CROWD_ABOVE=2, COPY_BELOW=10, CROWD_BYTES=12)) == {
        "a.png": "shared", "b.png": "shared", "c.png": "shared", "large.png": "linked", "train.py": "copied",
    }  # fmt: skip


def test_a_folder_of_a_great_many_files_is_linked_whole_unless_it_holds_code(root: Path) -> None:
    fill(root, "data/train/a/0", "data/train/a/1", "data/train/b/0", "data/notes.txt")
    fill(root, "lib/0", "lib/1", "lib/2", "lib/load.py")
    tree = frozen(root, LINK_WHOLE_ABOVE=2)
    assert list(tree.linked_folders) == ["data/train"]
    assert (root.parent / "tree/data/train").is_symlink()
    assert not (root.parent / "tree/data").is_symlink()
    assert kinds(tree)["data/notes.txt"] == "copied"
    assert not (root.parent / "tree/lib").is_symlink()


@pytest.mark.parametrize("seed", range(5))
def test_content_modes_times_and_links_of_any_tree_are_those_of_the_project(root: Path, seed: int) -> None:
    rng = random.Random(seed)
    folders = ["", "a/", "a/b/", "c d/", "ä/"]
    for number in range(60):
        path = root / f"{rng.choice(folders)}{number}{rng.choice(['', '.png', '.txt', '.py', '.1'])}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if rng.random() < 0.1:
            path.symlink_to(rng.choice(["train.py", "nowhere", "../outside"]))
            continue
        path.write_bytes(rng.randbytes(rng.choice([0, 1, 100, 300])))
        path.chmod(rng.choice([0o644, 0o600, 0o755, 0o444]))
        os.utime(path, ns=(rng.randrange(10**18), rng.randrange(10**18)))
    frozen(root, CROWD_ABOVE=rng.choice([5, 20, 100]), COPY_BELOW=200)
    there = {path.relative_to(root) for path in root.rglob("*")}
    tree = root.parent / "tree"
    assert {path.relative_to(tree) for path in tree.rglob("*")} == there
    for name in there:
        one, other = root / name, tree / name
        assert one.is_symlink() == other.is_symlink()
        if one.is_file() and not one.is_symlink():
            assert one.read_bytes() == other.read_bytes()
            assert one.stat().st_mode == other.stat().st_mode
            assert one.stat().st_mtime_ns == other.stat().st_mtime_ns


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_file_that_this_command_writes_to_is_no_part_of_the_project(root: Path, stream: str) -> None:
    fill(root, "log.txt", "other.txt")
    source = "import sys\nfrom pathlib import Path\nfrom deviate.instrument.tree import freeze_tree, hash_tree\n"
    source += "tree = freeze_tree(Path(sys.argv[1]), Path(sys.argv[2]), empty=[])\n"
    source += "Path(sys.argv[2] + '.told').write_text(f'{sorted(tree.files)} {tree.emptied} {hash_tree(tree)}')"
    told = []
    for number in range(2):
        target = root.parent / f"tree-{number}"
        with (root / "log.txt").open("a") as log:
            log.write(f"a line of call {number}")
            log.flush()
            subprocess.run((sys.executable, "-c", source, root, target), check=True, **{stream: log})
        assert not (target / "log.txt").exists()
        told.append(target.with_name(f"{target.name}.told").read_text())
    assert told[0].startswith("['other.txt', 'train.py'] ['log.txt'] ")
    assert told[0] == told[1]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux shows who reads a pipe")
def test_nor_is_the_file_that_tee_writes_to(root: Path) -> None:
    """As in `deviate run train.py | tee log.txt`; a file that is read meanwhile stays content."""
    fill(root, "log.txt", "other.txt")
    source = "import sys, time\nfrom pathlib import Path\nfrom deviate.instrument.tree import freeze_tree\n"
    source += "print('begun', flush=True)\n"
    source += "while not Path('log.txt').read_text().startswith('begun'): time.sleep(0.01)\n"
    source += "tree = freeze_tree(Path(), Path(sys.argv[1]), empty=[])\n"
    source += "print(sorted(tree.files), tree.emptied)"
    line = '"$0" -c "$1" "$2" | tee log.txt 3< other.txt'
    command = ("sh", "-c", line, sys.executable, source, root.parent / "tree")
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "begun\n['other.txt', 'train.py'] ['log.txt']\n"


def test_a_file_of_the_program_that_has_started_this_one_stays(root: Path) -> None:
    """A notebook that reads what this command prints may have a data file open that the script needs."""
    fill(root, "other.txt")
    source = "import sys\nfrom pathlib import Path\nfrom deviate.instrument.tree import freeze_tree\n"
    source += "print(sorted(freeze_tree(Path(sys.argv[1]), Path(sys.argv[2]), empty=[]).files))"
    with (root / "data.csv").open("w") as data:
        data.write("1,2")
        data.flush()
        command = (sys.executable, "-c", source, root, root.parent / "tree")
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "['data.csv', 'other.txt', 'train.py']\n"
