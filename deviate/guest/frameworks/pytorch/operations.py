"""Operations without a deterministic version, which PyTorch warns about if they do not raise."""

from __future__ import annotations

import re
import warnings
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like

WARNING = re.compile(r"(.{1,200}?) does not have a deterministic implementation")


def patch_warnings(context: AdapterContext) -> None:
    """Read every warning before the script's filters do, without changing what they do.

    C code asks the filters in order whether they match a message. This one never does, and stays first even if the
    script adds others.
    """
    entry = ("default", _Reader(context), Warning, None, 0)

    def lead() -> None:
        filters: Any = warnings.filters
        if not filters or filters[0] is not entry:
            filters[:] = [entry, *(other for other in filters if other is not entry)]

    def patch(name: str) -> None:
        original = getattr(warnings, name)

        def function(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            finally:
                lead()

        setattr(warnings, name, wraps_like(function, original))

    for name in ("filterwarnings", "simplefilter", "resetwarnings"):
        patch(name)
    lead()


class _Reader:
    """Takes the place of a regular expression in a filter."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.recorded: set[str] = set()

    def match(self, text: object) -> None:
        with self.context.recorder.guarded("warnings"):
            match = WARNING.match(str(text))
            if match and match.group(1) not in self.recorded:
                self.recorded.add(match.group(1))
                self.context.recorder.event("operation", match.group(1), *self.context.project.nearest(_getframe(1)))
