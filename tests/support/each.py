"""One test over many named cases: every case is checked, and the failure names each one that fails."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Case = TypeVar("Case")


def check_each(cases: Iterable[tuple[str, Case]], check: Callable[[Case], None]) -> None:
    """Call `check` with every case, and fail with the names and tracebacks of those that did not pass.

    It takes the place of parameters where there are hundreds of cheap cases, each of which would cost pytest more
    than the check itself.

    Raises:
        ExceptionGroup: some cases failed; its message names them, in order.
        AssertionError: there is no case.
    """
    failures: list[Exception] = []
    names: list[str] = []
    n_cases = 0
    for name, case in cases:
        n_cases += 1
        try:
            check(case)
        except Exception as failure:  # noqa: BLE001  # what the check raises, whatever it is, is the result
            failure.add_note(f"Case: {name}")
            failures.append(failure)
            names.append(name)
    assert n_cases, "no case to check"
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {n_cases} cases fail: {', '.join(names)}", failures)
