"""Tables of examples: arrays of numbers as they are, other columns as text, sparse matrices by their parts."""

import numpy as np
import pytest

from deviate.guest.frameworks.tables import arrays_in


@pytest.mark.requires("pandas", "scipy")
def test_what_libraries_accept_becomes_arrays() -> None:
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    numbers = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    ((end, array),) = arrays_in(numbers)
    assert (end, array.tolist()) == ("", [[1.0, 3.0], [2.0, 4.0]])
    mixed = pandas.DataFrame({"a": [0.1, 0.2], "city": ["Rome", "Oslo"]})
    ((_, array),) = arrays_in(mixed)
    assert array.tolist() == [["0.1", "Rome"], ["0.2", "Oslo"]]
    assert not array.dtype.hasobject, "bytes of objects are addresses"
    assert [end for end, _ in arrays_in(sparse.csr_matrix(np.eye(2)))] == [".data", ".indices", ".indptr"]
    assert [array.tolist() for _, array in arrays_in([1, 2])] == [[1, 2]]
    assert list(arrays_in(None)) == []
