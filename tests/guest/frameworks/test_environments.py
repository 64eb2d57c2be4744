"""Gymnasium: seeds of environments and spaces follow the streams, and the script sees what it would see."""

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

pytestmark = [pytest.mark.slow, pytest.mark.requires("gymnasium")]
SCRIPT = """\
import threading
import gymnasium as gym
import numpy as np
env = gym.make("CartPole-v1")
start, _ = env.reset(seed=3)
print(start, env.unwrapped.np_random_seed, env.action_space.seed(4))
print([int(env.action_space.sample()) for _ in range(20)])
free = gym.make("CartPole-v1")
seed = free.unwrapped.np_random_seed
parts = gym.spaces.Dict(a=gym.spaces.Discrete(9), b=gym.spaces.Box(0, 1))
print(parts.seed(5) == parts.seed(5), parts.sample()["b"])
vector = gym.make_vec("CartPole-v1", 2)
print(vector.reset(seed=6)[0][:, 0])
for wrong in (-1, 1.5, np.int64(3)):
    try:
        env.action_space.seed(wrong)
    except Exception as error:
        print(type(error).__name__, error)
thread = threading.Thread(target=lambda: env.reset(seed=7))
thread.start()
thread.join()
"""
SEEDS = {"init": 1, "shuffle": 2, "augment": 3, "dropout": 4, "split": 5, "other": 6}


def seeds_of(result: Result) -> list[tuple[str, str, int, str]]:
    return [(call, value, line, action) for call, value, _, line, action in result.of("seed")]


def test_seeds_of_environments_and_spaces_are_replaced_and_recorded(tmp_path: Path) -> None:
    one, again, other = (
        Child(tmp_path / name, SCRIPT).run(seeds={**SEEDS, "other": seed}, varied=["other"])
        for name, seed in (("one", 6), ("again", 6), ("other", 7))
    )
    assert (one.code, one.of("error")) == (0, []), one.stderr
    assert seeds_of(one) == [
        ("gymnasium.reset", "3", 5, "replaced"),
        ("gymnasium.Space.seed", "4", 6, "replaced"),
        ("gymnasium.Space.seed", "5", 11, "replaced"),
        ("gymnasium.Space.seed", "5", 11, "replaced"),
        ("gymnasium.reset", "6", 13, "replaced"),
        ("gymnasium.reset", "7", 19, "fixed"),
    ]
    assert one.of("uncontrolled") == []
    assert ["gymnasium", ["other"]] in one.of("draws")
    assert one.stdout == again.stdout
    for a, b in zip(one.stdout.splitlines()[:4], other.stdout.splitlines()[:4], strict=True):
        assert a != b
    assert one.stdout.splitlines()[0].endswith("] 3 4")  # the seeds of the script
    assert one.stdout.splitlines()[2].startswith("True ")


def test_without_a_variant_nothing_changes(tmp_path: Path, plainly: Callable[[Child], Result]) -> None:
    child = Child(tmp_path, SCRIPT)
    on, off = child.run(), plainly(child)
    assert (on.stdout, on.stderr) == (off.stdout, off.stderr)
    assert {action for *_, action in seeds_of(on)} == {"kept"}


def test_a_library_that_seeds_for_the_script_is_followed(tmp_path: Path) -> None:
    """As frameworks of reinforcement learning do, in a package outside of the project."""
    library = tmp_path / "site-packages" / "learner"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(
        "def begin(env, seed):\n    env.action_space.seed(seed)\n    return env.reset(seed=seed)[0]\n"
    )
    text = 'import gymnasium as gym\nimport learner\nprint(learner.begin(gym.make("CartPole-v1"), 3))\n'
    outputs = []
    for seed in (6, 7):
        path = {"PYTHONPATH": f"{tmp_path / str(seed) / 'guest'}:{library.parent}"}
        result = Child(tmp_path / str(seed), text).run(seeds={**SEEDS, "other": seed}, environment=path)
        assert [(call, line) for call, _, line, _ in seeds_of(result)] == [
            ("gymnasium.Space.seed", 3),
            ("gymnasium.reset", 3),
        ]
        outputs.append(result.stdout)
    assert outputs[0] != outputs[1]


def test_environments_of_gym_are_seeded_by_a_method_of_their_own(tmp_path: Path) -> None:
    """As up to Gym 0.25; the package is not installed, so one of its shape stands for it."""
    folder = tmp_path / "site-packages" / "gym"
    (folder / "utils").mkdir(parents=True)
    (folder / "utils" / "__init__.py").touch()
    (folder / "utils" / "seeding.py").write_text(
        "import numpy as np\n"
        "def np_random(seed=None):\n"
        "    seed = np.random.randint(2**31) if seed is None else seed\n"
        "    return np.random.RandomState(seed), seed\n"
    )
    (folder / "__init__.py").write_text(
        '__version__ = "0.21.0"\n'
        "from gym.utils import seeding\n"
        "class Env:\n"
        "    def seed(self, seed=None):\n"
        "        self.np_random, seed = seeding.np_random(seed)\n"
        "        return [seed]\n"
    )
    text = "import gym\nenv = gym.Env()\nprint(env.seed(3))\nprint(env.np_random.rand())\n"
    outputs = []
    for seed in (6, 7, 6):
        place = tmp_path / f"run-{len(outputs)}"
        path = {"PYTHONPATH": f"{place / 'guest'}:{folder.parent}"}
        result = Child(place, text).run(seeds={**SEEDS, "other": seed}, environment=path)
        assert (result.code, result.of("error")) == (0, []), result.stderr
        assert [(call, line, action) for call, _, line, action in seeds_of(result)] == [("gym.seed", 3, "replaced")]
        assert result.stdout.startswith("[3]\n")
        outputs.append(result.stdout)
    assert outputs[0] == outputs[2] != outputs[1]
