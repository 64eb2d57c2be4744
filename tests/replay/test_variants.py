"""Variants and the seeds that follow."""

import itertools

import pytest

from deviate.errors import InputError
from deviate.replay.variants import ALGO_IMPL, AS_IS, STREAMS, derive_seed, find_variant, seed_set


def test_as_is_touches_no_seed() -> None:
    assert seed_set(AS_IS, 0, 3) == ()


def test_every_stream_varies_but_the_split_which_is_held() -> None:
    first, second = (dict(seed_set(ALGO_IMPL, 0, replicate)) for replicate in (0, 1))
    assert {stream for stream in first if first[stream] == second[stream]} == {"split"}
    assert set(first) == {*STREAMS, "python-hash"}


def test_seeds_never_change_for_experiments_pair_by_them() -> None:
    assert derive_seed(0, "init", 0) == 0x7F18056E
    assert derive_seed(0, "split", None) == 0xA3920F0E


def test_seeds_of_other_streams_replicates_and_experiments_share_nothing() -> None:
    seeds = [derive_seed(*parts) for parts in itertools.product(range(5), STREAMS, (None, *range(5)))]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_an_unknown_variant_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="algo-impl") as caught:
        find_variant("algo-impl")
    assert caught.value.hint == "known variants: as-is, algo+impl"
