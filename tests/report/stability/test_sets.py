"""What the report says of captured predictions, weights and convergence, and why it says nothing."""

import dataclasses
import re

import pytest
from experiments import scored
from stabilities import FEW, everything, one_set, values_set, with_stability
from studies import noisy_run, study, variant, weights

from deviate.model import Measure, SetStability, StabilityFindings, Unavailable
from deviate.report import build_view, render
from deviate.report.stability import stability_view
from deviate.report.view.stability import Quantities, StabilityPart
from deviate.stats import judge

LABELS = ("small", "wide")


def _parts(found: StabilityFindings) -> dict[str, StabilityPart]:
    view = stability_view(dataclasses.replace(everything(), stability=found), LABELS)
    return {it.heading: it for it in view.parts}


def _cells(table: Quantities) -> dict[str, list[str]]:
    return {row.label: [cell.text for cell in row.cells] for row in table.rows}


def _alone(it: SetStability) -> StabilityPart:
    (part,) = _parts(StabilityFindings(sets=(it,))).values()
    return part


def test_without_captures_it_is_said_what_to_type() -> None:
    view = stability_view(judge([scored("a", [1.0, 2.0])]), ["a"])
    assert "--capture predictions,weights" in view.no_stability
    assert (view.parts, view.classes, view.lines) == ((), (), ())
    assert "--capture predictions" in view.no_classes
    assert "--groups" in view.no_groups


def test_the_lines_are_of_the_test_set_and_name_the_others() -> None:
    found = StabilityFindings(sets=(one_set(0, "val", 5), one_set(0, "test", 5)))
    lines = stability_view(dataclasses.replace(everything(), stability=found), LABELS).lines
    assert "examples of test" in lines[0]
    assert lines[-1] == "… and of 1 more evaluation set (val): see the report, Stability"


def test_what_was_asked_for_and_not_kept_is_told_beside_what_was() -> None:
    reasons = (("Not captured in run 0: predictions: none.", "Two.", "Three."),)
    found = StabilityFindings(reasons=reasons)
    lines = stability_view(dataclasses.replace(everything(), stability=found), LABELS).lines
    told = ("small: Not captured in run 0: predictions: none.", "small: Two.")
    assert lines == (*told, "… and 1 more: see the report, Stability")


def test_hashes_of_weights_are_said_to_tell_no_distance() -> None:
    runs = [noisy_run(i, (50.0,), "same", weights=(weights("a"),)) for i in range(2)]
    assert "a hash of each run" in stability_view(study(variant("control", runs)), ["control"]).no_stability


def test_imported_scores_are_not_blamed() -> None:
    imported = dataclasses.replace(scored("a", [1.0, 2.0]), imported=("a.csv",))
    assert "their scores were imported" in stability_view(judge([imported]), ["a"]).no_stability


def test_why_something_asked_for_is_not_there_is_said_with_its_experiment() -> None:
    found = everything()
    asked = dataclasses.replace(found, stability=StabilityFindings(reasons=(("no room for test",), ())))
    assert "small: no room for test" in stability_view(asked, LABELS).no_stability
    assert "wide: weights of replicate 2 were not kept: they found no room" in stability_view(found, LABELS).absent


def test_the_first_sentence_sets_disagreement_beside_accuracy() -> None:
    it = dataclasses.replace(one_set(0, "test", 8), accuracies=(0.930, 0.934))
    first = _alone(it).sentences[0]
    assert first == (
        "Two runs of small disagree on 8.20 % of the 10,000 examples of test [95% CI 7.70 … 8.70], although the "
        "accuracies of all 2 runs lie within 0.40 points (93.00 … 93.40 %)."
    )


@pytest.mark.parametrize(("n", "told"), [(8, ", mean over the pairs of 8 runs."), (2, ", of the one pair of 2 runs.")])
def test_without_accuracies_the_first_sentence_says_how_many_runs_there_are(n: int, told: str) -> None:
    silent = dataclasses.replace(one_set(0, "test", n), accuracies=())
    assert _alone(silent).sentences[0].endswith(told)


def test_disagreement_below_the_difference_of_accuracies_is_no_although() -> None:
    it = dataclasses.replace(one_set(0, "test", 8), accuracies=(0.70, 0.93))
    first = _alone(it).sentences[0]
    assert "although" not in first
    assert "; the accuracies of all 2 runs lie within 23 points (70 … 93 %)" in first


