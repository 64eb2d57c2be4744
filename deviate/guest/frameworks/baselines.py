"""Stable-Baselines3: records what the logger of an algorithm shows, each time that it shows it.

A step of the managed loop begins when the algorithm shows its values, after some iterations or episodes. Results of
evaluations that follow belong to it.
"""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any
from .managed import Managed

MODULES = ("stable_baselines3.common.logger", "stable_baselines3.common.callbacks")
NO_METRICS = frozenset((
    "time/iterations", "time/episodes", "time/total_timesteps", "train/n_updates", "train/learning_rate",
    "train/clip_range", "train/clip_range_vf", "rollout/exploration_rate",
))  # fmt: skip
"""Counters and settings among what the algorithms record. Source: the calls of `logger.record` in stable_baselines3."""


def install(module: Any, context: AdapterContext) -> None:
    managed = Managed(context)
    if module.__name__.endswith("logger"):

        def show(self: Any, *args: Any, **kwargs: Any) -> None:
            if self.output_formats:
                if any(name.startswith("time/") for name in self.name_to_value):
                    managed.step(self)
                managed.report({name: value for name, value in self.name_to_value.items() if name not in NO_METRICS})

        managed.patch(module.Logger, "dump", before=show)
        module.Logger.__deviate_loops__ = managed
    else:

        def end(result: None, self: Any) -> None:
            self.logger.__deviate_loops__.end(self.logger)

        managed.patch(module.BaseCallback, "on_training_end", after=end)
