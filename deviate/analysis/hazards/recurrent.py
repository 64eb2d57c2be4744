"""Recurrent layers on a GPU."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.names import TORCH_LAYERS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey


@hazard("recurrent", "kernels", is_reported_once=True)
def recurrent(survey: Survey) -> Matches:
    """Recurrent layers on a GPU.

    cuDNN's recurrent layers can differ between runs with some versions of CUDA, unless cuBLAS is given one
    workspace before the process starts. deviate does that where a variant holds `kernels`. One place of a file
    stands for all.

    Example:
        import torch.nn as nn
        rnn = nn.LSTM(64, 128)

    Instead:
        import os
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        import torch.nn as nn
        rnn = nn.LSTM(64, 128)

    Source: PyTorch documentation of `torch.nn.LSTM`: "There are known non-determinism issues for RNN functions on some
    versions of cuDNN and CUDA".
    """
    if "CUBLAS_WORKSPACE_CONFIG" in survey.environment:
        return
    for call in kernels(survey, under(TORCH_LAYERS, "LSTM GRU RNN")):
        yield call.node, f"{call.last} can differ between runs on a GPU without CUBLAS_WORKSPACE_CONFIG"
