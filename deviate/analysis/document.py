"""The analysis as the JSON document of `analyze --format json`, and the error for a script that reports nothing."""

from deviate.errors import InputError
from deviate.model import Analysis, Loop, RejectionReason

SCHEMA = 1
# 2026-11-21  1  first format.
MOST_SHOWN = 8
NEARNESS: tuple[tuple[RejectionReason, ...], ...] = (
    (RejectionReason.UNMARKED,),
    (RejectionReason.EARLY,),
    (RejectionReason.NEVER_CALLED, RejectionReason.BEHIND_EXIT),
    (RejectionReason.WHOLE_NUMBER,),
    (RejectionReason.CALLED_COUNTER,),
    (RejectionReason.NAMED_COUNTER,),
)
"""Reasons of rejected values that may be metrics after all, most likely first."""


def to_document(analysis: Analysis) -> dict[str, object]:
    """What `deviate analyze --format json` prints: ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "root": str(analysis.root),
        "script": analysis.script,
        "main_loop": _loop(analysis.main_loop) if analysis.main_loop else None,
        "metrics": [
            {
                "id": metric.id,
                "name": metric.name,
                "expression": metric.expression,
                "file": metric.file,
                "line": metric.line,
                "sink": metric.sink,
                "role": metric.role,
                "direction": metric.direction,
                "evidence": list(metric.evidence),
            }
            for metric in analysis.metrics
        ],
        "rejected": [
            {"expression": item.expression, "file": item.file, "line": item.line, "reason": item.reason}
            for item in analysis.rejected
        ],
        "alternatives": [_loop(loop) for loop in analysis.alternatives],
        "hazards": [
            {"name": item.name, "file": item.file, "line": item.line, "code": item.code, "message": item.message}
            for item in analysis.hazards
        ],
        "side_effects": [
            {"kind": item.kind, "what": item.what, "file": item.file, "line": item.line}
            for item in analysis.side_effects
        ],
    }


def _loop(loop: Loop) -> dict[str, object]:
    return {
        "file": loop.file,
        "line": loop.line,
        "kind": loop.kind,
        "variable": loop.variable,
        "evidence": list(loop.evidence),
    }


def explain_nothing_found(analysis: Analysis) -> InputError:
    """The error for a script without metrics: the near misses, and how to name one."""
    near = [item for item in analysis.rejected if item.site is not None] or list(analysis.rejected)
    near.sort(key=lambda item: _distance(item.cause))
    if not near:
        return InputError(
            f"{analysis.script} reports no values that deviate could find",
            'Print the result (for example print(f"accuracy {accuracy:.4f}")), or name a value in deviate.toml: '
            f'[metrics.accuracy] where = "{analysis.script}:LINE" expression = "accuracy".',
        )
    listing = "".join(f"\n  {item.file}:{item.line}  {item.expression}  ({item.reason})" for item in near[:MOST_SHOWN])
    more = f"\n  and {len(near) - MOST_SHOWN} more" if len(near) > MOST_SHOWN else ""
    first = near[0]
    quote = "'" if '"' in first.expression else '"'
    return InputError(
        f"no metric found in {analysis.script}; it reports these, none of which looks like one:{listing}{more}",
        f'Name one in deviate.toml: [metrics.NAME] where = "{first.file}:{first.line}" '
        f"expression = {quote}{first.expression}{quote}.",
    )


def _distance(cause: RejectionReason) -> int:
    """How far a rejected value is from being a metric."""
    return next((place for place, causes in enumerate(NEARNESS) if cause in causes), len(NEARNESS))
