"""What `--paper FOLDER` holds: tables, commands, references, checklist, figures, and a document that uses them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deviate.model.findings import Findings
from deviate.report.document import Report
from deviate.report.figures.pictures import Picture, pictures
from deviate.report.format import shorten
from deviate.report.forms.latex import label_of, packages_of, table_source
from deviate.report.forms.registry import render
from deviate.report.forms.tex import prose
from deviate.report.medium import COLUMN_IN
from deviate.report.paper.bibliography import references_source
from deviate.report.paper.checklist import checklist_source
from deviate.report.paper.macros import Macro, macros_of, macros_source

MOST_FIGURES = 48
"""Each is drawn twice, at some tenths of a second."""


@dataclass(frozen=True, slots=True)
class PaperStyle:
    """The paper's style: whether siunitx columns are used, and the width of figures."""

    has_siunitx: bool = False
    column_width_in: float = COLUMN_IN


DEFAULT = PaperStyle()


def paper_files(findings: Findings, report: Report, style: PaperStyle = DEFAULT) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file; figures are drawn one at a time."""
    drawn = pictures(report)[:MOST_FIGURES]
    macros = macros_of(findings, report)
    tables = {"table.tex": render(report, "latex", has_siunitx=style.has_siunitx), **further_tables(report)}
    texts = {
        **tables,
        "macros.tex": macros_source(macros),
        "references.bib": references_source(findings, report),
        "checklist.md": checklist_source(findings, report),
        "example.tex": example_source(report, macros, tables, drawn[:1], is_wide=style.column_width_in > TEXT_IN),
    }
    yield from ((name, text.encode()) for name, text in texts.items())
    # matplotlib takes half a second to import, which a report without figures should not wait for.
    from deviate.report.figures.write import paper_pdf, paper_svg

    for picture in drawn:
        yield f"figures/{picture.name}.pdf", paper_pdf(picture.plot, style.column_width_in)
        yield f"figures/{picture.name}.svg", paper_svg(picture.plot, style.column_width_in).encode()


def further_tables(report: Report) -> dict[str, str]:
    """Additional tables on stability by file name, where there are results."""
    tables = report.further().items()
    return {f"{name}.tex": table_source(table, f"{label_of(report)}-{name}") for name, table in tables}


# A LaTeX document that shows how to use the files of the folder; it compiles without changes.

SHOWN = ("Mean", "SD", "N")
MOST_SHOWN, MOST_SENTENCES = 4, 2
LONGEST_TITLE = 300
TEXT_IN = 4.75
"""Width of the text of `article`; figures for a wider column are shown smaller here."""


def example_source(
    report: Report, macros: Sequence[Macro], tables: Mapping[str, str], shown: Sequence[Picture], *, is_wide: bool
) -> str:
    """Sentences, tables, a figure and references, each as a paper has it.

    Args:
        tables: files with tables, that of results first. shown: the figure of the first screen, if there is one.
    """
    packages = dict.fromkeys((*(name for text in tables.values() for name in packages_of(text)), "graphicx"))
    lines = [
        "% What this folder holds, in use. Compile: pdflatex example, bibtex example, pdflatex example (twice).",
        r"\documentclass{article}",
        rf"\usepackage{{{','.join(packages)}}}",
        r"\input{macros}",
        r"\begin{document}",
        "",
        *_text(report, macros),
        "",
        *(rf"\input{{{name.removesuffix('.tex')}}}" for name in tables),
        "",
        *(line for picture in shown for line in _figure(picture, r"[width=\linewidth]" if is_wide else "")),
        "% Cites all of references.bib; in a paper, cite what you use.",
        r"\nocite{*}",
        r"\bibliographystyle{plain}",
        r"\bibliography{references}",
        "",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _text(report: Report, macros: Sequence[Macro]) -> Iterator[str]:
    yield "% Sentences to paste, with the figures of this report:"
    sentences = [macro.name for macro in macros if macro.name.endswith("Sentence")]
    yield from (rf"\{name}" for name in sentences[:MOST_SENTENCES])
    yield ""
    yield "% The same from single figures, which a new report renews:"
    bodies = {macro.name: macro.body for macro in macros}
    prefixes = [name.removesuffix("Mean") for name in bodies if name.endswith("Mean")]
    for prefix in [prefix for prefix in prefixes if all(f"{prefix}{end}" in bodies for end in SHOWN)][:MOST_SHOWN]:
        unit = rf"~\{prefix}Unit{{}}" if bodies.get(f"{prefix}Unit") else ""
        yield rf"\{prefix}Mean{{}} $\pm$ \{prefix}SD{{}}{unit} ($n = \{prefix}N$),"
    yield rf"see Table~\ref{{{label_of(report)}}}."


def _figure(picture: Picture, fitted: str) -> Iterator[str]:
    caption = f"{shorten(picture.plot.title, LONGEST_TITLE)}. {picture.plot.caption}"
    yield r"\begin{figure}"
    yield r"  \centering\emergencystretch=3em"
    yield rf"  \includegraphics{fitted}{{figures/{picture.name}.pdf}}"
    yield rf"  \caption{{{prose(caption)}}}\label{{fig:{picture.name}}}"
    yield r"\end{figure}"
    yield ""
