"""LaTeX as its reader gets it: compiled, read back from the PDF, with what the compiler complained of."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pypdf

COMMAND = ("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape")
OVERFULL = re.compile(r"Overfull \\hbox \(([\d.]+)pt too wide\)")


@dataclass(frozen=True)
class Paper:
    """A compiled document.

    Attributes:
        error: the end of what the compiler said where it gave up; empty where it did not.
        text: of all pages, words apart by single blanks.
        overfull_pt: by how much lines are too wide, each.
    """

    error: str
    text: str
    overfull_pt: tuple[float, ...]


def alone(table: str) -> str:
    """A table with the percent signs of its frame taken away: a document of its own."""
    return re.sub(r"^% (?=\\)", "", table, flags=re.MULTILINE)


def compiled(path: Path, *, n_times: int = 1) -> Paper:
    """The document at that path, compiled beside it; with bibtex after the first time where it has references."""
    output = ""
    for turn in range(n_times):
        done = subprocess.run([*COMMAND, path.name], cwd=path.parent, capture_output=True, check=False)
        output = done.stdout.decode(errors="replace")
        if done.returncode:
            return Paper(output[-2500:], "", ())
        if turn == 0 and n_times > 1:
            told = subprocess.run(["bibtex", path.stem], cwd=path.parent, capture_output=True, text=True, check=False)
            if told.returncode or "warning" in told.stdout.lower():
                return Paper(told.stdout, "", ())
    pages = pypdf.PdfReader(path.with_suffix(".pdf")).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    # The log breaks its lines in the middle of words.
    log = path.with_suffix(".log").read_text(errors="replace").replace("\n", "")
    return Paper("", text, tuple(float(it) for it in OVERFULL.findall(log)))


def compiled_table(table: str, folder: Path, name: str = "table") -> Paper:
    """A table as `render` gives it, compiled alone."""
    path = folder / f"{name}.tex"
    path.write_text(alone(table), encoding="ascii")
    return compiled(path)
