from collections.abc import Callable

import pytest

from deviate.sinks import find_sink

BARS = ["tqdm.tqdm()", "tqdm.auto.tqdm()", "tqdm.notebook.tqdm()", "tqdm.trange()", "tqdm.auto.trange()", "?pbar"]


@pytest.mark.parametrize("bar", BARS)
def test_a_postfix_is_a_mapping_keywords_or_both(bar: str, report: Callable[..., object]) -> None:
    whole, loss = ("Record", {"acc": 0.9}, None), ("Scalar", "loss", 0.5, None)
    assert report(f"{bar}.set_postfix", {"acc": 0.9}) == [whole]
    assert report(f"{bar}.set_postfix", loss=0.5, refresh=False) == [loss]
    assert report(f"{bar}.set_postfix", {"acc": 0.9}, refresh=True, loss=0.5) == [whole, loss]


def test_unpacked_items_that_are_not_known_come_as_their_mapping(report: Callable[..., object]) -> None:
    expected = [("Scalar", "loss", 0.5, None), ("Record", "metrics", None)]
    assert report("tqdm.tqdm().set_postfix", **{"loss": 0.5, "**": "metrics"}) == expected


@pytest.mark.parametrize("bar", BARS)
def test_texts_are_messages(bar: str, report: Callable[..., object]) -> None:
    for name in ("set_postfix_str", "set_description", "set_description_str"):
        assert report(f"{bar}.{name}", "loss 0.5", refresh=False) == [("Message", "loss 0.5")]
    assert report(f"{bar}.set_description", desc="loss 0.5", refresh=False) == [("Message", "loss 0.5")]
    assert report(f"{bar}.set_description") == []


def test_progress_itself_is_no_report() -> None:
    assert find_sink("tqdm.tqdm", "tqdm") is None
    assert find_sink("tqdm.tqdm().update", "pbar.update") is None
