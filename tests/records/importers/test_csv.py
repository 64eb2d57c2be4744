"""Tables: what columns are is guessed and told, values keep their bits, and what cannot be runs is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records.importers import Imported
from deviate.records.importing import experiment_of, read_files

Table = Callable[[str], tuple[Imported, ...]]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Reads a text as the file results.csv."""

    def read(text: str) -> tuple[Imported, ...]:
        path = tmp_path / "results.csv"
        path.write_text(text, encoding="utf-8")
        return read_files([path])

    return read


def scores(imported: Imported) -> list[dict[str, list[float]]]:
    return [{name: list(series.values) for name, series in run.series.items()} for run in imported.runs]


def test_a_row_per_run_is_wide(table: Table) -> None:
    (it,) = table("seed,acc,loss\n3,0.91,0.3\n0,0.92,0.31\n")
    assert (it.name, it.form) == ("results", "csv")
    assert [(run.label, run.seeds) for run in it.runs] == [("seed 0", {"seed": 0}), ("seed 3", {"seed": 3})]
    assert scores(it) == [{"acc": [0.92], "loss": [0.31]}, {"acc": [0.91], "loss": [0.3]}]
    assert it.runs[0].series["acc"].steps == (None,)


def test_a_row_per_measurement_is_long_and_the_columns_are_told(table: Table) -> None:
    rows = [
        f"{seed};{epoch};{name};{0.5 + seed + epoch}" for seed in (0, 1) for epoch in (0, 1) for name in ("acc", "loss")
    ]
    (it,) = table("\n".join(["seed;epoch;metric;score", *rows]))
    assert scores(it)[1] == {"acc": [1.5, 2.5], "loss": [1.5, 2.5]}
    assert it.runs[1].series["acc"].steps == (0, 1)
    assert it.notes[0].startswith(
        "results.csv: 8 rows: separated by semicolon, run = seed, step = epoch, metric = metric, value = score: "
        "1 experiment, 2 runs"
    )
    assert "if this is wrong, name the columns run, step, metric, value, experiment, task" in it.notes[0]


def test_a_row_per_step_is_one_run(table: Table) -> None:
    (it,) = table("epoch,loss,val_acc\n1,0.9,\n2,0.8,0.5\n3,0.7,\n")
    assert [(tuple(series.steps), tuple(series.values)) for series in it.runs[0].series.values()] == [
        ((1, 2, 3), (0.9, 0.8, 0.7)),
        ((2,), (0.5,)),
    ]
    assert len(it.runs) == 1


def test_steps_that_begin_anew_are_further_runs_and_it_is_said(table: Table) -> None:
    (it,) = table("epoch,loss\n1,0.9\n2,0.8\n1,0.7\n2,0.6\n")
    assert scores(it) == [{"loss": [0.9, 0.8]}, {"loss": [0.7, 0.6]}]
    assert any("a new run begins" in note for note in it.notes)


def test_methods_are_experiments_and_data_sets_are_tasks(table: Table) -> None:
    a, b = table("method,dataset,seed,acc\nA,x,0,1\nA,y,0,2\nB,x,0,3\nB,y,0,4\nA,x,1,5\nA,y,1,6\nB,x,1,7\nB,y,1,8\n")
    assert (a.name, b.name, a.tasks) == ("A", "B", ("x: acc", "y: acc"))
    assert scores(b) == [{"x: acc": [3], "y: acc": [4]}, {"x: acc": [7], "y: acc": [8]}]


def test_settings_that_tell_rows_of_a_seed_apart_are_experiments(table: Table) -> None:
    first, second = table("seed,lr,acc\n0,0.1,0.9\n0,0.01,0.8\n1,0.1,0.91\n1,0.01,0.82\n")
    assert (first.name, second.name) == ("lr=0.1", "lr=0.01")
    assert scores(second) == [{"acc": [0.8]}, {"acc": [0.82]}]


def test_a_setting_of_numbers_that_is_named_experiment_is_no_metric(table: Table) -> None:
    found = table("dataset,experiment,model,MSE\nx,96,A,1\nx,96,B,2\nx,192,A,3\nx,192,B,4\n")
    assert [it.name for it in found] == ["A-experiment=96", "B-experiment=96", "A-experiment=192", "B-experiment=192"]


def test_rows_of_one_run_that_nothing_tells_apart_are_refused(table: Table) -> None:
    with pytest.raises(InputError, match="several rows hold acc of seed 0") as caught:
        table("seed,acc\n0,0.9\n0,0.8\n1,0.7\n")
    assert "step, run, experiment or task" in caught.value.hint


def test_training_and_validation_in_rows_of_their_own_are_metrics_of_their_own(table: Table) -> None:
    (it,) = table("epoch,phase,loss\n0,train,1\n0,val,2\n1,train,3\n1,val,4\n")
    assert scores(it) == [{"train_loss": [1, 3], "val_loss": [2, 4]}]


