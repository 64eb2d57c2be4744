"""From a snapshot to run folders: variants, plans, and the executors that carry them out."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.replay.adopt import LEFT_OVER_S as LEFT_OVER_S
    from deviate.replay.adopt import MAKING as MAKING
    from deviate.replay.adopt import holder_text as holder_text
    from deviate.replay.adopt import is_here as is_here
    from deviate.replay.adopt import may_live as may_live
    from deviate.replay.adopt import refuse_living as refuse_living
    from deviate.replay.adopt import settled_attempt as settled_attempt
    from deviate.replay.adopt import temporary_of as temporary_of
    from deviate.replay.attempt import prepare_tree as prepare_tree
    from deviate.replay.capture_options import DEFAULT_LIMIT as DEFAULT_LIMIT
    from deviate.replay.capture_options import capture_pairs as capture_pairs
    from deviate.replay.capture_options import describe_capture as describe_capture
    from deviate.replay.capture_options import is_captured as is_captured
    from deviate.replay.capture_options import is_trace as is_trace
    from deviate.replay.capture_options import with_defaults as with_defaults
    from deviate.replay.commands import SECRETS as SECRETS
    from deviate.replay.environment import current_platform as current_platform
    from deviate.replay.execute import Listeners as Listeners
    from deviate.replay.execute import execute_orders as execute_orders
    from deviate.replay.execute import work as work
    from deviate.replay.executors.local import LocalExecutor as LocalExecutor
    from deviate.replay.executors.workers import Backend as Backend
    from deviate.replay.executors.workers import WorkersExecutor as WorkersExecutor
    from deviate.replay.executors.workers import log_folder as log_folder
    from deviate.replay.executors.workers import worker_command as worker_command
    from deviate.replay.outcomes import SETTLED as SETTLED
    from deviate.replay.plan import plan as plan
    from deviate.replay.plan import spec_of as spec_of
    from deviate.replay.processes import is_alive as is_alive
    from deviate.replay.progress import Progress as Progress
    from deviate.replay.protocol import EXECUTORS as EXECUTORS
    from deviate.replay.protocol import Executor as Executor
    from deviate.replay.protocol import Order as Order
    from deviate.replay.protocol import Outcome as Outcome
    from deviate.replay.protocol import RunUpdate as RunUpdate
    from deviate.replay.protocol import executor as executor
    from deviate.replay.slots import choose_gpus as choose_gpus
    from deviate.replay.slots import default_jobs as default_jobs
    from deviate.replay.slots import slots as slots
    from deviate.replay.slots import threads_per_run as threads_per_run
    from deviate.replay.variants import STREAMS as STREAMS
    from deviate.replay.variants import VARIANTS as VARIANTS
    from deviate.replay.variants import choose_variants as choose_variants
    from deviate.replay.variants import define_variant as define_variant
    from deviate.replay.variants import describe_variant as describe_variant
    from deviate.replay.variants import find_variant as find_variant
    from deviate.replay.workcopy import plant_files as plant_files
    from deviate.replay.workcopy import remove_work_copy as remove_work_copy

load_on_first_use(__name__)
