"""Records numbers from the text that goes to standard output and standard error, whoever writes it.

For metrics that `deviate.toml` names by the pattern of their text; without such there is nothing of this in a process.
A line counts when it ends, and a line that is drawn over another one, as progress bars do, as soon as it is written.
"""

from __future__ import annotations

import re
import sys
from sys import _getframe
from threading import get_ident
from types import FrameType

from .annotations import Any, Iterable
from .recorder import Recorder

END = re.compile("[\r\n\b]+")
COLOURS = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
LONGEST_LINE = 20_000


class PrintedLine:
    """A line that is being written.

    Attributes:
        is_drawn_over: it began with a carriage return, so its end will come with the next one only.
        matched: patterns whose number is recorded.
    """

    __slots__ = ("is_drawn_over", "matched", "text")

    def __init__(self) -> None:
        self.is_drawn_over = False
        self.matched: set[str] = set()
        self.text = ""

    def begin(self, is_drawn_over: bool) -> None:
        """Forget the line, for the next one."""
        self.is_drawn_over = is_drawn_over
        self.text = ""
        if self.matched:
            self.matched = set()


class PrintedText:
    """Watches streams of this process.

    Args:
        patterns: pairs of a pattern, which is the name of its values, and its regular expression.
    """

    def __init__(self, patterns: Iterable[tuple[str, str]], recorder: Recorder) -> None:
        self.patterns = [(pattern, re.compile(regex)) for pattern, regex in patterns]
        self.recorder = recorder

    def watch(self, stream: Any) -> None:
        """Read what is written to a stream from now on; the stream stays the same object."""
        if stream is None:
            return
        write = stream.write
        lines: dict[int, PrintedLine] = {}

        def write_and_read(text: str) -> Any:
            result = write(text)
            try:
                self.read(lines, text, _getframe(1))
            except Exception as error:
                self.recorder.fault("printed text", error)
            return result

        with self.recorder.guarded("printed text"):
            stream.write = write_and_read

    def read(self, lines: dict[int, PrintedLine], text: str, frame: FrameType) -> None:
        """Read what one thread writes at once: `print` writes each value and blank by itself."""
        thread = get_ident()
        line = lines.get(thread)
        if line is None:
            line = lines[thread] = PrintedLine()
        start = 0
        for end in END.finditer(text):
            line.text += text[start : end.start()]
            self.match(line, frame)
            line.begin(is_drawn_over=not end[0].endswith("\n"))
            start = end.end()
        if len(line.text) < LONGEST_LINE:
            line.text += text[start:] if start else text
        if line.is_drawn_over:
            self.match(line, frame)

    def match(self, line: PrintedLine, frame: FrameType) -> None:
        if not line.text:
            return
        text = COLOURS.sub("", line.text) if "\x1b" in line.text else line.text
        for pattern, regex in self.patterns:
            number = None if pattern in line.matched else regex.search(text)
            if number is not None:
                line.matched.add(pattern)
                self.recorder.named_value(pattern, float(number[1]), frame)


def watch(patterns: Iterable[tuple[str, str]], recorder: Recorder) -> None:
    """Watch both standard streams."""
    printed = PrintedText(patterns, recorder)
    for stream in (sys.stdout, sys.stderr) if sys.stdout is not sys.stderr else (sys.stdout,):
        printed.watch(stream)
