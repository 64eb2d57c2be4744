"""Text written to files of the script and to standard streams."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message
from .registry import methods, sink

# `file`: text written to a file of the script's own.


WRITES = ("write", "writelines")
# `open` of builtins, io, gzip, codecs, pathlib.Path(), fsspec, …
OPENED = ("*.open()", "os.fdopen()", "pathlib.Path.open()", "tensorflow.*GFile()", "tempfile.NamedTemporaryFile()")
HANDLES = (
    "f",
    "fp",
    "fd",
    "fh",
    "*.f",
    "*_f",
    "*.fp",
    "*_fp",
    "*file",
    "*file_handle",
    "*handle",
    "*fout",
    "fo",
    "*outf",
    "*out_f",
    "*out",
    "*output",
    "*log*",
    "*result*",
    "*.open()",
    "open()",
)


@sink("file", methods(OPENED, WRITES), methods(HANDLES, WRITES))
def write(text: Any) -> Iterator[Message]:
    """One text, or with `writelines` a list of them."""
    yield Message(text)


@sink("file", ["pathlib.Path().write_text"], ["*.write_text"])
def write_text(data: Any, *settings: Any, **options: Any) -> Iterator[Message]:
    """The whole text of a file."""
    yield Message(data)


# `stdout` and `stderr`: text written to a standard stream.


@sink("stdout", methods(["sys.stdout", "sys.__stdout__"], WRITES), methods(["*stdout"], WRITES))
def stdout_write(text: Any) -> Iterator[Message]:
    """One text, or with `writelines` a list of them."""
    yield Message(text)


@sink("stderr", methods(["sys.stderr", "sys.__stderr__"], WRITES), methods(["*stderr"], WRITES))
def write_error(text: Any) -> Iterator[Message]:
    """The same to the other stream."""
    yield Message(text)
