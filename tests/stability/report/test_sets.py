"""What the report says of captured predictions, weights and convergence, and why it says nothing."""

import dataclasses
import re

import pytest
from experiments import scored
from stabilities import FEW, everything, one_set, values_set, with_stability

from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.model.stability import Measure, SetStability, StabilityFindings
from deviate.report.document import Absent, DocumentTable, Fold, ReportFigure, Section
from deviate.stability.report.sections import brief_lines, stability_section
from deviate.stats.judge import judge

LABELS = ("small", "wide")


def _parts(found: StabilityFindings) -> dict[str, Section]:
    view = stability_section(dataclasses.replace(everything(), stability=found), LABELS)
    return {it.heading: it for it in view.parts}


def _cells(table: DocumentTable) -> dict[str, list[str]]:
    return {row.label: [cell.text for cell in row.cells] for row in table.rows}


def _alone(it: SetStability) -> Section:
    (part,) = _parts(StabilityFindings(sets=(it,))).values()
    return part


def test_the_lines_are_of_the_test_set_and_name_the_others() -> None:
    found = StabilityFindings(sets=(one_set(0, "val", 5), one_set(0, "test", 5)))
    lines = brief_lines(dataclasses.replace(everything(), stability=found), LABELS)
    assert "examples of test" in lines[0]
    assert lines[-1] == "… and 1 more evaluation set (val): see Stability in the report"


def test_what_was_asked_for_and_not_kept_is_told_beside_what_was() -> None:
    reasons = (("Not captured in run 0: predictions: none.", "Two.", "Three."),)
    found = StabilityFindings(reasons=reasons)
    lines = brief_lines(dataclasses.replace(everything(), stability=found), LABELS)
    told = ("small: Not captured in run 0: predictions: none.", "small: Two.")
    assert lines == (*told, "… and 1 more: see Stability in the report")


def test_imported_scores_are_not_blamed() -> None:
    imported = dataclasses.replace(scored("a", [1.0, 2.0]), imported=("a.csv",))
    assert "The scores were imported" in stability_section(judge([imported]), ["a"]).reasons[0]


def test_why_something_asked_for_is_not_there_is_said_with_its_experiment() -> None:
    asked = dataclasses.replace(everything(), stability=StabilityFindings(reasons=(("no room for test",), ())))
    assert stability_section(asked, LABELS).reasons[1] == "small: no room for test"


def test_the_first_sentence_sets_disagreement_beside_accuracy() -> None:
    it = dataclasses.replace(one_set(0, "test", 8), accuracies=(0.930, 0.934))
    first = _alone(it).of(str)[0]
    assert first == (
        "Two runs of small disagree on 8.20 % of the 10,000 examples of test [95% CI 7.70 … 8.70], although the "
        "accuracies of all 2 runs lie within 0.40 points (93.00 … 93.40 %)."
    )


@pytest.mark.parametrize(("n", "told"), [(8, ", mean over the pairs of 8 runs."), (2, ", from one pair of runs.")])
def test_without_accuracies_the_first_sentence_says_how_many_runs_there_are(n: int, told: str) -> None:
    silent = dataclasses.replace(one_set(0, "test", n), accuracies=())
    assert _alone(silent).of(str)[0].endswith(told)


def test_disagreement_below_the_difference_of_accuracies_is_no_although() -> None:
    it = dataclasses.replace(one_set(0, "test", 8), accuracies=(0.70, 0.93))
    first = _alone(it).of(str)[0]
    assert "although" not in first
    assert "; the accuracies of 2 runs range over 23 points (70 … 93 %)" in first


def test_runs_that_never_disagree_are_told_in_words() -> None:
    equal = dataclasses.replace(one_set(0, "test", 8), measures=(Measure("churn", 0.0, FEW),))
    assert _alone(equal).of(str) == (
        "All 8 runs of small predict the same class for each of the 10,000 examples of test.",
    )


def test_a_measure_that_is_not_there_has_its_reason() -> None:
    it = dataclasses.replace(one_set(0, "test", 1), measures=(Measure("churn", Unavailable("takes 2 runs"), FEW),))
    part = _alone(it)
    assert part.of(str)[0].endswith("is unknown: takes 2 runs.")
    (churn,) = [row for row in part.tables[0].rows if row.label == "churn"]
    assert isinstance(churn.cells[0], Absent)


