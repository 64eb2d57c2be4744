"""Options of what runs keep beside their metrics, and of what is read from that: texts into values."""

from collections.abc import Sequence
from typing import Annotated

import typer

from deviate import replay
from deviate.cli.options import pair
from deviate.errors import InputError
from deviate.project import Keeping

Capture = Annotated[
    str | None,
    typer.Option(
        metavar="KINDS",
        help="Keep of each run: predictions, weights, both with a comma between, or none. Default: none.",
    ),
]
CaptureEvery = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="With --capture: also every K steps of the main loop. Default: at the end."),
]
CaptureLimit = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help=f"With --capture: most that a run keeps. Default: {replay.DEFAULT_LIMIT}."),
]
Tta = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Keep predictions of augmented test inputs as well: flip,crop25."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="FILE|COLUMN",
        help="Sub-groups of the test set: FILE.csv, FILE.csv:COLUMN,…, SET=FILE.csv, or a column that the script "
        "logs. May be repeated.",
    ),
]
WeakBelow = Annotated[
    str | None,
    typer.Option(metavar="METRIC=VALUE", help="Show the spread of a metric also without runs worse than a value."),
]


def kept(
    capture: str | None, every: int | None, limit: str | None, tta: str | None, saved: Keeping
) -> tuple[tuple[str, str], ...]:
    """What runs are to keep, as in `Spec.capture`: what was said here goes before what `deviate.toml` says.

    Raises:
        InputError: it cannot be kept, or there is nothing to keep.
    """
    kinds = saved.keep or () if capture is None else _names(capture, "--capture")
    names = saved.tta or () if tta is None else _names(tta, "--tta")
    if tta is None and capture is not None and "predictions" not in kinds:
        names = ()  # the file asks for augmented predictions, and this call for none at all
    return replay.keeping(
        kinds,
        every=every or (None if capture == "none" else saved.every),
        limit=limit or (None if capture == "none" else saved.limit),
        augmentations=names,
        flag="[capture] keep" if capture is None and saved.keep else "--capture",
    )


def weak_below(text: str | None) -> tuple[str, float] | None:
    """A metric, and the value beyond which a run is weak. Raises InputError where the text says neither."""
    if text is None:
        return None
    name, value = pair(text, "--weak-below", "METRIC=VALUE")
    try:
        return name, float(value)
    except ValueError:
        raise InputError(
            f"--weak-below {text}: {value!r} is no number", f"write it as --weak-below {name}=0.9"
        ) from None


def _names(text: str, flag: str) -> Sequence[str]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError(f"{flag} is empty", f"name something, or leave {flag} away")
    return names
