"""Sessions of TensorFlow 1."""

import libcst as cst

from deviate.analysis.hazards.names import TENSORFLOW, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey

GRAPH_SESSIONS = under(
    TENSORFLOW,
    "Session InteractiveSession train.MonitoredTrainingSession train.MonitoredSession train.Supervisor "
    "train.SingularMonitoredSession",
)


@hazard("graph-session", "timing", is_reported_once=True)
def graph_session(survey: Survey) -> Matches:
    """Sessions of TensorFlow 1.

    A session runs independent operations of a graph on several threads. TensorFlow does not promise determinism for it,
    even with op determinism. deviate reports what it cannot hold. One place of a file stands for all.

    Example:
        import tensorflow.compat.v1 as tf
        with tf.Session() as session:
            session.run(train_op)

    Instead:
        import tensorflow as tf
        @tf.function
        def step(batch):
            return train_op(batch)

    Source: TensorFlow documentation of `tf.config.experimental.enable_op_determinism`: "determinism cannot be
    guaranteed when using the TF1 API".
    """
    for call in survey.calls(GRAPH_SESSIONS):
        if not isinstance(survey.nodes.parents.get(call.node), cst.Attribute):  # `Session().list_devices()`
            yield call.node, "TensorFlow promises no determinism for sessions"
