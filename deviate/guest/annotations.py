"""Names that are used only in annotations: importing `typing` would increase the start-up time of every process."""

__all__ = ["TYPE_CHECKING", "Any", "Array", "Callable", "Iterable", "Iterator", "Mapping", "Sequence"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

    Array = tuple[str, Sequence[int], Any]
    """Name of the type of its numbers, shape, and a buffer of its bytes without gaps, in C order."""
else:
    Any = Array = Callable = Iterable = Iterator = Mapping = Sequence = None
