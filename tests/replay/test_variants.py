"""Variants and the seeds that follow."""

import itertools

import pytest

from deviate.errors import InputError
from deviate.replay.variants import (
    HASH,
    STREAMS,
    VARIANTS,
    choose_variants,
    derive_seed,
    describe_variant,
    find_variant,
    levels_of,
    seed_set,
    vary_more,
)

ALGO = ("init", "shuffle", "augment", "dropout", "other")
IMPL = ("kernels", "autotune", "precision")
HELD = {"kernels": "deterministic", "autotune": "off", "precision": "full"}
DEFAULT = dict.fromkeys(IMPL, "default")


@pytest.mark.parametrize(
    ("name", "varied", "held", "controls"),
    [
        ("as-is", (), (), {}),
        ("algo+impl", (*ALGO, HASH, *IMPL), ("split",), DEFAULT),
        ("algo", ALGO, ("split", HASH, *IMPL), HELD),
        ("impl", IMPL, (*STREAMS, HASH), DEFAULT),
        ("control", (), (*STREAMS, HASH, *IMPL), HELD),
        ("one-bit", (), (*STREAMS, HASH, *IMPL), {**HELD, "one-bit": "flip"}),
        ("config", ("threads", "onednn"), (*STREAMS, HASH, *IMPL), HELD),
        *((it, (it,), (*(other for other in STREAMS if other != it), HASH, *IMPL), HELD) for it in STREAMS),
    ],
)
def test_a_built_in_variant_varies_and_holds_what_its_name_says(
    name: str, varied: tuple[str, ...], held: tuple[str, ...], controls: dict[str, str]
) -> None:
    variant = find_variant(name)
    assert (variant.varied, variant.held, dict(variant.controls)) == (varied, held, controls)
    assert variant.are_trackers_offline is (name != "as-is")


def test_the_data_are_split_alike_in_every_variant_but_that_of_the_split() -> None:
    assert [name for name, it in VARIANTS.items() if "split" not in it.held] == ["as-is", "split"]


def test_a_combination_varies_what_it_names_and_holds_the_rest() -> None:
    both = find_variant("init+shuffle")
    assert both.varied == ("init", "shuffle")
    assert both.held == ("augment", "dropout", "split", "other", HASH, *IMPL)
    assert dict(both.controls) == HELD
    assert dict(find_variant("shuffle+kernels").controls) == {**HELD, "kernels": "default"}


def test_groups_stand_for_their_factors_in_a_combination() -> None:
    assert find_variant("init+impl").varied == ("init", *IMPL)
    assert find_variant("split+algo").varied == STREAMS
    assert find_variant("hash").varied == (HASH,)


def test_the_order_of_the_names_makes_no_other_variant() -> None:
    assert find_variant("shuffle+init") == find_variant("init+shuffle")
    assert find_variant("impl+algo") is VARIANTS["algo+impl"]
    assert find_variant("impl+init").name == "init+impl"


def test_as_is_touches_no_seed() -> None:
    assert seed_set(VARIANTS["as-is"], 0, 3) == ()


def test_a_varied_stream_has_another_seed_in_each_replicate_and_a_held_one_the_same() -> None:
    for variant in (*VARIANTS.values(), find_variant("init+hash")):
        first, second = (dict(seed_set(variant, 0, replicate)) for replicate in (0, 1))
        changed = {name for name in first if first[name] != second[name]}
        assert changed == {name for name in variant.varied if name in first}
        assert set(first) == {name for name in (*variant.varied, *variant.held) if name in {*STREAMS, HASH}}


def test_variants_share_the_seeds_of_what_both_vary_and_of_what_both_hold() -> None:
    for one, other in itertools.combinations(VARIANTS.values(), 2):
        seeds, others = dict(seed_set(one, 7, 2)), dict(seed_set(other, 7, 2))
        for name in seeds.keys() & others.keys():
            is_alike = (name in one.varied) == (name in other.varied)
            assert (seeds[name] == others[name]) is is_alike, (one.name, other.name, name)


def test_seeds_never_change_for_experiments_pair_by_them() -> None:
    assert derive_seed(0, "init", 0) == 0x7F18056E
    assert derive_seed(0, "split", None) == 0xA3920F0E


