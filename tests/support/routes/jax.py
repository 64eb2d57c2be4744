"""Routes of JAX and what is built on it."""

import jax
import jax.numpy as jnp
from flax import linen, nnx
from showing import show

key = jax.random.PRNGKey(1)
typed = jax.random.key(1)
ones = jnp.ones((2, 3))
show("jax.random.normal", lambda: jax.random.normal(key, (3,)))
show("jax.random.normal(typed)", lambda: jax.random.normal(typed, (3,)))
show("jax.random.uniform", lambda: jax.random.uniform(key, (3,)))
show("jax.random.bits", lambda: jax.random.bits(key, (3,)))
show("jax.random.randint", lambda: jax.random.randint(key, (3,), 0, 10**9))
show("jax.random.permutation", lambda: jax.random.permutation(key, 50))
show("jax.random.choice", lambda: jax.random.choice(key, 10**6, (3,)))
show("jax.random.categorical", lambda: jax.random.categorical(key, jnp.zeros(10**4), shape=(3,)))
show("jax.random.split", lambda: jax.random.normal(jax.random.split(key)[0]))
show("jax.random.fold_in", lambda: jax.random.normal(jax.random.fold_in(key, 7)))
show("jax.jit", lambda: jax.jit(jax.random.normal)(key))
show("jax.nn.initializers", lambda: jax.nn.initializers.glorot_normal()(key, (3, 3)))
show("flax.linen.Dense", lambda: linen.Dense(3).init(key, ones)["params"]["kernel"])
show("flax.nnx.Linear", lambda: nnx.Linear(3, 3, rngs=nnx.Rngs(0)).kernel[...])
show("flax.nnx.Dropout", lambda: nnx.Dropout(0.5, rngs=nnx.Rngs(0))(jnp.ones((9, 9))))
