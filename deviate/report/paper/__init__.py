"""A report as a paper takes it: files for LaTeX, references, and answers for its checklist."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.paper.files import Style as Style
    from deviate.report.paper.files import paper_files as paper_files
    from deviate.report.paper.letters import prefixes as prefixes
    from deviate.report.paper.macro import Macro as Macro
    from deviate.report.paper.macro import maths as maths
    from deviate.report.paper.macro import of_ends as of_ends
    from deviate.report.paper.macro import of_estimate as of_estimate

load_on_first_use(__name__)
