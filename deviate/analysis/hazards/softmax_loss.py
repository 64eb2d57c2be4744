"""The softmax cross-entropy of TensorFlow."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.names import KERAS, TENSORFLOW, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey, is_true

TENSORFLOW_SOFTMAX_LOSSES = under(
    TENSORFLOW,
    "nn.softmax_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits_v2 "
    "nn.sparse_softmax_cross_entropy_with_logits",
)
KERAS_SOFTMAX_LOSSES = under(
    KERAS,
    "losses.CategoricalCrossentropy losses.SparseCategoricalCrossentropy losses.categorical_crossentropy "
    "losses.sparse_categorical_crossentropy",
)


@hazard("softmax-loss", "kernels")
def softmax_loss(survey: Survey) -> Matches:
    """The softmax cross-entropy of TensorFlow.

    On a GPU it uses a nondeterministic algorithm by default. deviate enables op determinism where a variant holds
    `kernels`.

    Example:
        import tensorflow as tf
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)

    Instead:
        import tensorflow as tf
        tf.config.experimental.enable_op_determinism()
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)

    Source: TensorFlow documentation of `tf.config.experimental.enable_op_determinism`: it "uses a nondeterministic
    algorithm on GPUs by default".
    """
    for call in kernels(survey, TENSORFLOW_SOFTMAX_LOSSES):
        yield call.node, f"{call.last} adds in no fixed order on a GPU"
    for call in kernels(survey, KERAS_SOFTMAX_LOSSES):
        if is_true(call.argument(None, "from_logits")):
            yield call.node, f"{call.last} of logits adds in no fixed order on a GPU"
