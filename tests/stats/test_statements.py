import dataclasses

import numpy as np
from experiments import run, with_moments
from studies import equal, noisy_run, spread, study, usual, variant

from deviate.model import EvaluationData, Experiment, SeedEvent
from deviate.stats import judge


def _told(*experiments: Experiment) -> str:
    found = study(*experiments).noise
    assert found is not None
    return "\n".join(found.statements)


def _seeded(name: str, *values: tuple[str, ...]) -> Experiment:
    runs = [
        dataclasses.replace(
            noisy_run(i, (50.0, 93.0), "same"),
            seed_events=tuple(SeedEvent("torch.manual_seed", value, "train.py", 3, "replaced") for value in each),
        )
        for i, each in enumerate(values)
    ]
    return variant(name, runs)


def test_of_a_seed_that_differs_between_runs_no_origin_is_claimed() -> None:
    told = _told(*usual()[:3], _seeded("control", ("17",), ("18",)))
    assert (
        "torch.manual_seed at train.py:3: the value of the seed differs between runs of control; "
        "deviate does not hold it."
    ) in told
    assert "clock" not in told


def test_seeds_of_epochs_that_are_the_same_in_every_run_do_not_differ() -> None:
    assert "seed differs" not in _told(_seeded("control", ("0", "1", "2"), ("0", "1"), ("0", "1", "2")))


def test_seeds_that_follow_from_what_varies_are_not_held_against_a_variant_that_holds() -> None:
    told = _told(_seeded("algo", ("3",), ("4",)), _seeded("control", ("5",), ("5",)))
    assert "seed differs" not in told
    alone = _told(_seeded("algo", ("3",), ("4",)))
    assert "differs between runs of algo; control would show whether that follows from what algo varies." in alone


def test_what_escapes_control_is_listed_once_with_its_place() -> None:
    told = _told(
        equal("control", 3, uncontrolled=("os.urandom (train.py:9)",), operations=("max_unpool2d (net.py:4)",))
    )
    assert told.count("os.urandom (train.py:9)") == 1
    assert "Used for want of a deterministic version: max_unpool2d (net.py:4)." in told


def test_same_split_is_said_only_when_every_hash_agrees() -> None:
    other = (EvaluationData("torch", "f" * 64, 100),)
    assert "Same split: all 30 runs were tested on the same examples" in _told(*usual())
    assert "Not the same split" in _told(*usual()[:3], equal("control", 5, evaluation=other))
    unseen = _told(*usual()[:3], equal("control", 5, evaluation=()))
    assert "not verified" in unseen
    assert "Same split" not in unseen


def test_a_variant_that_varies_the_split_is_left_out_of_the_question() -> None:
    other = (EvaluationData("torch", "f" * 64, 100),)
    told = _told(*usual(), equal("split", 5, evaluation=other))
    assert "Same split: all 30 runs that hold the split were tested on the same examples" in told
    assert "split varies which examples are tested." in told


def test_runs_of_a_variant_that_were_tested_on_other_data_are_warned_of() -> None:
    datas = [(EvaluationData("torch", letter * 64, 100),) for letter in "ab"]
    runs = [noisy_run(i, (50.0, 93.0 + i), "x", evaluation=data) for i, data in enumerate(datas)]
    findings = study(variant("algo", runs), equal("control", 2))
    assert findings.evaluation == "differ"
    assert any("The runs of algo were not tested on the same data" in text for text in findings.warnings)


def test_experiments_that_were_tested_on_other_data_are_warned_of() -> None:
    sides = [
        dataclasses.replace(equal("algo+impl", 5, evaluation=(EvaluationData("torch", letter * 64, 9),)), name=letter)
        for letter in "ab"
    ]
    findings = judge(sides)
    assert findings.evaluation == "differ"
    assert any(text.startswith("a, b were not tested on the same data") for text in findings.warnings)
    assert findings.noise is None


def test_the_script_as_it_stands_is_named_so() -> None:
    told = _told(equal("as-is", 4), equal("control", 2))
    assert "as-is: as the script leaves it, 4 runs bitwise equal." in told
    assert "as-is is the script as the script leaves it: no source of its spread is separated." in told


def test_streams_that_nothing_drew_from_are_named_and_other_too() -> None:
    told = _told(*usual())
    assert "Nothing was drawn from augment in any run: no source of spread in this script." in told
    assert "Every draw belonged to a stream: nothing was drawn from other." in told
    silent = [dataclasses.replace(it, runs=tuple(dataclasses.replace(r, draws={}) for r in it.runs)) for it in usual()]
    assert "From which streams numbers were drawn is not on record." in _told(*silent)


def test_runs_of_control_that_did_not_complete_are_said_to_be_missing_from_the_proof() -> None:
    crashed = run(5, {}, status="crashed")
    told = _told(*usual()[:3], variant("control", [*equal("control", 5).runs, crashed]))
    assert "control is intact" in told
    assert "control: 1 run did not complete and is not compared." in told


def test_noise_of_the_implementation_is_located() -> None:
    scores = with_moments(5, 93.4, 0.1, np.random.default_rng(0))
    told = _told(*usual()[:2], spread("impl", scores), equal("control", 3))
    assert "impl: the runs part with all seeds held, test_acc differs at main-loop step 1: " in told
