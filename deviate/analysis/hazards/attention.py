"""Fused attention on a GPU."""

from deviate.analysis.hazards.kernels import find_differentiated
from deviate.analysis.hazards.names import TORCH_LAYERS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey, is_true
from deviate.model.metric_vocabulary import word_set

FUSED_ATTENTION = word_set("torch.nn.functional.scaled_dot_product_attention xformers.ops.memory_efficient_attention")
ATTENTION_LAYERS = under(TORCH_LAYERS, "Transformer TransformerEncoderLayer TransformerDecoderLayer")
FLASH_ATTENTION = word_set(
    "flash_attn.flash_attn_func flash_attn.flash_attn_qkvpacked_func flash_attn.flash_attn_varlen_func"
)


@hazard("attention", "kernels")
def attention(survey: Survey) -> Matches:
    """Fused attention on a GPU.

    The fast kernels of attention (memory-efficient, flash) add gradients in the order in which threads come, unless
    they are asked not to. deviate asks for deterministic kernels where a variant holds `kernels`.

    Example:
        import torch.nn.functional as F
        y = F.scaled_dot_product_attention(q, k, v)
        y.sum().backward()

    Instead:
        import torch
        import torch.nn.functional as F
        torch.use_deterministic_algorithms(True)
        y = F.scaled_dot_product_attention(q, k, v)
        y.sum().backward()

    Source: PyTorch documentation of `scaled_dot_product_attention`: "may select a nondeterministic algorithm"; PyTorch
    source, attention_backward.cu; flash-attention: parameter `deterministic` of `flash_attn_func`.
    """
    for call in find_differentiated(survey, FUSED_ATTENTION | ATTENTION_LAYERS):
        yield call.node, "its fast kernels add gradients in no fixed order on a GPU"
    for call in find_differentiated(survey, FLASH_ATTENTION):
        if not is_true(call.argument(None, "deterministic")):
            yield call.node, "without deterministic=True gradients are added in no fixed order"
