"""`deviate.compare`, `describe` and `read`, as somebody in a notebook calls them."""

import json
import math
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import deviate
from deviate import api, logs
from deviate.api import Results
from deviate.errors import InputError

OLD = [93.1, 93.4, 93.2, 93.6, 93.3, 93.5]
NEW = [94.0, 94.3, 94.1, 94.5, 93.9, 94.4]


def _frames(n: int = 8, n_metrics: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(5)
    names = [f"test_acc_{i}" for i in range(n_metrics)]
    sides = (rng.normal(mean, 0.3, (n, n_metrics)) for mean in (93.0, 94.0))
    return tuple(pd.DataFrame(side, columns=names) for side in sides)  # type: ignore[return-value]


def _is_free_of_nan(frame: pd.DataFrame) -> bool:
    return not any(isinstance(it, float) and math.isnan(it) for column in frame for it in frame[column])


def test_importing_deviate_costs_a_training_script_nothing() -> None:
    question = "import sys, deviate; print(sorted({it.partition('.')[0] for it in sys.modules} - set(sys.argv[1:])))"
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    before = {it.partition(".")[0] for it in bare.stdout.split()}
    done = subprocess.run([sys.executable, "-c", question, *before], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['deviate']"


def test_deviate_offers_what_scripts_and_notebooks_call_and_no_other_name() -> None:
    homes = {name: logs if name.startswith("log") else api for name in deviate.__all__}
    assert [getattr(deviate, name) for name in homes] == [getattr(home, name) for name, home in homes.items()]
    assert {"compare", "describe", "read", "log", *deviate.__all__} <= set(dir(deviate))
    with pytest.raises(AttributeError, match="has no attribute 'compere'"):
        _ = deviate.compere  # type: ignore[attr-defined]


def test_only_tables_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    results = deviate.compare(OLD, NEW)
    assert results.verdict == "better"
    for table in (results.to_frame, results.scores):
        with pytest.raises(InputError, match="needs the package pandas") as refused:
            table()
        assert "pip install" in refused.value.hint


def test_figures_are_those_of_scipy() -> None:
    (row,) = deviate.compare(OLD, NEW).to_frame().to_dict("records")
    expected = stats.ttest_ind(NEW, OLD, equal_var=False)
    assert row["welch_p_value"] == pytest.approx(expected.pvalue, rel=1e-12)
    interval = expected.confidence_interval(0.95)
    assert row["welch_interval_low"] == pytest.approx(interval.low, rel=1e-9)
    assert row["welch_interval_high"] == pytest.approx(interval.high, rel=1e-9)
    assert row["candidate_sd"] == pytest.approx(np.std(NEW, ddof=1), rel=1e-12)


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        lambda values: np.array(values, dtype=np.float64)[:, None][:, 0],
        lambda values: (value for value in values),
        lambda values: [Decimal(str(value)) for value in values],
        lambda values: [np.float64(value) for value in values],
        lambda values: [np.array(value) for value in values],
        lambda values: pd.array(values, dtype="Float64"),
        lambda values: {"score": values},
        lambda values: pd.DataFrame({"score": values}),
        lambda values: pd.DataFrame({"score": values, "seed": range(len(values))}),
    ],
)
def test_the_same_scores_in_any_form_give_the_same_results(form) -> None:  # type: ignore[no-untyped-def]
    plain = deviate.compare(OLD, NEW, direction="max")
    given = deviate.compare(form(OLD), form(NEW), direction="max")
    assert (given.verdict, given.sentence) == ("better", plain.sentence)


@pytest.mark.parametrize(("direction", "verdict"), [("max", "better"), ("min", "worse")])
def test_the_direction_decides_which_side_is_better(direction: str, verdict: str) -> None:
    assert deviate.compare(OLD, NEW, direction=direction).verdict == verdict  # type: ignore[arg-type]


