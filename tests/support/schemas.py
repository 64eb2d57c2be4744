"""Documents held against the schema that is published for them, and which parts of that schema they make use of."""

import functools
import json
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from deviate.report.data.schema import schema_of

Schema = dict[str, Any]


@functools.cache
def validator(name: str = "report") -> Draft202012Validator:
    return Draft202012Validator(schema_of(name))


def schema_flaws(text: str, name: str = "report") -> Iterator[str]:
    """What of a document as JSON is not as its schema says."""
    for error in validator(name).iter_errors(json.loads(text)):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"


def properties(schema: Schema) -> set[str]:
    """All that a schema has names for: `Interval.low`; those of the document itself begin with the dot."""
    classes = {"": schema, **schema["$defs"]}
    return {f"{name}.{key}" for name, it in classes.items() for key in it.get("properties", ())}


def used(schema: Schema, document: object) -> set[str]:
    """Those of them that a document has."""
    return set(_used(schema, document, schema["$defs"], ""))


def _used(schema: Schema, value: Any, classes: dict[str, Schema], name: str) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = classes[name]
    for choice in schema.get("anyOf", ()):
        if _fits(choice, value, classes):
            yield from _used(choice, value, classes, name)
    if isinstance(value, dict):
        for key, item in value.items():
            if key in schema.get("properties", ()):
                yield f"{name}.{key}"
            yield from _used(schema.get("properties", {}).get(key, {}), item, classes, "")
    elif isinstance(value, list):
        firsts = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            kind = firsts[index] if index < len(firsts) else schema.get("items", {})
            yield from _used(kind, item, classes, "")


def _fits(choice: Schema, value: Any, classes: dict[str, Schema]) -> bool:
    """Whether a choice is the one that is meant: an object by its properties, anything else at all."""
    found = classes[choice["$ref"].rpartition("/")[2]] if "$ref" in choice else choice
    return not isinstance(value, dict) or found.get("required", []) == list(value) or "anyOf" in found
