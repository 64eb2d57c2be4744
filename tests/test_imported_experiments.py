"""Experiments that were imported are there for every verb but those that run something."""

from pathlib import Path

import pytest

from deviate.records.importing import read_files, write_imported
from deviate.records.layout import records_folder

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
    for imported in read_files([table]):
        write_imported(records_folder(project), imported, imported.name)
    return deviate_in(project)


def test_they_are_listed_shown_reported_compared_and_cleaned(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    listed = deviate("list")
    assert (listed.code, "old" in listed.out, "new" in listed.out) == (0, True, True)
    shown = deviate("show", "old")
    assert (shown.code, "Completed  6 of 6" in shown.out) == (0, True)
    run = deviate("show", "old", "--run", "5")
    assert (run.code, "seed 5" in run.out) == (0, True)
    assert "acc (mean ± SD)  0.9075 ± 0.0056" in deviate("report", "old").out
    assert "Verdict: better   new is better than old: acc +0.0500" in deviate("compare", "old", "new").out
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


def test_of_several_experiments_all_are_imported_or_none(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "more.csv").write_text(SCORES.replace("old", "fresh"))
    refused = deviate("import", "more.csv")
    assert (refused.code, "an experiment named new exists already" in refused.err) == (1, True)
    assert not (project / ".deviate" / "experiments" / "fresh").exists()


@pytest.mark.parametrize("name", ["", "x" * 300, "x" * 300 + ".csv", "x/" * 3000 + "y.csv", "noth*ing"])
def test_a_name_that_no_file_can_have_gets_one_message(deviate, name: str) -> None:  # type: ignore[no-untyped-def]
    for verb in (("compare", name, "old"), ("report", name), ("import", name)):
        refused = deviate(*verb)
        assert (refused.code, refused.err.startswith("Error: "), refused.err.count("\n")) == (1, True, 2), refused.err


def test_files_of_any_name_are_compared_under_it(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    for name in ("基线", "模型", "x" * 200):
        (project / f"{name}.csv").write_text(SCORES)
    result = deviate("compare", "基线.csv:old", "模型.csv:new", *(f"{'x' * 200}.csv:{it}" for it in ("old", "new")))
    assert (result.code, "Verdict: better" in result.out) == (0, True)


def test_the_report_of_many_long_names_has_a_folder_of_its_own(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    header, *rows = SCORES.splitlines()
    for name in "abcd":
        (project / f"{name * 80}.csv").write_text("\n".join([header, *(row for row in rows if "old" in row)]))
    files = [f"{name * 80}.csv" for name in "abcd"]
    assert deviate("compare", *files).code == 0
    assert deviate("compare", *files[:3]).code == 0
    folders = [path.parent.name for path in project.glob(".deviate/reports/*/report.html")]
    assert len(folders) == 2
    assert all(len(name) < 255 for name in folders)


def test_files_are_compared_in_a_folder_that_nobody_may_write_to(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "results.csv").write_text(SCORES)
    (project / ".deviate").write_text("in the way")
    result = deviate_in(project)("compare", "results.csv")
    assert (result.code, "Verdict: better   new is better than old: acc +0.0500" in result.out) == (0, True)
    assert "no page was kept" in result.out.splitlines()[-1]


def test_what_is_kept_of_a_comparison_of_files_is_invisible_to_git(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "results.csv").write_text(SCORES)
    assert deviate_in(project)("compare", "results.csv").code == 0
    assert (project / ".deviate" / ".gitignore").read_text() == "*\n"


def test_a_pilot_is_one_experiment(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    refused = deviate("plan", "--pilot", "results.csv", "--difference", "0.01")
    assert (refused.code, "holds several experiments: old, new" in refused.err) == (1, True)
    assert "of acc in old, n = 6" in deviate("plan", "--pilot", "results.csv:old", "--difference", "0.01").out


def test_an_import_of_many_files_takes_one_line_of_the_list(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    for seed in range(20):
        (project / f"long_{seed}.csv").write_text(f"epoch,loss\n0,1\n1,0.{seed + 1}\n")
    assert deviate("import", *(f"long_{seed}.csv" for seed in range(20)), "--name", "long").code == 0
    listed = " ".join(deviate("list").out.split())
    assert listed.endswith("long_9.csv … and 10 more")
