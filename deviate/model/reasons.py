"""Kinds of reasons for unavailable numbers, for code to compare; their sentences may change."""

import enum


class Reason(enum.Enum):
    """Kind of a reason. The value is the default sentence."""

    IDENTICAL = "identical"
    """All scores of both sides are one number, or both scores of every pair are equal."""
    CONSTANT_DIFFERENCE = "constant difference, no spread observed"
    """Nothing can be tested: each side, or each pair, shows one number alone."""
    UNCHANGED = "nothing has changed"
    """Runs with the same seeds gave the same scores on both sides."""
    NEVER_REPORTED = "never reported"
    NOT_FINITE = "NaN or infinite"
    """A value that the score would be made of; the sentence names value and step."""
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    SILENT = "the guest never reported"
    DIVERGED = "diverged"


FAILURES = frozenset({Reason.CRASHED, Reason.TIMED_OUT, Reason.SILENT, Reason.DIVERGED})
"""Ends of runs that give no score."""
