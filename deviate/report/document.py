"""The document model: sections of sentences, tables and figures, in which numbers are still numbers.

`parts/` builds a document from findings, and `forms/` renders it without access to anything else. Numbers are unrounded
and carry the number of decimals to show, so every form rounds only once and in the same way, and LaTeX can typeset
numbers without parsing text. A missing cell, figure or section is replaced by an `Absent` with the reason.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from deviate.report.format import clean
from deviate.report.numbers import Piece, Pieces, text_of

if TYPE_CHECKING:  # figures, which most verbs have none of
    from deviate.report.plots import EstimationPlot, Plot

LONGEST_NUMBER = 40
"""Characters of a cell that is aligned as a number: a test with its remarks is a sentence."""
NOTHING = "—"
"""What stands for an absent cell in a table whose reasons are footnotes."""

T = TypeVar("T")
Tone = Literal["good", "bad", "neutral", "warning"]


@dataclass(frozen=True, slots=True)
class Absent:
    """A missing value, with the reason.

    Attributes:
        marks: numbers of the footnotes with the reason, in a table that has its reasons there.
    """

    value: ClassVar[None] = None
    """Missing values sort like words."""
    is_number: ClassVar[bool] = False

    reason: str
    marks: tuple[int, ...] = field(default=(), kw_only=True)

    @property
    def text(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class Cell:
    """Words and numbers in reading order: `93.41 ± 0.22 %`, `t(7.8) = 0.41, p = 0.695`, `bitwise equal`.

    Attributes:
        value: the number by which a table is sorted; None for words.
        marks: numbers of the footnotes that belong to it, from 1.
        is_best: better than every other experiment of this row, by adjusted p.
        tone: how a terminal colours it; None for no colour.
    """

    pieces: Pieces
    value: float | None = field(default=None, compare=False, kw_only=True)
    marks: tuple[int, ...] = field(default=(), kw_only=True)
    is_best: bool = field(default=False, kw_only=True)
    tone: Tone | None = field(default=None, kw_only=True)

    @property
    def text(self) -> str:
        return text_of(self.pieces)

    @property
    def is_number(self) -> bool:
        """Whether the cell is aligned as a number."""
        return self.value is not None and len(self.text) <= LONGEST_NUMBER


Entry = Cell | Absent
"""What stands in the place of a cell."""


def is_words(entry: Entry) -> bool:
    """Whether the cell contains only words."""
    return isinstance(entry, Cell) and bool(entry.pieces) and all(isinstance(piece, str) for piece in entry.pieces)


def cell(*pieces: Piece, value: float | None = None) -> Cell:
    return Cell(pieces, value=value)


@dataclass(frozen=True, slots=True)
class Fact:
    """A label with a value, for provenance or a table with one column.

    Attributes:
        is_code: a command or a path, which is not broken, so that it can be copied.
        tone: how a terminal colours the label; None for no colour.
    """

    label: str
    cell: Entry
    is_code: bool = False
    tone: Tone | None = None


def fact(label: str, text: str, *, is_code: bool = False, tone: Tone | None = None) -> Fact:
    """A label with foreign text."""
    return Fact(label, cell(clean(text)), is_code, tone)


def labelled(label: str, texts: Iterable[str]) -> Iterator[Fact]:
    """Texts below each other, the first beside a label."""
    for index, text in enumerate(texts):
        yield fact("" if index else label, text)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table; the cells follow the columns.

    Attributes:
        note: stands below the row. method: how the quantity of the row is computed.
        group: what rows that follow each other have in common; empty for none.
        begins: the row is the first of several about one metric. is_heading: its label stands alone above others.
        points: of every run, which a page draws small beside the label; None for none.
    """

    label: str
    cells: tuple[Entry, ...]
    note: str = ""
    method: str = ""
    group: str = ""
    begins: bool = True
    is_heading: bool = False
    points: "EstimationPlot | None" = None


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table.

    Attributes:
        columns: heads of the labels and of the cells.
        kind: `grid` for labels with cells; `quantities` where each row says its method; `matrix` for all pairs.
        footnotes: the first is number 1.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    kind: Literal["grid", "quantities", "matrix"] = "grid"
    footnotes: tuple[str, ...] = ()


def quantities(caption: str, columns: Sequence[str], rows: Sequence[TableRow]) -> DocumentTable:
    """A table with a row per quantity, which states its method, and a column per experiment."""
    return DocumentTable(caption, ("Quantity", *columns, "how"), tuple(rows), kind="quantities")


