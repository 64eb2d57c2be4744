"""The lines of an output log, and the numbers in them as they are written."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

COLOURS = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07]*\x07")
FRAMES = str.maketrans(
    {
        **dict.fromkeys("│┃║┆┊", "|"),
        **dict.fromkeys("─━═▏▎▍▌▋▊▉█░▒▓╸╺┏┳┓┡╇┩┗┻┛┣╋┫┌┬┐└┴┘├┼┤╒╤╕╞╪╡╘╧╛╔╦╗╚╩╝╠╬╣╭╮╰╯", " "),
        "²": "2",
    }
)
"""Lines of a table become bars; what only draws lines and progress becomes blank, so that it is no word."""
LONGEST_LINE = 5_000
"""Characters of a line that are read: what is longer is data."""
MOST_DRAWN = 64
"""Texts of a line that was drawn over up to which each is read, to find the values that it showed."""

NUMBER = re.compile(
    r"(?<![\w.@#])(?<!\w-)(?P<sign>[-+−]?)(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+\.(?![.\d])|\.\d+|\d+)"
    r"(?P<exponent>[eE][-+]?\d+)?(?![\d]|\.\d|\w*\()"
    r"|(?<![\w.])(?P<special>[-+−]?(?:nan|NaN|inf|Infinity))(?![\w])"
)
UNIT = re.compile(
    r"\s*(?P<percent>%)"
    r"|\s*(?P<unit>(?:[a-zA-Z]*/(?:s|sec|second|step|it|iter|epoch|batch|min|h)\b)|(?:s|sec|secs|seconds?|ms|msecs?|us|µs|min|mins|"
    r"minutes?|h|hrs?|hours?|MB|GB|KB|kB|MiB|GiB|KiB|TB|bytes|fps|dB)(?!\w|\s*[=:]\s*[-+−]?\.?\d))|[kKMBG](?!\w)"
)
"""A word behind which a value stands is no unit but its name: `acc=0.44 sec=4.80`."""
R_SQUARED = re.compile(r"\bR\^2")
COMPOUND = re.compile(r"-[a-z]{2}")
"""Behind the number of an adjective: `5-fold cross-validation`."""
AT = re.compile(r"@[\d.]+(?::[\d.]+)*")
"""Numbers in a name: `mAP@0.5:0.95`."""
LARGEST_EXPONENT = 308
"""Of numbers in double precision; behind it stands part of a name that was drawn: `4417e902`."""
SMALLEST_ROUNDED = 10.0
"""Absolute value below which nobody writes a number with decimals as a whole one."""
NO_NUMBER = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?)?"  # dates
    r"|\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?!\d*\s*[a-z]*=)"  # times of day, durations
    r"|\b\d+\s?h(?:ours?)?\s*\d+\s?m\w*(?:\s*\d+(?:\.\d+)?\s?s\w*)?|\b\d+\s?m(?:in\w*)?\s*\d+(?:\.\d+)?\s?s\b"
    r"|\d+\.\d+\.\d+[\w.]*"  # versions, addresses
    r"|0x[0-9a-fA-F]+|\b(?=\w*[a-df])(?=\w*\d)[0-9a-f]{6,}\b"  # addresses, names
    r"|\b\d{4,}e\d{2,}\b"  # names of hexadecimal digits: no formatter writes such a number
    r"|\b\d+(?:-\w+)*-(?:[a-zA-Z]+\d|\d+[a-zA-Z])\w*"  # names of runs: 9925-f780cc61
    r"|(?:[A-Za-z]+://|(?<![\w)%])~?/(?=[A-Za-z_.])|(?<![\w.])\.{1,2}/)[^\s,;:'\"]*"  # addresses and paths
    r"|[\w.-]*[A-Za-z_][\w.-]*/(?:[\w.-]+/)+[\w.-]*|[\w.-]+/[\w.-]*\.[A-Za-z]\w{0,5}\b"  # paths below this folder
    r"|(?:np|numpy|jnp|torch|tf)?\.?(?:float|int|uint|bfloat)\d+\(|\b(?:tensor|array|Array|Tensor)\("
    r"|,\s*(?:dtype|device|grad_fn|weak_type|shape|requires_grad)=[^,)]*\)?"
)
"""What holds digits and is no number, and what frameworks write around one."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a line.

    Attributes:
        start, end: where it stands, its unit left out.
        rounding: half a unit of the last digit that is written.
        unit: what is written behind it ("%", "s", "MB", "images/s"), else empty.
        is_whole: whether it is written without decimals.
    """

    start: int
    end: int
    value: float
    rounding: float
    unit: str
    after: int
    is_whole: bool

    def shows(self, value: float) -> bool:
        """Whether it may be that value, rounded as it is written; a percentage may be of a share."""
        if self.is_whole and not self.unit and abs(value) < SMALLEST_ROUNDED and not float(value).is_integer():
            return False  # a counter; nobody rounds 1.3 to 1
        return self._is_near(value) or (self.unit == "%" and self._is_near(100 * value))

    def _is_near(self, value: float) -> bool:
        if not math.isfinite(value) or not math.isfinite(self.value):
            return value == self.value or (math.isnan(value) and math.isnan(self.value))
        return abs(value - self.value) <= self.rounding * 1.001 + 1e-12 * abs(value)


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it was shown last.

    Attributes:
        text: without colours and drawn lines; what holds digits and is no number is blank, so that places stay.
        numbers: in order.
        is_drawn_over: whether another text stood in its place later, as with a progress bar.
    """

    text: str
    numbers: tuple[Number, ...]
    is_drawn_over: bool = False

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def read_lines(log: str) -> Iterator[Line]:
    """The lines of a log; a line that was drawn over comes as often as it was drawn, unless that is many times."""
    for raw in log.split("\n"):
        *earlier, shown = raw.rstrip("\r").split("\r")
        if len(earlier) <= MOST_DRAWN:
            for text in earlier:
                yield replace(read_line(text[:LONGEST_LINE]), is_drawn_over=True)
        # Keras goes back over its progress bar before it writes the next one on a line of its own.
        yield replace(read_line(shown[:LONGEST_LINE].rstrip("\b")), is_drawn_over=shown.endswith("\b"))


