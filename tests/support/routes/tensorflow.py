"""Routes of TensorFlow."""

import tensorflow as tf
from showing import show

tf.random.set_seed(1)
IMAGE = tf.ones((4, 4, 3))
own = tf.random.Generator.from_seed(3)


def order(dataset: tf.data.Dataset) -> list[int]:
    return [int(number) for number in dataset]


show("tf.random.normal", lambda: tf.random.normal((3,)))
show("tf.random.normal(seed=3)", lambda: tf.random.normal((3,), seed=3))
show("tf.random.uniform", lambda: tf.random.uniform((3,)))
show("tf.random.truncated_normal", lambda: tf.random.truncated_normal((3,)))
show("tf.random.categorical", lambda: tf.random.categorical(tf.zeros((1, 999)), 5))
show("tf.random.gamma", lambda: tf.random.gamma((3,), 2.0))
show("tf.random.poisson", lambda: tf.random.poisson((30,), 9.0))
show("tf.random.shuffle", lambda: tf.random.shuffle(tf.range(50)))
show("tf.random.Generator", lambda: own.normal((3,)))
show("tf.random.Generator.split", lambda: own.split(2)[0].normal((3,)))
show("tf.random.get_global_generator", lambda: tf.random.get_global_generator().normal((3,)))
show("tf.random.stateless_normal", lambda: tf.random.stateless_normal((3,), seed=(1, 2)))
show("tf.random.stateless_uniform", lambda: tf.random.stateless_uniform((3,), seed=(1, 2)))
show("tf.nn.dropout", lambda: tf.nn.dropout(tf.ones(99), 0.5))
show("tf.nn.dropout(seed=3)", lambda: tf.nn.dropout(tf.ones(99), 0.5, seed=3))
show(
    "tf.nn.experimental.stateless_dropout", lambda: tf.nn.experimental.stateless_dropout(tf.ones(99), 0.5, seed=(1, 2))
)
show("tf.image.random_brightness", lambda: tf.image.random_brightness(IMAGE, 0.3))
show("tf.image.stateless_random_brightness", lambda: tf.image.stateless_random_brightness(IMAGE, 0.3, (1, 2)))
show("tf.image.random_crop", lambda: tf.image.random_crop(tf.reshape(tf.range(400), (20, 20)), (2, 2)))
show("Dataset.shuffle", lambda: order(tf.data.Dataset.range(50).shuffle(50)))
show("Dataset.shuffle(seed=3)", lambda: order(tf.data.Dataset.range(50).shuffle(50, seed=3)))
show("Dataset.random", lambda: order(tf.data.Dataset.random(seed=3).take(2)))
show("tf.Variable", lambda: tf.Variable(tf.random.normal((3,))))
show("tf.initializers.GlorotUniform(seed=3)", lambda: tf.initializers.GlorotUniform(seed=3)((3, 3)))
show("tf.function", lambda: tf.function(lambda: tf.random.normal((3,)))())
show(
    "tf.random.experimental.index_shuffle",
    lambda: [tf.random.experimental.index_shuffle(k, [5, 8], 99) for k in range(5)],
)
show("tf.random.experimental.stateless_shuffle", lambda: tf.random.experimental.stateless_shuffle(tf.range(50), [1, 2]))
