"""Options on results: how scores are read and compared, and where reports of them are written."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from deviate.cli.options.groups import in_output, in_records, in_verdict
from deviate.cli.options.values import number_pair, pair
from deviate.errors import InputError
from deviate.model.aggregates import AGGREGATES
from deviate.model.analysis import Direction
from deviate.registry import wing
from deviate.report.files import refuse_output, refuse_paper_folder
from deviate.report.format import PStyle
from deviate.report.medium import COLUMN_IN

if TYPE_CHECKING:
    from deviate.series.sides import Scale
    from deviate.stats.options import AnalysisOptions

# How scores are read and compared.

METRIC = in_verdict("METRIC", "Primary metric, which decides the verdict. Default: chosen by rule before the runs.")
AGGREGATE = in_verdict("HOW", f"Score of a run from its values: {', '.join(AGGREGATES)}.")
CONFIDENCE = in_verdict("LEVEL", "Confidence level of the intervals.", min=0.5, max=0.9999, default=0.95)
IMPORTER = in_records("FORM", "Format of the files: csv, json, tensorboard … Default: recognised.", "--format")


@dataclasses.dataclass(frozen=True, slots=True)
class AnalysisFlags:
    """How scores are read and compared, as options."""

    metric: str | None = METRIC
    aggregate: str | None = AGGREGATE
    match: list[str] | None = in_verdict(
        "NAME=NAME", "Compare metrics of different names: BASELINE_NAME=CANDIDATE_NAME. May be repeated."
    )
    margin: float | None = in_verdict("X", "Smallest difference of the primary metric that matters, in its unit: 0.5.")
    paired: bool = in_verdict(None, "Compare pairs: replicates of both sides share their seeds.", default=False)
    scale: str | None = in_verdict(
        "percent|fraction", "Scale for a measure that one side reports in percent and another as a fraction."
    )
    spread_ratio: float | None = in_verdict(
        "R", "Say whether the interval of the SD ratio lies within 1/R … R: 1.5; no verdict.", min=1
    )
    direction: list[str] | None = in_verdict(
        "METRIC=max|min", "Whether higher or lower values are better. May be repeated."
    )
    target: list[str] | None = in_verdict(
        "METRIC=VALUE", "Report the time that runs take to reach a value. May be repeated."
    )
    tasks: str | None = in_verdict("PATTERN", "Metrics that are one measure on several tasks: '*/acc' or a,b,c.")
    groups: list[str] | None = in_verdict(
        "FILE|COLUMN",
        "Sub-groups of the test set: FILE.csv, FILE.csv:COLUMN, SET=FILE.csv, or a logged column. May be repeated.",
    )
    weak_below: str | None = in_verdict(
        "METRIC=VALUE", "Show the spread of a metric also without the runs that are worse than a value."
    )
    confidence: float = CONFIDENCE

    def options(self) -> "AnalysisOptions":
        """Parse the options. Raises InputError for an invalid one."""
        from deviate.stats.options import AnalysisOptions

        if self.margin is not None:
            refuse_margin(self.margin, f"{self.margin:g}")
        if self.groups:
            wing("stability.captures.groups").read_groups(self.groups)  # before the runs on which they are to be shown
        return AnalysisOptions(
            confidence=self.confidence,
            metric=self.metric,
            aggregate=self.aggregate,
            margin=self.margin,
            matches=dict(pair(text, "--match", "BASELINE_NAME=CANDIDATE_NAME") for text in self.match or ()),
            is_paired=self.paired,
            directions=_directions(self.direction),
            targets=dict(number_pair(text, "--target", "val_acc=0.9") for text in self.target or ()),
            tasks=self.tasks,
            spread_ratio=self.spread_ratio,
            scale=_scale(self.scale),
            groups=tuple(self.groups or ()),
            weak_below=number_pair(self.weak_below, "--weak-below", "val_acc=0.9")
            if self.weak_below is not None
            else None,
        )


def refuse_margin(margin: float, text: str) -> None:
    """Raise InputError for a margin that is not positive and finite; `text` is it as given."""
    if not 0 < margin < math.inf:
        raise InputError(
            f"--margin {text}: a margin must be positive", "give it in the unit of the metric: --margin 0.5"
        )


def _scale(text: str | None) -> "Scale | None":
    if text is None:
        return None
    if text not in {"percent", "fraction"}:
        raise InputError(f"--scale {text}: neither percent nor fraction", "write --scale percent or --scale fraction")
    return "percent" if text == "percent" else "fraction"


def _directions(texts: Sequence[str] | None) -> dict[str, Direction]:
    directions: dict[str, Direction] = {}
    for text in texts or ():
        name, word = pair(text, "--direction", "METRIC=max")
        if word not in {"max", "min"}:
            raise InputError(f"--direction {text}: {word!r} is neither max nor min", f"write {name}=max or {name}=min")
        directions[name] = "max" if word == "max" else "min"
    return directions


# Files and folders for output, and standard output, which at most one document can use.

STDOUT = "-"
FORMS = ("html", "latex", "markdown", "json", "csv")
HTML = in_output("FILE", "Write the report here; - is standard output.")


@dataclasses.dataclass(frozen=True, slots=True)
class Documents:
    """Output files by form; `-` is standard output, None is no output.

    Attributes:
        paper: the folder of a paper. column_width: of its figures, in inches; None for the usual one.
        dl_variance: the folder of the two tables with the columns of that artifact.

    Raises:
        InputError: two of them go to one file or to standard output; one cannot be written; an option says how to write
            what nothing asks for.
    """

    html: Path | None = HTML
    latex: Path | None = in_output("FILE", "Write a table for a paper; - is standard output.")
    markdown: Path | None = in_output("FILE", "Write a table for a pull request; - is standard output.")
    json: Path | None = in_output("FILE", "Write all numbers as JSON; - is standard output.")
    csv: Path | None = in_output("FILE", "Write the score of each run as CSV; - is standard output.")
    paper: Path | None = in_output(
        "FOLDER", "Write table, macros, figures, references, checklist and an example for a paper."
    )
    siunitx: bool = in_output(None, "Align the numbers of LaTeX tables with the package siunitx.", default=False)
    full: bool = in_output(None, "Put every quantity and figure of each metric on the page.", default=False)
    rows: str | None = in_output(
        "NAME,NAME", "Metrics that are rows of the table of results, in this order. Default: all results."
    )
    p_style: str = in_output("0.031|.031", "How p-values are written.", default="0.031")
    column_width: float | None = in_output(
        "INCHES", f"Width of the figures of --paper. Default: {COLUMN_IN:g}.", min=1, max=20
    )
    dl_variance: Path | None = in_output(
        "FOLDER", "Write analysis_result.csv and analysis_raw.csv in the columns of Pham et al. (2020)."
    )

    def __post_init__(self) -> None:
        refuse_targets(self.targets())
        if self.p_style not in get_args(PStyle):
            raise InputError(f"--p-style {self.p_style}: neither 0.031 nor .031", "write --p-style 0.031 or .031")
        if self.rows is not None and not self.row_names:
            raise InputError("--rows names no metric", "write their names with commas: --rows test_acc,val_loss")
        if self.siunitx and not (self.latex or self.paper):
            raise InputError("--siunitx is for a table in LaTeX", "add --latex FILE or --paper FOLDER")
        if self.column_width is not None and not self.paper:
            raise InputError("--column-width is for the figures of a paper", "add --paper FOLDER")
        if self.paper is not None:
            refuse_paper_folder(self.paper)
        if self.dl_variance is not None:
            refuse_paper_folder(self.dl_variance, "tables")

    @property
    def row_names(self) -> tuple[str, ...]:
        """Metrics that are rows of the table of results; none for all results."""
        return tuple(filter(None, map(str.strip, (self.rows or "").split(","))))

    @property
    def takes_stdout(self) -> bool:
        return takes_stdout(self.targets())

    def targets(self) -> dict[str, Path]:
        """The requested outputs by form."""
        paths = ((form, getattr(self, form)) for form in FORMS)
        return {form: path for form, path in paths if path is not None}


def takes_stdout(targets: Mapping[str, Path]) -> bool:
    """Whether one of these outputs is standard output."""
    return any(str(target) == STDOUT for target in targets.values())


def refuse_targets(targets: Mapping[str, Path]) -> None:
    """Check output files before anything is run.

    Args:
        targets: option, without its dashes, to file.

    Raises:
        InputError: two are the same, or one cannot be written.
    """
    flag_of_target: dict[str, str] = {}
    for name, target in targets.items():
        flag = f"--{name}"
        key = STDOUT if str(target) == STDOUT else str(target.absolute().resolve())
        other = flag_of_target.setdefault(key, flag)
        if other != flag:
            where = "standard output" if key == STDOUT else str(target)
            raise InputError(f"{other} and {flag} cannot both go to {where}", "name another file for one of them")
        if key != STDOUT:
            refuse_output(target, flag)
