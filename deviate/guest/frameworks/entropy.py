"""System entropy: it cannot be seeded, so requests by the project are recorded."""

from __future__ import annotations

from sys import _getframe

from ..adapter_context import AdapterContext
from ..annotations import Any

SOURCES = {
    "os": ("urandom", "getrandom"),
    "secrets": ("token_bytes", "token_hex", "token_urlsafe", "randbits", "randbelow", "choice"),
    "uuid": ("uuid1", "uuid4", "uuid6", "uuid7"),
}
MODULES = tuple(SOURCES)


def install(module: Any, context: AdapterContext) -> None:
    if context.streams.is_active:
        for name in SOURCES[module.__name__]:
            _record(module, name, context)


def _record(module: Any, name: str, context: AdapterContext) -> None:
    call = "%s.%s" % (module.__name__, name)
    places: set[tuple[str, int]] = set()

    def draw(*args: Any, **kwargs: Any) -> None:
        frame = _getframe(2)
        file = context.project.place(frame.f_code)
        if file is not None and (file, frame.f_lineno) not in places:
            places.add((file, frame.f_lineno))
            context.recorder.event("uncontrolled", call, file, frame.f_lineno)

    context.observe(module, name, before=draw, where=call)
