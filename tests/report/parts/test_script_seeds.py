"""What became of the script's seeds is one sentence, and says no more than the seeding calls and the variants."""

from deviate.model.records import SeedEvent
from deviate.report.parts.script_seeds import seed_sentence

FREE = ("init", "shuffle", "augment", "dropout", "other")


def event(call: str, value: str, line: int, action: str = "replaced") -> SeedEvent:
    return SeedEvent(call, value, "train.py", line, action)  # type: ignore[arg-type]


def test_replaced_and_kept_seeds_are_told_apart_by_what_varies() -> None:
    calls = [event("sklearn.ShuffleSplit.random_state", "1", 17, "kept"), event("numpy.random.default_rng", "0", 19)]
    assert seed_sentence([("a", FREE, (), calls)]) == (
        "The script's own seeds: numpy.random.default_rng(0) in train.py:19 was replaced by one per run; "
        "random_state=1 in train.py:17 was kept."
    )
    both = seed_sentence([("algo", FREE, (), calls), ("impl", ("kernels",), FREE, calls)])
    assert "was replaced by one per run in algo and replaced by one for all runs in impl; random_state=1" in both


def test_a_seed_that_differs_between_runs_shows_no_value_and_none_recorded_is_no_sentence() -> None:
    calls = [event("torch.manual_seed", "1", 3), event("torch.manual_seed", "2", 3), event("torch.seed", "None", 4)]
    assert "torch.manual_seed(…) in train.py:3 was replaced by one per run." in seed_sentence([("a", FREE, (), calls)])
    assert seed_sentence([("a", FREE, (), calls[2:])]) == seed_sentence([]) == ""
