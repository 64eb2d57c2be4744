"""Known causes of divergence: the evidence for each, and its remedy."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.diverge.causes.evidence import Evidence as Evidence
    from deviate.diverge.causes.evidence import gather_evidence as gather_evidence
    from deviate.diverge.causes.find import find_causes as find_causes

load_on_first_use(__name__)
