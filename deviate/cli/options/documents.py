"""Output options: files and folders, and standard output, which at most one document can use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from deviate.cli.options.groups import flag, option, option_group
from deviate.errors import InputError
from deviate.report import COLUMN_IN
from deviate.workflows import refuse_paper_folder

STDOUT = "-"
FORMS = ("html", "latex", "markdown", "json", "csv")
DOCUMENTS = "html latex markdown json csv paper siunitx column_width dl_variance"
"""All flags of `Documents`, in the order of `--help`."""
Html = Annotated[Path | None, option("FILE", "Write the report here ('-' is standard output).")]


@option_group
class Documents:
    """Output files by form; `-` is standard output, None is no output.

    Attributes:
        paper: the folder of a paper. column_width: of its figures, in inches; None for the usual one.
        dl_variance: the folder of the two tables with the columns of that artifact.

    Raises:
        InputError: two of them go to standard output, which has room for one only; the folder of a paper cannot be
            written into; an option says how to write what nothing asks for.
    """

    html: Html = None
    latex: Path | None = flag("FILE", "Write a table for a paper ('-' is standard output).")
    markdown: Path | None = flag("FILE", "Write a table for a pull request ('-' is standard output).")
    json: Path | None = flag("FILE", "Write all figures as JSON ('-' is standard output).")
    csv: Path | None = flag("FILE", "Write the score of every run as CSV ('-' is standard output).")
    paper: Path | None = flag(
        "FOLDER", "Write what a paper takes: table, macros, figures, references, checklist, an example."
    )
    siunitx: bool = flag(None, "Align the numbers of LaTeX tables by the package siunitx.", "--siunitx", default=False)
    column_width: float | None = flag(
        "INCHES", f"Width of the figures of --paper. Default: {COLUMN_IN:g}.", min=1, max=20
    )
    dl_variance: Path | None = flag(
        "FOLDER",
        "Write analysis_result.csv and analysis_raw.csv with the columns of the artifact of Pham et al. (2020).",
    )

    def __post_init__(self) -> None:
        if self.siunitx and not (self.latex or self.paper):
            raise InputError("--siunitx is for a table in LaTeX", "add --latex FILE or --paper FOLDER")
        if self.column_width is not None and not self.paper:
            raise InputError("--column-width is for the figures of a paper", "add --paper FOLDER")
        if self.paper is not None:
            refuse_paper_folder(self.paper)
        if self.dl_variance is not None:
            refuse_paper_folder(self.dl_variance, "tables")
        takes_stdout(self.targets())

    @property
    def takes_stdout(self) -> bool:
        return takes_stdout(self.targets())

    def targets(self) -> dict[str, Path]:
        """The requested outputs by form."""
        paths = ((form, getattr(self, form)) for form in FORMS)
        return {form: path for form, path in paths if path is not None}


def takes_stdout(targets: Mapping[str, Path]) -> bool:
    """Whether one of these outputs is standard output.

    Raises:
        InputError: two of them do.
    """
    taking = [name for name, target in targets.items() if str(target) == STDOUT]
    if len(taking) > 1:
        raise InputError(f"{' and '.join(taking)} cannot both go to standard output", "name a file for one of them")
    return bool(taking)
