"""Images and sequences resized by interpolation inside a model."""

from deviate.analysis.hazards.kernels import find_differentiated
from deviate.analysis.hazards.names import KERAS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.model.metric_vocabulary import word_set

RESIZE_MODE_PLACE = {
    "torch.nn.functional.interpolate": 3,
    "torch.nn.functional.upsample": 3,
    "torch.nn.Upsample": 2,
    "torch.nn.modules.upsampling.Upsample": 2,
}
BILINEAR_RESIZES = word_set("torch.nn.functional.upsample_bilinear torch.nn.UpsamplingBilinear2d")
KERAS_RESIZES = under(KERAS, "layers.UpSampling2D layers.Resizing")
RESIZE_MODES = word_set("linear bilinear bicubic trilinear")


@hazard("resize", "kernels")
def resize(survey: Survey) -> Matches:
    """Images and sequences resized by interpolation inside a model.

    On a GPU the gradient of linear, bilinear, bicubic and trilinear interpolation adds to neighbouring places in
    the order in which threads come. PyTorch has no deterministic kernel for it: a variant that holds `kernels`
    stops there, unless `--warn-only` is given.

    Example:
        import torch.nn as nn
        up = nn.Upsample(scale_factor=2, mode="bilinear")

    Instead:
        import torch.nn as nn
        up = nn.Upsample(scale_factor=2, mode="nearest")

    Source: PyTorch documentation of `torch.use_deterministic_algorithms` and `torch.nn.functional.interpolate`;
    TensorFlow RFC 20210119, "Determinism": `tf.image.resize` gradient.
    """
    message = "the gradient of {} interpolation adds in no fixed order on a GPU"
    for call in find_differentiated(survey, RESIZE_MODE_PLACE):
        modes = RESIZE_MODES & survey.texts(call.argument(RESIZE_MODE_PLACE[call.name], "mode"), call.function)
        if modes:
            yield call.node, message.format(min(modes))
    for call in find_differentiated(survey, BILINEAR_RESIZES):
        yield call.node, message.format("bilinear")
    for call in find_differentiated(survey, KERAS_RESIZES):
        modes = RESIZE_MODES & survey.texts(call.argument(None, "interpolation"), call.function)
        if modes:
            yield call.node, message.format(min(modes))
