"""Where the spread comes from: several variants of one script in one command, from the runs to what is said of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

TRAIN = """\
import random

random.seed(7)
data = [(x / 50, str(x % 3)) for x in range(100)]
random.shuffle(data)
train, test = data[:70], data[70:]
labels = list(set(label for _, label in data))
w = [random.gauss(0, 1) for _ in range(3)]
for epoch in range(4):
    random.shuffle(train)
    for x, label in train:
        w[labels.index(label)] += 0.1 * (x - w[labels.index(label)])
    loss = sum((x - w[labels.index(label)]) ** 2 for x, label in test) / len(test)
    first = int(labels[0])
    print(f"epoch {epoch} loss {loss:.6f} accuracy {first:.1f}")
"""
ALL = "as-is,algo+impl,algo,impl,control,init,shuffle,augment,dropout,split,other,one-bit,config,init+shuffle"


@pytest.fixture
def study(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """`study(*arguments)` runs a study of train.py and gives what it printed and its findings as JSON."""

    def run(*arguments: str) -> tuple[str, dict[str, Any]]:
        answer = deviate_in(project)("run", "train.py", "--json", "out.json", *arguments)
        assert answer.code == 0, answer.both
        return answer.out, json.loads((project / "out.json").read_text())

    return run


def scores(document: dict[str, Any], metric: str) -> dict[str, list[float]]:
    """The scores of a metric by variant, in order of replicate."""
    return {
        experiment["variant"]: [it["score"] for it in found["scores"]]
        for experiment in document["experiments"]
        for found in experiment["metrics"]
        if found["metric"] == metric
    }


def equal(document: dict[str, Any]) -> set[str]:
    """The variants whose runs are bitwise equal."""
    return {it["variant"] for it in document["noise"]["repeatability"] if it["is_equal"]}


def test_each_variant_varies_what_it_names_and_nothing_else(project: Path, study) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    out, document = study("--runs", "3", "--jobs", "2", "--variants", ALL)
    loss = scores(document, "loss")
    drawn = {"algo", "algo+impl", "init", "shuffle", "split", "init+shuffle"}
    plain = loss.pop("as-is")
    assert {name for name, values in loss.items() if len(set(values)) == 3} == drawn
    held = set(loss) - drawn
    assert len({value for name in held for value in loss[name]}) == 1, "what all of them hold is the same in all"
    assert set(plain).isdisjoint(loss["control"]), "a controlled run has not the numbers of a plain run"
    assert document["noise"]["control"] == "intact"
    assert "No draw from augment and dropout was observed" in out
    assert "impl: no implementation noise observed, 3 runs bitwise equal" in out


def test_the_order_of_a_set_moves_with_the_hash_seed_alone(project: Path, study) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    _, document = study("--runs", "8", "--jobs", "2", "--variants", "impl,algo,hash")
    first = scores(document, "accuracy")
    assert len(set(first["impl"])) == len(set(first["algo"])) == 1
    assert len(set(first["hash"])) > 1


def test_a_broken_control_names_step_and_metric_and_takes_the_claims_with_it(project: Path, study) -> None:  # type: ignore[no-untyped-def]
    text = TRAIN.replace(
        "    random.shuffle(train)\n", "    random.shuffle(train)\n    if epoch == 2: random.seed(os.urandom(8))\n"
    )
    (project / "train.py").write_text("import os\n" + text)
    out, document = study("--runs", "3", "--jobs", "2", "--variants", "algo,impl,control")
    assert document["noise"]["control"] == "broken"
    (parting,) = [it["parting"] for it in document["noise"]["repeatability"] if it["variant"] == "control"]
    assert (parting["metric"], parting["step"]) == ("loss", 3), "the seed that differs is used by the next shuffle"
    assert "not isolated" in out
    assert "os.urandom (train.py:12)" in out


def test_the_report_is_made_again_from_disk_with_all_variants(project: Path, study, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    out, _ = study("--runs", "3", "--jobs", "2", "--variants", "impl,control,shuffle")
    assert out.endswith(deviate_in(project)("report", "train").out)


def test_variants_of_the_users_own_are_run(project: Path, study) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    (project / "deviate.toml").write_text('[variants.order]\nvary = ["shuffle"]\nset = { threads = 1 }\n')
    _, document = study("--runs", "3", "--jobs", "2", "--variants", "order,shuffle")
    loss = scores(document, "loss")
    assert len(set(loss["order"])) == 3
    assert loss["order"] == loss["shuffle"]


@pytest.mark.slow
def test_genuine_implementation_noise_shows_in_impl_and_is_switched_off_in_control(
    project: Path, study, examples: Path, require
) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    shutil.copy(examples / "factors_torch" / "train.py", project / "train.py")
    out, document = study(
        "--runs", "3", "--variants", "impl,control", "--jobs", "1", "--", "--epochs", "10", "--size", "128"
    )
    assert equal(document) == {"control"}
    by_variant = {it["variant"]: it for it in document["noise"]["repeatability"]}
    assert by_variant["control"]["weights"] == "equal"
    assert by_variant["impl"]["weights"] == "differ"
    metrics = [scores(document, name) for name in ("test_error", "train_loss")]
    assert all(len(set(metric["control"])) == 1 for metric in metrics)
    assert any(len(set(metric["impl"])) > 1 for metric in metrics)
    assert "control is intact" in out
    assert "same split" in out or "same examples" in out


MADE_UP = """\
import random

