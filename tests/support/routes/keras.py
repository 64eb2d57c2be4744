"""Routes of Keras."""

import keras
import numpy as np
from keras import layers, ops
from showing import show

keras.utils.set_random_seed(1)
ONES = ops.ones((1, 9, 9, 3))
own = keras.random.SeedGenerator(3)


def array(tensor: object) -> np.ndarray:
    return ops.convert_to_numpy(tensor)


show("keras.random.normal", lambda: array(keras.random.normal((3,))))
show("keras.random.normal(seed=3)", lambda: array(keras.random.normal((3,), seed=3)))
show("keras.random.uniform(SeedGenerator)", lambda: array(keras.random.uniform((3,), seed=own)))
show("keras.random.randint", lambda: array(keras.random.randint((3,), 0, 10**6)))
show("keras.random.shuffle", lambda: array(keras.random.shuffle(ops.arange(50))))
show("keras.random.dropout", lambda: array(keras.random.dropout(ops.ones(99), 0.5)))
dense = layers.Dense(3)
dense.build((1, 3))
show("Dense", lambda: array(dense.kernel))
show("GlorotUniform(seed=3)", lambda: array(keras.initializers.GlorotUniform(seed=3)((3, 3))))
show("GlorotUniform", lambda: array(keras.initializers.GlorotUniform()((3, 3))))
show("Orthogonal", lambda: array(keras.initializers.Orthogonal()((3, 3))))
show("Dropout(seed=3)", lambda: array(layers.Dropout(0.5, seed=3)(ONES, training=True)))
show("GaussianNoise", lambda: array(layers.GaussianNoise(0.5)(ONES, training=True)))
show("SpatialDropout2D", lambda: array(layers.SpatialDropout2D(0.5)(ops.ones((9, 9, 9, 9)), training=True)))
show(
    "RandomRotation",
    lambda: array(layers.RandomRotation(0.5)(ops.reshape(ops.arange(243.0), (1, 9, 9, 3)), training=True)),
)
show("RandomBrightness(seed=3)", lambda: array(layers.RandomBrightness(0.5, seed=3)(ONES * 99, training=True)))
show(
    "keras.ops.image.elastic_transform",
    lambda: array(ops.image.elastic_transform(ops.reshape(ops.arange(243.0), (1, 9, 9, 3)), seed=3)),
)
