"""Variants of the user's own: what they vary and hold, and which are refused."""

import pytest

from deviate.errors import InputError
from deviate.model.plan import Variant
from deviate.replay.variants import (
    STREAMS,
    VARIANTS,
    define_variant,
    describe_variant,
    find_variant,
    levels_of,
    seed_set,
)

IMPL = ("kernels", "autotune", "precision")


def like(variant: Variant, other: Variant) -> bool:
    return (variant.varied, variant.held, variant.controls, variant.perturbations) == (
        (other.varied, other.held, other.controls, other.perturbations)
    )


@pytest.mark.parametrize("name", ["init", "impl", "config", "algo", "init+shuffle", "init+impl"])
def test_what_a_variant_does_not_name_it_holds(name: str) -> None:
    assert like(define_variant("mine", vary=name.split("+")), find_variant(name))


def test_what_is_held_anyway_may_be_named() -> None:
    assert like(define_variant("mine", vary=["init"], hold=["split", "hash", "impl"]), VARIANTS["init"])


def test_a_factor_at_its_default_varies_and_at_another_level_it_is_held() -> None:
    free = define_variant("mine", vary=["shuffle"], levels={"kernels": "default"})
    assert free.varied == ("shuffle", "kernels")
    assert dict(free.controls)["kernels"] == "default"
    held = define_variant("mine", vary=["impl"], levels={"threads": "1", "onednn": "off"})
    assert held.varied == IMPL
    assert held.held == (*STREAMS, "hash", "threads", "onednn")
    assert dict(levels_of(held, 0, 5)) == {**dict.fromkeys(IMPL, "default"), "threads": "1", "onednn": "off"}


def test_the_hash_seed_can_be_a_number() -> None:
    variant = define_variant("mine", vary=["init"], levels={"hash": "5"})
    assert {dict(seed_set(variant, 0, replicate))["hash"] for replicate in range(3)} == {5}


def test_a_bit_can_be_flipped_beside_what_else_varies() -> None:
    variant = define_variant("mine", vary=["shuffle"], levels={"one-bit": "flip"}, description="what I want")
    assert int(dict(levels_of(variant, 0, 0))["one-bit"]) >= 0
    assert describe_variant(variant).startswith("varies shuffle, one bit of one weight; ")
    assert describe_variant(variant).endswith("(what I want)")


def test_a_variant_of_the_users_own_is_found_by_its_name() -> None:
    mine = define_variant("mine", vary=["init"])
    assert find_variant("mine", [mine]) is mine
    with pytest.raises(InputError) as caught:
        find_variant("mien", [mine])
    assert caught.value.hint.startswith("did you mean mine? ")


@pytest.mark.parametrize(
    ("name", "parts", "told"),
    [
        ("control", {}, "built-in variant of this name"),
        ("shuffle+init", {}, "built-in variant of this name"),
        ("kernels", {}, "built-in variant of this name"),
        ("a+b", {}, "'a+b' is not a valid variant name"),
        ("a,b", {}, "'a,b' is not a valid variant name"),
        ("a:b", {}, "'a:b' is not a valid variant name"),
        ("mine", {"vary": ["shufle"]}, "'shufle' | did you mean shuffle? known: algo, impl, config, init, "),
        ("mine", {"hold": ["gpu"]}, "'gpu' | known: algo, "),
        ("mine", {"vary": ["init"], "hold": ["init"]}, "init is in both vary and hold"),
        ("mine", {"vary": ["algo"], "hold": ["dropout"]}, "dropout is in both vary and hold"),
        ("mine", {"levels": {"kernel": "default"}}, "'kernel' | did you mean kernels? "),
        ("mine", {"levels": {"kernels": "fast"}}, "'fast' | levels: deterministic, default"),
        ("mine", {"levels": {"threads": "0"}}, "'0' | write a whole number from 1 to "),
        ("mine", {"levels": {"threads": "many"}}, "'many' | write a whole number from 1 to "),
        ("mine", {"levels": {"hash": "4294967296"}}, "write a whole number from 0 to 4294967295"),
        ("mine", {"vary": ["impl"], "levels": {"kernels": "deterministic"}}, "contradicts vary"),
        ("mine", {"hold": ["impl"], "levels": {"kernels": "default"}}, "contradicts hold"),
        ("mine", {"vary": ["config"], "levels": {"threads": "1"}}, "contradicts vary"),
        ("mine", {"vary": ["hash"], "levels": {"hash": "1"}}, "contradicts vary"),
    ],
)
def test_a_variant_that_cannot_be_made_is_refused_with_the_reason(
    name: str, parts: dict[str, object], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        define_variant(name, **parts)  # type: ignore[arg-type]
    assert f"[variants.{name}]" in caught.value.message
    assert told in f"{caught.value.message} | {caught.value.hint}"