def test_figures_without_intervals_say_why_once() -> None:
    part = _alone(one_set(0, "test", 3))
    assert part.footnotes[0] == "small, missing intervals: takes 5 runs."
    assert _cells(part.tables[0])["churn"] == ["8.2 %"]
    assert _cells(part.tables[0])["similarity of outputs (linear CKA)"] == ["0.941"]


def test_outputs_that_are_no_classes_are_told_by_their_correlation() -> None:
    part = _alone(values_set(0, "val", 8))
    assert re.match(
        r"Outputs of two runs of small on the 500 examples of val: correlation 0\.892\d? \[", part.of(str)[0]
    )
    assert part.of(str)[0].endswith("], mean over the pairs of 8 runs.")
    assert "Outputs are not classes, so disagreement is not defined." in part.footnotes
    assert part.figures == ()


def test_a_correlation_that_is_not_there_has_its_reason() -> None:
    reason = Unavailable("1 run: no pair to compare")
    single = dataclasses.replace(values_set(0, "val", 1), measures=(Measure("pearson", reason, reason),))
    (told,) = _alone(single).of(str)
    assert told.endswith("of val is unknown: 1 run: no pair to compare.")


def test_the_least_stable_examples_are_listed_with_their_votes() -> None:
    (fold,) = _parts(everything().stability)["Predictions on test"].of(Fold)
    first = fold.blocks[0].rows[1]
    assert (first.label, [it.text for it in first.cells]) == ("17", ["1", "53 %", "1: 5, 3: 3"])


def test_a_criterion_that_no_run_meets_has_one_row_and_times_that_nobody_has_none() -> None:
    (first, second) = everything().stability.convergence
    row = dataclasses.replace(first.rows[0], criterion="never", steps=(None,) * 8, seconds=(None,) * 8)
    absent = Unavailable(Reason.NO_TIMES)
    bare = dataclasses.replace(
        second,
        step_seconds_mean=absent,
        step_seconds_relative_range=absent,
        rows=(dataclasses.replace(second.rows[0], seconds_mean=absent, seconds_relative_range=absent),),
    )
    never = _parts(StabilityFindings(convergence=(dataclasses.replace(first, rows=(row,)),)))["Time to convergence"]
    assert [it.label for it in never.of(Fold)[0].blocks[0].rows if it.group == "never"] == ["converged runs"]
    untimed = _parts(StabilityFindings(convergence=(bare,)))["Time to convergence"]
    assert [it.label for it in untimed.of(Fold)[0].blocks[0].rows] == ["converged runs", "steps", "steps, range"]
    assert untimed.footnotes == ("The times of reported values were not recorded, so only steps are shown.",)


def test_where_nothing_was_captured_the_option_is_named_and_nothing_else_is_advertised() -> None:
    sides = [it.experiment for it in everything().experiments]
    convergence = StabilityFindings(convergence=everything().stability.convergence)
    for found in (StabilityFindings(), convergence):
        (told,) = stability_section(with_stability(sides, found), LABELS).reasons
        assert "--capture predictions,weights" in told
    bare = StabilityFindings(sets=(values_set(0, "val", 8),))
    assert stability_section(with_stability(sides, bare), LABELS).reasons == ()


def test_many_sets_are_folded_and_the_last_of_them_left_to_the_data() -> None:
    sides = [it.experiment for it in everything().experiments]
    steps = everything().stability.sets[0].steps
    sets = tuple(dataclasses.replace(one_set(0, f"set {i}", 5), steps=steps) for i in range(15))
    view = stability_section(with_stability(sides, StabilityFindings(sets=sets)), LABELS)
    assert len(view.parts) == 12
    assert [bool(it.figures) for it in view.parts[:4]] == [True, True, False, False]
    assert all(isinstance(part.of(Fold)[0].blocks[0], ReportFigure) for part in view.parts[2:])
    assert "3 further evaluation sets not shown; JSON and CSV have all." in view.footnotes


def test_a_correlation_next_to_one_keeps_the_digits_that_tell_it_from_one() -> None:
    it = dataclasses.replace(one_set(0, "test", 3), measures=(Measure("pearson", 0.99962, FEW),))
    (row,) = [row for row in _alone(it).tables[0].rows if "Pearson" in row.label]
    assert row.cells[0].text == "0.99962"
