"""The line of the project that draws first from the generator of TensorFlow is found, where nothing seeds it."""

from pathlib import Path

import pytest
from harness import Child

SCRIPT = """\
import tensorflow as tf

numbers = tf.data.Dataset.range(8)
numbers = numbers.shuffle(8)
print(tf.random.Generator.from_non_deterministic_state().uniform([2]))
"""

pytestmark = [pytest.mark.requires("tensorflow"), pytest.mark.slow]


def test_a_shuffle_without_a_seed_is_the_first_draw_and_generators_are_given_numbers(tmp_path: Path) -> None:
    result = Child(tmp_path, SCRIPT).run(seeds={}, controls={"entropy": "26/26//tensorflow"})
    chance = [event[1:] for event in result.events if event[0] == "chance"]
    assert result.code == 0, result.stderr
    assert ["first", "tensorflow", "train.py", 4] in chance
    assert ["drawn", "", "train.py", 5] in chance
