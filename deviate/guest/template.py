"""Taps `"{a.avg:.4f}".format(a=meter)`: fields are evaluated once, by the formatting itself."""

from __future__ import annotations

import string
from sys import _getframe

from .annotations import Any, Callable, Mapping, Sequence
from .recorder import Recorder


class Formatting(string.Formatter):
    """Replaces the bound method `"…".format`.

    Source: string.Formatter, which the language reference defines to have the behaviour of str.format.
    """

    def __init__(self, sites: tuple[int, ...], callee: Callable[..., str], label: object, recorder: Recorder) -> None:
        self.sites = sites
        self.callee = callee
        self.label = label
        self.recorder = recorder
        self.values: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        template = getattr(self.callee, "__self__", None)
        if type(template) is not str:
            return self.callee(*args, **kwargs)
        try:
            text = self.vformat(_number_fields(template), args, kwargs)
        except Exception:
            text = None
        if text is None:  # raises the error that the user expects, without another one as context
            return self.callee(*args, **kwargs)
        for site in self.sites:
            try:
                for field in self.recorder.fields.get(site, ()):
                    if field in self.values:
                        self.recorder.value(site, self.values[field], self.label, _getframe(1))
            except Exception as error:
                self.recorder.fault("site %s" % site, error)
        return text

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        value = string.Formatter.get_field(self, field_name, args, kwargs)
        self.values[field_name] = value[0]
        return value


def _number_fields(template: str) -> str:
    """Number the fields: `{.avg} {}` becomes `{0.avg} {1}`, as string.Formatter numbers only plain fields.

    Raises:
        ValueError: a field stands inside a format specification, where its number would depend on the order.
    """
    parts = list(string.Formatter().parse(template))
    if not any(name and name[0] in ".[" for _, name, _, _ in parts):
        return template
    text, number = "", 0
    for literal, name, specification, conversion in parts:
        text += literal.replace("{", "{{").replace("}", "}}")
        if name is None:
            continue
        if specification and "{" in specification:
            raise ValueError("a field inside a format specification")
        is_counted = not name or name[0] in ".["
        field = "%d%s" % (number, name) if is_counted else name
        number += is_counted
        field += ("!" + conversion if conversion else "") + (":" + specification if specification else "")
        text += "{%s}" % field
    return text
