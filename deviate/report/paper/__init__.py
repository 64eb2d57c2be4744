"""A report as a paper takes it: files for LaTeX, references, and answers for its checklist."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.paper.files import Style as Style
    from deviate.report.paper.files import paper_files as paper_files
    from deviate.report.paper.macros import Macro as Macro
    from deviate.report.paper.macros import maths as maths
    from deviate.report.paper.macros import of_ends as of_ends
    from deviate.report.paper.macros import of_estimate as of_estimate
    from deviate.report.paper.macros import prefixes as prefixes

load_on_first_use(__name__)
