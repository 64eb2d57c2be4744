"""From a snapshot to run folders: variants, plans, and the executors that carry them out."""

from deviate.replay.adopt import settled_attempt
from deviate.replay.containers import SECRETS
from deviate.replay.definitions import define_variant
from deviate.replay.environment import current_platform
from deviate.replay.execute import Listeners, carry_out, execute, work
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.executors.protocol import Executor
from deviate.replay.keeping import DEFAULT_LIMIT, bytes_of, is_kept, is_trace, keeping, tell_keeping
from deviate.replay.keeping import whole as whole_keeping
from deviate.replay.plan import plan
from deviate.replay.prepare import prepare_tree
from deviate.replay.slots import choose_gpus, default_jobs, slots, threads_per_run
from deviate.replay.trackers import OFFLINE
from deviate.replay.updates import Order, Outcome, RunUpdate
from deviate.replay.variants import VARIANTS, choose_variants, find_variant, tell

__all__ = [
    "DEFAULT_LIMIT",
    "OFFLINE",
    "SECRETS",
    "VARIANTS",
    "Executor",
    "Listeners",
    "LocalExecutor",
    "Order",
    "Outcome",
    "RunUpdate",
    "bytes_of",
    "carry_out",
    "choose_gpus",
    "choose_variants",
    "current_platform",
    "default_jobs",
    "define_variant",
    "execute",
    "find_variant",
    "is_kept",
    "is_trace",
    "keeping",
    "plan",
    "prepare_tree",
    "settled_attempt",
    "slots",
    "tell",
    "tell_keeping",
    "threads_per_run",
    "whole_keeping",
    "work",
]