def read_line(text: str) -> Line:
    """The numbers of one line.

    >>> [(n.value, n.unit) for n in read_line("Epoch 3/10: acc 91.25% in 1.5s, top-5 0.99").numbers]
    [(3.0, ''), (10.0, ''), (91.25, '%'), (1.5, 's'), (0.99, '')]
    """
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    text = text.replace("\t", "    ").translate(FRAMES)
    text = R_SQUARED.sub("R2 ", text)
    if not any(map(str.isdigit, text)) and "nan" not in text.lower() and "inf" not in text.lower():
        return Line(text, ())
    text = NO_NUMBER.sub(lambda match: " " * len(match[0]), text)
    return Line(text, tuple(_numbers(text)))


def _numbers(text: str) -> Iterator[Number]:
    names = [match.span() for match in AT.finditer(text)] if "@" in text else []
    for match in NUMBER.finditer(text):
        if any(start <= match.start() < end for start, end in names):
            continue
        unit = UNIT.match(text, match.end())
        end = match.end() if unit is None else unit.end()
        if unit is None and end < len(text) and (text[end].isalpha() or text[end] == "_"):
            continue  # "2d", "1st", "4f3a": a word
        if COMPOUND.match(text, match.end()):
            continue
        name = "" if unit is None else "%" if unit["percent"] else unit["unit"] or ""
        if match["special"]:
            value, rounding, is_whole = float(match["special"].replace("−", "-")), 0.0, False
        else:
            exponent = int((match["exponent"] or "e0")[1:])
            if exponent > LARGEST_EXPONENT:
                continue
            digits = match["digits"].replace(",", "") + (match["exponent"] or "")
            value = float(match["sign"].replace("−", "-") + digits)
            decimals = len(match["digits"].partition(".")[2])
            rounding = 0.5 * 10.0 ** (exponent - decimals)
            is_whole = "." not in digits and not match["exponent"]
        yield Number(match.start(), match.end(), value, rounding, name, end, is_whole)
