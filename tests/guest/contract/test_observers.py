"""The contract of adapters and observers: over each framework each observer works, or a reason says why it cannot."""

import functools
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract_scripts import N_STEPS, N_TEST, SCRIPTS, Script
from harness import Result

from deviate.diverge.traces import MARKS
from deviate.guest.frameworks.limits import (
    AUGMENTATION,
    BATCHES,
    EVALUATION_HASH,
    EVIDENCE,
    GRADIENTS,
    INITIAL_WEIGHTS,
    LIMITS,
    LOSS,
    MODULE_OUTPUTS,
    ONE_BIT,
    PREDICTIONS,
    STATES,
    TRACE,
    UPDATES,
    WEIGHT_HASH,
    WEIGHTS,
)

CAPTURE = {"predictions": "on", "weights": "on", "every": "1", "tta": "flip", "trace": "3"}
BATCH = 8
"""Images of a training batch; those of an evaluation are fewer."""


@dataclass(frozen=True)
class Record:
    """A line of a trace, with the update that it belongs to."""

    step: int
    kind: str
    name: str
    digest: int | None
    form: str

    def size(self) -> int:
        """How many numbers the checksum covers."""
        return math.prod(map(int, re.findall(r"\d+", self.form.partition("[")[2])))


@dataclass(frozen=True)
class Runs:
    """Three runs of a script.

    Attributes:
        captured: with all that is captured and traced.
        flipped: with one bit of the weights flipped, and a trace of the first level.
    """

    script: Script
    plain: Result
    captured: Result
    flipped: Result

    def arrays(self, kind: str, name: str) -> list[dict[str, np.ndarray]]:
        """What was captured under a name, in the order of the epochs."""
        files = [file for of, own, _, _, file, _ in self.captured.of("artifact") if (of, own) == (kind, name)]
        return [dict(np.load(self.captured.work.parents[2] / "artifacts" / file)) for file in files]

    def records(self, kind: str) -> list[Record]:
        return [record for record in read_trace(self.captured) if record.kind == kind]

    def accuracies(self) -> list[float]:
        """The accuracy on the test data that the script prints after each epoch."""
        return [float(number) for number in re.findall(r"^test (\S+)$", self.captured.stdout, re.MULTILINE)]


