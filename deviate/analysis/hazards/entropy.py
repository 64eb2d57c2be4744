"""Entropy: numbers from the operating system, which no seed reaches."""

import libcst as cst

from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey
from deviate.analysis.resolve.tree import last_name
from deviate.model.metric_vocabulary import split_identifier, word_set

ENTROPY_SOURCES = word_set(
    "os.urandom os.getrandom random.SystemRandom secrets.SystemRandom secrets.randbelow secrets.randbits "
    "secrets.choice secrets.token_bytes"
)
UNSEEDED_GENERATORS = word_set(
    "numpy.random.SeedSequence numpy.random.PCG64 numpy.random.PCG64DXSM numpy.random.MT19937 numpy.random.Philox "
    "numpy.random.SFC64"
)
IDENTIFIER_SOURCES = word_set("uuid.uuid1 uuid.uuid4 secrets.token_hex secrets.token_urlsafe")
NUMERIC_PARTS = word_set("int bytes fields time node")


@hazard("entropy", "seeds")
def entropy(survey: Survey) -> Matches:
    """Entropy: numbers from the operating system, which no seed reaches.

    `os.urandom`, `secrets`, `random.SystemRandom`, `uuid.uuid4` and bit generators of NumPy without a seed give other
    numbers in each run, whatever seeds are set. deviate cannot hold them in any variant. `random.Random()`,
    `numpy.random.default_rng()`, `torch.seed()` and the like are not listed: deviate gives them a seed.

    Example:
        import os
        noise = os.urandom(16)

    Instead:
        import random
        noise = random.randbytes(16)

    Source: Python documentation of `os.urandom`, `secrets`, `random.SystemRandom` and `uuid.uuid4`; NumPy
    documentation of `SeedSequence`: without entropy it is "pulled from the OS".
    """
    for call in survey.calls(ENTROPY_SOURCES):
        yield call.node, f"{call.name} gives other numbers in each run, whatever the seeds"
    for call in survey.calls(UNSEEDED_GENERATORS):
        if not call.node.args:
            yield call.node, f"{call.last}() without a seed takes one from the operating system"
    for call in survey.calls(IDENTIFIER_SOURCES):
        if _is_number(call, survey):
            yield call.node, f"{call.name} gives another value in each run, whatever the seeds"


def _is_number(call: Called, survey: Survey) -> bool:
    """Whether an identifier is taken as a number, not as a name of a run or file."""
    parent = survey.nodes.parents.get(call.node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in NUMERIC_PARTS
    if isinstance(parent, cst.Arg):
        outer = survey.nodes.parents[parent]
        return isinstance(outer, cst.Call) and last_name(outer.func) in ("int", "hash", "seed", "manual_seed")
    if isinstance(parent, cst.Assign):
        return any("seed" in split_identifier(last_name(target.target)) for target in parent.targets)
    return False
