from deviate.sinks import Message, find_sink


def test_each_positional_argument_of_print_is_part_of_the_message_and_its_options_are_not() -> None:
    sink = find_sink("builtins.print", "print")
    assert sink is not None
    carried = sink.carried(["loss", 0.5], {"file": "f", "sep": ","})
    assert [item.value for item in carried if isinstance(item, Message)] == ["loss", 0.5]
