"""The diagnosis as plain data for JSON."""

from collections.abc import Sequence
from dataclasses import asdict

from deviate.model import Control, Diagnosis

SCHEMA = 1
# 2026-11-21  1  first format.


def to_document(diagnosis: Diagnosis) -> dict[str, object]:
    """Output of `deviate doctor --format json`, for `json.dumps`: the factors of a framework by name."""
    frameworks = [
        {**asdict(framework), "controls": _by_factor(framework.controls)} for framework in diagnosis.frameworks
    ]
    return {"schema": SCHEMA, **asdict(diagnosis), "frameworks": frameworks}


def _by_factor(controls: Sequence[Control]) -> dict[str, dict[str, str]]:
    return {item.factor: {"answer": item.answer, "why": item.why, "advice": item.advice} for item in controls}
