"""What deviate can control in each framework: as far as known in advance, and by facts, with how it was tested."""

from collections.abc import Mapping
from dataclasses import dataclass

from deviate.doctor.children import Facts
from deviate.doctor.devices import CPU_ALONE, STREAMS, device_types
from deviate.model.diagnosis import Answer, Concern, Control, Framework

# ---------------------------------------------------------------- known in advance

FACTORS = (
    *STREAMS, "kernels", "autotune", "precision", "hash", "threads", "onednn", "one-bit", "weights",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """An answer with its reason and advice."""

    answer: Answer
    why: str = ""
    advice: str = ""


YES = Claim("yes")
NOTHING = {
    "init": "creates no weights",
    "shuffle": "does not shuffle",
    "augment": "draws no augmentation itself; draws while a framework fetches examples count as augment there",
    "dropout": "has no dropout",
    "split": "does not split data",
    "other": "draws no random numbers itself",
    "kernels": "has no known nondeterministic kernels",
    "autotune": "does not search for kernels",
    "precision": "does not reduce precision",
    "hash": "uses the hash seed of Python",
    "threads": "starts no threads",
    "onednn": "has no switch for oneDNN",
    "one-bit": "has no initial weights",
    "weights": "has no weights",
}
"""Default reason why there is nothing to control."""

_KEYS = "keys of jax.random have no purpose attached"
_OTHERS = "from a raw key count as other"
_NAMED = "draw through flax or haiku, which name their keys; or vary other, which includes these draws"

_ONE_SEED = "examples and features are drawn from one generator, which counts as other"
_OTHER = "vary other, which includes both"
_TREES = "trees are in C++; deviate hashes them but cannot change them"

_STEPS = "weights are recorded in steps of optax or flax, and in compiled steps that return updated inputs"
_SUPPORTED = "train with optax or flax"

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
            "an estimator draws initial weights and order from one random_state, which counts as other",
            "vary other, which includes both",
        ),
        "shuffle": Claim(
            "partly",
            "utils.shuffle is controlled; the order inside an estimator depends on its random_state",
            "vary other for draws inside estimators",
        ),
        "split": YES,
        "other": YES,
        "threads": YES,
        "weights": YES,
    },
    "torch": dict.fromkeys((*STREAMS, "kernels", "precision", "threads", "one-bit", "weights"), YES),
    "torch_xla": {
        **dict.fromkeys((*STREAMS, "one-bit", "weights"), YES),
        "kernels": Claim(
            "no",
            "deviate knows no switch of XLA that makes kernels deterministic or fixes their choice",
            "check that the runs of control are equal on the device before you trust other variants",
        ),
        "autotune": Claim("nothing", "deviate knows no switch; what XLA chooses counts as kernels"),
        "precision": Claim(
            "no",
            "deviate does not set the precision of matrix products of XLA",
            "set it in the script: torch_xla.backends.set_mat_mul_precision('highest')",
        ),
        "threads": Claim("nothing", "uses the threads of PyTorch and XLA"),
    },
    "tensorflow": {
        **dict.fromkeys((*STREAMS, "kernels", "precision", "threads"), YES),
        "one-bit": Claim("partly", "only weights trained by Keras are recorded", "train with Keras fit or its models"),
        "weights": Claim("partly", "only weights of Keras models are recorded", "store the weights in a keras.Model"),
    },
    "keras": {
        **dict.fromkeys(("init", "shuffle", "augment", "dropout", "other", "one-bit", "weights"), YES),
        "kernels": Claim("nothing", "uses the kernels of its backend"),
        "autotune": Claim("nothing", "uses the search of its backend"),
        "precision": Claim("nothing", "uses the precision of its backend"),
        "threads": Claim("nothing", "uses the threads of its backend"),
    },
    "jax": {
        "init": Claim("partly", f"{_KEYS}: draws of initializers are controlled, draws {_OTHERS}", _NAMED),
        "shuffle": YES,
        "augment": Claim("partly", f"{_KEYS}: flax keys of this name are controlled, draws {_OTHERS}", _NAMED),
        "dropout": Claim("partly", f"{_KEYS}: draws of layers are controlled, masks {_OTHERS}", _NAMED),
        "split": YES,
        "other": YES,
        "one-bit": Claim("partly", _STEPS, _SUPPORTED),
        "weights": Claim("partly", _STEPS, _SUPPORTED),
        "threads": Claim("nothing", "in tests on a CPU, results did not depend on the number of threads"),
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
        "kernels": Claim("partly", "deterministic on a CPU; no deterministic kernels on a GPU", "use a CPU"),
        "one-bit": Claim("nothing", _TREES),
    },
    "gymnasium": {"split": YES, "other": YES},
}
RESTS_ON = {"lightning": "torch", "transformers": "torch", "accelerate": "torch", "optax": "jax"}
"""Frameworks that draw and compute through another framework."""