def test_columns_that_are_runs_are_put_under_one_another(table: Table) -> None:
    (it,) = table("epoch,acc_seed_0,acc_seed_1\n0,0.5,0.6\n1,0.7,0.8\n")
    assert scores(it) == [{"acc": [0.5, 0.7]}, {"acc": [0.6, 0.8]}]


def test_a_chart_exported_from_wandb_is_a_column_per_run(table: Table) -> None:
    names = [f"{run} - val/acc{end}" for run in ("swift-1", "deep-2") for end in ("", "__MIN", "__MAX")]
    (it,) = table("\n".join([",".join(["Step", *names]), "1,1,0,9,2,0,9", "2,3,0,9,4,0,9"]))
    assert {run.label: list(run.series["val/acc"].values) for run in it.runs} == {
        "run swift-1": [1, 3],
        "run deep-2": [2, 4],
    }


def test_our_own_scores_come_back_with_all_bits(table: Table) -> None:
    third = 0.1 + 0.2
    base, new = table(
        "experiment,variant,replicate,status,metric,score\n"
        f"base,algo+impl,0,completed,'=acc,{third!r}\nbase,algo+impl,1,crashed,'=acc,\n"
        "new,algo+impl,0,completed,'=acc,5e-324\nnew,algo+impl,1,diverged,'=acc,\n"
    )
    assert [(run.status, scores(base)[at]) for at, run in enumerate(base.runs)] == [
        ("completed", {"=acc": [third]}),
        ("crashed", {}),
    ]
    assert scores(new)[0]["=acc"][0].hex() == (5e-324).hex()
    assert [run.status for run in experiment_of(new).runs] == ["completed", "diverged"]


@pytest.mark.parametrize(
    "text",
    [
        "0.5\n0.25\n",
        "0.5 0.25\n",
        "0.5, 0.25",
        "acc\n0.5\n0.25\n",
        "0,5\n0,25\n",
        "run\tacc\n0\t0,5\n1\t0,25\n",
        '"run";"acc"\n"0";"0,5"\n"1";"0,25"\n',
        "\ufeffrun,acc\n0,0.5\n1,0.25\n",
        "# made by hand\nrun,acc\n\n0,0.5\n1,0.25\n",
        "# run acc\n0 0.5\n1 0.25\n",
        ",acc\n0,0.5\n1,0.25\n",
        "run,acc\n0,50%\n1,25%\n",
        "run,acc\n0,0.5\nrun,acc\n1,0.25\n",
        "seed   acc\n0      0.5\n1      0.25\n",
    ],
)
def test_however_two_numbers_are_written_they_are_two_runs(table: Table, text: str) -> None:
    (it,) = table(text)
    (values,) = {tuple(next(iter(run.series.values())).values[0] for run in it.runs)}
    assert values in {(0.5, 0.25), (50, 25)}


def test_what_is_not_used_is_said(table: Table) -> None:
    (it,) = table("seed,acc,date,batch_size\n0,0.5,mon,32\n1,0.6,tue,32\n2,0.7,wed,32\n")
    assert "metrics = acc, not used = date, batch_size" in it.notes[0]


def test_missing_cells_are_no_scores_and_nan_diverges(table: Table) -> None:
    (it,) = table("seed,acc\n0,0.5\n1,\n2,NA\n3,nan\n4,inf\n")
    assert [run.status for run in experiment_of(it).runs] == ["completed"] * 3 + ["diverged"] * 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("method,mean,std,n\nA,0.9,0.1,5\nB,0.8,0.1,5\n", "means and spreads"),
        ("cell,acc_mean,acc_std\na,1,2\nb,3,4\n", "means and spreads"),
        ("method,acc\nA,0.9 ± 0.1\nB,0.8 ± 0.2\n", "no column holds scores"),
    ],
)
def test_summaries_are_no_runs_and_the_hint_says_where_they_belong(table: Table, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        table(text)
    assert "deviate.stats" in caught.value.hint
    assert "divisor" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,a\n1,2\n", "several columns named 'a'"),
        ("a,b\nx,y\n", "no column holds scores"),
        ("a,b\n1,2\n3,4\n1,2,3,4,5\n", "the row 1,2,3,4,5 has 5 cells, but the header has 2"),
        ("# nothing\n", "holds only comments"),
        ("x" * 5_000_000, "is no table: field larger than field limit"),
        ("acc\n" + "0.5\n" * 10_001, "would have 10001 runs"),
        ("\0\1\2" * 50, "is not a text file"),
    ],
)
def test_what_is_no_table_of_results_is_refused_with_one_message(table: Table, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        table(text)
    assert caught.value.hint


def test_a_table_most_of_whose_scores_are_missing_keeps_its_columns(table: Table) -> None:
    (it,) = table("seed,acc\n0,0.5\n1,\n2,\n")
    assert scores(it) == [{"acc": [0.5]}, {}, {}]
