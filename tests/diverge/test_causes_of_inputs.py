"""Causes from inputs that differ: each source has its cause, and what is seen goes before what is only possible."""

import dataclasses
from typing import Any

import pytest

from deviate.diverge.causes import Evidence
from deviate.diverge.causes.find import find_causes
from deviate.diverge.findings import Cause, Difference, InputDifference, Place
from deviate.model.analysis import Hazard, SideEffect
from deviate.model.records import SeedEvent
from deviate.replay.variants import VARIANTS

LOSS = Difference("metrics", "metric", 0, 0, "metric", "loss")
BATCH = Difference("steps", "data", 0, 0, "batch", "input")


def an_input(
    source: str, call: str = "call()", shown: tuple[str, str] = ("a, b", "b, a"), *, line: int = 5, **more: Any
) -> InputDifference:
    place = Place("train.py", line, "text")
    return InputDifference(source, call, place, 0, None, shown, **{"is_upstream": True, **more})


def seen(*inputs: InputDifference, variant: str = "as-is", **more: Any) -> Evidence:
    return Evidence(
        variant=VARIANTS[variant],
        frameworks=frozenset({"numpy"}),
        inputs=inputs,
        runs=("run 0", "run 1"),
        **more,
    )


def first(evidence: Evidence, difference: Difference = LOSS) -> Cause:
    return find_causes(difference, evidence)[0]


def ids(evidence: Evidence, difference: Difference = LOSS) -> list[str]:
    return [cause.id for cause in find_causes(difference, evidence)]


@pytest.mark.parametrize(
    ("item", "variant", "cause"),
    [
        (an_input("listing", "os.listdir('data')"), "control", "file-order"),
        (an_input("listing", shown=("2 names: a, b", "3 names: a, b, c")), "control", "other-files"),
        (an_input("file-state", "os.path.exists('c')", ("False", "True")), "control", "leftover-file"),
        (an_input("file", "open('c')", ("3 bytes", "4 bytes")), "control", "data"),
        (an_input("environment", "os.environ['SIZE']", ("3", "4")), "control", "environment"),
        (an_input("network", "http.client: host", ("1", "2")), "control", "network"),
        (an_input("set-order", "set of str"), "as-is", "hash-order"),
        (an_input("set-order", "set of Node"), "control", "address-order"),
        (an_input("hash", "hash('a')", ("1", "2")), "as-is", "hash-order"),
        (an_input("completion", "as_completed"), "control", "unordered-results"),
        (an_input("thread-order", "threading.Thread"), "control", "thread-order"),
        (an_input("clock", "time.time()", ("1", "2"), use="computed"), "control", "clock"),
        (an_input("process-id", "os.getpid()", ("1", "2"), use="computed"), "control", "process-id"),
        (an_input("entropy", "os.urandom(4)", ("1", "2"), use="computed"), "control", "entropy"),
    ],
    ids=lambda value: value.source if isinstance(value, InputDifference) else str(value),
)
def test_each_source_has_a_cause(item: InputDifference, variant: str, cause: str) -> None:
    found = first(seen(item, variant=variant))
    assert (found.id, found.certainty, found.standing) == (cause, "likely", "upstream")
    assert found.places == (item.place,)


def test_the_evidence_says_what_was_seen_where_and_when() -> None:
    item = an_input("listing", "os.listdir('data')", ("b, a", "a, b"), line=12)
    assert first(seen(item)).why == (
        "os.listdir('data') gave b, a in run 0 and a, b in run 1, before the first difference (train.py:12)"
    )
    later = dataclasses.replace(item, is_upstream=False)
    found = first(seen(later, variant="control"))
    assert (found.certainty, found.standing) == ("possible", "observed")
    assert "but not before the first difference" in found.why


