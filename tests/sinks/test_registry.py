import pytest

from deviate.sinks import find_sink


@pytest.mark.parametrize(
    ("qualified", "spelling", "name"),
    [
        ("builtins.print", "print", "print"),
        (None, "accelerator.print", "print"),
        ("logging.info", "logging.info", "logging"),
        ("logging.getLogger().info", "log.info", "logging"),
        (None, "self.logger.warning", "logging"),
        ("math.log", "math.log", None),
        (".print_table", "print_table", None),
    ],
)
def test_sinks_are_found_by_qualified_name_or_spelling(qualified: str | None, spelling: str, name: str | None) -> None:
    found = find_sink(qualified, spelling)
    assert (found and found.name) == name
