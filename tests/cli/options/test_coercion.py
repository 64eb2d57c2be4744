"""Plain values of options are taken without pydantic; wrong ones get typer's message."""

import subprocess
import sys

import pytest

from deviate.cli.app import run_arguments


def test_a_command_with_plain_values_does_not_import_pydantic() -> None:
    program = (
        "import sys; from deviate.cli.app import run_arguments; "
        "run_arguments(['list']); run_arguments(['plan', '--sd', '1', '--difference', '0.5']); "
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plan", "--sd", "one", "--difference", "1"), "valid number"),
        (("run", "train.py", "--runs", "0"), "greater than or equal to 1"),
        (("list", "--format", "xml"), "xml"),
    ],
)
def test_a_wrong_value_is_refused_with_a_message(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_arguments(arguments) == 2
    assert says in capsys.readouterr().err
