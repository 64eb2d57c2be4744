"""Seeds: what the script asks for is recorded, and replaced where the variant says that a stream varies."""

from __future__ import annotations

import hashlib
import operator
import os
import sys
from threading import get_ident

from .project import Project
from .recorder import Recorder

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable


def derive(*parts: object) -> int:
    """A seed in [0, 2**32) from the parts, the same on every machine and in every Python.

    Source: SHA-256, so that neighbouring seeds have nothing in common; Python's hash() differs between processes.
    """
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:4], "big")


class Seeding:
    """The seed set of this run at work.

    Args:
        seeds: stream name to seed; empty when the variant leaves seeds alone.
    """

    def __init__(self, seeds: dict[str, int], recorder: Recorder, project: Project) -> None:
        self.seeds = seeds
        self.recorder = recorder
        self.project = project
        self.home = (os.getpid(), get_ident())
        self.inside = False
        self.unseeded = 0
        self.calls: dict[str, int] = {}

    @property
    def is_active(self) -> bool:
        return bool(self.seeds)

    def initial(self, library: str) -> int:
        """Seed for a library whose generator the script has not seeded, or not yet."""
        return derive(self.seeds["other"], library, None)

    def held(self, *parts: object) -> int:
        """Seed for drawing which examples train and which test: the same in every run."""
        return derive(self.seeds["split"], *parts)

    def next_held(self, call: str) -> int:
        """The same for a call that may come several times: each time another seed."""
        self.calls[call] = self.calls.get(call, 0) + 1
        return self.held(call, self.calls[call])

    def override(
        self,
        owner: Any,
        name: str,
        call: str,
        library: str,
        internal: str | tuple[str, ...] = (),
        keyword: str = "seed",
        is_global: bool = True,
        then: Callable[[Any], Any] | None = None,
    ) -> None:
        """Stand in for the seeding function `owner.name`.

        Args:
            call: its public name, for the record.
            library: generators that are seeded together have one library name.
            internal: modules of the library whose own calls pass through (a data-loader worker seeding itself).
            keyword: name of the seed's parameter, when it is given by name.
            is_global: whether it seeds a generator that all share. Where it makes a new one, only what the project
                itself makes is the script's; libraries make generators for reasons of their own.
            then: what becomes of a generator that was made with a replaced seed.
        """
        original = getattr(owner, name, None)
        if original is None or hasattr(original, "__deviate__"):
            return
        seeding = self

        def seed(*args: Any, **kwargs: Any) -> Any:
            if seeding.inside or seeding.home != (os.getpid(), get_ident()) or _called_from(internal):
                return original(*args, **kwargs)
            if not is_global and seeding.project.place(sys._getframe(1).f_code) is None:
                return original(*args, **kwargs)
            args, kwargs = seeding.exchange(call, library, args, kwargs, keyword)
            seeding.inside = True
            try:
                made = original(*args, **kwargs)
            finally:
                seeding.inside = False
            return made if then is None or not seeding.is_active else then(made)

        setattr(owner, name, dress(seed, original))

    def exchange(
        self, call: str, library: str, args: tuple[Any, ...], kwargs: dict[str, Any], keyword: str
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with the seed that counts, and a record of what was asked for."""
        asked = args[0] if args else kwargs.get(keyword)
        try:
            self.record(call, asked)
        except Exception as error:
            self.recorder.fault(call, error)
        if not self.is_active or _is_no_seed(asked):
            return args, kwargs
        self.unseeded += asked is None  # generators without a seed are not to be twins
        seed = derive(self.seeds["other"], library, _spelled(asked), *([self.unseeded] if asked is None else []))
        if args:
            return (seed, *args[1:]), kwargs
        return args, dict(kwargs, **{keyword: seed})

    def record(self, call: str, asked: object) -> None:
        """Tell which line of the project asked; a library between is passed over."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = self.project.place(frame.f_code)
            if name is not None:
                break
            frame = frame.f_back
        line = frame.f_lineno if frame is not None else 0
        action = "replaced" if self.is_active else "kept"
        self.recorder.event("seed", call, repr(asked)[:80], name or "", line, action)


def _is_no_seed(asked: object) -> bool:
    """A generator handed through, or a number that a compiler traces: there is no value to replace."""
    module = type(asked).__module__
    return (
        module.startswith("jax")
        or (module.startswith("numpy") and hasattr(asked, "random_raw"))
        or hasattr(asked, "bit_generator")
    )


def _spelled(asked: Any) -> str:
    """A seed as text. Whole numbers of any type have one spelling everywhere; the rest counts by its content."""
    try:
        return str(operator.index(asked))
    except TypeError:
        return repr(asked)


def _called_from(internal: str | tuple[str, ...]) -> bool:
    if not internal:
        return False
    caller: str = sys._getframe(2).f_globals.get("__name__", "")
    return caller.startswith(internal)


def dress(wrapper: Any, original: Any) -> Any:
    """The wrapper, made to look like the original to whoever asks for its name, text or signature."""
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        try:
            setattr(wrapper, attribute, getattr(original, attribute))
        except (AttributeError, TypeError):
            pass
    wrapper.__wrapped__ = original
    wrapper.__deviate__ = True
    return wrapper
