"""Where text is written to: files, and standard output, which has room for one of them."""

from collections.abc import Mapping
from pathlib import Path

from deviate.errors import InputError

STDOUT = "-"


def takes_stdout(targets: Mapping[str, Path]) -> bool:
    """Whether one of them, by what is written there, goes to standard output.

    Raises:
        InputError: two of them do.
    """
    taking = [name for name, target in targets.items() if str(target) == STDOUT]
    if len(taking) > 1:
        raise InputError(f"{' and '.join(taking)} cannot both go to standard output", "name a file for one of them")
    return bool(taking)
