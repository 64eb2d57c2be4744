"""Origins under arithmetic: what the sum, difference or quotient of two values is."""

import libcst as cst

from deviate.analysis.resolve.origin.kinds import UNKNOWN, Origin, strongest

CONDITIONAL = "counted up under a condition"
SHARED_OUT = {"counter", "size", "setting", "unknown", "computed"}
COUNTED = {"counter", "size", "setting", "rate", "constant", "cycle"}


def combined(operator: cst.BaseBinaryOp, left: Origin, right: Origin, step: float | None) -> Origin:
    """The origin of `left operator right`.

    Args:
        step: the right side where it is a number in the source.
    """
    kinds = {left.kind, right.kind}
    is_quotient = isinstance(operator, cst.Divide | cst.FloorDivide)
    if isinstance(operator, cst.Subtract) and "clock" in kinds and kinds <= DIFFERENCES:
        return Origin("duration", "difference of two clock readings")
    if is_quotient and right.kind == "duration" and left.kind != "duration":
        return Origin("speed", "amount divided by elapsed time")
    if is_quotient and left.kind == "duration":
        return left
    if "cycle" in kinds and kinds <= {"cycle", "constant"}:
        counts = isinstance(operator, cst.Add | cst.Subtract) and step is not None and step.is_integer()
        return Origin("counter", "counts up") if counts else Origin("computed", "changed in each step")
    if kinds == {"constant"}:
        return Origin("constant", "a constant")
    if is_quotient and left.reason.startswith(CONDITIONAL) and right.kind in SHARED_OUT:
        return Origin("quality", f"share of what is {left.reason}")
    if kinds <= COUNTED and kinds - {"constant", "cycle"}:
        return _of_counts(left, right, is_quotient=is_quotient)
    if is_quotient:
        return _quotient(left, right)
    return _known(strongest([left, right]), kinds)


DIFFERENCES = {"clock", "unknown", "constant", "setting", "computed"}


def _of_counts(left: Origin, right: Origin, *, is_quotient: bool) -> Origin:
    kinds = {left.kind, right.kind}
    if "counter" in kinds:
        source = left if left.kind == "counter" else right
        told = source.reason.removeprefix("counter: ").removeprefix("computed from the ")
        return Origin("counter", f"counter: computed from the {told}")
    if is_quotient and "size" in kinds and "setting" in kinds:
        return Origin("size", "size: computed from sizes and settings")
    return strongest([left, right])


def _quotient(left: Origin, right: Origin) -> Origin:
    if left.kind in ("counter", "size") and right.kind in ("unknown", "cycle"):
        return UNKNOWN
    return _known(left, {left.kind, right.kind})


def _known(result: Origin, kinds: set[str]) -> Origin:
    """What is mixed from the unknown is computed."""
    if result.kind in ("unknown", "cycle", "setting", "constant", "size", "counter") and kinds & {
        "unknown",
        "computed",
    }:
        return Origin("computed", "computed")
    return result
