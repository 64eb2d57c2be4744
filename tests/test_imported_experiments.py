"""Experiments that were imported are there for every verb but those that run something."""

from pathlib import Path

import pytest

from deviate import pipeline, records

SCORES = "method,seed,acc\n" + "".join(
    f"{method},{seed},{0.9 + 0.003 * seed + 0.05 * (method == 'new')}\n"
    for method in ("old", "new")
    for seed in range(6)
)


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in a project with two imported experiments, `old` and `new`."""
    table = project / "results.csv"
    table.write_text(SCORES)
    for imported in records.read_files([table]):
        records.write_imported(pipeline.records_folder(project), imported, imported.name)
    return deviate_in(project)


def test_they_are_listed_shown_reported_compared_and_cleaned(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    listed = deviate("list")
    assert (listed.code, "old" in listed.out, "new" in listed.out) == (0, True, True)
    shown = deviate("show", "old")
    assert (shown.code, "Completed   6 of 6" in shown.out) == (0, True)
    run = deviate("show", "old", "--run", "5")
    assert (run.code, "seed 5" in run.out) == (0, True)
    assert "acc (mean ± SD)  0.9075 ± 0.0056" in deviate("report", "old").out
    assert "Verdict: better   acc +0.0500" in deviate("compare", "old", "new").out
    before = sorted(project.glob(".deviate/experiments/*/runs/*/*/*"))
    assert deviate("clean").code == 0
    assert len(before) == 24
    assert sorted(project.glob(".deviate/experiments/*/runs/*/*/*")) == before


@pytest.mark.parametrize("verb", [("resume", "old"), ("worker", "old", "--index", "0")])
def test_there_is_nothing_to_run(deviate, verb: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    refused = deviate(*verb)
    assert (refused.code, "old was imported: there is nothing to run" in refused.err) == (1, True)


def test_runs_of_a_script_do_not_become_theirs(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text('for epoch in range(2):\n    acc = epoch / 3\n    print(f"acc {acc:.4f}")\n')
    refused = deviate("run", "train.py", "-q", "-r", "2", "--name", "old")
    assert refused.code == 1
    assert "an experiment named old exists already, with runs that were imported" in refused.err
