"""Routes of Gymnasium."""

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.toy_text.frozen_lake import generate_random_map
from gymnasium.utils import seeding
from showing import show

CART = "CartPole-v1"


class Dice(gymnasium.Env):
    """An environment of the project's own."""

    observation_space = spaces.Discrete(10**6)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, **_: object) -> tuple[int, dict[str, object]]:
        super().reset(seed=seed)
        return int(self.np_random.integers(10**6)), {}


def seeded(space: spaces.Space) -> spaces.Space:
    space.seed(4)
    return space


def vector(seed: int | None, mode: str) -> object:
    environments = gymnasium.make_vec(CART, 2, vectorization_mode=mode)
    drawn = environments.reset(seed=seed)[0]
    environments.close()
    assert not np.array_equal(drawn[0], drawn[1])
    return drawn


def slippery() -> list[object]:
    lake = gymnasium.make("FrozenLake-v1", is_slippery=True)
    lake.reset(seed=2)
    return [[lake.step(1)[0], lake.reset()][0] for _ in range(40)]


show("gymnasium.reset", lambda: gymnasium.make(CART).reset(seed=3)[0])
show("gymnasium.reset()", lambda: gymnasium.make(CART).reset()[0])
show("gymnasium.step", slippery)
show("gymnasium.Env", lambda: Dice().reset(seed=3)[0])
show("gymnasium.np_random", lambda: gymnasium.make(CART).unwrapped.np_random.random())
show("gymnasium.Space.seed", lambda: seeded(spaces.Box(0, 1, (9,))).sample())
show("gymnasium.Space.sample", lambda: spaces.Discrete(10**6).sample())
show("gymnasium.spaces.Dict", lambda: str(seeded(spaces.Dict(a=spaces.Discrete(10**6), b=spaces.Discrete(3))).sample()))
show("gymnasium.SyncVectorEnv", lambda: vector(5, "sync"))
show("gymnasium.AsyncVectorEnv", lambda: vector(5, "async"))
show("gymnasium.AsyncVectorEnv()", lambda: vector(None, "async"))
show("gymnasium.utils.seeding.np_random", lambda: seeding.np_random(7)[0].random())
show("generate_random_map", lambda: generate_random_map(16, seed=1))
show("generate_random_map()", lambda: generate_random_map(16))
