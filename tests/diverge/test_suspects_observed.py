"""Suspects for what real programs leave behind: each script runs twice, traced operation by operation."""

import dataclasses
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import Child, Result
from samples import run as plain_run
from varied import seeds

from deviate.analysis.analyze import analyze
from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import Cause, Difference
from deviate.diverge.inputs import compare_inputs
from deviate.diverge.suspects import Evidence, find_causes
from deviate.diverge.traces import read_traces
from deviate.model.records import Run, SeedEvent
from deviate.replay.variants import VARIANTS

pytestmark = pytest.mark.requires("torch")

TRAIN = """
model = torch.nn.Linear(16, 8)
for step in range(3):
    loss = torch.nn.functional.cross_entropy(model(batch(step)), target)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 0.1 * weight.grad
"""
"""Without an optimizer of PyTorch, whose first one loads the compiler: half of what such a run costs."""


@dataclass(frozen=True)
class Observed:
    """Two runs of one script, and what was found of them."""

    difference: Difference | None
    causes: tuple[Cause, ...]

    @property
    def first(self) -> str:
        return self.causes[0].id if self.causes else ""

    @property
    def lines(self) -> list[int]:
        return [it.line for it in self.causes[0].places]


def observe(folder: Path, text: str, variant: str, *, is_cold: bool = False) -> Observed:
    script = textwrap.dedent(text).lstrip("\n")
    (folder / "project").mkdir()
    (folder / "project" / "train.py").write_text(script, encoding="utf-8")
    analysis = analyze(folder / "project" / "train.py", folder / "project")
    mine = VARIANTS[variant]

    def run(k: int) -> Result:
        child = Child(folder / f"run{k}", script)
        fixed = None if variant == "as-is" else "0"
        return child.run(
            seeds=seeds() if mine.held else None,
            controls=dict(mine.controls),
            capture={"trace": "4"},
            environment={"PYTHONHASHSEED": fixed, "DEVIATE_REPLICATE": str(k), "OMP_NUM_THREADS": "2"},
            is_cold=is_cold,
        )

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, (0, 1)))
    for it in runs:
        assert (it.code, it.of("error")) == (0, []), it.stderr
    traces = [read_traces(folder / f"run{k}" / "attempt-1") for k in (0, 1)]
    difference = compare_traces(*traces, "operations").difference
    if difference is None:
        return Observed(None, ())
    inputs = compare_inputs(*traces, difference)
    one, other = (_recorded(number, it) for number, it in enumerate(runs))
    evidence = Evidence((one, other), variant=mine, hazards=analysis.hazards, inputs=inputs)
    return Observed(difference, find_causes(difference, evidence))


def _recorded(number: int, result: Result) -> Run:
    told = {str(name): str(value) for event in result.of("environment") for name, value in event[0].items()}
    uncontrolled = dict.fromkeys(f"{it[0]} ({it[1]}:{it[2]})" for it in result.of("uncontrolled"))
    return dataclasses.replace(
        plain_run(number, {}),
        environment={"CPU": "this one", **told},
        seed_events=_seeds(result),
        uncontrolled=tuple(uncontrolled),
    )


def _seeds(result: Result) -> tuple[SeedEvent, ...]:
    return tuple(SeedEvent(*event) for event in result.of("seed"))