def get_dataset(seed=0):
    random.seed(seed)
    rows = [random.random() for _ in range(40)]
    return rows[:30], rows[30:]

train, test_data = get_dataset(seed=0)
w = 0.0
for epoch in range(3):
    w += 0.1 * (sum(train) / len(train) - w)
    print(f"epoch {epoch} test loss {sum((x - w) ** 2 for x in test_data) / 10:.6f}")
"""


def test_other_test_data_are_said_and_the_cure_holds_them(project: Path, study) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(MADE_UP)
    out, document = study("--runs", "2", "--jobs", "1", "--vary", "train.py:5", "--name", "wider")
    plain = " ".join(out.split())
    assert "were not tested on the same data" in plain
    assert "random.random (train.py:5, other)" in plain
    assert document["evaluation"] == "differ"
    cure = plain.split("--variants ")[1].split(". ")[0].rstrip(".")
    out, document = study("--runs", "2", "--jobs", "1", "--variants", f"{cure},control", "--name", "cured")
    assert document["evaluation"] == "equal"
    assert "not tested on the same data" not in out


def test_data_that_a_script_makes_up_are_held_and_named(project: Path, study) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(MADE_UP)
    out, document = study("--runs", "2", "--jobs", "1")
    assert document["evaluation"] == "equal"
    assert "data held: random (train.py:5)" in " ".join(out.split())


BY_HAND = (Path(__file__).parent / "support" / "held" / "numpy_dict.py").read_text()


def test_the_first_run_tells_weights_to_runs_at_once_and_one_after_the_other(project: Path, study, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    (project / "train.py").write_text(BY_HAND)
    out, _ = study("--runs", "3", "--jobs", "1", "--name", "one")
    study("--runs", "3", "--jobs", "2", "--name", "two")
    assert "data held: randn (train.py:11); --vary" in " ".join(out.split())
    one, two = (printed(project / ".deviate" / "experiments" / name) for name in ("one", "two"))
    assert one == two
    data, weights, order = (
        {line for text in one.values() for line in text.splitlines() if line.startswith(word)}
        for word in ("data", "weights", "order")
    )
    assert (len(data), len(weights), len(order)) == (1, 3, 3)


def test_a_worker_executes_the_first_run_before_its_own(project: Path, deviate_in, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    (project / "train.py").write_text(BY_HAND)
    deviate = deviate_in(project)
    assert deviate("run", "train.py", "--runs", "3", "--plan-only").code == 0
    assert deviate("worker", "train", "--index", "2").code == 0
    runs = printed(project / ".deviate" / "experiments" / "train")
    assert sorted(runs) == [0, 2]
    data, weights = (
        {line for text in runs.values() for line in text.splitlines() if line.startswith(word)}
        for word in ("data", "weights")
    )
    assert (len(data), len(weights)) == (1, 2)


def printed(experiment: Path) -> dict[int, str]:
    """What the runs of an experiment wrote to standard output, by replicate."""
    runs = experiment.glob("runs/*/")
    return {
        json.loads((run / "spec.json").read_text())["replicate"]: (run / "attempt-1" / "stdout.log").read_text()
        for run in runs
    }
