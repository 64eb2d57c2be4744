"""Reinforcement-learning environments that nobody seeds."""

import libcst as cst

from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey
from deviate.analysis.resolve.tree import dotted_name, keywords
from deviate.model.metric_vocabulary import word_set

ENVIRONMENT_MAKERS = word_set(
    "gym.make gymnasium.make gym.vector.make gymnasium.vector.make gymnasium.make_vec gym3.make"
)
ENVIRONMENT_LIBRARIES = ("gym", "stable_baselines3.", "sb3_contrib.", "envpool.", "pettingzoo.", "supersuit.")


@hazard("environment-seed", "seeds")
def environment_seed(survey: Survey) -> Matches:
    """Reinforcement-learning environments that nobody seeds.

    An environment and each of its spaces have generators of their own, seeded from the operating system unless the
    script gives them a seed: episodes differ in each run, whatever other seeds are set. Every variant but `as-is`
    seeds them.

    Example:
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        observation, _ = env.reset()

    Instead:
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        observation, _ = env.reset(seed=1)

    Source: Gymnasium documentation of `Env.reset` and `Space.seed`; Gymnasium source, utils/seeding.py: without a seed
    `numpy.random.SeedSequence(None)`.
    """
    environments = list(survey.calls(ENVIRONMENT_MAKERS))
    if not environments:
        return
    if not _are_environments_seeded(survey):
        for call in environments:
            yield call.node, "the environment is never seeded"
    if not any("action_space" in dotted_name(call.node.func) for call in survey.method_calls("seed")):
        for call in survey.method_calls("sample"):
            if dotted_name(call.node.func).endswith("action_space.sample") and not _is_sample(call, survey):
                yield call.node, "the action space is never seeded, and has a generator of its own"


def _are_environments_seeded(survey: Survey) -> bool:
    names = [name for name in survey.names if name.startswith(ENVIRONMENT_LIBRARIES)]
    methods = (call for name in ("reset", "seed", "set_seed") for call in survey.method_calls(name))
    seeding = [call for call in methods if call.name.startswith((".", *ENVIRONMENT_LIBRARIES))]
    return any(_gives_seed(call) for call in (*seeding, *survey.calls(names)))


def _is_sample(call: Called, survey: Survey) -> bool:
    """Whether an action is sampled only once, for instance to inspect its shape."""
    is_kept = isinstance(survey.nodes.parents.get(call.node), cst.Assign)
    return is_kept and not survey.nodes.loops_around(call.node)


def _gives_seed(call: Called) -> bool:
    return "seed" in keywords(call.node) or (call.last in ("seed", "set_seed") and bool(call.node.args))
