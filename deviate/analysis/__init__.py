"""Static analysis of a training script: what it trains and reports, found without running it."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.analysis.analyze import analyze as analyze
    from deviate.analysis.document import explain_nothing_found as explain_nothing_found
    from deviate.analysis.document import to_document as to_document
    from deviate.analysis.entries import Entries as Entries
    from deviate.analysis.entries import rank_scripts as rank_scripts
    from deviate.analysis.hazards.seeds import fate_of as fate_of
    from deviate.analysis.hazards.uses import DrawPlace as DrawPlace
    from deviate.analysis.hazards.uses import InputPlace as InputPlace
    from deviate.analysis.hazards.uses import global_draws as global_draws
    from deviate.analysis.hazards.uses import input_uses as input_uses
    from deviate.analysis.merge_analyses import analyze_together as analyze_together
    from deviate.analysis.metrics.manual_metrics import add_site as add_site
    from deviate.analysis.metrics.reports import sink_names as sink_names
    from deviate.analysis.resolve.statements import Statements as Statements
    from deviate.analysis.resolve.statements import normalise as normalise
    from deviate.analysis.resolve.statements import read_statements as read_statements

load_on_first_use(__name__)
