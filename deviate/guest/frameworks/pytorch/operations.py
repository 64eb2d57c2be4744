"""Operations without a deterministic version, which PyTorch warns of where it does not stop at them."""

from __future__ import annotations

import re
import warnings
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like

WARNING = re.compile(r"(.{1,200}?) does not have a deterministic implementation")


def patch_warnings(context: AdapterContext) -> None:
    """Read every warning before the filters of the script see it, and change nothing about what they do.

    The filters are asked from C, one after the other, whether a message is theirs. Ours never is; it stands first,
    wherever the script puts its own.
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
    """Stands where a filter has a regular expression."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.recorded: set[str] = set()

    def match(self, text: object) -> None:
        with self.context.recorder.guarded("warnings"):
            match = WARNING.match(str(text))
            if match and match.group(1) not in self.recorded:
                self.recorded.add(match.group(1))
                self.context.recorder.event("operation", match.group(1), *self.context.project.nearest(_getframe(1)))