LIMITS: dict[str, tuple[Concern, ...]] = {
    "python": (
        Concern(
            "os.urandom, secrets, uuid4, SystemRandom, seeds computed from the time",
            "no generator produces them: they differ in every run, in control too",
            "use a generator with a constant seed; runs report the places of such calls",
        ),
    ),
    "torch": (
        Concern(
            "draws in threads of the script",
            "streams are controlled in the training thread only",
            "draw in the main thread or in worker processes",
        ),
    ),
    "gymnasium": (
        Concern(
            "environments that draw in C, such as Atari",
            "they use the seed of the script in every variant",
            "pass a different seed to each run: --seed {replicate}",
        ),
    ),
    "tensorflow": (
        Concern(
            "sessions of tf.compat.v1, ParameterServerStrategy",
            "TensorFlow does not guarantee op determinism for them",
            "run eagerly or in tf.function; otherwise check the control variant before you trust impl",
        ),
        Concern(
            "random operations with their own seed in Dataset.map with num_parallel_calls",
            "if kernels are free, threads race for the numbers of one operation",
            "omit the seed or num_parallel_calls in a study of impl; runs report the lines",
        ),
    ),
}


# ---------------------------------------------------------------- tested here

ON_GPUS_ONLY = f"{CPU_ALONE}, and no GPU is visible"
NO_RACES = Claim("nothing", "XLA has no known nondeterministic kernels on a CPU")
WITH_KERNELS = Claim(
    "partly", "op determinism holds it together with kernels", "vary impl, which varies both; neither varies alone"
)
DETERMINISTIC_OPS = "--xla_gpu_deterministic_ops=true"


def judge(name: str, facts: Facts, fault: str, answers: Mapping[str, Facts], python: str) -> Framework:
    """Judge one framework.

    Args:
        facts: of this framework. answers: facts from every child process, by the name of its question, such as
            `torch.again`.
        fault: why its answers are incomplete; empty if they are complete.
        python: the interpreter, for commands that the user can type.
    """
    controls, tried = _controls(name, facts, answers), _list_trials(name, facts, answers)
    return Framework(
        name=name,
        state="broken" if fault else "works",
        version=facts.text("version"),
        build=facts.text("build"),
        path=facts.text("path"),
        devices=_devices(name, facts, answers),
        device_types=() if fault else device_types(name, facts, answers, controls),
        threads=_threads(name, facts),
        wall_time_s=facts.number("wall_time_s"),
        rests_on=RESTS_ON.get(name, ""),
        controls=() if fault else controls,
        limits=() if fault else LIMITS.get(name, ()),
        tried=() if fault else tried,
        fault=fault,
        advice=f"run: {python} -c 'import {name}'; fix the error, or reinstall {name}" if fault else "",
    )


def _devices(name: str, facts: Facts, answers: Mapping[str, Facts]) -> tuple[str, ...]:
    if name == "torch_xla":
        return answers.get("torch_xla.devices", Facts()).texts("kinds")
    if name not in {"torch", "tensorflow", "jax"}:
        return ()
    instructions = facts.text("instructions")
    return (f"CPU {instructions}".strip(), *facts.texts("gpus"))


def _threads(name: str, facts: Facts) -> str:
    pools = [f"{pool.get('library')} {pool.get('threads')}" for pool in facts.tables("pools")]
    return ", ".join(pools) if name == "numpy" else facts.text("threads")


def _controls(name: str, facts: Facts, answers: Mapping[str, Facts]) -> tuple[Control, ...]:
    claims = dict(CLAIMS.get(name, {}))
    if not claims:
        return ()
    claims |= _judge_by_trial(name, facts, answers)
    missing = facts.table("missing")
    for factor, lacks in missing.items():
        if claims.get(factor, YES).answer in {"yes", "partly"}:
            names = ", ".join(f"{name}.{item}" for item in lacks) if isinstance(lacks, list) else str(lacks)
            claims[factor] = Claim("no", f"this version has no {names}, which the control needs", f"update {name}")
    return tuple(
        Control(factor, claim.answer, claim.why, claim.advice)
        for factor in FACTORS
        for claim in (claims.get(factor) or Claim("nothing", f"{name} {NOTHING[factor]}"),)
    )


def _judge_by_trial(name: str, facts: Facts, answers: Mapping[str, Facts]) -> dict[str, Claim]:
    """Claims that depend on facts and tests."""
    if name == "python":
        return {"hash": _hash_seed(facts)}
    if name == "torch":
        return _judge_torch(facts, answers)
    if name == "tensorflow":
        return _judge_tensorflow(facts)
    if name == "keras":
        return _judge_keras(facts)
    if name == "torch_xla":
        return {"kernels": NO_RACES} if facts.text("backend") == "CPU" else {}
    return _judge_jax(facts, answers) if name == "jax" else {}


def _hash_seed(facts: Facts) -> Claim:
    if facts.is_true("hash_seed_works"):
        return YES
    why = "PYTHONHASHSEED has no effect on this interpreter"
    return Claim("no", f"{why}{_flags(facts)}", "start Python without -E and -I, or sort items of sets")


def _flags(facts: Facts) -> str:
    flags = facts.texts("flags")
    return f", which runs with {', '.join(flags)}" if flags else ""


