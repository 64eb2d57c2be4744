"""Text written to files of the script and to standard streams."""

from __future__ import annotations

from .kinds import Message
from .registry import declaring, methods

reports = declaring(__name__)

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


# One text, or with `writelines` a list of them.
reports("text", Message, "file", methods(OPENED, WRITES), methods(HANDLES, WRITES))


# The whole text of a file.
reports("data *", Message, "file", "pathlib.Path().write_text", "*.write_text")


# `stdout` and `stderr`: text written to a standard stream.


# One text, or with `writelines` a list of them.
reports("text", Message, "stdout", methods(["sys.stdout", "sys.__stdout__"], WRITES), methods(["*stdout"], WRITES))


# The same to the other stream.
reports("text", Message, "stderr", methods(["sys.stderr", "sys.__stderr__"], WRITES), methods(["*stderr"], WRITES))
