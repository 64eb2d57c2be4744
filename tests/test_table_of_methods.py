"""A spreadsheet with a column per method is compared as it is."""

from pathlib import Path

import pytest
from scipy import stats

from deviate import api
from deviate.errors import InputError

OLD = (90.1, 90.4, 89.8, 90.2, 90.6, 89.9)
NEW = (91.0, 91.3, 90.9, 91.6, 91.2, 91.1)


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    (project / "wide.csv").write_text(
        "seed,old,new\n" + "".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(zip(OLD, NEW, strict=True)))
    )
    return deviate_in(project)


def test_columns_that_name_no_measure_are_experiments(deviate) -> None:  # type: ignore[no-untyped-def]
    done = deviate("compare", "wide.csv")
    assert done.code == 0, done.err
    assert (
        "Read     no column name is a known measure, so each column is an experiment and each row a score: old, new"
        in done.out
    )
    test = stats.ttest_ind(NEW, OLD, equal_var=False)
    assert f"Welch t({test.df:.1f}) = {test.statistic:.2f}" in done.out
    assert f"Verdict: higher   new is higher than old: score +{(sum(NEW) - sum(OLD)) / 6:.2f}" in done.out


def test_their_rows_are_pairs_and_the_direction_can_be_said(deviate) -> None:  # type: ignore[no-untyped-def]
    done = deviate("compare", "wide.csv", "--paired", "--direction", "score=max")
    assert (done.code, "Verdict: better   new is better than old: score" in done.out) == (0, True), done.err
    assert f"paired t(5) = {stats.ttest_rel(NEW, OLD).statistic:.2f}" in done.out


def test_columns_may_be_of_unequal_length(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "ragged.csv").write_text("old,new\n1,2\n1.5,2.5\n1.2,2.1\n,2.2\n")
    out = deviate("compare", "ragged.csv").out
    assert "old · imported · 3/3 completed" in out
    assert "new · imported · 4/4 completed" in out


def test_columns_of_measures_are_one_experiment(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "measures.csv").write_text("acc,loss\n0.9,0.1\n0.8,0.2\n")
    done = deviate("compare", "measures.csv")
    assert (done.code, "one experiment, measures, cannot be compared" in done.err) == (1, True)


def test_a_notebook_reads_it_so_too_and_its_errors_say_what_to_do(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    results = api.compare(project / "wide.csv", direction="max", folder=project)
    assert results.verdicts == {"new": "better"}
    with pytest.raises(InputError, match="one experiment cannot be compared") as refused:
        api.compare([1.0, 2.0])
    assert refused.value.__notes__ == ["pass a baseline and a candidate, or use deviate.describe"]


def test_folders_of_the_same_name_are_called_after_where_they_part(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    for side, scores in (("first", OLD), ("second", NEW)):
        (project / side / "logs").mkdir(parents=True)
        (project / side / "logs" / "scores.csv").write_text("\n".join(["acc", *map(str, scores)]))
    out = deviate("compare", "first/logs/scores.csv", "second/logs/scores.csv").out
    assert "second-scores is better than first-scores" in out
