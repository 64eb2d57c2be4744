"""Seeds drawn from a generator that is not seeded itself."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.hazards.names import draws_from
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.seeds import SEEDERS
from deviate.analysis.hazards.survey import Called, Survey
from deviate.analysis.resolve.tree import walk


@hazard("drawn-seed", "seeds")
def drawn_seed(survey: Survey) -> Matches:
    """Seeds drawn from a generator that is not seeded itself.

    The seed is another one in each run and with it all that follows. Under deviate it is drawn from the stream
    `other`: a variant that varies `other` then moves every other stream too, and their shares cannot be told apart.

    Example:
        import random, torch
        seed = random.randint(1, 10000)
        torch.manual_seed(seed)

    Instead:
        import torch
        torch.manual_seed(1)

    Source: Python documentation of `random.seed`: without a seed "the current system time is used", or randomness
    from the operating system.
    """
    drawn: dict[cst.CSTNode, tuple[str, Called]] = {}
    seeded = set()
    for seeding in survey.in_order(SEEDERS):
        draws = list(_draws_of_seed(seeding, survey))
        for node, library in draws:
            drawn.setdefault(node, (library, seeding))
        if not draws and seeding.node.args:
            seeded.add(seeding.name.partition(".")[0])
    for node, (library, seeding) in drawn.items():
        if library not in seeded:
            yield node, f"the seed of {seeding.name} is drawn from a generator without a seed"


def _draws_of_seed(seeding: Called, survey: Survey) -> Iterator[tuple[cst.CSTNode, str]]:
    """The random draws from which a seed is computed, each with its library."""
    if "worker" in seeding.function.name:  # seeded from the loader's own draw, as the framework advises
        return
    for argument in seeding.node.args:
        for value, function in survey.values(argument.value, seeding.function):
            for part in walk(value):
                if isinstance(part, cst.Call):
                    library = draws_from(survey.resolver.qualified_name(part.func, function) or "")
                    if library is not None:
                        yield part, library
