"""What `docs/reference/variants.md` says of seeds is so, outside and in a run."""

import doctest
import random
from pathlib import Path

import pytest
from replayed import Replayed

PAGE = Path(__file__).parents[1] / "docs/reference/variants.md"


def shown() -> list[int]:
    """The numbers that the page computes."""
    examples = doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8"))
    return [int(example.want) for example in examples if example.want]


def test_the_worked_examples_give_what_the_page_shows() -> None:
    outcome = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (outcome.failed, outcome.attempted) == (0, 8)


@pytest.mark.parametrize("variant", ["control", "init"])
def test_a_run_that_holds_the_stream_draws_what_the_seed_on_the_page_gives(project: Path, variant: str) -> None:
    script = "import random\nrandom.seed(42)\nfor step in range(1):\n    print('loss', random.random())\n"
    drawn = Replayed(project).write({"train.py": script}).run(variant=variant)
    assert drawn.stdout == f"loss {random.Random(shown()[-1]).random()}\n"