def _judge_torch(facts: Facts, answers: Mapping[str, Facts]) -> dict[str, Claim]:
    claims = {"autotune": YES if facts.texts("gpus") else Claim("nothing", ON_GPUS_ONLY)}
    again = answers.get("torch.again", Facts())
    if not (facts.is_true("is_deterministic") and facts.is_true("refuses")):
        why = facts.faults.get("is_deterministic") or "enabling deterministic algorithms has no effect"
        claims["kernels"] = Claim("no", why, "update torch to 1.11 or newer")
    elif not again.text("deterministic_gradient"):
        why = "deterministic algorithms are on, but the second process for the comparison did not answer"
        claims["kernels"] = Claim("partly", why, "run deviate doctor again")
    elif facts.text("deterministic_gradient") != again.text("deterministic_gradient"):
        why = "with deterministic algorithms, two processes still computed different gradients"
        claims["kernels"] = Claim("partly", why, "use one thread: set = { threads = 1 } in a custom variant")
    if not facts.is_true("precision"):
        why = facts.faults.get("precision", "set_float32_matmul_precision has no effect")
        claims["precision"] = Claim("no", why, "update torch to 1.12 or newer")
    if not facts.is_true("sets_threads"):
        why = facts.faults.get("sets_threads", "set_num_threads has no effect")
        claims["threads"] = Claim("no", why, "set the variable: --env OMP_NUM_THREADS=1")
    claims["onednn"] = YES if facts.is_true("onednn") else Claim("nothing", "torch is built without oneDNN")
    return claims


def _judge_tensorflow(facts: Facts) -> dict[str, Claim]:
    claims = {"autotune": WITH_KERNELS if facts.texts("gpus") else Claim("nothing", ON_GPUS_ONLY)}
    if not (facts.is_true("is_deterministic") and facts.is_true("refuses")):
        why = facts.faults.get("is_deterministic") or "enabling op determinism has no effect"
        claims["kernels"] = Claim("no", why, "update tensorflow to 2.9 or newer")
    if not facts.is_true("sets_threads"):
        why = facts.faults.get("sets_threads", "set_intra_op_parallelism_threads has no effect")
        claims["threads"] = Claim("no", why, "set the variable: --env TF_NUM_INTRAOP_THREADS=1")
    if facts.values.get("onednn") is False:
        claims["onednn"] = Claim("nothing", "TensorFlow is built or started without oneDNN")
    else:
        claims["onednn"] = YES
    return claims


def _judge_keras(facts: Facts) -> dict[str, Claim]:
    backend = facts.text("backend")
    if backend == "tensorflow":
        return {}
    why = f"deviate does not control fit of the backend {backend or '(unknown)'}"
    unreached = Claim("partly", why, "set KERAS_BACKEND=tensorflow for a study of single streams")
    return {"shuffle": unreached, "one-bit": unreached, "weights": unreached}


def _judge_jax(facts: Facts, answers: Mapping[str, Facts]) -> dict[str, Claim]:
    claims = {}
    accepts = answers.get("jax.accepts", Facts())
    on_cpu = facts.text("backend") == "cpu"
    if on_cpu:
        claims["kernels"] = NO_RACES
        claims["autotune"] = Claim("nothing", ON_GPUS_ONLY)
    elif accepts.is_true("accepts"):
        claims["kernels"] = claims["autotune"] = YES
    else:
        why = f"XLA does not accept {DETERMINISTIC_OPS}"
        claims["kernels"] = claims["autotune"] = Claim("no", why, "update jaxlib")
    if facts.is_true("precision"):
        claims["precision"] = YES
    else:
        why = facts.faults.get("precision", "jax_default_matmul_precision has no effect")
        claims["precision"] = Claim("no", why, "update jax")
    return claims


def _list_trials(name: str, facts: Facts, answers: Mapping[str, Facts]) -> tuple[str, ...]:
    """Results of tests, positive or negative."""
    if name == "python" and facts.is_true("hash_seed_works"):
        return (
            "PYTHONHASHSEED: equal seeds gave equal hashes in two processes, a different seed gave different hashes",
        )
    if name == "torch":
        return tuple(_list_torch_trials(facts, answers.get("torch.again", Facts())))
    if name == "tensorflow" and facts.is_true("refuses"):
        return ("op determinism: a random operation without a seed was rejected",)
    if name == "jax":
        word = "was accepted" if answers.get("jax.accepts", Facts()).is_true("accepts") else "was not accepted"
        return (f"XLA_FLAGS={DETERMINISTIC_OPS}: {word} by this build",)
    return ()


def _list_torch_trials(facts: Facts, again: Facts) -> list[str]:
    trials = []
    default = {facts.text("default_gradient"), again.text("default_gradient")}
    held_gradients = {facts.text("deterministic_gradient"), again.text("deterministic_gradient")}
    if "" not in default | held_gradients:
        gradients = "different gradients" if len(default) > 1 else "equal gradients in this test"
        after = "different ones" if len(held_gradients) > 1 else "equal ones"
        trials.append(
            f"advanced indexing with several threads, backward: two processes computed {gradients};"
            f" with deterministic algorithms, {after}"
        )
    if facts.is_true("refuses"):
        trials.append("deterministic algorithms: an operation without a deterministic version was rejected")
    return trials
