"""Checksums: every change shows, wherever it is; on a device they are exact, and sensitive to positions."""

import zlib

import numpy as np
import pytest

from deviate.guest.frameworks.pytorch.trace import tensors
from deviate.guest.frameworks.pytorch.trace.tensors import DeviceChecksums
from deviate.guest.observers.steps import MOST_ROWS, checksum, row_checksums

torch = pytest.importorskip("torch")
TYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"]


def values(kind: str, n: int = 60) -> torch.Tensor:
    numbers = torch.arange(1, n + 1)
    return (numbers % 3 == 0) if kind == "bool" else numbers.to(getattr(torch, kind))


def of(tensor: torch.Tensor) -> int:
    return int(DeviceChecksums(torch).of(tensor))


def test_the_checksum_of_bytes_is_a_crc_that_starts_with_the_form() -> None:
    assert checksum(b"abc") == zlib.crc32(b"abc")
    assert checksum(b"abc", "int8[3]") == zlib.crc32(b"int8[3]abc")
    assert checksum(b"", "int8[0]") != checksum(b"", "int8[0,3]")


def test_each_row_has_a_checksum() -> None:
    array = np.arange(12, dtype="float32").reshape(4, 3)
    found = row_checksums(array, 4)
    assert found == [zlib.crc32(row.tobytes()) for row in array]
    assert sorted(row_checksums(array[::-1].copy(), 4)) == sorted(found)
    assert row_checksums(np.zeros((0, 3)), 0) == row_checksums(np.zeros((3, 0)), 3) == []
    assert len(row_checksums(bytes(MOST_ROWS + 5), MOST_ROWS + 5)) == MOST_ROWS


@pytest.mark.parametrize("kind", TYPES)
def test_one_bit_and_two_places_show_on_a_device(kind: str) -> None:
    tensor = values(kind)
    found = {of(tensor)}
    for place in (0, 1, 30, 59):
        changed = tensor.clone()
        changed.view(torch.uint8)[place * tensor.element_size()] ^= 1
        found.add(of(changed))
    swapped = tensor.clone()
    swapped[[1, 2]] = tensor[[2, 1]]
    assert len(found | {of(swapped)}) == 6
    assert of(tensor.reshape(6, 10)) == of(tensor)
    assert of(tensor.reshape(6, 10).t()) == of(tensor.reshape(6, 10).t().contiguous()) != of(tensor)


def test_neither_chunks_nor_threads_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = torch.randn(5000, generator=torch.Generator().manual_seed(1))
    expected = of(tensor)
    before = torch.get_num_threads()
    for n in (1, 2):
        torch.set_num_threads(n)
        assert of(tensor) == expected
    torch.set_num_threads(before)
    monkeypatch.setattr(tensors, "CHUNK", 512)
    chunked = of(tensor)
    moved = torch.cat([tensor[512:1024], tensor[:512], tensor[1024:]])
    assert len({chunked, of(moved), of(tensor[:4999])}) == 3


def test_it_is_the_sum_that_its_source_says() -> None:
    """SplitMix64 as Steele et al. give it, in whole numbers of Python."""
    mask = (1 << 64) - 1

    def mixed(number: int) -> int:
        x = number * 0x9E3779B97F4A7C15 & mask
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    tensor = torch.randint(-(2**31), 2**31, (40,), generator=torch.Generator().manual_seed(2)).to(torch.int32)
    total = sum((mixed(place + 1) | 1) * int(number) for place, number in enumerate(tensor)) * (mixed(1) | 1)
    assert of(tensor) & mask == total & mask


def test_changes_of_many_numbers_by_one_unit_do_not_cancel() -> None:
    rng = np.random.default_rng(0)
    tensor = torch.zeros(64, dtype=torch.int32)
    found = {of(tensor)}
    changes = {tuple(rng.integers(-1, 2, 64)) for _ in range(3000)} - {(0,) * 64}
    for change in changes:
        found.add(of(tensor + torch.tensor(change, dtype=torch.int32)))
    assert len(found) == len(changes) + 1


def test_what_is_empty_or_has_no_dimension_has_a_checksum() -> None:
    assert of(torch.zeros(0, 3)) == 0
    assert of(torch.tensor(1.0)) != of(torch.tensor(2.0))
    assert of(torch.tensor([1 + 2j]).conj()) == of(torch.tensor([1 - 2j]))