def test_what_cannot_matter_is_no_cause() -> None:
    inputs = (
        an_input("clock", "time.time()", use="reported"),
        an_input("entropy", "uuid.uuid4()", use="reported"),
        an_input("listing", "os.listdir('data')", use="sorted"),
    )
    assert ids(seen(*inputs, variant="control")) == ["unknown"]
    # Sorting does not make other files equal.
    other = an_input("listing", "os.listdir('data')", ("a, b", "a, c"), use="sorted")
    assert first(seen(other)).id == "other-files"


def test_a_clock_of_unknown_use_is_at_most_possible() -> None:
    found = first(seen(an_input("clock", "time.time()"), variant="control"))
    assert (found.id, found.certainty, found.standing) == ("clock", "possible", "upstream")


def test_an_observed_input_goes_before_what_the_source_may_do_and_before_an_unseeded_generator() -> None:
    hazards = (Hazard("set-order", "train.py", 30, "list(names)", ""),)
    found = ids(seen(an_input("listing"), hazards=hazards), BATCH)
    assert found[0] == "file-order"
    assert found.index("file-order") < found.index("unseeded")


def test_a_generator_whose_own_state_differs_first_is_the_cause_all_the_same() -> None:
    state = Difference("steps", "random", 0, 0, "state", "numpy")
    assert first(seen(an_input("listing")), state).id == "unseeded"


def test_the_operation_that_differs_with_equal_inputs_goes_before_an_input_far_above() -> None:
    operation = Difference("operations", "backward", 9, 0, "operation", "aten.index_put.default")
    facts = {"CPU": "a processor", "torch threads": "2"}
    evidence = dataclasses.replace(
        seen(an_input("environment", "os.environ['A']"), variant="impl"), facts=(facts, facts)
    )
    assert first(evidence, operation).id == "index-put"


def test_the_input_that_came_first_is_named_and_what_follows_from_it_comes_after() -> None:
    state = an_input("file-state", "Path.exists('c')", ("False", "True"), line=4)
    read = an_input("file", "open('c')", ("", "3 bytes"), line=5, only_in=2)
    found = find_causes(LOSS, seen(state, read))
    assert [(cause.id, cause.certainty) for cause in found[:2]] == [("leftover-file", "likely"), ("data", "possible")]
    orders = seen(an_input("completion", line=2), an_input("listing", line=3))
    assert ids(orders)[:2] == ["unordered-results", "file-order"]


def test_a_line_that_did_not_run_and_an_order_that_was_equal_are_no_cause() -> None:
    hazards = (Hazard("file-order", "train.py", 5, "os.listdir(folder)", ""),)
    effects = (SideEffect("absolute-path", "/data/cache", "train.py", 7),)
    evidence = seen(hazards=hazards, side_effects=effects, variant="control")
    assert {"file-order", "leftover-file"} <= set(ids(evidence, BATCH))
    idle = dataclasses.replace(evidence, idle_lines=frozenset({("train.py", 5), ("train.py", 7)}))
    assert not {"file-order", "leftover-file"} & set(ids(idle, BATCH))
    equal = dataclasses.replace(evidence, equal_inputs=frozenset({("listing", "train.py", 5)}))
    assert "file-order" not in ids(equal, BATCH)


def seeds(call: str, first_value: str, second_value: str) -> tuple[tuple[SeedEvent, ...], tuple[SeedEvent, ...]]:
    one, other = (SeedEvent(call, value, "train.py", 9, "kept") for value in (first_value, second_value))
    return (one,), (other,)


def test_a_changing_seed_says_where_it_comes_from_and_has_the_cure_of_that_source() -> None:
    clock = an_input("clock", "time.time()", ("1", "2"), line=8, use="computed")
    causes = find_causes(LOSS, seen(clock, seed_events=seeds("numpy.random.seed", "1", "2"), variant="control"))
    assert [cause.id for cause in causes] == ["changing-seed"]
    assert causes[0].why.endswith("(train.py:9), after time.time() (train.py:8)")
    assert causes[0].cure.endswith("\nnumpy.random.seed(1)")


