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
from deviate.analysis.resolve.parsed import MOST_KEPT, ParsedFiles
from deviate.analysis.resolve.positions import KeptRanges
from deviate.analysis.resolve.source import read_source
from deviate.analysis.resolve.tree import walk

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
LAID_OUT = """\
def f(a, /, b=(1), *c, d: int = 2, **e) -> (int):  # a comment

    return (a), [b], {**e}
x = ((a, b)); y = (yield); z = ((i) for i in (j)); (a)[(1):(2)] = ('b' f'{c!r:>{d}}' f"{x=}")
try:
  pass
except (A, B) as e: pass
finally:
  with (a) as b, c: pass
match (x):
  case {'a': [1, *_], **r} | A(b=1) if c: pass
from ..a import (b as c,)
@a.b
class D(E, metaclass=F): 'doc'
lambda: x if not (y) else ... is not z
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


@pytest.mark.parametrize("text", [SCRIPT, HELPER, LAID_OUT, "", "\f\nx = 1\n\fprint(a)"])
def test_a_kept_tree_has_the_nodes_of_the_parsed_one_at_the_same_positions(text: str, project: Path) -> None:
    (project / ".deviate").mkdir()
    (project / "other.py").write_text(text)
    parsed = read_source(project / "other.py", "other.py", ParsedFiles(project))
    kept = read_source(project / "other.py", "other.py", ParsedFiles(project))
    assert isinstance(kept.ranges, KeptRanges)
    pairs = list(zip(walk(parsed.tree), walk(kept.tree), strict=True))
    assert [type(one) for one, _ in pairs] == [type(other) for _, other in pairs]
    assert [(parsed.start(one), parsed.end(one)) for one, _ in pairs] == [
        (kept.start(other), kept.end(other)) for _, other in pairs
    ]
    assert [parsed.span(one) for one, _ in pairs] == [kept.span(other) for _, other in pairs]


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