def test_a_direction_per_metric_leaves_the_others_as_their_names_say() -> None:
    old, new = ({"test_acc": side, "gap": side} for side in (OLD, NEW))
    frame = deviate.compare(old, new, direction={"gap": "min"}, metric="gap").to_frame()
    assert dict(zip(frame["metric"], frame["verdict"], strict=True)) == {"gap": "worse", "test_acc": "better"}


def test_columns_of_one_table_are_named_after_themselves_and_equal_names_are_one_metric() -> None:
    table = pd.DataFrame({"old": OLD, "new": NEW})
    assert "was 94.20 ± 0.24 with new and 93.35 ± 0.19 with old (mean ± SD over 6 runs each)" in deviate.compare(
        table["old"], table["new"]
    ).sentence.replace("94.200 ± 0.237", "94.20 ± 0.24").replace("93.350 ± 0.187", "93.35 ± 0.19")
    one, other = (pd.Series(side, name="test_acc") for side in (OLD, NEW))
    frame = deviate.compare(one, other).to_frame()
    assert (frame["metric"][0], frame["baseline"][0], frame["candidate"][0]) == ("test_acc", "baseline", "candidate")


def test_several_candidates_have_a_row_and_a_verdict_each() -> None:
    results = deviate.compare(OLD, NEW, OLD[::-1], names=("old", "new", "same"), direction="max")
    assert results.verdicts["new"] == "better"
    assert set(results.verdicts) == {"new", "same"}
    assert list(results.to_frame()["candidate"]) == ["new", "same"]
    assert results.verdict == f"new: better; same: {results.verdicts['same']}"


def test_settings_reach_the_judgement() -> None:
    results = deviate.compare(OLD, NEW, margin=5.0, confidence=0.9, seed=3)
    assert results.verdict == "equivalent"
    assert (results.findings.confidence, results.findings.analysis_seed) == (0.9, 3)
    assert ", 90% CI " in repr(results)


def test_paired_scores_are_paired_by_their_position() -> None:
    (row,) = deviate.compare(OLD, NEW, paired=True).to_frame().to_dict("records")
    expected = stats.ttest_rel(NEW, OLD)
    assert row["is_paired"]
    assert row["paired_t_test_p_value"] == pytest.approx(expected.pvalue, rel=1e-9)


