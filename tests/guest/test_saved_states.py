"""What a script draws again from a state that it saved is the same, before its training and in it."""

from pathlib import Path

import pytest
from varied import Script, seeds

STATES = {
    "numpy": ("import numpy.random as random", "get_state", "set_state"),
    "random": ("import random", "getstate", "setstate"),
}
SCRIPT = """\
IMPORT

def alike():
    examples, labels = list(range(20)), list(range(20))
    state = random.GET()
    random.shuffle(examples)
    first = random.random()
    random.SET(state)
    random.shuffle(labels)
    return examples == labels, first == random.random(), tuple(examples)

print("before", *alike()[:2])
orders = set()
for epoch in range(3):
    *are_alike, order = alike()
    print("in", *are_alike)
    orders.add(order)
print("orders", len(orders))
"""


@pytest.mark.parametrize("library", STATES)
def test_examples_and_labels_that_are_shuffled_by_one_saved_state_stay_together(
    library: str, tmp_path: Path, require
) -> None:  # type: ignore[no-untyped-def]
    require(library)
    imported, read, write = STATES[library]
    text = SCRIPT.replace("IMPORT", imported).replace("GET", read).replace("SET", write)
    result = Script(text).run(tmp_path, seeds())
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert result.stdout.splitlines() == ["before True True", *["in True True"] * 3, "orders 3"]
