"""Every past format stays readable: stored samples, never to be changed, are read as what they were written from."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from deviate.errors import RecordError
from deviate.model import ControlEvent, EvaluationData, Flip, SeedEvent, Series, Settings, Weights
from deviate.records.layout import attempts
from deviate.records.plans import read_plan
from deviate.records.read import read_experiment
from deviate.records.runs import Claim, Result, read_claim, read_result, read_spec, run_id, spec_hash
from deviate.records.schema import SCHEMA

SAMPLES = Path(__file__).parent / "samples"


def test_there_is_a_sample_of_every_number() -> None:
    highest = max(SCHEMA.values())
    assert sorted(int(path.name) for path in SAMPLES.iterdir()) == list(range(1, highest + 1))


def test_the_first_format_is_read_in_full() -> None:
    (experiment,) = read_experiment(SAMPLES / "1/base")
    assert (experiment.name, experiment.variant, experiment.n_planned) == ("base", "algo+impl", 2)
    assert [metric.name for metric in experiment.metrics] == ["test_acc"]
    (run,) = experiment.runs
    assert (run.status, run.exit_code, run.wall_time_s, run.seeds["init"]) == ("completed", 0, 2.5, 7)
    assert run.series == {"test_acc": Series((0, 1), (0.1, 0.30000000000000004))}
    assert run.warnings == ("beware",)


@pytest.mark.parametrize("number", range(1, max(SCHEMA.values()) + 1))
def test_specs_of_every_format_keep_their_hashes(number: int) -> None:
    for path in (SAMPLES / str(number)).glob("*/runs/*/spec.json"):
        assert spec_hash(read_spec(path)) == json.loads(path.read_text())["spec_hash"]
        assert run_id(read_spec(path)) == path.parent.name


def test_claims_and_results_of_the_first_format_are_read(tmp_path: Path) -> None:
    (attempt,) = attempts(next((SAMPLES / "1/base/runs").iterdir()))
    assert read_claim(attempt) == Claim("host", 12, "345", 5.0, 6.0, 13, "346")
    assert read_result(attempt) == Result("ab" * 32, "completed", 0, None, 5.0, 2.5, "", ("beware",))


def test_the_second_format_is_read_in_full() -> None:
    one_bit, config = read_experiment(SAMPLES / "2/base")
    assert [(it.variant, it.n_planned, it.varied, it.held[-3:]) for it in (one_bit, config)] == [
        ("one-bit", 2, (), ("kernels", "autotune", "precision")),
        ("config", 2, ("threads", "onednn"), ("kernels", "autotune", "precision")),
    ]
    flipped, crashed = one_bit.runs
    assert flipped.series == {"test_acc": Series((0, 1), (0.1, 0.30000000000000004))}
    assert flipped.seeds["hash"] == 106
    assert flipped.controls == {
        "autotune": "off", "kernels": "deterministic", "one-bit": "7", "precision": "full"
    }  # fmt: skip
    assert flipped.control_events == crashed.control_events == (
        ControlEvent("kernels", "torch.use_deterministic_algorithms", "True", "", 0, "set"),
        ControlEvent("autotune", "torch.backends.cudnn.benchmark", "True", "train.py", 3, "overridden"),
    )  # fmt: skip
    assert flipped.seed_events == (SeedEvent("torch.manual_seed", "42", "train.py", 4, "replaced"),)
    assert flipped.draws == {"numpy": (), "torch": ("init", "shuffle", "augment", "dropout")}
    two_ranks = hashlib.sha256(f"{'a1' * 32} {'b1' * 32}".encode()).hexdigest()
    assert flipped.weights == (Weights("loop", "torch", "a0" * 32, 650), Weights("exit", "torch", two_ranks, 650))
    assert flipped.evaluation == (EvaluationData("torch", "e0" * 32, 397),)
    assert flipped.flips == (Flip("torch", "0.weight", (3, 1), 0.11368006467819214, 0.11368007212877274),)
    assert flipped.uncontrolled == ("os.urandom (train.py:8)", "draws of native threads")
    assert flipped.operations == ("put_ (train.py:14)",)
    assert flipped.environment["threads of torch"] == "2"
    assert flipped.warnings == ("beware",)


def test_runs_of_the_second_format_that_failed_are_read() -> None:
    one_bit, config = read_experiment(SAMPLES / "2/base")
    crashed, (cut_off,) = one_bit.runs[1], config.runs
    assert (crashed.status, crashed.reason, crashed.stderr_tail) == ("crashed", "exit code 1", ("RuntimeError: oops",))
    assert (crashed.weights, crashed.evaluation, crashed.flips, crashed.draws) == ((), (), (), {})
    assert (cut_off.status, cut_off.replicate, cut_off.controls["threads"]) == ("timed_out", 1, "1")
    assert (cut_off.series["test_acc"].values, cut_off.draws) == ((0.5,), {})
    assert any("cut off" in warning for warning in cut_off.warnings)


def test_the_first_format_tells_nothing_of_streams_and_factors() -> None:
    (experiment,) = read_experiment(SAMPLES / "1/base")
    (run,) = experiment.runs
    assert (experiment.varied, experiment.held, run.controls) == ((), (), {})
    assert (run.draws, run.weights, run.evaluation, run.flips) == ({}, (), (), ())


@pytest.mark.parametrize("name", ["experiment.json", "snapshot/manifest.json"])
def test_a_record_of_a_newer_deviate_is_refused_with_the_cure(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "base"
    shutil.copytree(SAMPLES / "2/base", folder)
    document = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**document, "schema": 99}))
    with pytest.raises(RecordError, match="schema 99") as caught:
        read_experiment(folder)
    assert "update deviate" in caught.value.hint


def test_the_third_format_is_read_in_full() -> None:
    plan = read_plan(SAMPLES / "3/base")
    assert plan.settings == Settings(
        "slurm", (("partition", "gpu"),), 2, ("0", "1"), 2, 1, 60.0, 30.0, 2, 3, (143,), "continue", "best"
    )
    assert (plan.environment, plan.prepare, plan.then, plan.wrap, plan.n_threads) == (
        (("LEVEL", "2"),),
        (("python", "make_data.py"),),
        (("python", "eval.py"),),
        ("apptainer", "exec", "image.sif"),
        1,
    )
    one_bit, _ = read_experiment(SAMPLES / "3/base")
    assert (one_bit.looks, one_bit.spending, one_bit.n_threads) == ((5, 10), "pocock", 1)
    flipped, crashed = one_bit.runs
    assert (flipped.status, flipped.device, flipped.n_sharing, flipped.attempt) == ("completed", "GPU 0", 1, 1)
    assert (flipped.environment["GPU"], flipped.environment["git"]) == ("a GPU", "commit abc, clean")
    result = read_result(crashed.folder)
    assert result is not None
    assert (result.cause, dict(result.events)) == ("exit", {"events-14-3.jsonl": 474})
    claim = read_claim(crashed.folder)
    assert claim is not None
    assert (claim.device, claim.temporary, claim.continues) == ("GPU 0", "/tmp/deviate-x", None)


def test_the_fourth_format_is_read_in_full() -> None:
    plan = read_plan(SAMPLES / "4/base")
    (experiment,) = read_experiment(SAMPLES / "4/base")
    assert plan.imported == experiment.imported == ("imported from /project/other.csv (csv)", "run = seed")
    assert plan.tasks == experiment.tasks == ("Pong: score",)
    (metric,) = experiment.metrics
    assert (metric.name, metric.target, metric.n_examples) == ("Pong: score", 20.5, 10_000)
    (run,) = experiment.runs
    assert (run.series, run.seeds) == ({"Pong: score": Series((0, 3), (0.1, 0.30000000000000004))}, {"seed": 3})
    assert (run.environment, run.series["Pong: score"].times) == ({"torch": "2.1", "imported as": "seed 3"}, ())


def test_past_formats_tell_nothing_of_imports_targets_and_test_sets() -> None:
    (experiment, *_) = read_experiment(SAMPLES / "3/base")
    assert (experiment.imported, experiment.tasks) == ((), ())
    assert [(it.target, it.n_examples) for it in experiment.metrics] == [(None, None)]


def test_the_fifth_format_is_read_in_full() -> None:
    plan = read_plan(SAMPLES / "5/base")
    assert dict(plan.capture) == {
        "predictions": "on", "weights": "on", "every": "1", "limit": "1000000", "tta": "flip"
    }  # fmt: skip
    (experiment,) = read_experiment(SAMPLES / "5/base")
    (run,) = experiment.runs
    assert [(it.kind, it.name, it.step, it.n) for it in run.artifacts] == [
        ("predictions", "test", 0, 3),
        ("weights", "step", 0, 1),
        ("predictions", "test", 1, 3),
        ("weights", "loop", None, 1),
    ]
    assert all(it.path.is_file() and it.rank == 0 for it in run.artifacts)
    assert list(map(str, run.not_captured)) == ["predictions of val: the limit of what is captured of a run is reached"]
    assert dict(read_spec(run.folder.parent / "spec.json").capture) == dict(plan.capture)


def test_past_formats_tell_nothing_of_what_was_captured() -> None:
    (experiment, *_) = read_experiment(SAMPLES / "3/base")
    assert read_plan(SAMPLES / "3/base").capture == ()
    assert {(run.artifacts, run.not_captured) for run in experiment.runs} == {((), ())}


def test_the_sixth_format_is_read_in_full() -> None:
    plan = read_plan(SAMPLES / "6/base")
    (experiment,) = read_experiment(SAMPLES / "6/base")
    assert (plan.streams, plan.scores, experiment.streams, experiment.scores) == (2, 1, 2, 1)
    first, second = experiment.runs
    assert (first.status, first.attempt, first.series["acc"].values) == ("completed", 1, (0.1, 0.30000000000000004))
    assert [(it.kind, it.path.is_file()) for it in first.artifacts] == [("weights", True)]
    assert (second.status, second.attempt, second.series["acc"].values) == ("completed", 2, (0.1, 0.3))
    assert second.warnings == ("continues attempt 1, which was lost",)
    assert experiment.warnings == ()
    claim, result = read_claim(second.folder), read_result(second.folder)
    assert claim is not None
    assert (claim.boot, claim.namespace, claim.continues) == ("b0", "pid:[1]", 1)
    assert result is not None
    assert result.files is not None
    assert [it.name for it in result.files] == ["claim.json", "events-14-1.jsonl", "stderr.log", "stdout.log"]
    assert read_spec(second.folder.parent / "spec.json").streams == 2


def test_past_formats_have_no_digests_and_that_is_said_once() -> None:
    for number in range(1, 6):
        for experiment in read_experiment(SAMPLES / f"{number}/base"):
            told = [it for it in experiment.warnings if "not verifiable" in it]
            assert len(told) == 1
            assert "damaged" not in " ".join(experiment.warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cwd": ...}, "'cwd' is missing"),
        ({"selection": [{"name": "acc"}]}, r"'metric' is missing in selection\[0\]"),
        ({"jobs": "two"}, r"Expected `int`, got `str` - at `\$\.jobs`"),
        ({"variants": [{"name": "a", "n_runs": 1, "varied": []}]}, "'description' is missing"),
        ({"settings": {}}, "'executor' is missing in settings"),
    ],
)
def test_damage_is_told_with_its_place(tmp_path: Path, change: dict[str, object], message: str) -> None:
    document = {**json.loads((SAMPLES / "3/base/experiment.json").read_text()), **change}
    (tmp_path / "experiment.json").write_text(
        json.dumps({name: value for name, value in document.items() if value is not ...})
    )
    with pytest.raises(RecordError, match=f"experiment.json is damaged: {message}"):
        read_plan(tmp_path)