def test_runs_that_never_disagree_are_told_in_words() -> None:
    equal = dataclasses.replace(one_set(0, "test", 8), measures=(Measure("churn", 0.0, FEW),))
    assert _alone(equal).sentences == (
        "All 8 runs of small predict the same class for each of the 10,000 examples of test.",
    )


def test_a_measure_that_is_not_there_has_its_reason() -> None:
    it = dataclasses.replace(one_set(0, "test", 1), measures=(Measure("churn", Unavailable("takes 2 runs"), FEW),))
    part = _alone(it)
    assert part.sentences[0].endswith("disagree is not known: takes 2 runs.")
    (churn,) = [row for row in part.tables[0].rows if row.label == "churn"]
    assert churn.cells[0].is_reason


def test_experiments_stand_side_by_side_with_their_intervals_and_differences() -> None:
    table = _parts(everything().stability)["Predictions on test"].tables[0]
    assert table.columns == LABELS
    cells = _cells(table)
    assert cells["churn"] == ["8.20 % [7.70 … 8.70]", "8.36 % [7.85 … 8.88]"]
    assert cells["churn, difference"] == ["reference", "+0.16 points [−0.84 … 1.16]"]
    assert cells["gain of two runs averaged: accuracy"][0] == "+1.230 points [1.146 … 1.314]"
    assert cells["error of the test set"] == ["0.25 points", "0.25 points"]
    assert cells["examples"] == ["10,000", "10,000"]


def test_figures_without_intervals_say_why_once() -> None:
    part = _alone(one_set(0, "test", 3))
    assert part.notes[0] == "small, where no interval stands: takes 5 runs."
    assert _cells(part.tables[0])["churn"] == ["8.2 %"]
    assert _cells(part.tables[0])["similarity of outputs (linear CKA)"] == ["0.941"]


def test_outputs_that_are_no_classes_are_told_by_their_correlation() -> None:
    part = _alone(values_set(0, "val", 8))
    assert re.match(
        r"Outputs of two runs of small on the 500 examples of val: correlation 0\.892\d? \[", part.sentences[0]
    )
    assert part.sentences[0].endswith("], mean over the pairs of 8 runs.")
    assert "Outputs are no classes: nothing can be said of disagreement." in part.notes
    assert part.plots == ()


def test_a_correlation_that_is_not_there_has_its_reason() -> None:
    reason = Unavailable("1 run: no other to compare it with")
    single = dataclasses.replace(values_set(0, "val", 1), measures=(Measure("pearson", reason, reason),))
    (told,) = _alone(single).sentences
    assert told.endswith("of val are is not known: 1 run: no other to compare it with.")


def test_reductions_have_their_measures_and_what_they_add_up_to() -> None:
    table = _parts(everything().stability)["Predictions on test"].tables[1]
    groups = list(dict.fromkeys(row.group for row in table.rows))
    assert groups == ["snapshots, mean of 5 outputs", "flip, mean of 2 outputs"]
    told = [row.cells[0].text for row in table.rows if row.label == "variability reduced by"]
    assert told == ["48.0 % [38.0 … 58.0]", "21.0 % [11.0 … 31.0]"]


def test_the_least_stable_examples_are_listed_with_their_votes() -> None:
    (fold,) = _parts(everything().stability)["Predictions on test"].folds
    first = fold.grids[0].rows[1]
    assert (first.label, [it.text for it in first.cells]) == ("17", ["1", "53 %", "1: 5, 3: 3"])


def test_weights_name_the_layer_that_is_farthest_apart() -> None:
    part = _parts(everything().stability)["Weights"]
    assert "apart, mean over the pairs of 8 runs; farthest is blocks.5.conv.weight with 1.250" in part.sentences[0]
    layers = part.folds[0].tables[0]
    assert len(layers.rows) == 6
    assert layers.rows[1].method == "3,456 weights"


def test_convergence_counts_the_runs_that_get_there() -> None:
    table = _parts(everything().stability)["Time to convergence"].folds[0].tables[0]
    cells = _cells(table)
    assert cells["runs that get there"] == ["7 of 8", "7 of 8"]
    assert cells["steps"] == ["20 … 27", "20 … 27"]
    assert cells["seconds"][0] == "34.2 ± 3.1 s"
    assert {row.group for row in table.rows} == {"within 1% of the best val_acc"}


