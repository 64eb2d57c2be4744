"""Clock readings in the output of the examples, by the names of their fields."""

import re

CLOCK_FIELDS = (
    r"(?P<name>\btime )\d+\.\d+(?=s\b)",  # "time 1.23s", printed by the examples themselves
    r"(?P<name>^\d+/\d+ - )\d+s - \d+(\.\d+)?[mu]?s/step",  # "22/22 - 1s - 24ms/step", printed by Keras
)


def mask_clock(text: str) -> str:
    """The text with `#` in place of every clock reading; all else as it is."""
    for field in CLOCK_FIELDS:
        text = re.sub(field, r"\g<name>#", text, flags=re.MULTILINE)
    return text
