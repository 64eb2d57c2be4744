"""Fixed ports: of two runs at a time only one gets it."""

import libcst as cst

from deviate.analysis.hazards.survey import Survey
from deviate.analysis.resolve.tree import constant_text, positional
from deviate.analysis.side_effects.destinations import Destinations
from deviate.analysis.side_effects.trackers import Found


def ports(survey: Survey, destinations: Destinations) -> Found:
    for call in survey.methods(["bind"], ("socket.",)):
        match positional(call.node):
            case [cst.Tuple(elements=[_, cst.Element(value=cst.Integer(value=port))])] if port != "0":
                yield "port", call.node, port
    for call in survey.calls(["torch.distributed.init_process_group"]):
        address = destinations.constant(call.argument(None, "init_method"), call.function) or ""
        if address.startswith("tcp://") and address.rpartition(":")[2].isdecimal():
            yield "port", call.node, address.rpartition(":")[2]
    for target, value in survey.environment.get("MASTER_PORT", ()):
        if constant_text(value):
            yield "port", target, f"{constant_text(value)} (MASTER_PORT)"
