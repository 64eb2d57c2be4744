"""Operations without a deterministic version, which PyTorch warns of where it does not stop at them."""

from __future__ import annotations

import re
import warnings
from sys import _getframe

from ...adapter_context import Guest
from ...seeds import dress

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

WARNING = re.compile(r"(.{1,200}?) does not have a deterministic implementation")


def attend_warnings(guest: Guest) -> None:
    """Read every warning before the filters of the script see it, and change nothing about what they do.

    The filters are asked from C, one after the other, whether a message is theirs. Ours never is; it stands first,
    wherever the script puts its own.
    """
    entry = ("default", _Reader(guest), Warning, None, 0)

    def lead() -> None:
        filters: Any = warnings.filters
        if not filters or filters[0] is not entry:
            filters[:] = [entry, *(other for other in filters if other is not entry)]

    def attend(name: str) -> None:
        original = getattr(warnings, name)

        def function(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            finally:
                lead()

        setattr(warnings, name, dress(function, original))

    for name in ("filterwarnings", "simplefilter", "resetwarnings"):
        attend(name)
    lead()


class _Reader:
    """Stands where a filter has a regular expression."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.told: set[str] = set()

    def match(self, text: object) -> None:
        try:
            found = WARNING.match(str(text))
            if found and found.group(1) not in self.told:
                self.told.add(found.group(1))
                self.guest.recorder.event("operation", found.group(1), *self.guest.project.nearest(_getframe(1)))
        except Exception as error:
            self.guest.recorder.fault("warnings", error)
