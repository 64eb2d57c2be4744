"""Positive and no-op snippets of the hazards whose draws no seed reaches."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]


def lines(analysis: Analysis, name: str) -> list[int]:
    return [hazard.line for hazard in analysis.hazards if hazard.name == name]


@pytest.mark.parametrize(
    "expression",
    [
        "os.urandom(4)",
        "secrets.randbelow(10)",
        "random.SystemRandom().random()",
        "uuid.uuid4().int % 100",
        "int(uuid.uuid1())",
        "np.random.Generator(np.random.PCG64())",
        "np.random.default_rng(np.random.SeedSequence())",
    ],
)
def test_numbers_from_the_operating_system_are_entropy(analyse: Analyse, expression: str) -> None:
    imports = "import os, random, secrets, uuid\nimport numpy as np\n"
    assert lines(analyse(f"{imports}value = {expression}\n"), "entropy") == [3]


@pytest.mark.parametrize(
    "expression",
    [
        "str(uuid.uuid4())",
        "f'runs/{uuid.uuid4().hex}'",
        "os.path.join('runs', secrets.token_hex(4))",
        "np.random.default_rng()",
        "torch.seed()",
        "np.random.SeedSequence(3)",
        "np.random.PCG64(seed)",
        "random.Random()",
        "rng.urandom(4)",
    ],
)
def test_names_of_runs_and_generators_that_get_a_seed_are_not(analyse: Analyse, expression: str) -> None:
    imports = "import os, random, secrets, uuid, torch\nimport numpy as np\n"
    assert not analyse(f"{imports}value = {expression}\n").hazards


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("np.save(f'{uuid.uuid4().hex}.npy', x)\nnames = sorted(os.listdir('.'))", [1]),
        ("np.save(f'{uuid.uuid4().hex}.npy', x)", []),
        ("os.makedirs(f'runs/{uuid.uuid4().hex}')\nnames = sorted(os.listdir('.'))", []),
    ],
)
def test_files_named_at_random_count_where_they_are_listed(analyse: Analyse, text: str, expected: list[int]) -> None:
    found = lines(analyse(f"import os, uuid\nimport numpy as np\n{text}\n"), "entropy")
    assert [line - 2 for line in found] == expected


def test_a_seed_from_the_clock_is_found_through_names_attributes_and_calls(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import argparse, os, random, time
        import numpy as np
        import torch
        from datetime import datetime
        args = argparse.ArgumentParser().parse_args()
        def set_seed(value):
            random.seed(value)
            np.random.seed(value + 1)
        if args.seed is None:
            args.seed = int(time.time())
        torch.manual_seed(args.seed)
        now = datetime.now().microsecond
        set_seed(now)
        generator = np.random.RandomState(os.getpid())
        loader = make(random_state=int(time.time() * 1000) % 2**32)
        env.seed(hash("train"))
        """
    )
    assert lines(analysis, "changing-seed") == [11, 13, 15, 16, 17]


def test_clocks_that_tell_the_time_are_no_seeds(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import os, time, torch
        start = time.time()
        run = f"seed_{int(time.time())}"
        torch.manual_seed(1)
        print("seed", 1, time.time() - start, os.getpid())
        names = {hash(name): name for name in names}
        """
    )
    assert not analysis.hazards


def test_a_seed_drawn_from_an_unseeded_generator_is_found(analyse: Analyse) -> None:
    text = """
        import random, torch
        opt.manualSeed = random.randint(1, 10000)
        random.seed(opt.manualSeed)
        torch.manual_seed(opt.manualSeed)
        """
    assert lines(analyse(text), "drawn-seed") == [3]


def test_a_seed_drawn_from_a_seeded_generator_or_in_a_worker_is_not(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import random, numpy as np, torch
        random.seed(3)
        torch.manual_seed(random.randint(1, 10000))
        def worker_init(worker):
            np.random.seed(torch.randint(1000, ()).item() + worker)
        loader = torch.utils.data.DataLoader(data, num_workers=2, worker_init_fn=worker_init)
        """
    )
    assert not analysis.hazards


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("env = gym.make('A')\nenv.reset()\n", [2]),
        ("env = gym.make('A')\nenv.reset(seed=1)\nwhile True:\n    env.step(env.action_space.sample())\n", [5]),
        ("env = gym.make('A')\nenv.seed(1)\nenv.action_space.seed(1)\nenv.action_space.sample()\n", []),
        ("env = gym.make('A')\nnp.random.seed(1)\nrandom.seed(1)\n", [2]),
        ("env = gym.make('A')\nenv.reset(seed=1)\naction = env.action_space.sample()\n", []),
        ("env = make_vec_env('A', seed=3)\nother = gym.make('A')\n", []),
        ("env = car.make('A')\nenv.reset()\n", []),
        ("env = make('A', seed=1)\nwhile True:\n    env.step(env.action_space.sample())\n", [4]),
        ("space = gym.spaces.Discrete(4)\nfor i in range(3):\n    use(space.sample())\n", [4]),
        ("space = gym.spaces.Discrete(4)\nspace.seed(1)\nfor i in range(3):\n    use(space.sample())\n", []),
    ],
)
def test_environments_that_nobody_seeds_are_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    imports = (
        "import gymnasium as gym, random, numpy as np; from stable_baselines3.common.env_util import make_vec_env\n"
    )
    assert lines(analyse(imports + text), "environment-seed") == expected