def test_seeds_of_other_streams_replicates_and_experiments_share_nothing() -> None:
    seeds = [derive_seed(*parts) for parts in itertools.product(range(5), (*STREAMS, HASH), (None, *range(5)))]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_each_replicate_flips_a_bit_of_its_own_choice() -> None:
    bits = [dict(levels_of(VARIANTS["one-bit"], 0, replicate))["one-bit"] for replicate in range(20)]
    assert bits[3] == str(derive_seed(0, "one-bit", 3))
    assert len(set(bits)) == 20


def test_configurations_take_turns_and_the_first_is_the_machine_as_it_is() -> None:
    turns = [dict(levels_of(VARIANTS["config"], 0, replicate)) for replicate in range(7)]
    assert turns[0] == turns[6] == HELD
    assert turns[1] == {**HELD, "threads": "1"}
    assert turns[2] == {**HELD, "onednn": "off"}
    assert len({tuple(sorted(turn.items())) for turn in turns}) == 6


def test_a_configuration_changes_only_what_varies() -> None:
    assert [dict(it) for it in find_variant("threads").perturbations] == [{}, {"threads": "1"}, {"threads": "3"}]
    assert [dict(it) for it in find_variant("init+onednn").perturbations] == [{}, {"onednn": "off"}]


def test_the_variants_are_chosen_once_each_in_order() -> None:
    chosen = choose_variants([" impl", "control ", "", "impl"])
    assert [variant.name for variant in chosen] == ["impl", "control"]
    with pytest.raises(InputError, match="no variant is named"):
        choose_variants([" ", ""])


def test_an_operation_that_cannot_be_held_is_only_warned_of_where_kernels_are_held() -> None:
    impl, control = choose_variants(["impl", "control"], is_warning_only=True)
    assert impl == VARIANTS["impl"]
    assert dict(control.controls) == {**HELD, "on-missing": "warn"}


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("algo-impl", "did you mean algo+impl? known variants: as-is, algo+impl, "),
        ("contrl", "did you mean control? known variants: "),
        ("inti+shufle", "did you mean init+shuffle? known variants: "),
        ("chaos", "known variants: "),
        ("control+init", "did you mean control? known variants: "),
    ],
)
def test_an_unknown_variant_names_the_nearest_and_the_known_ones(name: str, guess: str) -> None:
    with pytest.raises(InputError) as caught:
        find_variant(name)
    assert caught.value.message == f"no variant named {name!r}"
    assert caught.value.hint.startswith(guess)
    assert "combinations such as init+shuffle" in caught.value.hint


def test_what_varies_and_what_is_held_is_told_on_one_line() -> None:
    assert describe_variant(VARIANTS["as-is"]) == "nothing is changed: the script's own seeds and defaults"
    assert (
        describe_variant(VARIANTS["init"]) == "varies init; holds the other streams, hash, kernels, autotune, precision"
    )
    assert describe_variant(VARIANTS["impl"]) == "varies kernels, autotune, precision; holds all streams, hash"
    assert describe_variant(VARIANTS["control"]).startswith("varies nothing; holds all streams, ")
    assert describe_variant(VARIANTS["one-bit"]).startswith("varies one bit of one weight; ")
    assert describe_variant(find_variant("algo+split+hash+impl")) == "training varies, seeds and kernels; holds nothing"


def test_a_variant_varies_a_stream_or_a_line_more() -> None:
    default = VARIANTS["algo+impl"]
    assert vary_more(default, ["split"]) == find_variant("algo+split+hash+impl")
    wider = vary_more(VARIANTS["algo"], ["train.py:7", "data.py:3"])
    assert dict(wider.controls)["vary"] == "train.py:7,data.py:3"
    assert "varies all streams but split, train.py:7, data.py:3; " in describe_variant(wider)
    for variant, words in ((VARIANTS["as-is"], ["split"]), (default, ["spilt"])):
        with pytest.raises(InputError):
            vary_more(variant, words)


def test_the_bit_may_be_flipped_before_a_later_step() -> None:
    later = find_variant("one-bit@3")
    assert dict(later.controls) == {**dict(VARIANTS["one-bit"].controls), "one-bit-step": "3"}
    assert describe_variant(later).startswith("varies one bit of one weight before step 3; ")
    assert dict(levels_of(later, 0, 2))["one-bit"] == dict(levels_of(VARIANTS["one-bit"], 0, 2))["one-bit"]
    with pytest.raises(InputError, match="no variant named 'one-bit@x'"):
        find_variant("one-bit@x")
