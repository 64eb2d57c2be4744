"""Suggestions if no known cause is likely."""

from deviate.diverge.causes.evidence import Evidence
from deviate.diverge.causes.switches import switch_for
from deviate.diverge.findings import Cause, Difference

UNKNOWN = "unknown"
FACTORS = ("init", "shuffle", "augment", "dropout", "split", "other", "hash", "kernels", "autotune", "precision")
COMPUTED = (
    "run once with one thread (--env OMP_NUM_THREADS=1), and compare what goes in there: weights, batches, settings"
)
FURTHER = "run once with one thread (--env OMP_NUM_THREADS=1), and go down to the operation (--rung operations)"
TRY = {
    "initial": "print a checksum of the weights after each part of the model is made; look for memory that nothing "
    "fills, files that are loaded, draws in threads",
    "random": "one run drew more often than the other, or something set its state: look at what draws between the step "
    "before and this one, in threads and callbacks too",
    "order": "sort whatever is listed, collected from a set, or finished in parallel before examples are numbered",
    "data": "load the same example twice in one process, then in two; compare a checksum of the files",
    "forward": COMPUTED,
    "loss": COMPUTED,
    "backward": COMPUTED,
    "update": "look at what changes weights beside the optimizer, and at settings of it that depend on time",
    "metric": "look whether weights and losses are equal (--rung steps); if so, how the metric is computed, on which "
    "examples and in which order",
    "program": "look at the condition that leads there: time, files, variables, the number of the process",
}
VALUES_ALONE = (
    "nothing but reported values could be compared: report what they are computed from as well; look at sets of "
    "objects, the clock, threads, and random numbers of the system"
)
LOOKED_INTO = frozenset({"torch", "tensorflow", "keras", "jax", "sklearn"})
"""Libraries of which more than reported values is compared."""
SOURCE = "https://docs.pytorch.org/docs/stable/notes/randomness.html"


def what_to_try(difference: Difference, evidence: Evidence) -> Cause:
    """A cause of unknown nature, whose cure says what to try next; it ends the list of causes."""
    is_all_held = all(evidence.is_held(factor) for factor in FACTORS)
    why = "nothing that was recorded tells one cause from another"
    if is_all_held:
        why += ", and everything that deviate can hold was held"
    cure = TRY[difference.phase]
    if cure == COMPUTED and difference.rung != "operations" and "torch" in evidence.frameworks:
        cure = FURTHER  # other frameworks have no rung of operations
    if difference.phase == "metric" and not evidence.frameworks & LOOKED_INTO:
        cure = VALUES_ALONE
    return Cause(
        id=UNKNOWN,
        title="no known cause is likely",
        why=why,
        cure=cure,
        switch=None if is_all_held else switch_for(evidence, FACTORS),
        places=(difference.place,) if difference.place is not None else (),
        source=SOURCE,
        certainty="possible",
    )