def test_numbers_of_the_system_that_only_made_a_seed_are_told_once() -> None:
    hazards = (Hazard("entropy", "train.py", 8, "os.urandom(4)", ""),)
    entropy = an_input("entropy", "os.urandom()", line=8, use="computed")
    evidence = seen(entropy, hazards=hazards, seed_events=seeds("random.Random", "1", "2"), variant="control")
    assert ids(evidence) == ["changing-seed"]


def test_the_same_seeds_in_another_order_are_no_changing_seed() -> None:
    one, other = (SeedEvent("numpy.random.default_rng", value, "train.py", 9, "kept") for value in ("1", "2"))
    evidence = seen(an_input("completion"), seed_events=((one, other), (other, one)), variant="control")
    assert ids(evidence) == ["unordered-results"]


def test_a_generator_that_takes_its_seed_from_the_system_is_unseeded_and_no_draw_of_entropy() -> None:
    entropy = an_input("entropy", "os.urandom()", line=9)
    events = seeds("numpy.random.default_rng", "None", "None")
    assert ids(seen(entropy, seed_events=events), BATCH)[0] == "unseeded"
    assert "entropy" not in ids(seen(entropy, seed_events=events), BATCH)


def test_different_numbers_of_updates_with_a_clock_are_a_time_limit() -> None:
    hazards = (Hazard("time-limit", "train.py", 14, "time.time() < end", ""),)
    clock = an_input("clock", "time.time()", ("1", "2"), line=14, use="computed")
    end = Difference("metrics", "program", 2, 2, "metric", "loss", only_in=1, instead="its process ended")
    causes = find_causes(end, seen(clock, hazards=hazards, n_steps=(6, 3), variant="control"))
    assert (causes[0].id, causes[0].certainty) == ("time-limit", "certain")
    assert "clock" not in [cause.id for cause in causes]


SEED = SeedEvent("numpy.random.seed", "1", "train.py", 2, "replaced")
CURES = {
    ("changing-seed", "time.time()", "time.time() seeds numpy.random.seed and differs between runs"): (
        "numpy.random.seed(1)  # not time.time()"
    ),
    ("changing-seed", "time.time()", "time.time() is used as a seed and differs between runs"): (
        "seed = 1  # not time.time()"
    ),
    ("drawn-seed", "random.randint(0, 9)", "the seed of torch.manual_seed is drawn from an unseeded generator"): (
        "torch.manual_seed(1)  # not random.randint(0, 9)"
    ),
    ("set-order", "list(set(labels))", ""): "sorted(set(labels))",
    ("set-order", "colours", ""): "sorted(colours)",
    ("set-order", "{a for a in b}.pop()", ""): "classes = sorted(set(labels))  # or PYTHONHASHSEED=0 python train.py",
    ("hash-value", "hash(name)", ""): "zlib.crc32(str(name).encode())  # not hash(name)",
    ("file-order", "glob.glob('*.txt')", ""): "sorted(glob.glob('*.txt'))",
    ("file-order", "os.scandir(path)", ""): "sorted(os.scandir(path), key=lambda entry: entry.name)",
    ("unordered-results", "pool.imap_unordered(f, x)", ""): "pool.imap(f, x)  # not imap_unordered",
    ("unordered-results", "as_completed(jobs)", ""): "for job in jobs:  # not as_completed(jobs); job.result() waits",
    ("unordered-results", "DataLoader(data, in_order=False)", ""): "DataLoader(…, in_order=True)",
}


@pytest.mark.parametrize(("hazard", "code"), CURES.items(), ids=lambda value: str(value)[:40])
def test_the_code_of_a_cure_fits_the_code_at_the_place(hazard: tuple[str, str, str], code: str) -> None:
    name, written, message = hazard
    found = first(seen(hazards=(Hazard(name, "train.py", 5, written, message),), seed_events=((SEED,), (SEED,))), BATCH)
    assert found.cure.partition("\n")[2] == code
