"""Plans: created once, found by name, changed with every change kept."""

import dataclasses
import json
from pathlib import Path

import pytest
from recorded import make_metric, make_plan, select

from deviate.errors import InputError, RecordError
from deviate.model.analysis import Place
from deviate.model.plan import Variant
from deviate.records.plans import (
    VariantPlan,
    change_experiment,
    create_experiment,
    find_experiment,
    list_experiments,
    new_experiment_folder,
    read_plan,
    record_ended,
    tell_reported,
)
from deviate.records.schema import SCHEMA


def test_a_plan_reads_back_as_it_was_written(tmp_path: Path) -> None:
    plan = make_plan(selection=select(make_metric("acc", path=(Place("train.py", 3),), label="test")))
    folder = new_experiment_folder(tmp_path, "base")
    create_experiment(folder, plan)
    assert read_plan(folder) == plan


def test_a_variant_is_on_record_with_its_whole_definition(experiment: Path) -> None:
    defined = Variant(
        name="mine",
        description="what I want",
        varied=("init", "threads"),
        held=("split",),
        controls=(("kernels", "deterministic"), ("threads", "2")),
        perturbations=((), (("threads", "1"),)),
    )
    change_experiment(experiment, time=2.0, variants=[VariantPlan("mine", 5, defined)])
    (variant,) = read_plan(experiment).variants
    assert variant.definition == defined
    assert (variant.varied, variant.held) == (("init", "threads"), ("split",))


def test_the_folder_ignores_itself_in_git(tmp_path: Path) -> None:
    new_experiment_folder(tmp_path / ".deviate", "base")
    assert (tmp_path / ".deviate/.gitignore").read_text() == "*\n"


def test_an_experiment_that_exists_is_never_made_again(experiment: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="base exists already"):
        new_experiment_folder(tmp_path / ".deviate", "base")
    with pytest.raises(InputError, match="exists already"):
        create_experiment(experiment, make_plan())


def test_what_is_left_of_an_experiment_that_never_began_is_cleared(tmp_path: Path) -> None:
    folder = new_experiment_folder(tmp_path, "base")
    (folder / "snapshot").mkdir()
    assert list(new_experiment_folder(tmp_path, "base").iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "a:b", "a b", "-x", "x" * 101])
def test_a_name_that_cannot_be_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot name an experiment"):
        new_experiment_folder(tmp_path, name)
    with pytest.raises(InputError, match="no experiment named"):
        find_experiment(tmp_path, name)


def test_an_unknown_name_lists_the_known_ones(experiment: Path, tmp_path: Path) -> None:
    deviate = tmp_path / ".deviate"
    assert find_experiment(deviate, "base") == experiment
    with pytest.raises(InputError, match="nobody") as caught:
        find_experiment(deviate, "nobody")
    assert caught.value.hint == "known experiments: base"
    with pytest.raises(InputError, match="bsae") as caught:
        find_experiment(deviate, "bsae")
    assert caught.value.hint == "did you mean base? known experiments: base"
    with pytest.raises(InputError, match="base") as caught:
        find_experiment(tmp_path / "elsewhere" / ".deviate", "base")
    assert str(caught.value.hint).startswith("no experiment is recorded there: change to the folder of the project")
    assert [plan.name for plan in list_experiments(deviate)] == ["base"]


def test_without_experiments_the_hint_says_how_to_run_one(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_experiment(tmp_path, "nobody")
    assert "deviate run" in caught.value.hint
    assert list_experiments(tmp_path) == ()


def test_changes_are_appended_and_what_was_before_stays(experiment: Path) -> None:
    selection = select(make_metric("accuracy"))
    change_experiment(experiment, time=2.0, variants=[VariantPlan("as-is", 5)])
    change_experiment(experiment, time=3.0, selection=selection)
    plan = read_plan(experiment)
    assert plan.variants == (VariantPlan("as-is", 5),)
    assert plan.selection == selection
    assert [(change.time, list(change.fields)) for change in plan.history] == [
        (2.0, ["variants"]),
        (3.0, ["selection"]),
    ]


def test_a_verdict_waits_until_all_runs_or_those_that_a_budget_allows_have_ended(experiment: Path) -> None:
    assert [read_plan(experiment).n_pending(10, n) for n in (5, 10)] == [5, 0]
    record_ended(experiment, 7)
    plan = read_plan(experiment)
    assert [plan.n_pending(10, n) for n in (7, 8, 10)] == [0, 2, 0]
    assert [plan.is_cut_short(10, n) for n in (7, 8, 10)] == [True, False, False]
    assert dataclasses.replace(plan, looks=(5, 10)).n_pending(10, 8) == 0


def test_runs_added_to_a_plan_that_was_cut_short_follow_a_look(experiment: Path) -> None:
    definition = read_plan(experiment).variants[0]
    change_experiment(experiment, time=1.0, variants=(dataclasses.replace(definition, n_runs=10),))
    record_ended(experiment, 7)
    tell_reported(experiment, time=2.0, is_comparison=True, is_cut_short=True)
    assert read_plan(experiment).n_unplanned_looks(is_cut_short=True) == 0
    assert read_plan(experiment).n_unplanned_looks(is_cut_short=False) == 1


def test_a_change_that_changes_nothing_leaves_no_trace(experiment: Path) -> None:
    before = (experiment / "experiment.json").read_bytes()
    change_experiment(experiment, time=2.0, n_threads=None)
    assert (experiment / "experiment.json").read_bytes() == before


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "{}", '{"schema": 1}', '{"schema": 99}', '{"schema": 1, "name": "x"}']
)
def test_a_damaged_plan_is_named(experiment: Path, damage: str) -> None:
    (experiment / "experiment.json").write_text(damage)
    with pytest.raises(RecordError, match=r"experiment\.json"):
        read_plan(experiment)


def test_files_are_strict_json_with_a_schema_number(experiment: Path) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    document = json.loads((experiment / "experiment.json").read_text(), parse_constant=refuse)
    assert document["schema"] == SCHEMA
    assert [path.name for path in experiment.iterdir() if path.name.startswith(".")] == []
