"""Numbers from the system: no seed reaches them, so where the project asks for some it is told."""

from __future__ import annotations

from sys import _getframe

from ..adapter_context import Guest
from ..seeds import dress

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

SOURCES = {
    "os": ("urandom", "getrandom"),
    "secrets": ("token_bytes", "token_hex", "token_urlsafe", "randbits", "randbelow", "choice"),
    "uuid": ("uuid1", "uuid4", "uuid6", "uuid7"),
}
MODULES = tuple(SOURCES)


def attach(module: Any, guest: Guest) -> None:
    if guest.streams.is_active:
        for name in SOURCES[module.__name__]:
            if hasattr(module, name):
                setattr(module, name, _told(module, name, guest))


def _told(module: Any, name: str, guest: Guest) -> Any:
    original, what = getattr(module, name), "%s.%s" % (module.__name__, name)
    known: set[tuple[str, int]] = set()

    def draw(*args: Any, **kwargs: Any) -> Any:
        try:
            frame = _getframe(1)
            file = guest.project.place(frame.f_code)
            if file is not None and (file, frame.f_lineno) not in known:
                known.add((file, frame.f_lineno))
                guest.recorder.event("uncontrolled", what, file, frame.f_lineno)
        except Exception as error:
            guest.recorder.fault(what, error)
        return original(*args, **kwargs)

    return dress(draw, original)
