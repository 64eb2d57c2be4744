"""What deviate can control in each framework as far as known in advance, and the reason where it cannot."""

from dataclasses import dataclass

from deviate.model import Answer, Concern

FACTORS = (
    "init", "shuffle", "augment", "dropout", "split", "other",
    "kernels", "autotune", "precision", "hash", "threads", "onednn", "one-bit", "weights",
)  # fmt: skip
STREAMS = FACTORS[:6]


@dataclass(frozen=True, slots=True)
class Claim:
    """An answer with its reason and advice."""

    answer: Answer
    why: str = ""
    advice: str = ""


YES = Claim("yes")
NOTHING = {
    "init": "makes no weights",
    "shuffle": "shuffles nothing by itself",
    "augment": "has no region of its own for it: what is drawn while a framework fetches examples counts there",
    "dropout": "has no dropout",
    "split": "splits no data",
    "other": "draws nothing of its own",
    "kernels": "has no nondeterministic kernels that are known",
    "autotune": "does not search for kernels",
    "precision": "does not reduce precision",
    "hash": "has the hash seed of Python",
    "threads": "starts no threads of its own",
    "onednn": "has no switch for oneDNN",
    "one-bit": "has no weights that training begins with",
    "weights": "has no weights",
}
"""Why there is nothing to control, where a framework says nothing else."""

_KEYS = "a key of jax.random carries no meaning"
_OTHERS = "by hand from a raw key counts as other"
_NAMED = "draw it through flax or haiku, which name their keys; or vary other, which moves it too"

_ONE_SEED = "draws examples and features from one generator, which counts as other"
_OTHER = "vary other, which moves both"
_TREES = "trees are in C++; they are hashed, not changed"

_STEPS = "weights are known in steps by optax or flax, and in compiled steps that give back what they were given"
_KEPT = "train with optax or flax"

CLAIMS: dict[str, dict[str, Claim]] = {
    "python": {"shuffle": YES, "split": YES, "other": YES},
    "numpy": {
        "shuffle": YES,
        "split": YES,
        "other": YES,
        "kernels": Claim("nothing", "linear algebra is repeatable at a fixed number of threads"),
        "threads": YES,
    },
    "sklearn": {
        "init": Claim(
            "no",
            "an estimator draws its first weights and its order from one random_state, which counts as other",
            "vary other, which moves both",
        ),
        "shuffle": Claim(
            "partly",
            "utils.shuffle is reached; the order inside of an estimator comes from its random_state",
            "vary other for what happens inside of estimators",
        ),
        "split": YES,
        "other": YES,
        "threads": YES,
        "weights": YES,
    },
    "torch": dict.fromkeys((*STREAMS, "kernels", "precision", "threads", "one-bit", "weights"), YES),
    "tensorflow": {
        **dict.fromkeys((*STREAMS, "kernels", "precision", "threads"), YES),
        "one-bit": Claim("partly", "weights are known where Keras trains them", "train with Keras fit or its models"),
        "weights": Claim("partly", "weights are known where Keras has them", "keep the weights in a keras.Model"),
    },
    "keras": {
        **dict.fromkeys(("init", "shuffle", "augment", "dropout", "other", "one-bit", "weights"), YES),
        "kernels": Claim("nothing", "those of its backend"),
        "autotune": Claim("nothing", "that of its backend"),
        "precision": Claim("nothing", "that of its backend"),
        "threads": Claim("nothing", "those of its backend"),
    },
    "jax": {
        "init": Claim("partly", f"{_KEYS}: what initializers draw is reached, what is drawn {_OTHERS}", _NAMED),
        "shuffle": YES,
        "augment": Claim("partly", f"{_KEYS}: keys of that name in flax are reached, what is drawn {_OTHERS}", _NAMED),
        "dropout": Claim("partly", f"{_KEYS}: what layers draw is reached, a mask drawn {_OTHERS}", _NAMED),
        "split": YES,
        "other": YES,
        "one-bit": Claim("partly", _STEPS, _KEPT),
        "weights": Claim("partly", _STEPS, _KEPT),
        "threads": Claim("nothing", "bits do not depend on the number of threads on a CPU, as far as was measured"),
    },
    "flax": {"init": YES, "augment": YES, "dropout": YES, "one-bit": YES, "weights": YES},
    "haiku": {"init": YES, "dropout": YES, "one-bit": YES, "weights": YES},
    "optax": {"one-bit": YES, "weights": YES},
    "lightgbm": {
        **dict.fromkeys(("shuffle", "dropout", "split", "other", "kernels", "autotune", "threads", "weights"), YES),
        "one-bit": Claim("nothing", _TREES),
    },
    "xgboost": {
        **dict.fromkeys(("split", "other", "threads", "weights"), YES),
        **dict.fromkeys(("shuffle", "dropout"), Claim("no", _ONE_SEED, _OTHER)),
        "one-bit": Claim("nothing", _TREES),
    },
    "catboost": {
        **dict.fromkeys(("split", "other", "threads", "weights"), YES),
        "shuffle": Claim("no", _ONE_SEED, _OTHER),
        "kernels": Claim(
            "partly", "it repeats itself on a CPU, and has no deterministic kernels on a GPU", "use a CPU"
        ),
        "one-bit": Claim("nothing", _TREES),
    },
    "gymnasium": {"split": YES, "other": YES},
}
RESTS_ON = {"lightning": "torch", "transformers": "torch", "accelerate": "torch", "optax": "jax"}
"""Those that draw and compute through another one."""

LIMITS: dict[str, tuple[Concern, ...]] = {
    "python": (
        Concern(
            "os.urandom, secrets, uuid4, SystemRandom, seeds made from the time",
            "come from outside of every generator: they differ in every run, in control too",
            "seed a generator with a constant instead; runs tell where such calls are",
        ),
    ),
    "torch": (
        Concern(
            "draws in threads of the script",
            "the states of the streams belong to the thread that trains",
            "draw in the main thread or in workers that are processes",
        ),
    ),
    "gymnasium": (
        Concern(
            "environments that draw in C, as those of Atari",
            "they get the seed of the script in every variant",
            "give each run another seed: --seed {replicate}",
        ),
    ),
    "tensorflow": (
        Concern(
            "sessions of tf.compat.v1, ParameterServerStrategy",
            "TensorFlow does not promise op determinism for them",
            "run eagerly or in tf.function; else read the control variant before you trust impl",
        ),
        Concern(
            "random operations with a seed of their own in Dataset.map with num_parallel_calls",
            "where kernels are free its threads race for the numbers of one operation",
            "leave the seed or num_parallel_calls out in a study of impl; runs tell the lines",
        ),
    ),
}
