"""Every public route to random numbers: what is drawn by it varies where the variant says so, and repeats elsewhere."""

import re
from pathlib import Path

import pytest
from harness import Child, Result

from deviate.replay.variants import VARIANTS, seed_set

ROUTES = Path(__file__).parents[1] / "support" / "routes"
DIVIDING = {
    "make_classification()",
    "make_classification(random_state=1)",
    "make_blobs",
    "pandas.DataFrame.sample(random_state=3)",
    "lightgbm.cv(folds)",
    "xgboost.cv(folds)",
    "generate_random_map",
    "generate_random_map()",
}
"""Routes that draw data to train and test on: `split` varies them, and all other variants hold them."""


def run(folder: Path, program: str, variant: str, replicate: int) -> Result:
    child = Child(folder, (ROUTES / f"{program}.py").read_text())
    child.files["showing.py"] = (ROUTES / "showing.py").read_text()
    seeds = dict(seed_set(VARIANTS[variant], 0, replicate))
    varied = [name for name in VARIANTS[variant].varied if name in seeds]
    result = child.run(seeds=seeds, varied=varied)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def hashes(result: Result) -> dict[str, str]:
    return {route: digest for digest, _, route in (line.partition(" ") for line in result.stdout.splitlines())}


def check(folder: Path, program: str) -> None:
    held, again = (hashes(run(folder / f"control-{n}", program, "control", n)) for n in range(2))
    one, two = (hashes(run(folder / f"algo-{n}", program, "algo", n)) for n in range(2))
    assert held == again
    assert {route for route in held if one[route] == two[route]} == DIVIDING & held.keys()
    if DIVIDING & held.keys():
        first, second = (hashes(run(folder / f"split-{n}", program, "split", n)) for n in range(2))
        assert {route for route in held if first[route] != second[route]} == DIVIDING & held.keys()


@pytest.mark.parametrize("program", ["python", "numpy"])
def test_each_route_varies_in_algo_and_repeats_in_control(program: str, tmp_path: Path) -> None:
    check(tmp_path, program)


@pytest.mark.slow
@pytest.mark.requires("torch", "tensorflow", "keras", "jax", "flax", "sklearn")
@pytest.mark.parametrize("program", ["scipy", "sklearn", "torch", "jax", "tensorflow", "keras"])
def test_each_route_of_a_large_library_does_so_too(program: str, tmp_path: Path) -> None:
    check(tmp_path, program)


@pytest.mark.slow
@pytest.mark.requires("lightgbm", "xgboost", "catboost")
def test_each_seed_of_boosting_does_so_too(tmp_path: Path) -> None:
    check(tmp_path, "boosting")


@pytest.mark.slow
@pytest.mark.requires("gymnasium")
def test_each_seed_of_an_environment_does_so_too(tmp_path: Path) -> None:
    check(tmp_path, "environments")


NAMED = {
    "os.urandom": "entropy of the operating system: no seed reaches it",
    "secrets.randbits": "the same",
    "uuid.uuid4": "the same",
    "random.SystemRandom": "the same",
    "networkx (random.Random)": "a generator that a library makes for itself",
    "keras (numpy.random.RandomState)": "the same: the order of the examples of a data set",
}
"""What is merely named, with the reason."""


@pytest.mark.slow
@pytest.mark.requires("networkx", "keras")
def test_what_no_variant_varies_is_named_with_its_line(tmp_path: Path) -> None:
    text = (ROUTES / "named.py").read_text()
    result = run(tmp_path, "named", "algo", 0)
    found = {event[0]: event[2] for event in result.of("uncontrolled")}
    found |= {event[0]: event[3] for event in result.of("seed") if event[4] == "fixed"}
    assert found.keys() == NAMED.keys()
    assert len(NAMED) <= 6
    for name, line in found.items():
        library = {"networkx": "nx"}.get(name.split()[0], name.partition(".")[0].split()[0])
        assert library in re.split(r"\W", text.splitlines()[line - 1]), name
