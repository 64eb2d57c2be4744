"""What the trainers of TRL report of themselves."""

from collections.abc import Callable

import pytest

from deviate.analysis.metrics.keras_history import TRAINED
from deviate.model import Analysis

SCRIPT = """
from trl import {name}, {config}

def right_format(completions, **rest):
    return [1.0 for _ in completions]

trainer = {name}(model, {arguments})
trainer.train()
"""


@pytest.mark.parametrize(
    ("name", "arguments", "keys"),
    [
        ("SFTTrainer", "args=SFTConfig()", {"entropy", "mean_token_accuracy"}),
        (
            "RewardTrainer",
            "args=RewardConfig()",
            {"accuracy", "min_reward", "mean_reward", "max_reward", "margin"},
        ),
        ("CPOTrainer", "args=CPOConfig()", set()),
    ],
)
def test_a_trainer_adds_keys_of_its_own(
    analyse: Callable[[str], Analysis], name: str, arguments: str, keys: set[str]
) -> None:
    script = SCRIPT.format(name=name, config=name.replace("Trainer", "Config"), arguments=arguments)
    assert {metric.expression for metric in analyse(script).metrics} == keys | set(TRAINED)


def test_functions_that_reward_and_the_divergence_are_reported_where_they_are_used(
    analyse: Callable[[str], Analysis],
) -> None:
    arguments = "reward_funcs=[right_format], args=GRPOConfig(beta={})"
    found = [
        {
            metric.expression
            for metric in analyse(
                SCRIPT.format(name="GRPOTrainer", config="GRPOConfig", arguments=arguments.format(beta))
            ).metrics
        }
        for beta in (0.0, 0.1)
    ]
    assert {"reward", "rewards/right_format/mean", "rewards/right_format/std"} <= found[0]
    assert found[1] - found[0] == {"kl"}