def test_equal_scores_and_seed_give_equal_results_and_the_global_generator_stays_as_it_was() -> None:
    state = np.random.get_state()[1].copy()  # noqa: NPY002  it is what must not change
    first, second = (deviate.compare(*_frames(), seed=1).to_frame() for _ in range(2))
    assert first.equals(second)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([], OLD),
        ([1.0], OLD),
        ([1.0], [2.0]),
        ([1.0, 2.0], [2.0, 3.0]),
        ([], []),
        ([1.0] * 6, [1.0] * 6),
        ([1.0] * 6, [2.0] * 6),
        ([1.0] * 6, OLD),
        ([math.nan] * 6, OLD),
        ([math.nan, *OLD], NEW),
        ([math.inf, *OLD], NEW),
        ([None, *OLD], NEW),
        ([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7]),
        ([1e9 + it for it in OLD], [1e9 + it for it in NEW]),
        ([10**400, *OLD], NEW),
        ([1e-320, 2e-320, 3e-320, 4e-320, 5e-320], [1e308, -1e308, 1e308, 5e307, 0.0]),
        (OLD, NEW[:5]),
    ],
)
def test_degenerate_scores_have_a_named_outcome_everywhere_and_no_warning(
    one: list[float], other: list[float], capfd: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for results in (
            deviate.compare(one, other),
            deviate.compare(one, other, paired=True, margin=1.0),
            deviate.describe(one),
        ):
            frame = results.to_frame()
            assert _is_free_of_nan(frame)
            assert _is_free_of_nan(results.scores())
            shown = (repr(results), results.to_latex(), results.to_markdown(), results._repr_html_())
            for text in shown:
                # The reason of a run that ended NaN names it; no figure is one.
                assert not re.search(r"[±…=\[] ?−?(nan|inf)\b", text, re.IGNORECASE)
            missing = frame["mean" if "mean" in frame else "difference"].isna()
            assert all(frame.loc[missing, "reasons"] != "")
        assert "<svg" in deviate.compare(one, other).to_html() or not [*one, *other]
    assert capfd.readouterr().err == ""


def test_a_hundred_metrics_are_a_hundred_rows() -> None:
    results = deviate.compare(*_frames(6, 100))
    frame = results.to_frame()
    assert (len(frame), frame["metric"].nunique()) == (100, 100)
    assert len(results.scores()) == 1200
    assert len(deviate.describe(_frames(6, 100)[0]).to_frame()) == 100


def test_columns_are_typed_so_that_what_is_missing_is_missing() -> None:
    frame = deviate.compare([1.0], OLD).to_frame()
    assert str(frame["difference_interval_low"].dtype) == "Float64"
    assert frame["difference_interval_low"][0] is pd.NA
    assert "difference_interval: " in frame["reasons"][0]
    assert set(map(str, frame.dtypes)) <= {"Float64", "Int64", "boolean", "string", "str"}


def test_frames_of_different_outcomes_have_the_same_columns() -> None:
    few, many = deviate.compare([1.0], [2.0]).to_frame(), deviate.compare(OLD, NEW).to_frame()
    assert list(few.columns) == list(many.columns)
    assert len(pd.concat([few, many])) == 2


def test_a_missing_cell_costs_its_run_that_metric_only() -> None:
    old, new = _frames()
    new.loc[2, "test_acc_1"] = np.nan
    results = deviate.compare(old, new, metric="test_acc_0")
    assert list(results.to_frame()["n_candidate"]) == [8, 7]
    scores = results.scores()
    (gap,) = scores[scores["score"].isna()].to_dict("records")
    assert (gap["experiment"], gap["metric"], gap["replicate"]) == ("candidate", "test_acc_1", 2)
    assert "NaN" in gap["reason"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (1.5, "not scores"),
        (None, "not scores"),
        ([True, False], "not a score"),
        (np.array([True, False]), "not a score"),
        (["a", "b"], "not a score"),
        ([1 + 2j], "not a score"),
        (np.ones((2, 3)), "dimensions"),
        ({1.0, 2.0}, "not scores"),
        (b"ab", "not scores"),
        ({}, "no metric"),
        ({"a": 1.0}, "not scores"),
        ({"a": "b"}, "not scores"),
        (pd.DataFrame({"a": ["x", "y"]}), "column a holds 'x'"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "two columns are called a"),
        (pd.DataFrame({"seed": [1, 2]}), "no metric"),
        ("nowhere.csv", "nowhere.csv"),
        (Path("no/where"), "no/where"),
    ],
)
def test_what_holds_no_scores_is_refused_with_what_to_do(wrong: object, said: str, project: Path) -> None:
    for ask in (lambda: deviate.compare(OLD, wrong), lambda: deviate.describe(wrong)):
        with pytest.raises(InputError) as caught:
            ask()
        assert said in caught.value.message
        assert caught.value.hint


@pytest.mark.parametrize(
    "settings",
    [
        {"direction": "up"},
        {"names": ("one",)},
        {"names": ("same", "same")},
        {"names": "ab"},
        {"confidence": 2.0},
        {"margin": -1.0},
        {"metric": "no_such"},
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InputError):
        deviate.compare(OLD, NEW, **settings)


def test_one_experiment_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="cannot be compared"):
        deviate.compare(OLD)


def test_files_and_experiments_are_read_and_compared(project: Path) -> None:
    old, new = _frames()
    old.to_csv("old.csv", index=False)
    new.to_csv("new.csv", index=False)
    experiments = deviate.read("old.csv", Path("new.csv"))
    assert [it.name for it in experiments] == ["old", "new"]
    of_files = deviate.compare("old.csv", Path("new.csv"))
    assert deviate.compare(*experiments).sentence == of_files.sentence
    ours = deviate.compare(old, new).to_frame()
    theirs = of_files.to_frame()
    assert list(ours["difference"]) == list(theirs["difference"])
    assert isinstance(deviate.compare("old.csv", new), Results)
    assert list(deviate.describe("old.csv", name="o").to_frame()["experiment"]) == ["o", "o"]


