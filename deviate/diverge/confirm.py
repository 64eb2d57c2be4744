"""Tests causes: executes a pair with the switch that should remove the difference, and compares it to the end."""

from collections.abc import Iterator, Sequence

from deviate.diverge.compare_outcomes import compare_ends
from deviate.diverge.findings import Cause, Confirmation, Switch
from deviate.diverge.requests import DivergeRequest, Execute, ending, find_variant, run_pair, trace_capture, with_levels
from deviate.diverge.windows import Window
from deviate.records import WARNS
from deviate.report import counted

MOST_CONFIRMED = 3
"""Causes that are tried, at most."""


def confirm(
    request: DivergeRequest, causes: Sequence[Cause], metrics: Sequence[str], execute: Execute
) -> Iterator[Confirmation]:
    """Try the switches of the causes in order, until one makes the runs equal.

    Raises:
        InputError, RunError, RecordError, KeyboardInterrupt: as `run_pair`.
    """
    tried: set[str] = set()
    for cause in causes:
        switch = cause.switch
        if switch is None or switch.flags in tried or len(tried) >= MOST_CONFIRMED:
            continue
        tried.add(switch.flags)
        number = f"-{len(tried)}" if len(tried) > 1 else ""
        confirmation = _confirm_cause(request, cause, switch, metrics, execute, f".confirm{number}")
        yield confirmation
        if confirmation.is_equal:
            return


def _confirm_cause(
    request: DivergeRequest, cause: Cause, switch: Switch, metrics: Sequence[str], execute: Execute, suffix: str
) -> Confirmation:
    variant = request.variant
    if switch.variant:
        variant = find_variant(switch.variant, request, is_warning_only=WARNS in request.variant.controls)
    variant = with_levels(variant, switch.levels)
    wanted = trace_capture(1, Window(), (), has_sums=bool(request.tolerance))
    pair = run_pair(request, suffix, wanted, execute, variant=variant, environment=switch.environment)
    ends = compare_ends(pair, metrics, tolerance=request.tolerance)
    if pair.failed:
        run = pair.failed[0]
        reason = f"run {run.replicate} {ending(run)}"
        return Confirmation(cause.id, switch.flags, None, ends.findings.n_steps, reason, ends.findings.difference)
    if ends.is_equal is None:
        reason = "nothing could be compared"
    elif ends.is_equal:
        equal = "bitwise equal" if not request.tolerance else f"equal within {counted(request.tolerance, 'ulp')}"
        reason = f"{equal} over {counted(ends.findings.n_steps, 'update')}: {ends.compared}"
    else:
        first = ends.findings.difference
        at = f" from update {first.step} on" if first is not None and first.step is not None else ""
        reason = f"{first.name if first is not None else 'something'} still differs{at}"
    return Confirmation(cause.id, switch.flags, ends.is_equal, ends.findings.n_steps, reason, ends.findings.difference)
