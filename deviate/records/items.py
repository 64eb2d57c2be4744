"""Items of what a site reports whole: a mapping, a row, values under names that are built at run time."""

import re

from deviate.model import Direction, Role
from deviate.model.metric_vocabulary import HIGHER, LOWER, direction_of, role_of, split_identifier, word_set

CONTAINERS = word_set(
    "metric metrics result results score scores stat stats statistics log logs summary info dict record records row "
    "value values v loss losses output outputs report data item items history"
)
"""Last words of a name that say no more than that it holds things …"""
TELLING = CONTAINERS & (HIGHER | LOWER)
"""… but these also say which, where the item itself does not: `total` in `train_losses` is a loss."""


def item_name(owner: str, label: str) -> str:
    """Readable name of an item: `val_metrics` and `accuracy` give `val_accuracy`; numbered items keep the whole owner.

    >>> item_name("val_metrics", "accuracy"), item_name("loss", "train/loss"), item_name("losses", "total")
    ('val_accuracy', 'train_loss', 'losses_total')
    """
    label_words = snake(label)
    parts = owner.split("_")
    while parts and parts[-1] in CONTAINERS and not label_words.isdigit():
        if parts[-1] in TELLING and role_of(split_identifier(label_words)) is None:
            break
        parts.pop()
    label_parts = label_words.split("_")
    return "_".join([*[part for part in parts if part not in label_parts], label_words])


def item_role(label: str, owner: Role) -> Role:
    """Role of an item: what its own words say, or that of the whole."""
    return role_of(split_identifier(label)) or owner


def item_direction(label: str, role: Role, owner: Direction | None) -> Direction | None:
    """Direction of an item: what its own words say, or that of the whole; none for what is no metric."""
    return None if role == "other" else direction_of(split_identifier(label)) or owner


def snake(label: str) -> str:
    """`train/Top-1 acc` as train_top_1_acc, `valAcc` as val_acc; a sign that no name can hold is left out."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", label)
    return re.sub(r"\W+", "_", spaced).strip("_").lower() or "item"