def test_what_read_gives_is_compared_as_it_is(project: Path) -> None:
    (project / "old.csv").write_text("run,acc\n0,0.5\n1,0.52\n2,0.54\n", encoding="utf-8")
    (project / "new.csv").write_text("run,acc\n0,0.6\n1,0.62\n2,0.63\n", encoding="utf-8")

    apart = deviate.compare(deviate.read("old.csv"), deviate.read("new.csv"))

    assert apart.findings.pairs == deviate.compare("old.csv", "new.csv").findings.pairs
    assert len(deviate.describe(deviate.read("old.csv")).findings.experiments) == 1


def test_what_it_shows_in_a_notebook_is_text_of_the_user_and_no_markup() -> None:
    hostile = "<script>alert(1)</script>&"
    results = deviate.compare({hostile: OLD}, {hostile: NEW}, names=(hostile, "<b>"), direction="max")
    html = results._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html
    assert "<strong>Verdict: better</strong>" in html
    assert html.count("<tr>") == html.count("</tr>") == 2


def test_what_was_guessed_of_a_table_is_shown() -> None:
    table = pd.DataFrame({"seed": range(6), "test_acc": OLD})
    results = deviate.describe(table)
    assert results.notes == ("the column seed identifies runs and is not a metric",)
    assert repr(results).startswith("Read     the column seed identifies runs")
    assert "the column seed identifies runs" in results._repr_html_()


def test_a_name_on_record_is_read_with_its_results_and_that_they_were_seen_is_kept(
    project: Path, deviate_in: Callable[[Path], Callable[..., Any]]
) -> None:
    old, new = _frames()
    for name, side in (("old", old), ("new", new)):
        side.to_csv(f"{name}.csv", index=False)
        assert deviate_in(project)("import", f"{name}.csv", "--name", name).code == 0
    by_name = deviate.compare("old", "new", metric="test_acc_0")
    as_frames = deviate.compare(old, new, metric="test_acc_0")
    assert list(by_name.to_frame()["difference"]) == list(as_frames.to_frame()["difference"])
    assert [it.name for it in deviate.read("old", folder=project)] == ["old"]
    record = (project / ".deviate/experiments/old/experiment.json").read_text(encoding="utf-8")
    assert json.loads(record)["reported"]


@pytest.mark.parametrize("form", ["column", "index", "series", "mapping"])
def test_runs_are_pairs_by_their_seeds_where_both_sides_tell_them(form: str) -> None:
    old = pd.DataFrame({"Seed": range(6), "acc": OLD})
    new = pd.DataFrame({"seed": range(6), "acc": NEW})

    def given(frame: pd.DataFrame) -> Any:
        indexed = frame.set_index(frame.columns[0])
        return {"column": frame, "index": indexed, "series": indexed["acc"], "mapping": dict(frame.items())}[form]

    def test(candidate: pd.DataFrame) -> Any:
        return deviate.compare(given(old), given(candidate), paired=True).findings.pairs[0].comparisons[0].paired

    assert test(new.iloc[[3, 0, 5, 1, 4, 2]]) == test(new)
    assert deviate.compare(given(old), given(new.assign(seed=range(6, 12))), paired=True).verdict == "undecided"


def test_what_is_left_out_of_a_masked_array_is_no_score() -> None:
    masked = np.ma.array([*OLD, 1e9], mask=[0] * 6 + [1])
    assert deviate.describe(masked).findings.experiments[0].descriptions[0].n == 6


def test_a_direction_of_no_metric_is_refused() -> None:
    with pytest.raises(InputError, match="'los', which is not a metric"):
        deviate.compare({"loss": OLD}, {"loss": NEW}, direction={"los": "min"})
