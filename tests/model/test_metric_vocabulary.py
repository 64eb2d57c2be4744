"""What the words of a key say of its value."""

import pytest

from deviate.model.metric_vocabulary import direction_of, role_of, split_identifier


@pytest.mark.parametrize(
    ("key", "role", "direction"),
    [
        ("val_loss", "quality", "min"),
        ("Top1", "quality", "max"),
        ("epoch", "other", None),
        ("epoch_loss", "quality", "min"),
        ("neg_log_likelihood", "quality", "min"),
        ("learning_rate", "other", None),
        ("lr", "other", None),
        ("step_time", "time", "min"),
        ("eta_seconds", "other", "min"),
        ("samples_fps", "time", "max"),
        ("total", None, None),
        ("foo", None, None),
    ],
)
def test_a_key_says_what_it_is(key: str, role: str | None, direction: str | None) -> None:
    assert (role_of(split_identifier(key)), direction_of(split_identifier(key))) == (role, direction)
