"""Warnings about imported runs that end before the others."""

import dataclasses

from samples import experiment, metric, run

from deviate.model.records import Experiment
from deviate.report.advice import ending_warnings


def imported(lengths: list[int], *, is_imported: bool = True, last_status: str = "completed") -> Experiment:
    """Runs called a, b, c … that recorded so many steps."""
    one = experiment("old", [metric("acc")], {"acc": []})
    runs = [
        dataclasses.replace(run(i, {"acc": [0.1] * n}), environment={"imported as": "abcdefgh"[i]})
        for i, n in enumerate(lengths)
    ]
    runs[-1] = dataclasses.replace(runs[-1], status=last_status)
    told = ("imported from old (tensorboard)",) if is_imported else ()
    return dataclasses.replace(one, runs=tuple(runs), imported=told)


def test_a_run_that_ends_before_most_others_is_named_by_what_it_was_called() -> None:
    (warning,) = ending_warnings([imported([12, 12, 6, 12])], ["old"])
    assert warning.startswith("1 of 4 runs of old end before the others, which end at step 11: c at step 5.")


def test_runs_that_all_end_elsewhere_were_stopped_early_and_are_no_concern() -> None:
    assert ending_warnings([imported([12, 9, 6, 11])], ["old"]) == []
    assert ending_warnings([imported([9, 9, 9, 12])], ["old"]) == []


def test_a_run_that_is_known_to_have_crashed_or_that_deviate_ran_is_not_named() -> None:
    assert ending_warnings([imported([12, 12, 12, 6], last_status="crashed")], ["old"]) == []
    assert ending_warnings([imported([12, 12, 12, 6], is_imported=False)], ["old"]) == []


def test_scores_without_steps_end_nowhere() -> None:
    one = experiment("old", [metric("acc")], {"acc": [0.1, 0.2]})
    assert ending_warnings([dataclasses.replace(one, imported=("imported from a.csv (csv)",))], ["old"]) == []
