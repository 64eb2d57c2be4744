"""The words around each number of an output log: those before it in its line, the heading above, its column and row.

What a caption says is what the run wrote, for every number alike: which of them are results is decided elsewhere.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.series.caption import COUNT, SILENT, Caption, Form
from deviate.series.lines import Line, Number
from deviate.series.words import (
    COUNTERS,
    DATA_WORDS,
    LOSSES,
    MEASURES,
    MERITS,
    PARTS,
    SPREADS,
    TRAININGS,
    data_of,
    name_words,
    words_of,
)

MOST_LABELS = 64
"""Different integers in one place of a line up to which they may label it."""
FEWEST_COUNTED = 3
"""Different integers, each once and rising, that count and do not label."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The header above rows: each column with the places it begins and ends.

    Attributes:
        is_by_word: whether single blanks or commas divide its cells.
        is_by_class: whether its integers without a header name classes, as in scikit-learn's report.
    """

    columns: tuple[tuple[int, int, str], ...]
    has_bars: bool = False
    is_by_word: bool = False
    is_by_class: bool = False

    def columns_of(self, line: Line) -> list[int | None]:
        """Index of the column that each number of a row stands under; None for the index of a row.

        By order where the row has as many cells as the header, or one more; else by the nearest header.
        """
        cells = [match.span() for match in (WORD if self.is_by_word else CELL).finditer(line.text)]
        shift = len(cells) - len(self.columns)
        if shift in (0, 1):
            at = [
                next((index for index, (start, end) in enumerate(cells) if start <= one.start < end), 0)
                for one in line.numbers
            ]
            return [None if index < shift else index - shift for index in at]
        return [self._nearest(number) for number in line.numbers]

    def _nearest(self, number: Number) -> int | None:
        distances = [
            (max(0, start - number.end, number.start - end), min(abs(end - number.end), abs(start - number.start)))
            for start, end, _ in self.columns
        ]
        best = min(range(len(distances)), key=distances.__getitem__)
        return best if distances[best][0] <= MOST_ASIDE else None


MOST_ASIDE = 12
LONGEST_CELL = 40
"""Characters that a cell may stand beside its header."""
CELL = re.compile(r"[^\s|](?:[^\s|]| (?=[^\s|]))*")
WORD = re.compile(r"[^\s,|]+")
RULE = re.compile(r"[\s|+=_~*:-]*")
LETTERS = re.compile(r"[^\W\d_]")
PLUS_MINUS = re.compile(r"±|\+/?-|\+\s*/\s*-")
BRACKETED = re.compile(r"[\[<(]\s*([A-Za-z][\w \-/@]*?)\s*[\])>]")
OBJECT = re.compile(r"\b[A-Z]\w*\((?=\w+=)")
QUOTES = re.compile(r"""["'`{}\[\]()<>]""")
CLAUSES = re.compile(r"\s*[|;,]\s*|\s+[-–—]+\s+|\.\s+|\s{4,}|->|→|!|\*{2,}|={2,}|#{2,}")
DATA_BEHIND = re.compile(r"\s*\(\s*([A-Za-z]+)\s*\)(?=\s*(?:[,;|/]|$))")
RANGES = ("-", "–", ",", "to ", "…")
"""What stands between the ends of an interval."""
PARENTHESES = re.compile(r"\(|\)\s*[:=]|\)")
ASIDE = re.compile(r"\(([^()]*)\)(?=\s*[:=])")
"""What stands in parentheses before the sign of a value belongs to its words."""
HOW_LONG = re.compile(r"\b(?:for|over|across|after|within|in|from|last|past)\s+$", re.IGNORECASE)
COUNTED_THINGS = re.compile(r"\s+[A-Za-z]+\s*[,;\])]")
ACTIVITY = re.compile(r"\W*training\W*", re.IGNORECASE)
"""What a script does, and no data where it names no others."""
OPENED, CLOSED = re.compile(r"\s*[\[(]\s*\w"), re.compile(r"[\])]")
EPOCHS = word_set("epoch epochs ep epoche generation gen round episode")
LAST_WORD = re.compile(r"([A-Za-z][A-Za-z_]*)[\s:=#\[({.'\"]*$")


