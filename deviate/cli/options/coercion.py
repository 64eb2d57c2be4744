"""Values of options, most of them without pydantic: typer builds a validator for each option of a verb, given or not.

That takes a fifth of a second of processor time. A value that is not plain, or is wrong, goes typer's way and gets its
message.
"""

import contextlib
import enum
from pathlib import Path
from typing import Any


class QuickCommand:
    """A command or group that takes plain values of its options and arguments without pydantic."""

    def get_params(self, ctx: Any) -> Any:
        """All options and arguments; click calls this."""
        parameters = super().get_params(ctx)  # type: ignore[misc]  # of the class of typer beside this one
        for parameter in parameters:
            if parameter._runtime_param is None:  # noqa: SLF001  typer has no other way
                parameter._runtime_param = QuickValues()  # noqa: SLF001
        return parameters


class QuickValues:
    """What typer asks in place of its validator of one option or argument (`_runtime_param`, typer 0.29)."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as its annotation has it; typer calls this."""
        annotation, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        is_plain = info.parser is None and not (info.exists or info.resolve_path or info.allow_dash)
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if is_plain and annotation == list[str] and not isinstance(value, str) and all(map(_is_text, value)):
            return list(value)
        if is_plain and annotation is str and isinstance(value, str):
            return value
        if is_plain and annotation is Path and isinstance(value, str):
            return Path(value)
        if isinstance(annotation, type) and issubclass(annotation, enum.Enum) and value in list(annotation):
            return annotation(value)
        if is_plain and annotation in (int, float) and not info.clamp:
            with contextlib.suppress(ValueError, TypeError):
                number = annotation(value)
                if (info.min is None or info.min <= number) and (info.max is None or number <= info.max):
                    return number
        param._runtime_param = None  # noqa: SLF001  which makes typer build its own
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _is_text(value: object) -> bool:
    return isinstance(value, str)
