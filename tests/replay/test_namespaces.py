"""Two executors whose process numbers mean nothing to each other never have a replicate alive twice."""

from pathlib import Path

import pytest
from namespaces import are_allowed, execute_orders


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_two_executors_in_two_namespaces_never_have_a_replicate_alive_twice(tmp_path: Path, seed: int) -> None:
    """benchmarks/namespaces.py makes 20 trials; with an odd seed one of the two executors is killed."""
    if not are_allowed():
        pytest.skip("unshare is not allowed here")
    outcome = execute_orders(tmp_path, seed)
    assert outcome.twice == (), outcome.said
    assert set(outcome.statuses) == {"completed"}, outcome.said
