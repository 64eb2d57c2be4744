"""scikit-learn: what is done to one of two trainings is found at its step, and the trace changes nothing."""

from pathlib import Path

import pytest
from tracing import TOUCHED, Traced, nothing_changed, traced

pytestmark = pytest.mark.requires("sklearn")

SCRIPT = """\
import zlib
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FACTOR = 1 + 1e-7
draw = np.random.default_rng(0)
X = StandardScaler().fit_transform(draw.normal(size=(100, 4)))
Y = (X[:, 0] > 0).astype(int)
for variant in ("fit", "again", "data", "order", "weights", "draw"):
    np.random.seed(0)
    model = SGDClassifier(learning_rate="constant", eta0=0.1)
    for step in range(5):
        x, y = X[20 * step :][:20].copy(), Y[20 * step :][:20].copy()
        if step == 3:
            if variant == "data":
                x[2, 2] *= FACTOR
            elif variant == "order":
                x[[0, 1]], y[[0, 1]] = x[[1, 0]], y[[1, 0]]
            elif variant == "weights":
                model.coef_ *= FACTOR
            elif variant == "draw":
                np.random.random()
        model.partial_fit(x, y, classes=[0, 1])
    print(variant, zlib.crc32(model.coef_.tobytes()))
for is_other in (False, True):
    np.random.seed(0)
    for step in range(5):
        net = MLPClassifier((4,), max_iter=1, random_state=np.random.RandomState(1))
        net.fit(X * FACTOR if is_other and step == 3 else X, Y)
for factor in (1, FACTOR):
    piped = make_pipeline(StandardScaler(with_mean=False), RandomForestClassifier(2, max_depth=2, random_state=0))
    piped.fit(X * factor, Y)
np.save("weights.npy", net.coefs_[0])
print("net", net.loss_, np.random.random())
"""
PARTS = ("fit", "again", "data", "order", "weights", "draw", "net", "net, other")
PIPED = 2
"""Fits of a pipeline, after the parts."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return traced(tmp_path_factory.mktemp("sklearn"), SCRIPT, PARTS)


def test_a_traced_run_is_bitwise_the_run_without_a_trace(runs: Traced) -> None:
    assert nothing_changed(runs)


@pytest.mark.parametrize(
    ("part", "beside", "kind", "name"),
    [
        ("data", "fit", "batch", "input"),
        ("order", "fit", "batch", "input"),
        ("weights", "fit", "weights", "SGDClassifier.coef_"),
        ("draw", "fit", "state", "numpy"),
        ("net, other", "net", "batch", "input"),
    ],
)
def test_what_was_done_is_found_at_its_step(runs: Traced, part: str, beside: str, kind: str, name: str) -> None:
    assert runs.first(part, beside=beside) == (TOUCHED, kind, name)


def test_equal_fits_are_equal_records(runs: Traced) -> None:
    assert runs.first("again", beside="fit") is None


def test_a_generator_of_an_estimator_is_recorded(runs: Traced) -> None:
    assert "sklearn.random_state" in runs.names("state", 5 * len(PARTS) - 5)


def test_what_transforms_data_is_no_step(runs: Traced) -> None:
    assert "StandardScaler.mean_" in runs.names("update", 0)
    assert runs.lines[-1][:2] == ["end", 5 * len(PARTS) + PIPED]


def test_the_steps_of_a_pipeline_are_what_it_has_fitted(runs: Traced) -> None:
    first, second = (
        {it[2]: it[3] for it in runs.records if it[:2] == (5 * len(PARTS) + n, "update")} for n in range(PIPED)
    )
    scale = "Pipeline.steps.standardscaler.scale_"
    assert first[scale] != second[scale]
    assert any("randomforestclassifier.estimators_.1.tree_.nodes.threshold" in name for name in first)


def test_the_first_level_tells_losses_alone(tmp_path: Path) -> None:
    runs = traced(tmp_path, SCRIPT, PARTS, level=1)
    assert {kind for _, kind, *_ in runs.records} == {"loss"}
    assert runs.lines[-1][:2] == ["end", 5 * len(PARTS) + PIPED]