@dataclass(slots=True)
class _Slot:
    """A number of a line before its labels are known: its role, and how the words of its line stand to it."""

    role: Literal["value", "counter", "label", "size", "spread", "cell"]
    own: str = ""
    section: str = ""
    suffix: str = ""
    is_attribute: bool = False


@dataclass(slots=True)
class _Layout:
    """What all lines with the same text between their numbers have in common."""

    slots: list[_Slot]
    prefix: str
    trainings: str
    seen: dict[int, list[float]] = field(default_factory=dict)
    """Integers that may label, by slot, in order."""
    words: tuple[str, ...] = ()
    passed: int | None = None
    """The slot that counts the steps of a pass, if one does."""


@dataclass(slots=True)
class Captions:
    """Gives every number of a log its caption.

    The lines are read twice: integers that count go on rising, those that label come again.
    """

    lines: Sequence[Line]
    _layouts: dict[tuple[str, ...], _Layout] = field(default_factory=dict)
    _has_data: bool = False
    """Whether a line without numbers names data that is held out, so that `Training:` names data too."""
    _passes: dict[tuple[str, ...], tuple[float, bool]] = field(default_factory=dict)
    """By the words of a line: how far a pass has come, and whether one began again."""

    def __post_init__(self) -> None:
        self._has_data = any(_data_of_heading(line) in ("test", "validation") for line in self.lines)
        for line in self.lines:
            if line.numbers and not line.is_drawn_over:
                layout = self._layout(line)
                if layout.passed is not None:
                    count = line.numbers[layout.passed].value
                    last, is_begun_again = self._passes.get(layout.words, (-math.inf, False))
                    self._passes[layout.words] = count, is_begun_again or count < last
                for index, slot in enumerate(layout.slots):
                    if slot.role == "label":
                        values = layout.seen.setdefault(index, [])
                        if len(values) <= 4 * MOST_LABELS:
                            values.append(line.numbers[index].value)

    def __iter__(self) -> Iterator[tuple[Caption, ...]]:
        heading = _Heading()
        table: _Table | None = None
        index_name = False
        for place, line in enumerate(self.lines):
            if line.is_drawn_over:
                yield (SILENT,) * len(line.numbers)
                continue
            if not line.numbers:
                header = _header(line, self._first_row(place))
                if header is not None:
                    table, index_name = header, False
                elif not RULE.fullmatch(line.text):
                    is_name = table is not None and not index_name and len(CELL.findall(line.text)) == 1
                    table, index_name = (table, True) if is_name else (None, False)
                if self._has_data or not ACTIVITY.fullmatch(line.text):
                    heading.read(line, is_table=table is not None)
                yield ()
                continue
            row = _read_row(line, table) if table is not None else None
            if row is None:
                table = None
                row = self._read(line)
            above = heading.above(line, counts=row[0].form == "counter" and not row[0].is_attribute)
            if row[0].form == "cell" and {one.form for one in row[1:]} <= {"spread"} and words_of(above) & MEASURES:
                row = [replace(one, form="value" if one is row[0] else "spread", own=above) for one in row]
            elif above:
                row = [replace(one, heading=above) for one in row]
            yield tuple(row)

    def _first_row(self, place: int) -> Line | None:
        """The next line with numbers, if at most three lines stand before it."""
        near = self.lines[place + 1 : place + 5]
        return next((line for line in near if line.numbers and not line.is_drawn_over), None)

    def _read(self, line: Line) -> list[Caption]:
        layout = self._layout(line)
        captions = []
        _, is_progress = self._passes.get(layout.words, (0.0, False))
        labels = {
            index: f"{line.numbers[index].value:g}"
            for index, slot in enumerate(layout.slots)
            if slot.role == "label" and _may_label(layout, index, slot)
        }
        for slot, number in zip(layout.slots, line.numbers, strict=True):
            form: Form = "counter" if slot.role in ("counter", "label") else slot.role  # type: ignore[assignment]
            own, section = (_fill(text, labels) for text in (slot.own, slot.section))
            captions.append(
                Caption(
                    own,
                    form,
                    section,
                    prefix=_fill(layout.prefix, labels),
                    trainings=layout.trainings,
                    unit=number.unit,
                    suffix=slot.suffix,
                    is_whole=number.is_whole,
                    is_attribute=slot.is_attribute,
                    is_progress=is_progress,
                )
            )
        return captions

    def _layout(self, line: Line) -> _Layout:
        edges = [0, *(edge for number in line.numbers for edge in (number.start, number.after)), len(line.text)]
        pieces = tuple(line.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
        key = (*pieces, "".join("i" if number.is_whole else "f" for number in line.numbers))
        if key not in self._layouts:
            self._layouts[key] = _lay_out(pieces, line.numbers)
        return self._layouts[key]


MARK = "\x00%d\x00"
MARKED = re.compile("\x00(\\d+)\x00")


def _fill(text: str, labels: dict[int, str]) -> str:
    """The text with its labels; what is no label leaves nothing."""
    if "\x00" not in text:
        return text
    return " ".join(MARKED.sub(lambda match: labels.get(int(match[1]), " "), text).split())


def _may_label(layout: _Layout, index: int, slot: _Slot) -> bool:
    """Whether integers in a place of a line label it: few, and not counted up once over the run."""
    values = layout.seen[index]
    distinct = set(values)
    if len(distinct) > MOST_LABELS:
        return False
    if len(distinct) < FEWEST_COUNTED or set(split_identifier(slot.own)) & PARTS:
        return True
    is_counted = len(distinct) == len(values) and all(a < b for a, b in pairwise(values))
    return not is_counted


@dataclass(frozen=True, slots=True)
class _Clause:
    """The words before a number.

    Attributes:
        carried: a word for the data, which holds for what follows in the line too.
        has_data: whether its own words name the data. closes: whether a mapping ends before it.
    """

    own: str
    section: str
    carried: str
    has_data: bool
    closes: bool


@dataclass(slots=True)
class _Words:
    """The words of a line that hold for its next number.

    Attributes:
        own: of the value before. section: under which the line stands. carried: a word for the data.
        around: of the value before brackets that are open.
    """

    own: str = ""
    section: str = ""
    carried: str = ""
    around: str = ""

    def take(self, found: _Clause) -> str:
        """Take over the words of a number; gives its section. Words for the data go before those of others."""
        if found.closes:
            self.section = self.carried = ""
        if found.section:
            self.section, self.carried = found.section, ""
        is_measure = bool(words_of(found.own) & (MERITS | LOSSES))
        self.own = found.own if is_measure else f"{self.around} {found.own}".strip()
        is_of_other = found.has_data and not found.section and bool(data_of(self.section))
        section = self.section if found.has_data else self.carried or self.section
        self.carried = found.carried or self.carried
        return "" if is_of_other else section


def _lay_out(pieces: Sequence[str], numbers: Sequence[Number]) -> _Layout:
    pieces = _words_before(pieces)
    roles = _roles(pieces, numbers)
    pieces, data = _take_data_behind(pieces)
    slots: list[_Slot] = []
    prefix: list[str] = []
    trainings = ""
    counts_trainings = True
    words, waiting, n_bare = _Words(), "", 0
    for index, role in enumerate(roles):
        waiting += pieces[index]
        if role == "label":
            slots.append(_Slot("label", own=waiting))
            waiting += MARK % index
            continue
        if role == "part":  # "F1 at threshold 0.30: 0.76": a name that has it would be another one in the next run
            slots.append(_Slot("size"))
            continue
        if role == "counter":
            before = split_identifier(waiting)
            counted = [word for word in before if word in COUNTERS | TRAININGS]
            counts_trainings = counts_trainings and not COUNTERS.intersection(counted)
            trainings = next((word for word in counted if word in TRAININGS), trainings)
            prefix += [word for word in before if word not in COUNTERS | TRAININGS and len(word) > 1]
            slots.append(_Slot("counter"))
        elif role == "size":
            slots.append(_Slot("size", words.own, words.section))
        else:
            found = _clause(waiting)
            words.around = _around_brackets(waiting, slots, words)
            if found is not None:
                section = words.take(found)
                slots.append(_Slot("value", words.own, data.get(index, section)))
                n_bare = 0
            elif index in data:
                slots.append(_Slot("value", words.own, data[index]))
            else:
                after = pieces[index + 1]
                slots.append(_behind(waiting, numbers[index], after, slots, words, " ".join(prefix)))
                n_bare += slots[-1].role == "cell"
                if n_bare == 2:
                    _make_cells(slots, keeps_first=pieces[index].strip() != pieces[index - 1].strip())
        waiting = ""
    for slot, is_attribute in zip(slots, _attributes(pieces), strict=True):
        slot.is_attribute = is_attribute
    beside = " ".join(dict.fromkeys(name_words(" ".join(prefix)))) if prefix else ""
    _name_data(slots, pieces[-1])
    skeleton = tuple(" ".join(text.split()) for text in pieces)
    return _Layout(slots, beside, trainings if counts_trainings else "", words=skeleton, passed=_passed(pieces, roles))


def _words_before(pieces: Sequence[str]) -> Sequence[str]:
    """The texts before each number, where all words of a line stand behind the numbers: `0.93 accuracy, 0.51 loss`."""
    is_behind = not LETTERS.search(pieces[0]) and all(
        text.lstrip()[:1].isalpha() and words_of(text) & (MEASURES | COUNTERS) for text in pieces[1:]
    )
    return [*pieces[1:], ""] if is_behind else pieces


def _name_data(slots: Sequence[_Slot], behind: str) -> None:
    """A word for the data alone behind all numbers of a line is of all of them: `WER 4.4 [226 / 512] test_clean`."""
    last = re.split(r"[\[\](){},;|]", behind.rstrip(" ])"))[-1].strip()
    if data_of(last) and len(last.split()) == 1:
        for slot in slots:
            slot.section = slot.section or last


def _around_brackets(text: str, slots: Sequence[_Slot], words: _Words) -> str:
    """The words of the value that stands before the open brackets: `acc 0.91 (best 0.93)`."""
    if slots and slots[-1].role == "value" and OPENED.match(text):
        return words.own
    return "" if CLOSED.search(text) else words.around


def _passed(pieces: Sequence[str], roles: Sequence[str]) -> int | None:
    """The number that counts the steps of a pass through data: `[ 5/8]`, and not `Epoch 5/8`."""
    for index, (role, further) in enumerate(pairwise(roles)):
        word = LAST_WORD.search(pieces[index])
        if role == further == "counter" and pieces[index + 1].strip() in ("/", "of"):
            return None if word and set(split_identifier(word[1])) & EPOCHS else index
    return None


def _take_data_behind(pieces: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """The texts without words for the data in parentheses behind a number, and these words by number: `3.2 (train)`."""
    texts, data = list(pieces), {}
    for index, text in enumerate(pieces[1:]):
        match = DATA_BEHIND.match(text)
        if match and match[1].lower() in DATA_WORDS:
            data[index] = match[1]
            texts[index + 1] = text[match.end() :]
    return texts, data


def _attributes(pieces: Sequence[str]) -> Iterator[bool]:
    """Whether each number of a line is an attribute of an object that is written whole."""
    depth = 0
    for before in pieces[:-1]:
        opened = None if depth else OBJECT.search(before)
        depth += 1 if opened else 0
        for char in before[opened.end() :] if opened else before if depth else "":
            depth += {"(": 1, ")": -1}.get(char, 0) if depth else 0
        yield depth > 0


def _make_cells(slots: list[_Slot], *, keeps_first: bool) -> None:
    """A third number in a row without words: all of the row are cells.

    Args:
        keeps_first: whether the first number stands apart from the others: `BLEU = 27.3 58.1/32.0/20.9`.
    """
    for slot in reversed(slots):
        slot_is_first = slot.role == "value"
        if slot.role == "cell" or (slot_is_first and not keeps_first):
            slot.role = "cell"
        if slot_is_first:
            break


def _behind(text: str, number: Number, after: str, slots: Sequence[_Slot], words: _Words, prefix: str) -> _Slot:
    """A number without words of its own: by what stands between it and the one before.

    Args:
        after: the text behind it. prefix: the words of the line before its counters.
    """
    own, section = words.own, words.carried or words.section
    before = next((slot for slot in reversed(slots) if slot.role != "label"), None)
    if before is None or before.role == "counter":
        if own or "\x00" in text:
            return _Slot("value", _clean(text), section)
        return _Slot("value", prefix) if prefix and ":" in text else _Slot("cell")  # "Loss after epoch 3: 0.43"
    if PLUS_MINUS.search(text):
        return _Slot("spread", own, section, suffix="sd")
    if text.strip() == "/" and before.role == "value" and not number.is_whole:
        return _Slot("value", own, section, suffix="second")  # "D(G(z)): 0.47 / 0.46"
    is_share = before.role == "size" and text.strip() == "="
    if is_share or ("(" in text and "[" not in text):
        if before.role == "size":  # the share of a count in its size is the result, and not the count
            for slot in slots:
                if slot.role == "value" and slot.own == own:
                    slot.suffix, section = COUNT, slot.section
            return _Slot("value", own, section)
        if number.is_whole and LETTERS.match(after.lstrip()):
            return _Slot("size", own, section)  # "loss 0.61 (400 samples)"
        if before.role == "value" and not after.strip().startswith(RANGES):
            return _Slot("value", own, section, suffix="avg")
    return _Slot("cell", own, section)


def _roles(pieces: Sequence[str], numbers: Sequence[Number]) -> list[str]:
    roles: list[str] = []
    inside = _in_parentheses(pieces)
    for index, number in enumerate(numbers):
        before, after = pieces[index], pieces[index + 1]
        if index in inside:
            roles.append("label")
            continue
        is_last = index + 1 == len(numbers)
        word = LAST_WORD.search(before)
        words = frozenset(split_identifier(word[1])) if word else frozenset()
        follows = before.strip()
        is_inside = not is_last and LETTERS.search(before) and after.strip() in (":", "=")
        if not number.is_whole and not number.unit and is_inside:
            roles.append("part")
        elif not number.is_whole or number.unit:
            roles.append("value")
        elif follows in ("/", "of", "out of") or (follows == "" and roles and roles[-1] == "counter" and "/" in before):
            roles.append("counter" if roles and roles[-1] == "counter" else "size")
        elif words & (COUNTERS | TRAININGS):
            roles.append("counter")
        elif after.lstrip()[:1] == "/" and not is_last:
            roles.append("value" if before.rstrip()[-1:] in (":", "=") and LETTERS.search(before) else "counter")
        elif words & MEASURES or before.rstrip()[-1:] in (":", "="):
            roles.append("value")
        elif COUNTED_THINGS.match(after) or (is_last and HOW_LONG.search(before) and LETTERS.match(after.lstrip())):
            roles.append("size")
        elif not is_last and LETTERS.search(before) and _closes_label(after, words):
            roles.append("label")
        elif LETTERS.search(after) and after[:1] in (" ", "-", "_") and (not is_last or re.search("[:=]", after)):
            roles.append("label" if LETTERS.search(before) else "counter")
        else:
            roles.append("value")
    return roles


def _closes_label(after: str, words: frozenset[str]) -> bool:
    """Whether an integer behind some words is a part of a name, by what follows: `client 3: loss 0.61`."""
    return after.strip() in (":", "=", "):", "]:", ")", "]") or bool(
        words & PARTS and after.lstrip().startswith((":", "|", "]", ")"))
    )


def _in_parentheses(pieces: Sequence[str]) -> set[int]:
    """Numbers in parentheses that belong to the words of the number behind: `accuracy (PGD, eps=0.1): 0.56`."""
    inside: set[int] = set()
    opened: list[int] = []
    depth = 0
    for index, text in enumerate(pieces[:-1]):
        for match in PARENTHESES.finditer(text):
            if match[0] == "(":
                depth += 1
            elif depth:
                depth -= 1
                if not depth:
                    is_of_next = match[0] != ")" and not text[match.end() :].strip()
                    inside.update(opened if is_of_next else ())
                    opened = []
        if depth:
            opened.append(index)
    return inside


def _clause(text: str) -> _Clause | None:
    """The words of a number in the text since the number before; None where there are none."""
    closes = "}" in text
    text = text.rpartition("}")[2] if closes else text
    text = ASIDE.sub(lambda match: " " + re.sub("[,;|=:]", " ", match[1]) + " ", text)
    text = QUOTES.sub(" ", BRACKETED.sub(r"\1: ", text))
    clauses = [clause for clause in CLAUSES.split(text.strip()) if LETTERS.search(clause)]
    if not clauses:
        return None
    *earlier, clause = clauses
    is_glued = re.search(r"\S=\s*$", clause) is not None
    parts = [part.strip() for part in re.split(r"\s*[:=]+(?:\s+|$)|(?<=\w)=", clause) if LETTERS.search(part)]
    if not parts:
        return None
    *around, own = parts
    if is_glued and " " in own:
        rest, _, own = own.rpartition(" ")
        around.append(rest)
    around += [one for one in earlier if set(split_identifier(one)) & DATA_WORDS and not around]
    words = own.lower().split()
    free = [word for word in words[:1] if word.strip(":-") in DATA_WORDS]
    return _Clause(
        _clean(own),
        _clean(" ".join(around)),
        free[0] if free and len(words) > 1 else "",
        has_data=bool(data_of(own)),
        closes=closes,
    )


def _clean(text: str) -> str:
    return " ".join(QUOTES.sub(" ", text).strip(" \t:=-–—.,;|*#>/").split())


# Headings.


MOST_BELOW = 12
"""Lines that a heading holds for, where they are not indented."""


@dataclass(slots=True)
class _Heading:
    """The heading that the lines below it stand under.

    These are lines that are indented; and where it ends in a colon or names data, those that follow it, until a blank
    line or one that counts steps.
    """

    text: str = ""
    indent: int = 0
    is_marked: bool = False
    n_below: int = 0

    def read(self, line: Line, *, is_table: bool) -> None:
        """Take note of a line without numbers."""
        stripped = line.text.strip()
        if not stripped or stripped[0] == "}":
            if self.n_below:
                self.text = ""
            return
        if is_table or not LETTERS.search(stripped):
            self.is_marked = self.is_marked or (bool(self.text) and not self.n_below)  # it is underlined
            return
        has_data = bool(_data_of_heading(line))
        self.text = _clean(re.sub("[{=#*>]+|-{2,}", " ", stripped))
        self.is_marked = has_data or stripped[-1] in ":{" or bool(MARKED_HEADING.match(stripped))
        self.indent = line.indent
        self.n_below = 0

    def above(self, line: Line, *, counts: bool) -> str:
        """The heading of a line with numbers; empty if it stands under none.

        Args:
            counts: whether the line begins with a counter.
        """
        is_below = line.indent > self.indent or (self.is_marked and not counts and self.n_below < MOST_BELOW)
        if not self.text or not is_below:
            self.text = ""
            return ""
        self.n_below += 1
        return " ".join(name_words(self.text))


def _data_of_heading(line: Line) -> str:
    """The data that a short line without numbers names."""
    return "" if line.numbers or len(line.text.split()) > MOST_HEADING_WORDS else data_of(line.text)


MOST_HEADING_WORDS = 4
MARKED_HEADING = re.compile(r"[=#*>-]{2,}|[A-Za-z][\w ]{0,20}:\s+\S+(?:\s\S+)?$")
"""Headings that are drawn, or that name something: `Model: small`."""

# Tables.


def _header(line: Line, row: Line | None) -> _Table | None:
    """The columns of a line without numbers that heads a table: two cells or more, each a name.

    Args:
        row: the next line with numbers; cells that a single blank or a comma divides must be as many as its cells.
    """
    text = line.text.rstrip()
    if row is None or re.search(r"[:=](?:\s|$)", text):
        return None
    cells = [(match.start(), match.end(), match[0]) for match in CELL.finditer(text) if LETTERS.search(match[0])]
    is_by_word = len(cells) < 2
    if is_by_word:
        cells = [(match.start(), match.end(), match[0]) for match in WORD.finditer(text)]
        if len(cells) != len(WORD.findall(row.text)) or len(row.numbers) < 2 or row.text.lstrip()[0] in "[(":
            return None
    if len(cells) < 2 or any(len(cell) > LONGEST_CELL or not LETTERS.search(cell) for _, _, cell in cells):
        return None
    return _Table(tuple(cells), "|" in text, is_by_word, bool(frozenset(text.lower().split()) & {"support"}))


def _read_row(line: Line, table: _Table) -> list[Caption] | None:
    """The captions of a row under a header; None where the line is no row of it."""
    head = line.text[: line.numbers[0].start]
    between = (line.text[one.after : other.start] for one, other in pairwise(line.numbers))
    is_spread = [False, *(PLUS_MINUS.search(text) is not None for text in between)]
    n_cells = is_spread.count(False)
    if re.search("[:=]", head) or n_cells > len(table.columns) + 1 or ("|" in line.text and not table.has_bars):
        return None
    if n_cells < 2 and len(table.columns) > 2:
        return None
    cells = [match for match in (WORD if table.is_by_word else CELL).finditer(line.text) if LETTERS.search(match[0])]
    if any(re.search("[:=]", cell[0]) for cell in cells) or len(cells) > len(table.columns):
        return None
    row = " ".join(
        cell[0].strip()
        for cell in cells
        if not any(n.start >= cell.start() and n.end <= cell.end() for n in line.numbers)
    )
    columns = table.columns_of(line)
    of_cells = [column for column, is_of_cell in zip(columns, is_spread, strict=True) if not is_of_cell]
    if len(set(of_cells)) < n_cells:
        return None
    captions = []
    if columns[0] is None and (table.is_by_class or line.numbers[0].unit == "%"):
        row = row or f"{line.numbers[0].value:g}"
    for number, place, is_sd in zip(line.numbers, columns, is_spread, strict=True):
        column = "" if place is None else _clean(table.columns[place][2])
        words = frozenset(split_identifier(column))
        is_counter = place is None or (number.is_whole and bool(words & (COUNTERS | TRAININGS)))
        captions.append(
            Caption(
                "",
                "counter" if is_counter else "spread" if is_sd or words & SPREADS else "value",
                row=_clean(row),
                column=column,
                trainings=_training_column(table),
                unit=number.unit,
                suffix="sd" if is_sd else "",
                is_whole=number.is_whole,
            )
        )
    return captions


def _training_column(table: _Table) -> str:
    """The column that counts trainings, where the first one does."""
    words = split_identifier(table.columns[0][2])
    return next((word for word in words if word in TRAININGS), "")


def captions_of(lines: Iterable[Line]) -> list[tuple[Caption, ...]]:
    """The captions of the numbers of each line."""
    return list(Captions(list(lines)))
