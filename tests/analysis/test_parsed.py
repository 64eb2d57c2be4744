"""Trees that are kept on disk give the analysis that parsing gives, and can be damaged, deleted or forged."""

import os
import pickle
import shutil
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import libcst as cst
import pytest

from deviate.analysis import analyze
from deviate.analysis.parsed import MOST_KEPT, ParsedFiles

SCRIPT = """\
from helper import evaluate

for epoch in range(3):
    loss = evaluate(epoch)
    print(f"epoch {epoch} loss {loss:.3f}")
"""
HELPER = """\
def evaluate(epoch):
    return 1 / (epoch + 1)  # a comment
"""
ELSEWHERE = 'SEEN = "seen"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text(HELPER)
    return tmp_path


@pytest.fixture
def kept(project: Path) -> Path:
    """The folder of trees of a project that was analysed."""
    (project / ".deviate").mkdir()
    analyze(project / "train.py", project)
    return project / ".deviate" / "cache" / "parsed"


class Intruder:
    """Calls what is no node when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("intruded",)


def test_nothing_is_written_into_a_project_without_a_folder_of_ours(project: Path) -> None:
    analyze(project / "train.py", project)
    assert sorted(path.name for path in project.iterdir()) == ["helper.py", "train.py"]


def test_a_kept_tree_gives_the_same_analysis_as_parsing(project: Path) -> None:
    parsed = analyze(project / "train.py", project)
    (project / ".deviate").mkdir()
    assert analyze(project / "train.py", project) == parsed
    assert len(list((project / ".deviate" / "cache" / "parsed").iterdir())) == 2
    assert analyze(project / "train.py", project) == parsed


def test_a_kept_tree_prints_the_text(kept: Path, project: Path) -> None:
    tree = ParsedFiles(project).load(HELPER)
    assert tree is not None
    assert tree.code == HELPER


def test_a_changed_file_is_parsed_anew(kept: Path, project: Path) -> None:
    (project / "train.py").write_text(SCRIPT.replace("loss {loss", "error {loss"))
    (metric,) = analyze(project / "train.py", project).metrics
    assert metric.name == "error"


@pytest.mark.parametrize(
    "content", [b"", b"no such thing", zlib.compress(b"no pickle"), zlib.compress(pickle.dumps(7))]
)
def test_a_damaged_tree_is_parsed_and_written_again(content: bytes, kept: Path, project: Path) -> None:
    sound = analyze(project / "train.py", project)
    sizes = {path.name: path.stat().st_size for path in kept.iterdir()}
    for path in kept.iterdir():
        path.write_bytes(content)
    assert analyze(project / "train.py", project) == sound
    assert {path.name: path.stat().st_size for path in kept.iterdir()} == sizes


def test_a_forged_tree_runs_nothing(kept: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for path in kept.iterdir():
        path.write_bytes(zlib.compress(pickle.dumps(Intruder())))
    assert ParsedFiles(project).load(SCRIPT) is None
    assert not (project / "intruded").exists()


def test_a_folder_that_cannot_be_written_stops_nothing(project: Path) -> None:
    (project / ".deviate").mkdir()
    (project / ".deviate" / "cache").write_text("in the way")
    assert analyze(project / "train.py", project).metrics


def test_of_too_many_trees_the_older_half_goes(kept: Path, project: Path) -> None:
    for number in range(MOST_KEPT):
        (kept / f"old{number}").touch()
        os.utime(kept / f"old{number}", (number, number))
    ParsedFiles(project).keep(ELSEWHERE, cst.parse_module(ELSEWHERE))
    assert len(list(kept.iterdir())) <= MOST_KEPT // 2 + 3
    assert ParsedFiles(project).load(ELSEWHERE) is not None


def test_analyses_at_once_and_a_folder_that_vanishes_give_the_same(kept: Path, project: Path) -> None:
    expected = analyze(project / "train.py", project)
    with ProcessPoolExecutor(2) as pool:
        answers = [pool.submit(analyze, project / "train.py", project) for _ in range(12)]
        for _ in range(20):
            shutil.rmtree(project / ".deviate" / "cache", ignore_errors=True)
        assert [answer.result() for answer in answers] == [expected] * 12
