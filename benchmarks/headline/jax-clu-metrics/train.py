"""JAX on digits; metrics are collections that merge and compute, and a writer logs them, as in CLU."""
import dataclasses
import logging
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

logging.basicConfig(stream=sys.stderr, level=logging.INFO,
                    format="%(levelname).1s%(asctime)s %(process)d %(filename)s:%(lineno)d] %(message)s", datefmt="%m%d %H:%M:%S")
logging.getLogger("jax").setLevel(logging.WARNING)
log = logging.getLogger("main")


@dataclasses.dataclass
class Metrics:
    correct: float = 0.0
    loss_sum: float = 0.0
    count: int = 0

    @classmethod
    def from_model_output(cls, logits, labels):
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).sum()
        return cls(float((logits.argmax(-1) == labels).sum()), float(loss), len(labels))

    def merge(self, other):
        return Metrics(self.correct + other.correct, self.loss_sum + other.loss_sum, self.count + other.count)

    def compute(self):
        return {"accuracy": self.correct / self.count, "loss": self.loss_sum / self.count}


class LoggingWriter:
    def write_scalars(self, step, scalars):
        log.info("[%d] %s", step, ", ".join(f"{k}={v:.6g}" for k, v in sorted(scalars.items())))


def apply(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]


def main():
    rng = np.random.default_rng()
    X, y = load_digits(return_X_y=True)
    order = rng.permutation(len(y))
    X, y = (X[order] / 16).astype(np.float32), y[order]
    train, evaluation = (X[:1400], y[:1400]), (X[1400:], y[1400:])
    k1, k2 = jax.random.split(jax.random.PRNGKey(int(rng.integers(2**31))))
    params = {"w1": jax.random.normal(k1, (64, 32)) / 8, "b1": jnp.zeros(32),
              "w2": jax.random.normal(k2, (32, 10)) / 6, "b2": jnp.zeros(10)}
    tx = optax.adam(3e-3)
    opt_state = tx.init(params)

    @jax.jit
    def train_step(params, opt_state, x, labels):
        def loss_fn(p):
            logits = apply(p, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), logits

        (_, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, logits

    writer, metrics = LoggingWriter(), Metrics()
    log.info("Starting training loop at step 1.")
    for step in range(1, 101):
        idx = rng.integers(0, 1400, 64)
        params, opt_state, logits = train_step(params, opt_state, train[0][idx], train[1][idx])
        metrics = metrics.merge(Metrics.from_model_output(logits, train[1][idx]))
        if step % 25 == 0:
            writer.write_scalars(step, {f"train_{k}": v for k, v in metrics.compute().items()})
            metrics = Metrics()
            result = Metrics.from_model_output(apply(params, evaluation[0]), evaluation[1]).compute()
            writer.write_scalars(step, {f"eval_{k}": v for k, v in result.items()})
    log.info("Finishing training at step %d", 100)


if __name__ == "__main__":
    main()
