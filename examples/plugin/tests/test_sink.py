import deviate_lab.sink  # noqa: F401  (it registers itself)

from deviate.sinks import Scalar, find_sink


def test_a_note_carries_one_value_under_its_name():
    sink = find_sink("labbook.Page().note", "")
    assert sink is not None
    (carried,) = sink.carried(["accuracy", 0.5], {"epoch": 3})
    assert isinstance(carried, Scalar)
    assert (carried.name, carried.value) == ("accuracy", 0.5)


def test_the_usual_spelling_is_enough():
    assert find_sink(None, "page.note") is find_sink("labbook.Page().note", "")
