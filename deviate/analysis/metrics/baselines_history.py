"""What Stable-Baselines3 reports by itself while `learn` runs.

Source: the calls of `logger.record` in stable_baselines3 and sb3_contrib, without counters and settings.
"""

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.tree import constant_number, dotted_name, keywords, last_name

ROLLOUT = ("rollout/ep_rew_mean", "rollout/ep_len_mean", "time/fps", "time/time_elapsed")
EVALUATED = ("eval/mean_reward", "eval/mean_ep_length")
PROXIMAL = ("loss", "policy_gradient_loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction",
            "explained_variance")  # fmt: skip
SOFT = ("actor_loss", "critic_loss", "ent_coef", "ent_coef_loss")
TRAINED = {
    "PPO": PROXIMAL,
    "RecurrentPPO": PROXIMAL,
    "MaskablePPO": PROXIMAL,
    "A2C": ("policy_loss", "value_loss", "entropy_loss", "explained_variance"),
    "TRPO": ("policy_objective", "value_loss", "kl_divergence_loss", "explained_variance"),
    "DQN": ("loss",),
    "QRDQN": ("loss",),
    "SAC": SOFT,
    "TQC": SOFT,
    "CrossQ": SOFT,
    "TD3": ("actor_loss", "critic_loss"),
    "DDPG": ("actor_loss", "critic_loss"),
}
"""What each algorithm reports of its updates, after `train/`."""

SHOWING = ("verbose", "tensorboard_log")
LOGGERS = frozenset({"set_logger", "configure"})


def baselines_keys(call: cst.Call, graph: CallGraph) -> list[str]:
    """Keys that a call of `learn` reports; none where the algorithm is made to show nothing, as it is by default."""
    function = graph.nodes.function_of(call)
    names = [part for name in graph.resolver.names(call.func, function) for part in name.replace("()", "").split(".")]
    algorithms = dict.fromkeys(name for name in names if name in TRAINED)
    constructors = [other for other, _ in graph.calls if _makes(other, graph)]
    if constructors and not any(map(_shows, constructors)) and not _has_logger(graph):
        return []
    keys = [*ROLLOUT, *(f"train/{key}" for algorithm in algorithms for key in TRAINED[algorithm])]
    if any(last_name(other.func) in ("EvalCallback", "MaskableEvalCallback") for other, _ in graph.calls):
        keys += EVALUATED
    return list(dict.fromkeys(keys))


def _makes(call: cst.Call, graph: CallGraph) -> bool:
    """Whether a call creates an algorithm."""
    names = graph.resolver.names(call.func, graph.nodes.function_of(call))
    libraries = ("stable_baselines3.", "sb3_contrib.")
    return any(name.startswith(libraries) and name.rpartition(".")[2] in TRAINED for name in names)


def _shows(call: cst.Call) -> bool:
    """Whether a constructor is asked to print its values, or to write them for TensorBoard."""
    if any(part.star == "**" for part in call.args):
        return True
    values = [value for key, value in keywords(call).items() if key in SHOWING]
    return any(constant_number(value) != 0 and dotted_name(value) not in ("None", "False") for value in values)


def _has_logger(graph: CallGraph) -> bool:
    return any(last_name(call.func) in LOGGERS for call, _ in graph.calls)
