import subprocess
import sys
from collections.abc import Callable

from deviate.sinks import find_sink

GRAPH = """
import tensorflow.compat.v1 as tf
from deviate.sinks import find_by_key, find_sink
tf.disable_eager_execution()
loss = tf.constant(0.5)
tf.summary.scalar("loss", loss)
(scalar,) = find_by_key("tensorboard.tensorflow_compat_v1_summary_scalar").carried(["loss", loss], {})
with tf.Session() as session:
    merged = session.run(tf.summary.merge_all())
    (summary,) = find_by_key("tensorboard.tensorflow_FileWriter_add_summary").carried([merged], {"global_step": 3})
    (item,) = tf.Summary.FromString(summary.summary).value
    print(scalar.name == item.tag, scalar.value is loss, session.run(loss) == item.simple_value)
"""


def test_the_summary_holds_the_value_of_the_scalar() -> None:
    # In a process of its own: eager execution cannot be enabled again.
    done = subprocess.run([sys.executable, "-c", GRAPH], capture_output=True, text=True, check=False)
    assert done.stdout == "True True True\n", done.stderr


def test_a_value_in_a_message_made_by_hand_is_reported_at_once(report: Callable[..., object]) -> None:
    for callee in ("tensorflow.Summary.Value", "tensorflow.compat.v1.Summary.Value", "?summary.value.add"):
        assert report(callee, tag="loss", simple_value=0.5) == [("Scalar", "loss", 0.5, None)]
        assert report(callee, tag="images", image=b"") == []


def test_the_two_apis_of_tensorflow_have_names_of_their_own() -> None:
    names = [find_sink(f"tensorflow.{api}summary.scalar", "") for api in ("", "compat.v2.", "compat.v1.")]
    assert [found and found.name for found in names] == ["tensorboard", "tensorboard", "graph-summary"]
