import dataclasses

import numpy as np
from experiments import run, with_moments
from studies import equal, noisy_run, spread, study, usual, variant

from deviate.model.estimates import Unavailable
from deviate.model.records import DrawEvent, EvaluationData, Experiment, SeedEvent
from deviate.report.advice import warnings_of
from deviate.stats.judge import judge


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
    assert "differs between runs of algo; control would show whether algo causes this." in alone


def test_what_escapes_control_is_listed_once_with_its_place() -> None:
    told = _told(
        equal("control", 3, uncontrolled=("os.urandom (train.py:9)",), operations=("max_unpool2d (net.py:4)",))
    )
    assert told.count("os.urandom (train.py:9)") == 1
    assert "Used without a deterministic version: max_unpool2d (net.py:4)." in told


DEVICE = "the device type toy is not routed"


def _on_a_device(experiment: Experiment) -> Experiment:
    phrases = (f"{DEVICE} (net.py:4)", f"{DEVICE} (net.py:9)")
    return dataclasses.replace(
        experiment, runs=tuple(dataclasses.replace(one, uncontrolled=phrases) for one in experiment.runs)
    )


def test_where_draws_belong_to_no_stream_no_source_is_isolated_or_ruled_out() -> None:
    quiet = [equal("control", 5), equal("dropout", 5), equal("augment", 5)]
    findings = study(*map(_on_a_device, [*usual()[:3], *quiet])).noise
    assert findings is not None
    told = "\n".join(findings.statements)
    assert f"Not routed: {DEVICE} (net.py:4, net.py:9). These draws belong to no stream" in told
    assert "control is intact" in told
    for claim in ("Every observed draw", "in the spread of every variant", "\ndropout had no observed effect"):
        assert claim not in told
    for row in findings.tables[0].rows:
        assert row.variant in {"control", "algo+impl"} or row.note.startswith("not isolated")
        assert isinstance(row.share, Unavailable)


def test_a_comparison_warns_of_draws_that_belong_to_no_stream() -> None:
    sides = [spread("algo", (93.0, 93.5, 94.0)), _on_a_device(spread("algo", (93.1, 93.4, 94.2)))]
    (warning,) = [text for text in warnings_of(judge(sides)) if DEVICE in text]
    assert "net.py:4" in warning


def test_same_split_is_said_only_when_every_hash_agrees() -> None:
    other = (EvaluationData("torch", "f" * 64, 100, "loader"),)
    assert "Same split: all 30 runs were tested on the same examples" in _told(*usual())
    assert "Not the same split" in _told(*usual()[:3], equal("control", 5, evaluation=other))
    unseen = _told(*usual()[:3], equal("control", 5, evaluation=()))
    assert "Not verified" in unseen
    assert "Same split" not in unseen


def test_a_variant_that_varies_the_split_is_left_out_of_the_question() -> None:
    other = (EvaluationData("torch", "f" * 64, 100, "loader"),)
    told = _told(*usual(), equal("split", 5, evaluation=other))
    assert "Same split: all 30 runs that do not vary the split were tested on the same examples" in told


def test_runs_of_a_variant_that_were_tested_on_other_data_are_warned_of() -> None:
    datas = [(EvaluationData("torch", letter * 64, 100, "loader"),) for letter in "ab"]
    runs = [noisy_run(i, (50.0, 93.0 + i), "x", evaluation=data) for i, data in enumerate(datas)]
    findings = study(variant("algo", runs), equal("control", 2))
    assert findings.evaluation == "differ"
    assert any("The runs of algo were not tested on the same data" in text for text in warnings_of(findings))


def test_experiments_that_were_tested_on_other_data_are_warned_of() -> None:
    datas = {letter: (EvaluationData("torch", letter * 64, 9, "loader"),) for letter in "ab"}
    sides = [dataclasses.replace(equal("algo+impl", 5, evaluation=it), name=name) for name, it in datas.items()]
    findings = judge(sides)
    assert findings.evaluation == "differ"
    assert any(text.startswith("a, b were not tested on the same data") for text in warnings_of(findings))
    assert findings.noise is None


def test_the_script_as_it_stands_is_named_so() -> None:
    told = _told(equal("as-is", 4), equal("control", 2))
    assert "as-is: as the script leaves it, 4 runs bitwise equal." in told
    assert "as-is is the unchanged script: the sources of its spread are not separated." in told


def test_streams_that_nothing_drew_from_are_named_and_other_too() -> None:
    told = _told(*usual())
    assert "No draw from augment was observed from the generators that deviate watches." in told
    assert "Every observed draw belonged to a stream; none was from other." in told
    silent = [dataclasses.replace(it, runs=tuple(dataclasses.replace(r, draws={}) for r in it.runs)) for it in usual()]
    assert "The streams of random draws were not recorded." in _told(*silent)


def test_runs_of_control_that_did_not_complete_are_said_to_be_missing_from_the_proof() -> None:
    crashed = run(5, {}, status="crashed")
    told = _told(*usual()[:3], variant("control", [*equal("control", 5).runs, crashed]))
    assert "control is intact" in told
    assert "control: 1 run did not complete and is not compared." in told


