"""Switches of deviate against a cause, as the user would write them."""

from deviate.diverge.causes.evidence import Evidence
from deviate.diverge.findings import Switch

CONTROL = "control"
KEPT = ("threads", "onednn", "on-missing", "hash")
"""Levels of a variant of the user's own that stay what they are when it holds more."""


def switch_for(
    evidence: Evidence, holds: tuple[str, ...], environment: tuple[tuple[str, str], ...] = ()
) -> Switch | None:
    """The switch that holds these streams and factors if they are not held yet, or else sets these variables.

    Everything is held then and not these alone, for runs in which anything is free need not be equal. Where the seeds
    are the script's own, a variable that helps goes before that: it leaves them as they are.

    Returns:
        None where nothing is left to hold and no variable left to set.
    """
    is_free = not all(evidence.is_held(factor) for factor in holds)
    if environment and (not holds or (is_free and not evidence.is_touched)):
        return Switch(" ".join(f"--env {name}={value}" for name, value in environment), environment=environment)
    if not is_free:
        return None
    controls = evidence.variant.controls if evidence.variant is not None else ()
    levels = tuple((name, level) for name, level in controls if name in KEPT and name not in holds)
    return Switch(
        f"--variant {CONTROL}" + (" --warn-only" if ("on-missing", "warn") in levels else ""), CONTROL, levels
    )
