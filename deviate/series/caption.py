"""What the output says of a number: a caption. Reading it needs no patterns of lines, so what only lists is quick."""

from dataclasses import dataclass
from typing import Literal

Form = Literal["value", "counter", "size", "spread", "cell"]
"""What a number is by how it is written: a value with words; one that counts steps; the size of what the number before
it counts; the spread of the number before it; one of many in a row without words of its own."""
COUNT = "count"


@dataclass(frozen=True, slots=True)
class Caption:
    """What the output says of a number.

    Attributes:
        own: the words before it, as they are written; section: the words of the line under which these stand.
        heading: the line above, without numbers of its own, under which the line stands.
        row, column: of a table; empty elsewhere. prefix: other words of the line, before all of its numbers.
        trainings: the word by which the line counts trainings ("fold"), if it does.
        suffix: "avg" of a mean in parentheses behind a value, "sd" of a spread, "count" of what a share is of, "second"
            of two behind the same words.
        is_attribute: whether it is one of an object that is written whole: `Adam(lr=0.1)`.
        is_progress: whether its line tells how far a pass has come, again and again: `Test: [5/8] Acc 87.5`.
    """

    own: str
    form: Form = "value"
    section: str = ""
    heading: str = ""
    row: str = ""
    column: str = ""
    prefix: str = ""
    trainings: str = ""
    unit: str = ""
    suffix: str = ""
    is_whole: bool = False
    is_attribute: bool = False
    is_progress: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """What tells the numbers of one stream from all others."""
        return (self.heading, self.prefix, self.section, self.own, self.row, self.column, self.suffix)

    @property
    def has_words(self) -> bool:
        """Whether the output says anything of the number itself."""
        return bool(self.own or self.row or self.column)

    @property
    def text(self) -> str:
        """All words that say what is measured, in reading order."""
        parts = (self.heading, self.prefix, self.section, self.own, self.row, self.column)
        return " ".join(part for part in parts if part)


SILENT = Caption("", "size")
"""Of a number that no reader saw: it was drawn over, or its line was never written."""