def test_noise_of_the_implementation_is_located() -> None:
    scores = with_moments(5, 93.4, 0.1, np.random.default_rng(0))
    told = _told(*usual()[:2], spread("impl", scores), equal("control", 3))
    assert "impl: the runs diverge with all seeds held, test_acc differs at main-loop step 1: " in told


def _tested(variant_name: str, *evaluations: EvaluationData, drawn: tuple[DrawEvent, ...] = ()) -> Experiment:
    runs = [noisy_run(i, (50.0, 93.0 + i), "x", evaluation=(it,), drawn=drawn) for i, it in enumerate(evaluations)]
    return variant(variant_name, runs)


def test_inputs_that_differ_and_may_be_the_models_own_are_not_verified_and_never_called_other_data() -> None:
    inputs = [EvaluationData("torch", letter * 64, 24, "inputs") for letter in "ab"]
    findings = study(_tested("algo", *inputs), equal("control", 2, evaluation=(inputs[0],)))
    assert findings.evaluation == "undecided"
    assert findings.noise is not None
    assert any(
        "Not verified that all" in it and "the inputs of the model differ" in it for it in findings.noise.statements
    )
    assert not any("not tested on the same data" in it for it in warnings_of(findings))
    assert not any("ame split" in it for it in findings.noise.statements)


def test_what_a_variant_of_the_split_tested_is_said_as_it_was_observed() -> None:
    data = [EvaluationData("sklearn", letter * 64, 24, "labels") for letter in "abc"]
    inputs = [EvaluationData("sklearn", letter * 64, 24, "inputs") for letter in "abc"]
    told = _told(*usual(), _tested("split", *data))
    assert "split varied which examples were tested: not the same in 3 runs, by a hash of the evaluation data." in told
    told = _told(*usual(), _tested("split", data[0], data[0]))
    assert "split did not vary which examples were tested: the same in 2 runs" in told
    told = _told(*usual(), _tested("split", *inputs))
    assert "not verified that the tested examples differ: the inputs of the model differ" in told
    told = _told(*usual(), equal("split", 2, evaluation=()))
    assert "not verified that the tested examples differ: the evaluation data were not observed." in told


def test_other_test_data_are_told_with_what_drew_them_and_the_cure() -> None:
    names = [EvaluationData("test_x, test_y", letter * 64, 24, "names") for letter in "ab"]
    drawn = tuple(DrawEvent("numpy.random.rand", it, "data.py", n) for n, it in enumerate(("split", "other")))
    findings = study(_tested("algo", *names, drawn=drawn), equal("control", 2, evaluation=(names[0],)))
    assert findings.noise is not None
    [told] = [it for it in findings.noise.statements if it.startswith("Not the same split")]
    assert told == (
        "Not the same split: 4 runs were tested on different data, by a hash of test_x, test_y at the start of "
        "training. "
        "Drawn outside of the main loop, in streams that vary: numpy.random.rand (data.py:1, other). "
        "Read the data from files, or hold other: --variants init+shuffle+augment+dropout."
    )


def _drawing(*streams: str) -> list[Experiment]:
    return [
        dataclasses.replace(it, runs=tuple(dataclasses.replace(run, draws={"numpy": streams}) for run in it.runs))
        for it in usual()
    ]


def test_where_nothing_was_drawn_no_source_of_spread_is_denied() -> None:
    told = _told(*_drawing())
    assert "No random draw was observed from the generators that deviate watches." in told
    assert "no source" not in told


def test_the_split_is_said_to_be_held_only_where_every_variant_holds_it() -> None:
    held = "Division of the data, and shuffling before the main loop, have the same seed in all runs here."
    assert held in _told(*_drawing("split"))
    assert held not in _told(*_drawing("split"), equal("as-is", 2))


def test_equal_inputs_that_may_be_the_models_own_are_called_inputs() -> None:
    data = (EvaluationData("torch", "e" * 64, 24, "inputs"),)
    told = _told(equal("impl", 2, evaluation=data), equal("control", 2, evaluation=data))
    assert "Same inputs: all 4 runs called the model with the same inputs in the first evaluation, by hash." in told
    assert "Same split" not in told


def test_seeds_of_workers_that_share_the_tasks_do_not_differ_by_their_order() -> None:
    assert "seed differs" not in _told(_seeded("control", ("0", "1", "2"), ("1", "0", "2"), ("2", "1")))
    assert "seed differs" in _told(_seeded("control", ("0", "1", "2"), ("0", "1", "3")))
    assert "seed differs" in _told(_seeded("control", ("0", "1"), ("0", "0")))


def test_seeds_of_which_a_run_recorded_only_some_differ_if_it_has_none_of_another_run() -> None:
    first, second, third = (tuple(map(str, range(start, start + 100))) for start in (0, 50, 500))
    assert "seed differs" not in _told(_seeded("control", first, second))
    assert "seed differs" in _told(_seeded("control", first, third))
