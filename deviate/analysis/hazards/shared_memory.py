"""Weights that several processes write without a lock (Hogwild), and parameter servers."""

from deviate.analysis.hazards.names import TENSORFLOW, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey

PARAMETER_SERVERS = under(
    TENSORFLOW,
    "distribute.experimental.ParameterServerStrategy distribute.ParameterServerStrategy train.replica_device_setter",
)


@hazard("shared-memory", "timing")
def shared_memory(survey: Survey) -> Matches:
    """Weights that several processes write without a lock (Hogwild), and parameter servers.

    Updates of one process overwrite or mix with those of another, in the order in which they come. This is part of the
    algorithm, not rounding: deviate cannot hold it in any variant.

    Example:
        import torch.multiprocessing as mp
        model.share_memory()
        mp.spawn(train, args=(model,), nprocs=4)

    Instead:
        from torch.nn.parallel import DistributedDataParallel
        model = DistributedDataParallel(model)

    Source: PyTorch documentation, "Multiprocessing best practices", Hogwild; TensorFlow documentation of
    `tf.config.experimental.enable_op_determinism`: `ParameterServerStrategy` "can introduce nondeterminism".
    """
    for call in survey.methods(["share_memory", "share_memory_"], ("torch.",)):
        yield call.node, "processes write to it without a lock, in any order"
    for call in survey.calls(PARAMETER_SERVERS):
        yield call.node, "workers update the weights in any order"
