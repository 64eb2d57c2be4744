"""TensorFlow on two logical devices and in two workers: threads of replicas draw from the streams."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import Child, Result
from varied import Script, moved, seeds

SCRIPT = Script("""\
import hashlib, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
import keras

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
outside = tf.random.Generator.from_seed(5)

def show(name, *values):
    parts = [part.numpy() for value in values for part in strategy.experimental_local_results(value)]
    assert name.startswith("same") or parts[0].tobytes() != parts[1].tobytes(), name
    print(name, hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())

def run(name, function):
    show(name, strategy.run(function), strategy.run(function))
    compiled = tf.function(strategy.run)
    show(name + "-compiled", compiled(function), compiled(function))

with strategy.scope():
    generator = tf.random.Generator.from_seed(1)
    dropout, noise = keras.layers.Dropout(0.5), keras.layers.GaussianNoise(1.0)
    weight = tf.Variable(tf.random.normal([2]))

def made_inside():
    return tf.random.Generator.from_seed(1).normal([2])

def noise_and_mask():
    mean = tf.distribute.get_replica_context().all_reduce("MEAN", noise(tf.zeros(8), training=True))
    return mean + tf.nn.dropout(tf.ones(8), 0.5)

show("same-init", weight)
run("masks", lambda: tf.nn.dropout(tf.ones(32), 0.5))
run("same-masks", lambda: dropout(tf.ones(32), training=True))
run("merged-masks", noise_and_mask)
show("generator-inside", strategy.run(made_inside))
show("generator-global", strategy.run(lambda: tf.random.get_global_generator().normal([2])))
run("generator", lambda: generator.normal([2]))
run("generator-outside", lambda: outside.normal([2]))
run("same-stateless", lambda: tf.random.stateless_normal([2], [1, 2]))
for epoch in range(2):
    run("order-%d" % epoch, lambda: tf.random.shuffle(tf.range(32)))
    run("training-%d" % epoch, lambda: tf.random.normal([2]))
    number = lambda replica: tf.constant([0.25, 0.5])[replica.replica_id_in_sync_group]
    losses = strategy.experimental_distribute_values_from_function(number)
    losses
""")  # fmt: skip
BOTH = ("", "-compiled")
DROPOUT = {name + way for name in ("masks", "same-masks", "merged-masks") for way in BOTH}
SHUFFLE = {f"order-{epoch}{way}" for epoch in (0, 1) for way in BOTH}
SPLIT = {
    *("generator-inside", "generator-global"),
    *(f"{name}{way}" for name in ("generator", "generator-outside", "same-stateless") for way in BOTH),
}
OTHER = {f"training-{epoch}{way}" for epoch in (0, 1) for way in BOTH}


@pytest.fixture(autouse=True)
def _needs_tensorflow(require) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Result]]:
    folder = tmp_path_factory.mktemp("replicas")

    def run(stream: str) -> Result:
        child = SCRIPT.child(folder / (stream or "none"))
        seed_set = seeds(**({stream: 1} if stream else {}))
        return child.tap("    «losses»\n").run(seeds=seed_set, controls={"kernels": "deterministic"})

    streams = ("", "init", "shuffle", "dropout", "split", "other")
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(streams, pool.map(run, streams), strict=True))
    for result in results.values():
        assert (result.code, result.of("error")) == (0, []), result.stderr
    return {stream: [result] for stream, result in results.items()}


@pytest.mark.slow
def test_a_stream_changes_its_draws_in_all_replicas_and_no_others(runs: dict[str, list[Result]]) -> None:
    changed = {"": set(), "init": {"same-init"}, "shuffle": SHUFFLE, "dropout": DROPOUT}
    changed |= {"split": SPLIT, "other": OTHER}
    assert moved(runs) == changed
    assert [result.of("uncontrolled") for [result] in runs.values()] == [[]] * len(runs)


@pytest.mark.slow
def test_a_value_of_each_replica_is_recorded_by_number(runs: dict[str, list[Result]]) -> None:
    [[result], *_] = runs.values()
    assert result.values() == [0.25, 0.5] * 2


WORKER = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
"""


@pytest.mark.slow
def test_a_worker_has_the_number_of_its_task(tmp_path: Path) -> None:
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("localhost", 0))
        addresses = [f"localhost:{each.getsockname()[1]}" for each in (first, second)]

    def work(task: tuple[str, int]) -> list[list]:
        cluster = {"chief": addresses[:1], "worker": addresses[1:]}
        config = json.dumps({"cluster": cluster, "task": {"type": task[0], "index": task[1]}})
        child = Child(tmp_path / task[0], WORKER)
        result = child.run(environment={"TF_CONFIG": config}, is_cold=True)
        assert result.code == 0, result.stderr
        return result.of("rank")

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, [("chief", 0), ("worker", 0)])) == [[[0, 2]], [[1, 2]]]