def test_the_gradient_of_an_index_is_named_with_its_line(tmp_path: Path) -> None:
    text = """
    import torch
    torch.manual_seed(0)
    table = torch.nn.Parameter(torch.randn(17, 64))
    optimizer = torch.optim.SGD([table], lr=0.1)
    for step in range(2):
        index, weight = torch.randint(17, (65536,)), torch.randn(65536, 64)
        loss = (table[index] * weight).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    found = observe(tmp_path, text, "impl")
    assert (found.first, found.lines) == ("gather", [7])


def test_classes_from_a_set_of_words_point_to_the_hash_seed(tmp_path: Path) -> None:
    text = """
    import torch
    torch.manual_seed(0)
    words = ["cat", "dog", "cow", "hen", "pig", "ant", "bee", "fox"] * 4
    classes = list(set(words))
    target = torch.tensor([classes.index(word) for word in words])
    data = torch.randn(32, 16)
    def batch(step):
        return data
    """
    (tmp_path / "as-is").mkdir()
    # Forked processes have the hash seed of their server in common.
    found = observe(tmp_path / "as-is", textwrap.dedent(text) + TRAIN, "as-is", is_cold=True)
    assert (found.first, found.lines) == ("set-order", [4])
    (tmp_path / "control").mkdir()
    assert observe(tmp_path / "control", textwrap.dedent(text) + TRAIN, "control").difference is None


SCRIPTS = {
    "a seed from the clock": (
        "control",
        "changing-seed",
        2,
        """
        import time, torch
        torch.manual_seed(time.time_ns() % 2**32)
        target = torch.arange(32) % 8
        def batch(step):
            return torch.randn(32, 16)
        """,
    ),
    "numbers from the system": (
        "control",
        "entropy",
        5,
        """
        import os, torch
        torch.manual_seed(0)
        target = torch.arange(32) % 8
        def batch(step):
            return torch.tensor(list(os.urandom(512)), dtype=torch.float32).reshape(32, 16)
        """,
    ),
    "NumPy that nobody seeds": (
        "as-is",
        "missing-seed",
        None,
        """
        import numpy as np, torch
        torch.manual_seed(0)
        target = torch.arange(32) % 8
        def batch(step):
            return torch.from_numpy(np.random.randn(32, 16).astype("float32"))
        """,
    ),
    "results as they are done": (
        "control",
        "unordered-results",
        9,
        """
        import os, time, torch
        from concurrent.futures import ThreadPoolExecutor, as_completed
        torch.manual_seed(0)
        target, data = torch.arange(32) % 8, torch.randn(32, 16)
        def load(index):
            time.sleep(0.05 * (index == int(os.environ["DEVIATE_REPLICATE"])))
            return data[index]
        with ThreadPoolExecutor(4) as pool:
            loaded = [it.result() for it in as_completed([pool.submit(load, index) for index in range(32)])]
        examples = torch.stack(loaded)
        def batch(step):
            return examples
        """,
    ),
}


@pytest.mark.parametrize(("variant", "expected", "line", "text"), SCRIPTS.values(), ids=SCRIPTS)
def test_the_right_source_is_first(tmp_path: Path, variant: str, expected: str, line: int | None, text: str) -> None:
    found = observe(tmp_path, textwrap.dedent(text) + TRAIN, variant)
    assert found.first == expected, found
    assert line is None or line in found.lines


def test_parameters_that_nothing_fills_are_named(tmp_path: Path) -> None:
    text = """
    import torch
    torch.manual_seed(0)
    with open("/dev/urandom", "rb") as file:
        used = [file.read(4064) for _ in range(200)]
    del used
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(1000))
        def forward(self, x):
            return x * self.weight
    scale = Scale()
    target, data = torch.arange(32) % 8, torch.randn(32, 1000)
    model = torch.nn.Sequential(scale, torch.nn.Linear(1000, 8))
    loss = torch.nn.functional.cross_entropy(model(data), target)
    loss.backward()
    """
    found = observe(tmp_path, text, "impl")
    if found.difference is None:
        pytest.skip("the memory happened to be equal in both runs")
    assert (found.first, found.lines) == ("uninitialised", [9])


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a file system in memory")
def test_files_that_were_made_in_another_order_point_to_their_listing(tmp_path: Path) -> None:
    text = """
    import os, shutil, torch
    torch.manual_seed(0)
    folder = "/dev/shm/deviate-listing-%d" % os.getpid()
    os.mkdir(folder)
    numbers = list(range(32))
    for number in numbers[:: -1 if os.environ["DEVIATE_REPLICATE"] == "1" else 1]:
        open(os.path.join(folder, str(number)), "w").close()
    names = os.listdir(folder)
    shutil.rmtree(folder)
    data, target = torch.randn(32, 16), torch.arange(32) % 8
    examples = torch.stack([data[int(name)] for name in names])
    def batch(step):
        return examples
    """
    found = observe(tmp_path, textwrap.dedent(text) + TRAIN, "control")
    assert (found.first, found.lines) == ("file-order", [8])


def test_a_time_budget_is_named_where_one_run_trains_for_longer(tmp_path: Path) -> None:
    text = """
    import os, time, torch
    torch.manual_seed(0)
    data, target = torch.randn(32, 16), torch.arange(32) % 8
    model = torch.nn.Linear(16, 8)
    begin = time.monotonic()
    for step in range(2 + 2 * int(os.environ["DEVIATE_REPLICATE"])):
        loss = torch.nn.functional.cross_entropy(model(data), target)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            model.weight -= 0.1 * model.weight.grad
        if time.monotonic() - begin > 60:
            break
    """
    found = observe(tmp_path, text, "control")
    assert (found.first, found.lines) == ("time-limit", [12])
