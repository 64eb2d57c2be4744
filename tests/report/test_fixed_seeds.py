import dataclasses

from studies import noisy_run, study, usual, variant

from deviate.model.records import Experiment, SeedEvent
from deviate.report.advice import fixed_seed_warnings, warnings_of


def _seeded(name: str, *values: str, action: str = "fixed") -> Experiment:
    runs = [
        dataclasses.replace(
            noisy_run(i, (50.0, 93.0 + i), "same"),
            seed_events=(SeedEvent("lightgbm.seed", value, "train.py", 12, action),),  # type: ignore[arg-type]
        )
        for i, value in enumerate(values)
    ]
    return variant(name, runs)


def test_a_seed_that_no_variant_replaces_is_warned_of_with_its_place() -> None:
    [warning] = fixed_seed_warnings([_seeded("algo", "3", "3", "3")], ["base"])
    assert warning.startswith(
        "Not varied by deviate: lightgbm.seed = 3 (train.py:12). The value is the same in all runs,"
    )
    findings = study(_seeded("algo", "3", "3", "3"), *usual()[3:])
    assert [text for text in warnings_of(findings) if text.startswith("Not varied by deviate in ")]


def test_a_seed_that_differs_between_runs_is_in_the_spread() -> None:
    assert fixed_seed_warnings([_seeded("algo", "3", "4")], ["base"]) == []


def test_seeds_that_are_replaced_or_that_one_variant_keeps_are_not_warned_of() -> None:
    for action in ("replaced", "kept"):
        assert fixed_seed_warnings([_seeded("algo", "3", "3", action=action)], ["base"]) == []


def test_experiments_with_the_same_seeds_share_a_sentence() -> None:
    sides = [_seeded("algo", "3", "3"), _seeded("algo", "3", "3"), _seeded("algo", "5", "5")]
    [first, second] = fixed_seed_warnings(sides, ["a", "b", "c"])
    assert first.startswith("Not varied by deviate in a, b: lightgbm.seed = 3 ")
    assert second.startswith("Not varied by deviate in c: lightgbm.seed = 5 ")