def listing(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Entry]],
    notes: Iterable[str] = itertools.repeat(""),
    caption: str = "",
) -> DocumentTable:
    """A table of foreign texts, of which the first of each row is its label; with a note for each row."""
    texts = ([cell(clean(entry)) if isinstance(entry, str) else entry for entry in row] for row in rows)
    labelled_rows = (
        TableRow(first.text, tuple(rest), note=note) for (first, *rest), note in zip(texts, notes, strict=False)
    )
    return DocumentTable(caption, tuple(columns), tuple(labelled_rows))


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A figure with its caption; the title is set apart where it is not part of the caption."""

    plot: "Plot"
    caption: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    sentences: tuple[str, ...]
    kind: Literal["", "limits", "footnotes"] = ""


@dataclass(frozen=True, slots=True)
class Lead:
    """A line with a word that stands out, as a verdict does.

    Attributes:
        label: stands before the word. rest: goes on in the same line.
    """

    label: str
    word: str
    tone: Tone
    rest: str


@dataclass(frozen=True, slots=True)
class Code:
    """Code or a command, to be copied."""

    text: str


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    """A line of a source file; `is_marked` marks the line that the excerpt is about."""

    number: str
    text: str
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An excerpt from one of the user's files."""

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
    """The result on one screen, beginning with a word or two that state it.

    Attributes:
        word: in one or two words. rest: goes on in the same line.
        n_lines: that it may take in a terminal, by default those of a screen of 24 without one for the page.
    """

    tone: Tone
    word: str
    rest: str
    points: tuple[Point, ...]
    n_lines: int = 23


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed lines of one file, or of all files in the case of uncommitted changes.

    Attributes:
        kinds: of each line: `add`, `remove`, `place` or `same`.
        rest: where the whole is; empty where the lines are all.
    """

    name: str
    summary: str
    lines: tuple[str, ...]
    kinds: tuple[str, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that did not complete.

    Attributes:
        last: the last value that it recorded, in a sentence; empty where it recorded none.
        log: empty for imported runs, which have no logs.
    """

    experiment: str
    run: str
    outcome: str
    reason: str
    last: str
    log: str
    stderr: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One metric of one experiment in a line: `93.41 ± 0.22 %`, then interval, SD interval and n.

    Attributes:
        remarks: on the metric, whatever the runs: other names of it, and fixed functions of it.
    """

    label: str
    value: str
    details: tuple[str, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
    """Summary of one experiment: its primary metric, or the first few metrics if there is none."""

    role: str
    label: str
    state: tuple[str, ...]
    lines: tuple[SummaryLine, ...]
    more: str


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """The verdict on one candidate.

    Attributes:
        statement: the answer: who is better, by how much, with interval, p and number of runs.
        paste: the sentence to paste into a paper.
    """

    candidate: str
    baseline: str
    word: str
    tone: Tone
    statement: str
    tests: tuple[str, ...]
    spread: str
    detectable: str
    reason: str
    paste: str


@dataclass(frozen=True, slots=True)
class MetricPart:
    """One metric: its figures, and every quantity of it.

    Attributes:
        key: its name in the findings.
        is_result: a quality of the model; else a time, a speed, a setting or a counter.
        quantities: its descriptions, comparisons and the shape of its scores.
    """

    key: str
    name: str
    is_primary: bool
    is_result: bool
    quantities: "Section"
    estimation: ReportFigure | Absent
    curve: ReportFigure | Absent


@dataclass(frozen=True, slots=True)
class Quote:
    """The result in a sentence, for pasting."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A list of labels with values."""

    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Content that is folded away below a name."""

    name: str
    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document, or of another section.

    Attributes:
        key: its anchor.
        is_folded: only a full page has it. is_primary: it is about the primary metric.
        is_rest: a page folds it away, below the others.
    """

    key: str
    heading: str
    blocks: "tuple[Block, ...]"
    is_folded: bool = False
    is_primary: bool = False
    is_rest: bool = False

    def of(self, kind: type[T]) -> tuple[T, ...]:
        """Blocks of one type."""
        return tuple(block for block in self.blocks if isinstance(block, kind))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why the section is empty; no reasons if it is not."""
        return tuple(block.reason for block in self.of(Absent))

    @property
    def tables(self) -> tuple[DocumentTable, ...]:
        return self.of(DocumentTable)

    @property
    def figures(self) -> tuple[ReportFigure, ...]:
        return self.of(ReportFigure)

    @property
    def items(self) -> tuple[str, ...]:
        """Sentences of lists, except footnotes."""
        return tuple(text for block in self.of(Items) if block.kind != "footnotes" for text in block.sentences)

    @property
    def facts(self) -> tuple[Fact, ...]:
        return tuple(fact for block in self.of(Facts) for fact in block.facts)

    @property
    def footnotes(self) -> tuple[str, ...]:
        return tuple(text for block in self.of(Items) if block.kind == "footnotes" for text in block.sentences)

    @property
    def parts(self) -> "tuple[Section, ...]":
        return self.of(Section)


Block = (
    str
    | Absent
    | Items
    | DocumentTable
    | ReportFigure
    | Lead
    | Code
    | Excerpt
    | Remark
    | Quote
    | Changes
    | Failure
    | Facts
    | Fold
    | Section
)
"""What a section is made of; text is a paragraph. Figures that follow each other stand beside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document.

    Attributes:
        answer: what a terminal shows of it and every form shows first; None where the first table is the result.
        paste: the result in sentences, with every number of the first table.
        warnings: each with what to do.
        notes: the warnings that ask for nothing.
        footnotes: how the numbers were computed.
        facts: provenance.
        brief: what a terminal shows in place of the sections, where it has no room for them.
        data: what a program reads of it as JSON, unrounded, made when it is asked for; that of a report takes
            `without_drawn`, for a page.
        rows: heads, and a row each, of the values in long form, for CSV.
    """

    sections: tuple[Section, ...]
    title: str = ""
    subtitle: str = ""
    paste: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    brief: tuple[Section, ...] = ()
    data: Callable[..., object] = dict
    rows: Callable[[], Iterable[Sequence[object]]] = tuple
    answer: Answer | None = None


def paragraph(*blocks: Block) -> Section:
    """Blocks without a heading."""
    return Section("", "", blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Document):
    """The report of experiments: a document with verdicts, and what a page or a comment has room for.

    Attributes:
        result: the figures that answer where nothing is compared: the primary metric of an experiment, or its spread in
            each variant; None without a primary metric.
        primary: why the primary metric is the primary one, in a sentence; empty where there is none.
        verdicts: one per candidate; empty for a single experiment or without a primary metric (then see `no_verdict`).
        tasks, stability: sentences.
        results: the table of results, of the metrics of these names or of all. further: other tables.
    """

    experiments: tuple[ExperimentSummary, ...]
    candidates: tuple[str, ...]
    verdicts: tuple[CandidateVerdict, ...]
    no_verdict: str
    result: SummaryLine | None
    primary: str
    metrics: tuple[MetricPart, ...]
    tasks: tuple[str, ...]
    stability: tuple[str, ...]
    results: Callable[..., DocumentTable]
    further: Callable[[], dict[str, DocumentTable]]

    def section(self, key: str) -> Section | None:
        return next((section for section in self.sections if section.key == key), None)

    def said(self, key: str) -> tuple[str, ...]:
        """The sentences of lists in a section; none where the report has no such section."""
        section = self.section(key)
        return section.items if section else ()

    @property
    def main_figure(self) -> ReportFigure | None:
        """The scores that stand on the first screen: of the primary metric, else of the first one that has a plot."""
        metrics = sorted(self.metrics, key=lambda metric: not metric.is_primary)
        return next((metric.estimation for metric in metrics if isinstance(metric.estimation, ReportFigure)), None)


CaseKind = Literal["metric", "completion", "control", "records"]
CaseOutcome = Literal["passed", "failed", "undecided", "error", "absent"]
"""`error`: it could not be judged, for runs are missing; `absent`: there is nothing to judge, which is no failure."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a check and its answer.

    Attributes:
        subject: the candidate, or the experiment that it is about.
        name: what is asked, as the name of a test case: "accuracy not worse by more than 0.002".
        question: what the answer follows, as "accuracy of new against base". word: the answer. found: its numbers.
        figures: label and text of each, for a table: difference, interval, bound, margin, n.
        reason: why that answer. advice: what to do; empty where nothing is to be done.
        fails: whether it makes the check fail.
        file, line: where the metric is reported; empty and 0 where that is not known.
    """

    kind: CaseKind
    subject: str
    name: str
    outcome: CaseOutcome
    question: str
    word: str
    reason: str
    fails: bool
    found: str = ""
    figures: tuple[tuple[str, str], ...] = ()
    advice: str = ""
    file: str = ""
    line: int = 0

    @property
    def headline(self) -> str:
        """The answer with its numbers, in a line."""
        return ", ".join(filter(None, (f"{self.question}: {self.word}", self.found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Document):
    """A check: a document with cases.

    Attributes:
        word: the most serious answer; result: it in a sentence, with side, metric and size, or why runs failed.
        began: when the last run began, in seconds since the epoch.
        report: what `deviate compare` would say of the same runs.
    """

    word: str
    code: int
    result: str
    cases: tuple[Case, ...]
    began: float
    report: Report


def check_of(document: Document) -> Check:
    """The document as a `Check`, for forms that support only checks."""
    if not isinstance(document, Check):
        raise TypeError("only a check has this form")
    return document
