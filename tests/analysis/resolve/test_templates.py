import pytest

from deviate.analysis.resolve.message_items import Field, decimals, format_fields, is_integer_spec, percent_fields


@pytest.mark.parametrize("template", ["{:.4}", "{:.4f}", "{:.2f}", "{:4.2f}", "{:.4g}", "{0:.4f}"])
def test_float_formats_of_the_oracle_have_decimals(template: str) -> None:
    # Oracle O10 (format table of D11).
    (field,) = [part for part in format_fields(template) if isinstance(part, Field)]
    assert decimals(field.spec) == int(template.split(".")[1][0])


@pytest.mark.parametrize(("template", "digits"), [("%.3f", 3), ("%f", 6), ("%10.6f", 6)])
def test_percent_floats_of_the_oracle_have_decimals(template: str, digits: int) -> None:
    (field,) = [part for part in percent_fields(template) if isinstance(part, Field)]
    assert decimals(field.spec) == digits


@pytest.mark.parametrize("template", ["{}", "{:d}", "{:s}", "{:>10}"])
def test_other_formats_have_no_decimals(template: str) -> None:
    (field,) = [part for part in format_fields(template) if isinstance(part, Field)]
    assert decimals(field.spec) is None


def test_whole_number_formats_are_told_from_floats() -> None:
    assert is_integer_spec("d")
    assert is_integer_spec("05d")
    assert not is_integer_spec(".3f")
    assert not is_integer_spec("")


def test_widths_given_as_arguments_use_up_positions() -> None:
    template = "%*d %.*f %s"
    fields = [part for part in percent_fields(template) if isinstance(part, Field)]
    assert [field.argument for field in fields] == [1, 3, 4]
    assert template % (5, 1, 2, 0.5, "x") == "    1 0.50 x"


def test_escapes_are_text() -> None:
    assert "".join(map(str, percent_fields("100%% done"))) == "100% done"
    assert format_fields("{{x}}")[0] == "{"


def test_a_template_that_python_refuses_has_no_fields() -> None:
    assert format_fields("{unclosed") == []
