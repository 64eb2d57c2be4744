"""The analysis as the JSON document of `analyze --format json`, and the error for a script that reports nothing."""

from collections.abc import Sequence

from deviate.errors import InputError
from deviate.model.analysis import Analysis, RejectionReason
from deviate.model.places import place_text
from deviate.model.plan import Selection
from deviate.series.headline import choose_headline

SCHEMA = 1
METRIC_FIELDS = ("id", "name", "expression", "file", "line", "sink", "role", "direction", "evidence")
REJECTED_FIELDS = ("expression", "file", "line", "reason")
LOOP_FIELDS = ("file", "line", "kind", "variable", "evidence")
HAZARD_FIELDS = ("name", "file", "line", "code", "message")
SIDE_EFFECT_FIELDS = ("kind", "what", "file", "line")
MOST_SHOWN = 8
NEAREST = (RejectionReason.UNMARKED, RejectionReason.EARLY)
"""Reasons of rejected values that may be metrics after all."""


def to_document(analysis: Analysis, selection: Selection | None = None) -> dict[str, object]:
    """What `deviate analyze --format json` prints: ready for `json.dumps`.

    Args:
        selection: tells the primary metric, which is null without one.
    """
    return {
        "schema": SCHEMA,
        "root": str(analysis.root),
        "script": analysis.script,
        "main_loop": _select(analysis.main_loop, LOOP_FIELDS) if analysis.main_loop else None,
        "primary": _primary(selection) if selection else None,
        "metrics": [_select(metric, METRIC_FIELDS) for metric in analysis.metrics],
        "rejected": [_select(rejected, REJECTED_FIELDS) for rejected in analysis.rejected],
        "alternatives": [_select(loop, LOOP_FIELDS) for loop in analysis.alternatives],
        "hazards": [_select(hazard, HAZARD_FIELDS) for hazard in analysis.hazards],
        "side_effects": [_select(effect, SIDE_EFFECT_FIELDS) for effect in analysis.side_effects],
    }


def _primary(selection: Selection) -> dict[str, object] | None:
    """The metric that is expected to lead with how its score is read, why, and those that could also be meant."""
    headline = choose_headline(selection.metrics, {})
    choice = selection.primary or (headline.choice if headline else None)
    if choice is None:
        return None
    aggregate = next((metric.aggregate for metric in selection.metrics if metric.name == choice.name), None)
    return {"name": choice.name, "aggregate": aggregate, "reason": choice.reason, "others": list(choice.others)}


def _select(record: object, names: Sequence[str]) -> dict[str, object]:
    """Some fields of a record, tuples as lists."""
    members = {name: getattr(record, name) for name in names}
    return {name: list(member) if isinstance(member, tuple) else member for name, member in members.items()}


def explain_nothing_found(analysis: Analysis) -> InputError:
    """The error for a script without metrics: the near misses, and how to name one."""
    near = [rejected for rejected in analysis.rejected if rejected.site is not None] or list(analysis.rejected)
    near.sort(key=lambda rejected: rejected.cause not in NEAREST)
    if not near:
        return InputError(
            f"{analysis.script} reports no values that deviate could find",
            'Print the result (for example print(f"accuracy {accuracy:.4f}")), or name a value in deviate.toml: '
            f'[metrics.accuracy] where = "{analysis.script}:LINE" expression = "accuracy".',
        )
    listing = "".join(
        f"\n  {place_text(item.file, item.line)}  {item.expression}  ({item.reason})" for item in near[:MOST_SHOWN]
    )
    more = f"\n  and {len(near) - MOST_SHOWN} more" if len(near) > MOST_SHOWN else ""
    first = near[0]
    quote = "'" if '"' in first.expression else '"'
    return InputError(
        f"no metric found in {analysis.script}; it reports these, none of which looks like one:{listing}{more}",
        f'Name one in deviate.toml: [metrics.NAME] where = "{place_text(first.file, first.line)}" '
        f"expression = {quote}{first.expression}{quote}.",
    )
