"""What a sheet answers on one screen, and the parts behind an answer: code, remarks with code, lines of a file."""

from dataclasses import dataclass

from deviate.report.document import Tone


@dataclass(frozen=True, slots=True)
class Point:
    """A labelled line of an answer.

    Attributes:
        text: words, or a place in the program; may be empty where the code says all.
        code: as it stands in the program, or as it is to be copied.
        is_command: whether the code is for a terminal.
    """

    label: str
    text: str
    code: str = ""
    is_command: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, the first words saying it all.

    Attributes:
        word: in one or two words. rest: goes on in the same line.
    """

    tone: Tone
    word: str
    rest: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    """A line of a file; `is_meant` where the excerpt is about it."""

    number: str
    text: str
    is_meant: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file of the user's, under what they show."""

    caption: str
    lines: tuple[ExcerptLine, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A titled part of a section.

    Attributes:
        label: how it is to be taken, in a word.
        sentences: what there is to say. codes: to copy, each by itself. source: where it is documented.
    """

    title: str
    label: str
    sentences: tuple[str, ...]
    codes: tuple[str, ...] = ()
    source: str = ""
