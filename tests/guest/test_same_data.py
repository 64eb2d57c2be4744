"""N runs are the same data, trained N times: checksums that scripts print of their examples, weights and orders."""

from pathlib import Path

import pytest
from harness import Child, Result
from tiers import slow_but

from deviate.analysis.analyze import analyze
from deviate.replay.variants import VARIANTS, seed_set

SCRIPTS = sorted((Path(__file__).parents[1] / "support" / "held").glob("*.py"))
NEEDS = {
    "torch_split": ("torch",), "torch_by_hand": ("torch",), "pandas_sample": ("pandas", "sklearn"),
    "tf_data": ("tensorflow",), "jax_keys": ("jax",), "sklearn_objects": ("sklearn",),
    "joblib_folds": ("sklearn", "joblib"), "boosting": ("lightgbm",), "plain_python": (),
}  # fmt: skip


def run(folder: Path, text: str, replicate: int, weights: list[str] | None = None, **controls: str) -> Result:
    """One run of the default variant.

    Args:
        weights: draws that are weights, as the first run told.
    """
    variant = VARIANTS["algo+impl"]
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(text)
    child = Child(folder, text)
    child.loops += analyze(folder / "train.py", folder).loops
    seeds = dict(seed_set(variant, 0, replicate))
    seeds.pop("hash")
    result = child.run(seeds=seeds, varied=variant.varied, controls=controls, weights=weights)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def printed(result: Result) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in result.stdout.splitlines())


@pytest.mark.parametrize(
    "name", slow_but([path.stem for path in SCRIPTS], ["numpy_by_hand", "plain_python", "torch_split"])
)
def test_examples_are_equal_and_training_varies(tmp_path: Path, name: str, require) -> None:  # type: ignore[no-untyped-def]
    for module in NEEDS.get(name, ("numpy",)):
        require(module)
    script = next(path for path in SCRIPTS if path.stem == name)
    run_0 = run(tmp_path / "0", script.read_text(), 0)
    weights = [place for (place,) in run_0.of("first value")]
    first, second = printed(run_0), printed(run(tmp_path / "1", script.read_text(), 1, weights))
    assert first.pop("data") == second.pop("data")
    for what in {"weights", "order"} & first.keys():
        assert first[what] != second[what], what


BY_HAND = (Path(__file__).parents[1] / "support" / "held" / "numpy_by_hand.py").read_text()


def test_a_line_that_is_named_varies_though_it_makes_data(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    line = 1 + next(n for n, text in enumerate(BY_HAND.splitlines()) if "noise.normal" in text)
    first, second = (run(tmp_path / str(k), BY_HAND, k, vary=f"train.py:{line}") for k in range(2))
    assert printed(first)["data"] != printed(second)["data"]
    assert ["numpy.random.normal", "other", "train.py", line] in first.of("drawn")


def test_a_script_that_trains_nothing_varies_all_it_draws(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    text = "import numpy as np\nx = np.random.default_rng(0).normal(size=9)\ny = np.exp(x)\nprint('mean', y.mean())\n"
    first, second = (printed(run(tmp_path / str(k), text, k)) for k in range(2))
    assert first != second


POOLED = """\
import numpy as np
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

def seed():
    np.random.seed(3)

def make(block):
    return DRAW

if __name__ == "__main__":
    with POOL as pool:
        x = np.array(list(pool.map(make, range(8))))
    w = np.zeros(2)
    for epoch in range(2):
        w -= 0.1 * (w - x.mean(0))
        print("loss", w.sum())
"""
PROCESSES, THREADS = "ProcessPoolExecutor(2)", "ThreadPoolExecutor(2)"


@pytest.mark.parametrize(
    ("pool", "draw", "where"),
    [
        (PROCESSES, "np.random.randn(2)", "worker processes"),
        (PROCESSES, "np.random.default_rng().normal(size=2)", "worker processes"),
        ("ProcessPoolExecutor(2, initializer=seed)", "np.random.randn(2)", "worker processes"),
        (THREADS, "np.random.randn(2)", "threads"),
        (PROCESSES, "np.random.RandomState(block).randn(2)", None),
        (PROCESSES, "np.random.default_rng(block).normal(size=2)", None),
        (PROCESSES, "(np.random.seed(block), np.random.randn(2))[1]", None),
        (THREADS, "np.random.RandomState(block).randn(2)", None),
    ],
)
def test_draws_that_depend_on_who_takes_the_task_are_told_with_their_line(
    tmp_path: Path, pool: str, draw: str, where: str | None, require
) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    result = run(tmp_path / "0", POOLED.replace("DRAW", draw).replace("POOL as", f"{pool} as"), 0)
    told = {tuple(event) for event in result.of("uncontrolled")}
    assert told == ({(f"draws in {where}, which share the tasks by chance", "train.py", 8)} if where else set())
