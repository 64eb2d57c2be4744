from collections.abc import Callable

import pytest

from deviate.sinks import find_sink


@pytest.mark.parametrize(
    ("callee", "name"),
    [("sys.stdout.write", "stdout"), ("sys.__stdout__.write", "stdout"), ("sys.stderr.writelines", "stderr")],
)
def test_one_text_goes_to_the_stream(callee: str, name: str, report: Callable[..., object]) -> None:
    found = find_sink(callee, callee)
    assert found is not None
    assert found.name == name
    assert report(callee, "loss 0.5\n") == [("Message", "loss 0.5\n")]
