"""From a snapshot to run folders: variants, plans, and the executors that carry them out."""

from deviate.replay.execute import execute
from deviate.replay.plan import OFFLINE, plan
from deviate.replay.progress import default_jobs
from deviate.replay.updates import Outcome, RunUpdate
from deviate.replay.variants import VARIANTS, Variant, find_variant

__all__ = [
    "OFFLINE",
    "VARIANTS",
    "Outcome",
    "RunUpdate",
    "Variant",
    "default_jobs",
    "execute",
    "find_variant",
    "plan",
]