def read_trace(result: Result) -> list[Record]:
    (path,) = (result.work.parents[2] / "artifacts").glob("trace-*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    records: list[Record] = []
    step = 0
    for line in lines:
        if line[0] == "step":
            step = line[1]
        elif line[0] not in MARKS:
            records.append(Record(step, *line[:4]))
    return records


def run(script: Script, folder: Path, **request: Any) -> Result:
    result = script.child(folder).run(environment=dict(script.variables), **request)
    assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
    return result


RunsOf = Callable[[str], Runs]


@pytest.fixture(scope="module")
def runs_of(tmp_path_factory: pytest.TempPathFactory, require) -> RunsOf:  # type: ignore[no-untyped-def]
    """Gives the runs of a framework, which all of its cells look at."""

    @functools.cache
    def run_all(framework: str) -> Runs:
        script = SCRIPTS[framework]
        for package in script.packages:
            require(package)
        folder = tmp_path_factory.mktemp("contract")
        return Runs(
            script,
            run(script, folder / "plain"),
            run(script, folder / "captured", capture=CAPTURE),
            run(script, folder / "flipped", capture={"trace": "1"}, controls={"one-bit": "3"}),
        )

    return run_all


# ---------------------------------------------------------------- what shows that an observer works


def check_weight_hash(events: list[list], runs: Runs) -> None:
    assert {moment for moment, *_ in events} == {"loop", "exit"}
    assert all(count >= runs.script.n_weights for *_, count in events)
    assert events == runs.captured.of("weights"), "equal runs have equal hashes"


def find_evaluation_hash(runs: Runs) -> list[list]:
    """Without arrays that the script calls test data: they are found by their names, whatever the framework."""
    return [event for event in runs.plain.of("evaluation") if event[3] != "names"]


def check_evaluation_hash(events: list[list], runs: Runs) -> None:
    assert [n_examples for _, _, n_examples, _ in events] == [N_TEST] * len(events)
    assert all(event in runs.captured.of("evaluation") for event in events), "equal data has equal hashes"


def check_one_bit(events: list[list], runs: Runs) -> None:
    [[_, _, _, before, after]] = events
    assert np.nextafter(np.float32(before), np.float32(after)) == np.float32(after) != np.float32(before)
    assert runs.flipped.of("weights") != runs.plain.of("weights")
    assert not runs.plain.of("flip")


def check_predictions(epochs: list[dict[str, np.ndarray]], runs: Runs) -> None:
    for arrays, accuracy in zip(epochs, runs.accuracies(), strict=True):
        assert len(arrays["outputs"]) == len(np.unique(arrays["keys"])) == N_TEST
        labels = arrays["outputs"].argmax(-1) if arrays["outputs"].ndim > 1 else arrays["outputs"]
        assert np.mean(labels == arrays["truth"]) == pytest.approx(accuracy)


def check_weights(moments: list[dict[str, np.ndarray]], runs: Runs) -> None:
    first, last = moments
    assert first.keys() == last.keys()
    assert sum(array.size for array in last.values()) >= runs.script.n_weights
    assert any((first[name] != last[name]).any() for name in first)


def check_augmentation(epochs: list[dict[str, np.ndarray]], runs: Runs) -> None:
    for mean, plain in zip(epochs, runs.arrays("predictions", "test"), strict=True):
        assert (mean["keys"] == plain["keys"]).all()
        assert (mean["truth"] == plain["truth"]).all()
        assert mean["outputs"].shape == plain["outputs"].shape
        assert (mean["outputs"] != plain["outputs"]).any()


def check_loss(records: list[Record], runs: Runs) -> None:
    assert len({record.step for record in records}) == N_STEPS
    first_level = read_trace(runs.flipped)
    assert {record.kind for record in first_level} == {"loss"}
    assert len(first_level) == len(records)


def check_each_step(records: list[Record], runs: Runs) -> None:
    """Each training step, which has a loss, has such records as well."""
    assert {record.step for record in runs.records("loss")} <= {record.step for record in records}


def check_batches(records: list[Record], runs: Runs) -> None:
    batches = [record for record in records if f"[{BATCH}," in record.form]
    check_each_step(batches, runs)
    assert len({record.digest for record in batches}) >= N_STEPS / 2, "of an epoch, no two batches are equal"


def check_all_weights(records: Iterable[Record], runs: Runs) -> None:
    """The records of a step cover all weights."""
    of_step: dict[int, int] = {}
    for record in records:
        of_step[record.step] = of_step.get(record.step, 0) + record.size()
    assert min(of_step.values()) >= runs.script.n_weights


def check_gradients(records: list[Record], runs: Runs) -> None:
    check_each_step(records, runs)
    check_all_weights(records, runs)


def check_updates(records: list[Record], runs: Runs) -> None:
    check_gradients(records, runs)
    steps = [{record.digest for record in records if record.step == step} for step in range(N_STEPS)]
    assert all(one != other for one, other in itertools.pairwise(steps))
    assert {record.step for record in records} == set(range(N_STEPS)), "a step is an update"


def check_modules(records: list[Record], runs: Runs) -> None:
    check_each_step(records, runs)
    assert len({record.name for record in records}) > 1


def find_records(kind: str) -> Callable[[Runs], list[Record]]:
    return lambda runs: runs.records(kind)


Observer = tuple[Callable[[Runs], list[Any]], Callable[[list[Any], Runs], None]]
OBSERVERS: dict[str, Observer] = {
    WEIGHT_HASH: (lambda runs: runs.plain.of("weights"), check_weight_hash),
    EVALUATION_HASH: (find_evaluation_hash, check_evaluation_hash),
    ONE_BIT: (lambda runs: runs.flipped.of("flip"), check_one_bit),
    PREDICTIONS: (lambda runs: runs.arrays("predictions", "test"), check_predictions),
    WEIGHTS: (lambda runs: runs.arrays("weights", "step") + runs.arrays("weights", "loop"), check_weights),
    AUGMENTATION: (lambda runs: runs.arrays("predictions", "test+flip"), check_augmentation),
    LOSS: (find_records("loss"), check_loss),
    STATES: (find_records("state"), check_each_step),
    INITIAL_WEIGHTS: (find_records("weights"), check_all_weights),
    BATCHES: (find_records("batch"), check_batches),
    GRADIENTS: (find_records("gradient"), check_gradients),
    UPDATES: (find_records("update"), check_updates),
    MODULE_OUTPUTS: (
        lambda runs: [record for record in runs.records("module") if f"[{BATCH}," in record.form],
        check_modules,
    ),
}
"""How the evidence of each observer is collected, and what must be true of evidence."""


def cases(*observers: str) -> list[Any]:
    """A case for each framework, or for each framework and observer."""
    parameters = []
    for name, script in SCRIPTS.items():
        slow = [pytest.mark.slow] if script.is_slow else []
        parameters += [pytest.param(name, each, marks=slow, id=f"{name}-{each}") for each in observers]
        if not observers:
            parameters.append(pytest.param(name, marks=slow, id=name))
    return parameters


@pytest.mark.parametrize("framework", cases())
def test_no_observer_changes_a_training(framework: str, runs_of: RunsOf) -> None:
    runs = runs_of(framework)
    clock = r"(_runtime|er_second)': [^,}]+"
    assert re.sub(clock, "#", runs.captured.stdout) == re.sub(clock, "#", runs.plain.stdout)


@pytest.mark.parametrize(("framework", "observer"), cases(*OBSERVERS))
def test_observer_works_over_adapter(framework: str, observer: str, runs_of: RunsOf) -> None:
    find, check = OBSERVERS[observer]
    runs, reason = runs_of(framework), LIMITS[framework].get(observer)
    evidence = find(runs)
    if reason is not None:
        assert not evidence, f"works now: delete the reason {reason!r} from limits.py"
    else:
        assert evidence, "works no more; a reason belongs into limits.py"
        check(evidence, runs)


def test_each_framework_and_each_observer_of_the_table_has_a_case() -> None:
    assert list(LIMITS) == list(SCRIPTS)
    assert list(OBSERVERS) == [*EVIDENCE, *TRACE]
    assert all(observer in OBSERVERS for limits in LIMITS.values() for observer in limits)
