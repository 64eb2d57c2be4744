"""JSON Schemas of every document, generated from annotations and docstrings."""

import re
from dataclasses import is_dataclass
from inspect import cleandoc
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin

from deviate.model.check import CheckFindings
from deviate.model.cost import CostFindings
from deviate.model.estimates import Estimate, Unavailable
from deviate.model.findings import Findings
from deviate.model.published_results import PublishedFindings
from deviate.model.sweep import SweepFindings
from deviate.registry import wing
from deviate.report.data import published

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PRIMITIVES: dict[object, str] = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}
BASIC: dict[str, published.Json] = {
    "Estimate": {
        "description": "A figure, or why there is none.",
        "anyOf": [{"type": "number"}, {"$ref": "#/$defs/Unavailable"}],
    },
    "Unbounded": {
        "description": "A number; one that is none, or that has no end, is a string.",
        "anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}],
    },
}

Schema = dict[str, published.Json]


DOCUMENTS: dict[str, tuple[int, type]] = {
    "report": (published.SCHEMA, Findings),
    "check": (published.CHECK_SCHEMA, CheckFindings),
    "overhead": (published.OVERHEAD_SCHEMA, CostFindings),
    "sweep": (published.SWEEP_SCHEMA, SweepFindings),
    "published": (published.PUBLISHED_SCHEMA, PublishedFindings),
}
"""The number of the format, and the class of the findings. That of `diverge` is in its wing."""
DESCRIPTIONS = {
    "report": "Everything a report says, unrounded. Times are in seconds, points in time in seconds since the epoch "
    "(UTC), files relative to the project, lines from 1; main-loop steps and replicates count from 0.",
    "check": "What a gate was asked and what it answers, unrounded. Differences are candidate minus baseline, in the "
    "unit of the metric; main-loop steps and replicates count from 0.",
    "overhead": "What determinism costs, unrounded. Times are in seconds; a factor is held over free; main-loop steps "
    "and replicates count from 0.",
    "sweep": "Measures against an argument, unrounded: scores in the unit of the metric, churn as a share.",
    "published": "An experiment beside published results, unrounded and in the unit of the metric. Differences are "
    "the experiment minus what was published.",
    "diverge": "Where two runs diverge, unrounded. Updates of the weights, steps of the main loop and ranks count from "
    "0, lines from 1; times are in seconds, files relative to the project.",
}


def schema_of(name: str) -> Schema:
    """The schema (draft 2020-12) of the JSON of a document: nothing is optional, nothing else allowed.

    Args:
        name: one of `DESCRIPTIONS`.
    """
    number, owner = DOCUMENTS[name] if name in DOCUMENTS else wing("diverge.report.document").DESCRIBED
    classes: dict[type, Schema] = {}
    _class(owner, classes)
    members_ = classes.pop(owner)["properties"]
    properties: Schema = {
        "schema": {"const": number, "description": "Number of this format."},
        "deviate": {"type": "string", "description": "Version of deviate that wrote the document."},
        **(members_ if isinstance(members_, dict) else {}),
        "warnings": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Sentences for the user, each with what to do; those of the records are among them.",
        },
    }
    return {
        "$schema": DIALECT,
        "$id": f"urn:deviate:{name}:{number}",
        "title": f"{name.capitalize()} of deviate",
        "description": DESCRIPTIONS[name],
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": dict(sorted({**BASIC, **{owner.__name__: schema for owner, schema in classes.items()}}.items())),
    }


def _in_json(text: str) -> str:
    """A docstring with None replaced by null."""
    return re.sub(r"\bNone\b", "null", " ".join(text.split()))


def _class(owner: type, classes: dict[type, Schema]) -> None:
    """Add the schemas of a class, and of the classes of its members, to `classes`."""
    if owner in classes:
        return
    schema: Schema = classes.setdefault(owner, {})
    summary, _, _ = cleandoc(owner.__doc__ or "").partition("\n\nAttributes:")
    properties: dict[str, Schema] = {}
    for member in published.members(owner):
        properties[member.name] = _kind(member.kind, classes, keys=member.keys, is_unbounded=member.is_unbounded)
        properties[member.name] |= {"minLength": 1} if member.is_filled else {}
        properties[member.name] |= {"description": _in_json(member.description)} if member.description else {}
    schema |= {
        "description": _in_json(summary),
        "type": "object",
        "properties": {**properties},
        "required": list(properties),
        "additionalProperties": False,
    }


def _kind(kind: object, classes: dict[type, Schema], *, keys: tuple[str, ...] = (), is_unbounded: bool) -> Schema:
    if kind is float and is_unbounded:
        return {"$ref": "#/$defs/Unbounded"}
    if kind == Estimate and not is_unbounded:
        _class(Unavailable, classes)
        return {"$ref": "#/$defs/Estimate"}
    if kind in PRIMITIVES:
        return {"type": PRIMITIVES[kind]}
    if isinstance(kind, type) and kind in published.SENTENCES:
        return {"type": "string"}
    if isinstance(kind, type) and is_dataclass(kind):
        _class(kind, classes)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    inner = [
        argument
        if get_origin(kind) is Literal or argument is Ellipsis
        else _kind(argument, classes, is_unbounded=is_unbounded)
        for argument in get_args(kind)
    ]
    origin = get_origin(kind)
    if origin is Literal:
        return {"enum": inner}
    if origin in {UnionType, Union}:
        return (
            {"anyOf": inner}
            if any(schema.keys() != {"type"} for schema in inner)
            else {"type": [schema["type"] for schema in inner]}
        )
    if origin is dict:
        return {"type": "object", "additionalProperties": inner[1]}
    if origin is tuple and keys:
        return {"type": "array", "items": _name_items(get_args(get_args(kind)[0]), keys, classes)}
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": inner[0]}
    if origin is tuple:
        return {"type": "array", "prefixItems": inner, "minItems": len(inner), "items": False}
    raise TypeError(f"no schema for values of {kind}")


def _name_items(kinds: tuple[object, ...], keys: tuple[str, ...], classes: dict[type, Schema]) -> Schema:
    """Schema of a tuple whose items have names."""
    properties: Schema = {key: _kind(kind, classes, is_unbounded=False) for key, kind in zip(keys, kinds, strict=True)}
    return {"type": "object", "properties": properties, "required": list(keys), "additionalProperties": False}
