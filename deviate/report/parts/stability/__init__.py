"""Sections on how similar runs are beyond scores: predictions, weights, classes and groups, time to converge."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.parts.stability.brief import brief_lines as brief_lines
    from deviate.report.parts.stability.build import class_section as class_section
    from deviate.report.parts.stability.build import stability_section as stability_section

load_on_first_use(__name__)
