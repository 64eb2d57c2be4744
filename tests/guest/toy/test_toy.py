"""A framework that deviate has never heard of: one adapter that translates, and every observer works over it."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from harness import Child, Result

HERE = Path(__file__).parent
SCRIPT = """\
import numpy as np
import toylib
toylib.seed(0)
draw = np.random.default_rng(1)
x = draw.normal(size=(40, 6, 6, 1)).astype("float32")
y = (x.mean((1, 2, 3)) > 0).astype(int)
train = toylib.Loader(toylib.Tensor(x[:24]), y[:24], 8, shuffle=True)
x_test, y_test = toylib.Tensor(x[24:]), y[24:]
test_loader = toylib.Loader(x_test, y_test, 5)
model = toylib.Model(36, 4, 2)
for epoch in range(3):
    for images, labels in train:
        loss, gradients = toylib.loss_and_gradients(model, images, labels)
        toylib.update(model, gradients, 0.1)
    right = sum(int((model(images).read().argmax(1) == labels).sum()) for images, labels in test_loader)
    print(epoch, right / 16)
print(model.named_weights()["head.kernel"].read().ravel().tolist())
"""
WANTED = {"predictions": "on", "weights": "on", "every": "2", "tta": "flip,crop_mnist"}
SEEDS = dict.fromkeys(("init", "shuffle", "augment", "dropout", "split", "other"), 1)


def run(folder: Path, text: str = SCRIPT, **request: object) -> Result:
    """Run a script with the adapter, as the snapshot of an experiment has it."""
    child = Child(folder, text).loop("for epoch in «range(3)»", 16)
    guest = folder / "guest"
    plugins = guest / "_deviate_guest" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "toy_adapter.py").write_text((HERE / "toy_adapter.py").read_text(), encoding="utf-8")
    child.adapters = {"toylib": ["plugins.toy_adapter"]}
    path = os.pathsep.join((str(guest), str(HERE)))
    result = child.run(environment={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}, **request)  # type: ignore[arg-type]
    assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
    return result


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return run(tmp_path_factory.mktemp("captured"), capture=WANTED)


def load(result: Result, kind: str, name: str) -> list[dict[str, np.ndarray]]:
    """What was kept under a name, in the order of the steps; the end comes last."""
    events = [event for event in result.of("artifact") if event[:2] == [kind, name]]
    return [dict(np.load(result.work.parents[2] / "artifacts" / event[4])) for event in events]


def test_the_adapter_is_short() -> None:
    assert len((HERE / "toy_adapter.py").read_text().splitlines()) <= 150


def test_weights_are_hashed_and_equal_runs_have_equal_hashes(plain: Result, captured: Result) -> None:
    hashes = [event[:1] + event[2:] for event in plain.of("weights")]
    assert [moment for moment, *_ in hashes] == ["loop", "exit"]
    assert hashes == [event[:1] + event[2:] for event in captured.of("weights")]
    assert hashes[0][2] == 36 * 4 + 4 + 4 * 2 + 2
    assert captured.stdout == plain.stdout


def test_the_examples_of_the_evaluation_are_hashed(plain: Result) -> None:
    (event,) = plain.of("evaluation")
    assert (event[0], event[2], event[3]) == ("toylib", 16, "loader")


def test_examples_handed_over_with_labels_are_evidence_of_an_evaluation(tmp_path: Path, plain: Result) -> None:
    begin, end = SCRIPT.index("    right ="), SCRIPT.index("    print(epoch")
    text = SCRIPT[:begin] + "    right = 16 * toylib.accuracy(model, x_test, y_test)\n" + SCRIPT[end:]
    scored = run(tmp_path, text)
    assert scored.stdout == plain.stdout
    assert [event[2:4] for event in scored.of("evaluation")] == [[16, "labels"]]


def test_one_bit_is_flipped_before_the_first_step(tmp_path: Path, plain: Result) -> None:
    flipped = run(tmp_path, controls={"one-bit": "7"})
    (event,) = flipped.of("flip")
    framework, name, _, before, after = event[:5]
    assert framework == "toylib"
    assert name in ("0.hidden.kernel", "0.head.kernel")
    assert np.nextafter(np.float32(before), np.float32(after)) == np.float32(after)
    assert [each[2] for each in flipped.of("weights")] != [each[2] for each in plain.of("weights")]


def test_a_stream_varies_alone(tmp_path: Path) -> None:
    first, second = (run(tmp_path / str(n), seeds={**SEEDS, "shuffle": n}, varied=["shuffle"]) for n in (1, 2))
    assert first.stdout != second.stdout
    assert dict(first.of("draws"))["toylib"] == ["init", "shuffle"]


def test_predictions_and_weights_are_kept(captured: Result) -> None:
    at_end = load(captured, "predictions", "test")[-1]
    assert at_end["outputs"].shape == (16, 2)
    right = float(np.mean(at_end["outputs"].argmax(1) == at_end["truth"]))
    assert captured.stdout.splitlines()[2] == f"2 {right}"
    assert len(np.unique(at_end["keys"])) == 16
    (weights,) = load(captured, "weights", "loop")
    assert captured.stdout.splitlines()[3] == str(weights["0.head.kernel"].ravel().tolist())


def test_outputs_are_averaged_over_augmented_images(captured: Result) -> None:
    plain_outputs = load(captured, "predictions", "test")[-1]
    for name in ("test+flip", "test+crop_mnist"):
        mean = load(captured, "predictions", name)[-1]
        assert (mean["keys"] == plain_outputs["keys"]).all()
        assert (mean["truth"] == plain_outputs["truth"]).all()
        assert mean["outputs"].shape == (16, 2)
        assert (mean["outputs"] != plain_outputs["outputs"]).any()
    # A model that is linear where no unit is cut off gives the mean of an image and its mirror image.
    (weights,) = load(captured, "weights", "loop")
    draw = np.random.default_rng(1)
    images = draw.normal(size=(40, 6, 6, 1)).astype("float32")[24:]

    def outputs(batch: np.ndarray) -> np.ndarray:
        hidden = np.maximum(batch.reshape(16, -1) @ weights["0.hidden.kernel"] + weights["0.hidden.bias"], 0)
        return hidden @ weights["0.head.kernel"] + weights["0.head.bias"]

    by_hand = (outputs(images) + outputs(images[:, :, ::-1])) / 2
    assert load(captured, "predictions", "test+flip")[-1]["outputs"] == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_trace_has_what_its_level_asks_for(level: int, tmp_path: Path, plain: Result) -> None:
    traced = run(tmp_path, capture={"trace": str(level)})
    assert traced.stdout == plain.stdout
    (path,) = (tmp_path / "attempt-1" / "artifacts").glob("trace-*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kinds = [line[0] for line in lines]
    assert kinds.count("step") == 9
    assert kinds.count("loss") == 9
    wanted = {
        1: {"loss"},
        2: {"loss", "state", "weights", "batch", "forward", "gradient", "update"},
        3: {"loss", "state", "weights", "batch", "forward", "gradient", "update", "module"},
    }
    assert set(kinds) - {"start", "place", "main", "step", "cost", "end", "ends"} == wanted[level]
