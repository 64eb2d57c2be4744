"""A wing: captured outputs and weights in, measures of how similar runs are and parts of reports out.

The core reaches these names through `deviate.registry.wing("stability")`.
"""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.stability.captures.collect import captured_of as captured_of
    from deviate.stability.captures.groups import read_groups as read_groups
    from deviate.stability.judge import stability as stability
    from deviate.stability.report.csv_tables import CSV_TABLES as CSV_TABLES
    from deviate.stability.report.csv_tables import csv_tables as csv_tables
    from deviate.stability.report.dl_variance import dl_variance_files as dl_variance_files
    from deviate.stability.report.paper import citations as citations
    from deviate.stability.report.paper import paper_tables as paper_tables
    from deviate.stability.report.paper import stability_macros as stability_macros
    from deviate.stability.report.sections import brief_lines as brief_lines
    from deviate.stability.report.sections import class_section as class_section
    from deviate.stability.report.sections import limits as limits
    from deviate.stability.report.sections import sections as sections
    from deviate.stability.report.sections import stability_section as stability_section

load_on_first_use(__name__)