def test_the_seed_may_be_given_to_a_wrapper_of_the_project(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import gym
        class Wrapped(gym.Wrapper):
            def seed(self, value):
                return self.env.seed(value)
        env = Wrapped(gym.make("A"))
        env.seed(3)
        """
    )
    assert not analysis.hazards


DATA = """
import numpy as np, random
from torch.utils.data import DataLoader, Dataset
class Noisy(Dataset):
    def __init__(self):
        self.rng = {made}
    def __getitem__(self, index):
        return self.{used}.normal(size=8)
"""


@pytest.mark.parametrize(
    ("made", "used", "options", "expected"),
    [
        ("np.random.default_rng(0)", "rng", "num_workers=4", [10]),
        ("random.Random(0)", "rng", "num_workers=args.workers", [10]),
        ("np.random.default_rng(0)", "rng", "num_workers=0", []),
        ("np.random.default_rng(0)", "rng", "batch_size=4", []),
        ("np.random.default_rng(0)", "rng", "num_workers=4, worker_init_fn=init", []),
        ("np.random.default_rng(0)", "other", "num_workers=4", []),
        ("None", "rng", "num_workers=4", []),
        ("None", "rng", "num_workers=4, multiprocessing_context='spawn'", [10]),
        ("None", "rng", "num_workers=4, multiprocessing_context='fork'", []),
    ],
)
def test_workers_with_generators_of_their_own_are_found(
    analyse: Analyse, made: str, used: str, options: str, expected: list[int]
) -> None:
    text = DATA.format(made=made, used=used) + f"data = Noisy()\nloader = DataLoader(data, {options})\n"
    assert lines(analyse(text), "loader-workers") == expected


@pytest.mark.parametrize(
    ("made", "expected"), [("default_rng()", [5]), ("RandomState()", [5]), ("default_rng(index)", [])]
)
def test_a_generator_without_a_seed_in_an_item_is_found(analyse: Analyse, made: str, expected: list[int]) -> None:
    text = f"""
        import numpy as np
        class Noisy:
            def __getitem__(self, index):
                return np.random.{made}.normal(size=4)
        print(Noisy()[0])
        """
    assert lines(analyse(text), "loader-workers") == expected


def test_a_start_method_that_does_not_fork_counts_for_all_loaders(analyse: Analyse) -> None:
    text = """
        import torch.multiprocessing as mp
        from torch.utils.data import DataLoader
        mp.set_start_method("spawn", force=True)
        loader = DataLoader(data, num_workers=2)
        """
    assert lines(analyse(text), "loader-workers") == [5]


def test_draws_in_compiled_functions_are_found_unless_they_are_seeded_there(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import numba, random
        import numpy as np
        @numba.njit(cache=True)
        def drawn(n):
            return np.random.rand(n)
        @numba.jit
        def seeded(n):
            np.random.seed(n)
            return np.random.rand(n)
        def plain(n):
            return random.random()
        drawn(3), seeded(3), plain(3)
        """
    )
    assert lines(analysis, "compiled-draws") == [6]


MODEL = """
import torch
from torch import nn
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter({value})
        {more}
    def forward(self, x):
        return x * self.weight
model = Scale()
"""


@pytest.mark.parametrize("value", ["torch.empty(8)", "torch.Tensor(2, 4)", "torch.FloatTensor(n)"])
def test_parameters_that_nobody_fills_are_found(analyse: Analyse, value: str) -> None:
    assert lines(analyse(MODEL.format(value=value, more="pass")), "uninitialised") == [7]


@pytest.mark.parametrize(
    ("value", "more"),
    [
        ("torch.zeros(8)", "pass"),
        ("torch.Tensor([1.0, 2.0])", "pass"),
        ("torch.empty(8)", "nn.init.normal_(self.weight)"),
        ("torch.empty(8)", "self.weight.data.uniform_(-1, 1)"),
        ("torch.empty(8)", "init(self.weight.view(2, 4))"),
        ("torch.empty(8)", "[nn.init.zeros_(each) for each in self.parameters()]"),
    ],
)
def test_parameters_that_are_filled_are_not(analyse: Analyse, value: str, more: str) -> None:
    assert not analyse(MODEL.format(value=value, more=more)).hazards


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v = np.empty(3)\nfor step in range(3):\n    v = 0.9 * v - g\n", [2]),
        ("v = np.empty(3)\nv += g\n", [2]),
        ("v = np.empty(3)\nv[:] = 0\nv += g\n", []),
        ("v = np.empty(3)\nv.fill(0)\nv += g\n", []),
        ("v = np.empty(3)\nnp.add(a, b, out=v)\nw = v + 1\n", []),
        ("v = np.empty(3)\nv = np.zeros(3)\nv += g\n", []),
    ],
)
def test_arrays_are_found_that_are_computed_with_before_they_are_filled(
    analyse: Analyse, text: str, expected: list[int]
) -> None:
    assert lines(analyse(f"import numpy as np\n{text}"), "uninitialised") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("scale = nn.Parameter(torch.empty(8))\nloss = (x * scale).sum()\n", [2]),
        ("scale = nn.Parameter(torch.empty(8))\nnn.init.ones_(scale)\n", []),
        ("scale = nn.Parameter(torch.empty(8))\nscale.data.fill_(1)\n", []),
    ],
)
def test_parameters_of_no_class_count_too(analyse: Analyse, text: str, expected: list[int]) -> None:
    assert lines(analyse(f"import torch; from torch import nn\n{text}"), "uninitialised") == expected


def test_parameters_may_be_filled_by_whoever_holds_the_model(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        textwrap.dedent(MODEL.format(value="torch.empty(8)", more="pass"))
        + "for each in model.parameters():\n    each.data.uniform_(-1, 1)\n"
    )
    assert not analyze(tmp_path / "train.py", tmp_path).hazards