def test_a_criterion_that_no_run_meets_has_one_row_and_times_that_nobody_has_none() -> None:
    (first, second) = everything().stability.convergence
    row = dataclasses.replace(first.rows[0], criterion="never", steps=(None,) * 8, seconds=(None,) * 8)
    absent = Unavailable("times are not on record")
    bare = dataclasses.replace(
        second,
        step_seconds_mean=absent,
        step_seconds_relative_range=absent,
        rows=(dataclasses.replace(second.rows[0], seconds_mean=absent, seconds_relative_range=absent),),
    )
    never = _parts(StabilityFindings(convergence=(dataclasses.replace(first, rows=(row,)),)))["Time to convergence"]
    assert [it.label for it in never.folds[0].tables[0].rows if it.group == "never"] == ["runs that get there"]
    untimed = _parts(StabilityFindings(convergence=(bare,)))["Time to convergence"]
    assert [it.label for it in untimed.folds[0].tables[0].rows] == ["runs that get there", "steps", "steps, range"]
    assert untimed.notes == ("When these runs reported their values is not on record: steps alone are told.",)


def test_weak_models_are_shown_with_both_figures_and_their_rule() -> None:
    (row,) = _parts(everything().stability)["Weak models"].grids[0].rows
    assert [it.text for it in row.cells] == [
        "test_acc",
        "test_acc below 90",
        "replicate 3",
        "9.4",
        "0.80",
        "3.1",
        "0.25",
    ]


def test_what_was_not_asked_for_names_its_flag() -> None:
    sides = [it.experiment for it in everything().experiments]
    bare = StabilityFindings(sets=(values_set(0, "val", 8),))
    view = stability_view(with_stability(sides, bare), LABELS)
    told = " ".join(view.absent)
    for flag in ("--capture weights", "--capture-every K", "--tta flip,crop25", "--weak-below METRIC=VALUE"):
        assert flag in told, flag
    assert "--capture predictions" not in told
    full = stability_view(everything(), LABELS)
    assert not [it for it in full.absent if "--" in it]


def test_many_sets_are_folded_and_the_last_of_them_left_to_the_data() -> None:
    sides = [it.experiment for it in everything().experiments]
    sets = tuple(one_set(0, f"set {i}", 5) for i in range(15))
    view = stability_view(with_stability(sides, StabilityFindings(sets=sets)), LABELS)
    assert len(view.parts) == 12
    assert [bool(it.plots) for it in view.parts[:4]] == [True, True, False, False]
    assert "3 further evaluation sets not shown; JSON and CSV have all." in view.footnotes
    drawn = [any("pairs" in plot.key for fold in it.folds for plot in fold.plots) for it in view.parts[2:]]
    assert drawn == [True, True, *[False] * 8]
    assert [any("disagreement.csv has all" in note for note in it.notes) for it in view.parts] == [False] * 4 + [
        True
    ] * 8


def test_a_terminal_gets_churn_class_and_group_in_few_lines() -> None:
    text = render(build_view(everything()), "terminal")
    block = text[text.index("Stability  ") :].split("\n\n")[0]
    assert block.startswith(
        "Stability  Two runs disagree on test (10,000 examples) [95% CI]: small 8.20 % [7.70 … 8.70]"
    )
    assert "class 3 is the least steady" in block
    assert "accuracy of sex = 1 varies 4.60 [3.22 … 6.90] times" in block
    assert len(block.splitlines()) <= 6
    assert text.index("Verdict: ") < text.index("Stability  ")


def test_intervals_name_their_method_and_that_runs_were_left_out_not_pairs() -> None:
    told = stability_view(everything(), LABELS).footnotes[0]
    assert told == "Intervals: 95%, jackknife over runs. They come from runs, never from pairs: pairs share their runs."


def test_what_stability_does_not_show_is_among_the_limits() -> None:
    limits = build_view(everything()).limits
    assert "How often runs disagree is not how often they are wrong, and no verdict rests on it." in limits
    assert not [it for it in build_view(judge([scored("a", [1.0, 2.0])])).limits if "disagree" in it]


def test_a_correlation_next_to_one_keeps_the_digits_that_tell_it_from_one() -> None:
    it = dataclasses.replace(one_set(0, "test", 3), measures=(Measure("pearson", 0.99962, FEW),))
    (row,) = [row for row in _alone(it).tables[0].rows if "Pearson" in row.label]
    assert row.cells[0].text == "0.99962"
