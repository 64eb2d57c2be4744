"""A project counts as changed when a run would see it, and not when somebody saved a result beside the script."""

from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.errors import RecordError
from deviate.instrument.snapshot import changed_files, freeze, is_current

SCRIPT = "for epoch in range(2):\n    print('loss %.4f' % (1 / (epoch + 1)))\n"


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        ("notes.txt", "new", ()),
        ("scores.csv", "new", ()),
        ("report.html", "new", ()),
        ("deviate.toml", "[experiment]\n", ()),
        ("train.py", SCRIPT + "\n", ("train.py",)),
        ("data.csv", "changed", ("data.csv",)),
        ("helper.py", "new", ("helper.py",)),
        ("conf/lr.yaml", "new", ("conf/lr.yaml",)),
        ("data.csv", None, ("data.csv",)),
    ],
)
def test_what_a_run_would_see_counts(project: Path, name: str, text: str | None, changed: tuple[str, ...]) -> None:
    (project / "train.py").write_text(SCRIPT)
    (project / "data.csv").write_text("1,2,3\n")
    folder = project / ".deviate"
    found = analyze(project / "train.py", project)
    freeze(found, folder / "before")
    if text is None:
        (project / name).unlink()
    else:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    freeze(found, folder / "after", is_tapped=False)
    assert changed_files(folder / "before", folder / "after") == changed
    assert is_current(folder / "before", project) == ("train.py" not in changed)


def test_output_of_an_earlier_command_does_not_count(project: Path) -> None:
    (project / "train.py").write_text(SCRIPT)
    folder = project / ".deviate"
    found = analyze(project / "train.py", project)
    alone = freeze(found, folder / "alone")
    for text in ("10 runs", None):
        (project / "run.txt").write_text("5 runs")
        beside = freeze(found, folder / f"beside-{text}", received=("run.txt",))
        assert beside.sources_hash == alone.sources_hash != freeze(found, folder / f"data-{text}").sources_hash
        assert (beside.folder / "tree" / "run.txt").read_text() == "5 runs"
        (project / "run.txt").write_text(text) if text else (project / "run.txt").unlink()
        freeze(found, folder / f"after-{text}", is_tapped=False)
        assert changed_files(beside.folder, folder / f"after-{text}") == ()
        assert changed_files(folder / f"data-{text}", folder / f"after-{text}") == ("run.txt",)


def test_a_damaged_manifest_is_told(project: Path) -> None:
    with pytest.raises(RecordError, match=r"manifest\.json"):
        changed_files(project, project)
