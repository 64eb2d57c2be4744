"""The primary metric: the one the user named, or the only plausible one."""

import difflib
import re
import shlex
from collections.abc import Sequence

from deviate.errors import InputError
from deviate.model import SelectedMetric

TEST_WORDS = frozenset({"test", "tst", "testing"})
VALIDATION_WORDS = frozenset({"val", "valid", "validation", "dev", "eval"})
SPREAD_WORDS = frozenset({"std", "stdev", "stddev", "sd", "deviation"})
"""Metrics that say how far others spread are not what a comparison is about."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def find_primary(metrics: Sequence[SelectedMetric]) -> tuple[str | None, str]:
    """Name of the primary metric, or None and the warning that asks for one.

    A declared primary metric is kept. Otherwise it is the only quality metric on test data with a known direction, then
    on validation data, then of all; with two candidates at one level it stays open. What only the runs showed is no
    candidate where anything else is: it was not there to be chosen before them.
    """
    declared = [metric.name for metric in metrics if metric.is_primary]
    if len(declared) == 1:
        return declared[0], ""
    if declared:
        return None, _ask("several metrics are declared primary", declared)
    telling = [metric for metric in metrics if metric.role == "quality" and not SPREAD_WORDS & _words(metric.name)]
    candidates = [metric for metric in telling if metric.direction is not None]
    candidates = [metric for metric in candidates if not metric.is_found_by_running] or candidates
    for kind, words in (("on test data", TEST_WORDS), ("on validation data", VALIDATION_WORDS)):
        names = [metric.name for metric in candidates if words & _words(metric.name)]
        if len(names) == 1:
            return names[0], ""
        if names:
            return None, _ask(f"several quality metrics are {kind}", names)
    if len(candidates) == 1:
        return candidates[0].name, ""
    if candidates:
        return None, _ask("several quality metrics could decide", [metric.name for metric in candidates])
    names = [metric.name for metric in telling or metrics]
    return None, _ask("no quality metric has a known direction", names)


def is_on_test_data(name: str) -> bool:
    """Whether a word of the metric's name says that it is measured on test data."""
    return bool(TEST_WORDS & _words(name))


def require_metric(name: str, names: Sequence[str], where: str) -> None:
    """Raises InputError for a metric that is not known there; the hint names a near one, and all."""
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    listed = ", ".join(names) or "none"
    hint = f"Did you mean {near[0]}? " if near else ""
    raise InputError(f"There is no metric {name!r} in {where}.", f"{hint}Its metrics are: {listed}.")


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))


def _ask(reason: str, names: Sequence[str]) -> str:
    if not names:
        return "There is no primary metric, for there is no metric at all: name one in deviate.toml."
    options = " or ".join(f"--metric {shlex.quote(name)}" for name in names)
    lasting = "for experiments to come: primary = true in its section of deviate.toml"
    return f"There is no primary metric, so no headline verdict: {reason}. Add {options}; {lasting}."
