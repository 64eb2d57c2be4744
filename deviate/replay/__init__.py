"""From a snapshot to run folders: variants, plans, and the executors that carry them out."""

from deviate.replay.definitions import define_variant
from deviate.replay.execute import execute
from deviate.replay.plan import plan
from deviate.replay.slots import default_jobs
from deviate.replay.trackers import OFFLINE
from deviate.replay.updates import Outcome, RunUpdate
from deviate.replay.variants import VARIANTS, choose_variants, find_variant, tell

__all__ = [
    "OFFLINE",
    "VARIANTS",
    "Outcome",
    "RunUpdate",
    "choose_variants",
    "default_jobs",
    "define_variant",
    "execute",
    "find_variant",
    "plan",
    "tell",
]
