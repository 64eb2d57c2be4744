"""States of a generator that a script saves and brings back: with them go those of all its streams.

Scripts shuffle examples and labels alike by one saved state. They know of one generator and get the state of one
stream, while the next draw may belong to another.
"""

from __future__ import annotations

from collections import OrderedDict

from .annotations import Any, Callable
from .seeds import wraps_like
from .streams import Bank

MOST_KEPT = 16
"""Saved states that are remembered; a script that saves more at a time saves them for a file."""


class SavedStates(OrderedDict):  # type: ignore[type-arg]
    """What belongs to each of the last states that a script saved."""

    def keep(self, state: object, belongings: object) -> None:
        self[state] = belongings
        self.move_to_end(state)
        while len(self) > MOST_KEPT:
            self.popitem(last=False)


def remember_states(
    owner: Any, read: str, write: str, bank: Bank, freeze: Callable[[Any], Any], thaw: Callable[[Any, Any], None]
) -> None:
    """Patch the functions `read` and `write` of a module, which get and set the state of its generator.

    Args:
        freeze: copies the state of a stream. thaw: sets a stream to a copy.
    """
    streams = bank.streams
    get_state, set_state = getattr(owner, read), getattr(owner, write)
    saved = SavedStates()

    def get(*args: Any, **kwargs: Any) -> Any:
        state = get_state(*args, **kwargs)
        if streams.is_routed_thread():
            bank.note_draws(streams.now)
            saved.keep(_spell(state), {stream: freeze(one) for stream, one in bank.states.items()})
        return state

    def put(state: Any) -> None:
        set_state(state)
        kept = saved.get(_spell(state)) if streams.is_routed_thread() else None
        if kept is None:
            return
        bank.note_draws(streams.now)
        _bring_back(bank.states, kept, streams.now, lambda stream, state: thaw(bank.states[stream], state))

    setattr(owner, read, wraps_like(get, get_state))
    setattr(owner, write, wraps_like(put, set_state))


def read_state(generators: Any, read: Callable[[Any], Any]) -> Any:
    """The state of a generator of the project in the current stream, which is remembered with those of its others.

    Args:
        generators: `StreamGenerators`, or what draws from those in its attribute `bits`.
        read: gives the state of the generator of one stream.
    """
    state, base = read(generators.now()), getattr(generators, "bits", generators)
    if base.saved is None:
        base.saved = SavedStates()
    base.saved.keep(_spell(state), {stream: read(generators.of(stream)) for stream in list(base.generators)})
    return state


def write_state(generators: Any, state: Any, write: Callable[[Any, Any], object]) -> None:
    """Set the current stream of a generator of the project, and its others where the state was read from it."""
    write(generators.now(), state)
    base = getattr(generators, "bits", generators)
    kept = base.saved and base.saved.get(_spell(state))
    if kept:
        _bring_back(base.generators, kept, base.streams.now, lambda stream, its: write(generators.of(stream), its))


def _bring_back(streams: dict[str, Any], kept: dict[str, Any], now: str, put: Callable[[str, Any], object]) -> None:
    """Set all streams but the current one to what they were; one that was not there begins anew, as it did then."""
    for stream in [stream for stream in streams if stream != now]:
        if stream in kept:
            put(stream, kept[stream])
        else:
            del streams[stream]


def _spell(state: object) -> bytes:
    import pickle  # not at the start of every process

    return pickle.dumps(state)
