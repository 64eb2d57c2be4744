"""What `--paper FOLDER` holds: tables, commands, references, checklist, figures, and a document that uses them."""

from collections.abc import Iterator, Sequence
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
    all_pictures = pictures(report)
    drawn = all_pictures[:MOST_FIGURES]
    macros, further = macros_of(findings, report), further_tables(report)
    texts = {
        "table.tex": render(report, "latex", has_siunitx=style.has_siunitx),
        **further,
        "macros.tex": macros_source(macros),
        "references.bib": references_source(findings, report),
        "checklist.md": checklist_source(findings, report),
        "example.tex": example_source(
            report,
            macros,
            drawn,
            further=tuple(further),
            n_left_out=len(all_pictures) - len(drawn),
            has_siunitx=style.has_siunitx,
            column_width_in=style.column_width_in,
        ),
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
    return {f"{name}.tex": table_source(table, f"{label_of(report)}-{name}") for name, table in tables if table}


# A LaTeX document that shows how to use the files of the folder; it compiles without changes.

SHOWN = ("Mean", "SD", "N")
MOST_SHOWN = 8
PER_PAGE = 4
"""Figures before LaTeX is made to place them: it keeps few in mind."""
LONGEST_TITLE = 300
TEXT_IN = 4.75
"""Width of the text of `article`; figures for a wider column are shown smaller here."""


def example_source(
    report: Report,
    macros: Sequence[Macro],
    pictures: Sequence[Picture],
    *,
    further: Sequence[str],
    n_left_out: int,
    has_siunitx: bool,
    column_width_in: float,
) -> str:
    """Table, commands, figures and references, each as a paper has it; `n_left_out` figures are not in the folder.

    Args:
        further: files with tables beside that of results.
    """
    packages = ",".join((*_packages(report, further, has_siunitx=has_siunitx), "graphicx"))
    lines = [
        "% What this folder holds, in use. Compile: pdflatex example, bibtex example, pdflatex example (twice).",
        r"\documentclass{article}",
        rf"\usepackage{{{packages}}}",
        r"\input{macros}",
        r"\begin{document}",
        "",
        *_text(report, macros),
        "",
        r"\input{table}",
        "",
        *(rf"\input{{{name.removesuffix('.tex')}}}" for name in further),
        *([""] if further else []),
        *_figures(pictures, is_wide=column_width_in > TEXT_IN),
        *([f"% The page of the report has {n_left_out} figures more."] if n_left_out else []),
        r"\nocite{*}",
        r"\bibliographystyle{plain}",
        r"\bibliography{references}",
        "",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _packages(report: Report, further: Sequence[str], *, has_siunitx: bool) -> tuple[str, ...]:
    packages = packages_of(report, has_siunitx=has_siunitx)
    return (*packages, *(["longtable"] if further and "longtable" not in packages else []))


def _text(report: Report, macros: Sequence[Macro]) -> Iterator[str]:
    yield "% Sentences to paste, with the figures of this report:"
    yield from (rf"\{macro.name}" for macro in macros if macro.name.endswith("Sentence"))
    yield ""
    yield "% The same from single figures, which a new report renews:"
    names = {macro.name for macro in macros}
    prefixes = [macro.name.removesuffix("Mean") for macro in macros if macro.name.endswith("Mean")]
    whole = [prefix for prefix in prefixes if all(f"{prefix}{ending}" in names for ending in SHOWN)]
    without_unit = {macro.name for macro in macros if not macro.body}
    for prefix in whole[:MOST_SHOWN]:
        unit = "" if f"{prefix}Unit" in without_unit else rf"~\{prefix}Unit{{}}"
        yield rf"\{prefix}Mean{{}} $\pm$ \{prefix}SD{{}}{unit} ($n = \{prefix}N$),"
    yield rf"see Table~\ref{{{label_of(report)}}}."


def _figures(pictures: Sequence[Picture], *, is_wide: bool) -> Iterator[str]:
    fitted = r"[width=\linewidth]" if is_wide else ""
    for index, picture in enumerate(pictures):
        yield from [r"\clearpage", ""] if index and index % PER_PAGE == 0 else []
        yield r"\begin{figure}"
        yield r"  \centering\emergencystretch=3em"
        yield rf"  \includegraphics{fitted}{{figures/{picture.name}.pdf}}"
        caption = f"{shorten(picture.plot.title, LONGEST_TITLE)}. {picture.plot.caption}"
        yield rf"  \caption{{{prose(caption)}}}\label{{fig:{picture.name}}}"
        yield r"\end{figure}"
        yield ""
    yield from [r"\clearpage", ""] if pictures else []
