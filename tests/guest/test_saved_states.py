"""What a script draws again from a state that it saved is the same, before its training and in it."""

from pathlib import Path

import pytest
from varied import Script, seeds

GLOBAL = "shuffle, draw = random.shuffle, random.random"
STATES = {
    "numpy": (f"import numpy.random as random; {GLOBAL}", "random.get_state()", "random.set_state(state)"),
    "random": (f"import random; {GLOBAL}", "random.getstate()", "random.setstate(state)"),
    "numpy.RandomState": (
        "import numpy; own = numpy.random.RandomState(3); shuffle, draw = own.shuffle, own.random_sample",
        "own.get_state()",
        "own.set_state(state)",
    ),
    "numpy.Generator": (
        "import numpy; own = numpy.random.default_rng(3); shuffle, draw = own.shuffle, own.random",
        "own.bit_generator.state",
        "own.bit_generator.state = state",
    ),
    "random.Random": (
        "import random; own = random.Random(3); shuffle, draw = own.shuffle, own.random",
        "own.getstate()",
        "own.setstate(state)",
    ),
    "torch.Generator": (
        """\
import torch
own = torch.Generator().manual_seed(3)
def shuffle(items):
    items[:] = [items[index] for index in torch.randperm(len(items), generator=own)]
def draw():
    return float(torch.rand(1, generator=own))
""",
        "own.get_state()",
        "own.set_state(state)",
    ),
}
SCRIPT = """\
IMPORT

def alike():
    examples, labels = list(range(20)), list(range(20))
    state = GET
    shuffle(examples)
    first = draw()
    SET
    shuffle(labels)
    return examples == labels, first == draw(), tuple(examples)

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
    require(library.partition(".")[0])
    imported, read, write = STATES[library]
    text = SCRIPT.replace("IMPORT", imported).replace("GET", read).replace("SET", write)
    result = Script(text, "range(3)").run(tmp_path, seeds())
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert result.stdout.splitlines() == ["before True True", *["in True True"] * 3, "orders 3"]
