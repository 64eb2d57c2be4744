"""What a call reports, in a form that can be compared."""

from collections.abc import Callable
from typing import Any

import pytest

from deviate.sinks import find_sink


@pytest.fixture
def report() -> Callable[..., object]:
    """`report(callee, *arguments, **named)`: kind and contents of everything that the call carries.

    The callee is a qualified name; with `?` before it, the text of a callee of unknown type.
    """

    def carried(callee: str, *positional: Any, **named: Any) -> object:
        found = find_sink(None, callee[1:]) if callee.startswith("?") else find_sink(callee, "")
        assert found is not None, callee
        return [(type(item).__name__, *item) for item in found.carried(positional, named)]

    return carried
