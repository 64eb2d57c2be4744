"""What deviate can control in each framework: as far as known in advance, and by facts, with how it was tested."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, get_args

from deviate.doctor.children import ChildFacts
from deviate.doctor.claims import Claims, no, nothing, partly, yes
from deviate.model.diagnosis import Concern, Control, Framework
from deviate.model.plan import Stream

# ---------------------------------------------------------------- known in advance

STREAMS = " ".join(get_args(Stream))
FACTORS = tuple(f"{STREAMS} kernels autotune precision hash threads onednn one-bit weights".split())
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
_BOTH = "vary other, which includes both"
_IN_STEPS = "weights are recorded in steps of optax or flax, and in compiled steps that return updated inputs"
CHECK = "check that the runs of control are equal on the device before you trust other variants"
_TREES = nothing("one-bit", "trees are in C++; deviate hashes them but cannot change them")

CLAIMS: Mapping[str, Claims] = {
    "python": yes("shuffle split other"),
    "numpy": {
        **yes("shuffle split other threads"),
        **nothing("kernels", "linear algebra is repeatable at a fixed number of threads"),
    },
    "sklearn": {
        **yes("split other threads weights"),
        **no(
            "init", "an estimator draws initial weights and order from one random_state, which counts as other", _BOTH
        ),
        **partly(
            "shuffle",
            "utils.shuffle is controlled; the order inside an estimator depends on its random_state",
            "vary other for draws inside estimators",
        ),
    },
    "torch": yes(f"{STREAMS} kernels precision threads one-bit weights"),
    "torch_xla": {
        **yes(f"{STREAMS} one-bit weights"),
        **no(
            "kernels",
            "deviate knows no switch of XLA that makes kernels deterministic or fixes their choice",
            CHECK,
        ),
        **nothing("autotune", "deviate knows no switch; what XLA chooses counts as kernels"),
        **no(
            "precision",
            "deviate does not set the precision of matrix products of XLA",
            "set it in the script: torch_xla.backends.set_mat_mul_precision('highest')",
        ),
        **nothing("threads", "uses the threads of PyTorch and XLA"),
    },
    "tensorflow": {
        **yes(f"{STREAMS} kernels precision threads onednn"),
        **partly("one-bit", "only weights trained by Keras are recorded", "train with Keras fit or its models"),
        **partly("weights", "only weights of Keras models are recorded", "store the weights in a keras.Model"),
    },
    "keras": {
        **yes("init shuffle augment dropout other one-bit weights"),
        **nothing("kernels", "uses the kernels of its backend"),
        **nothing("autotune", "uses the search of its backend"),
        **nothing("precision", "uses the precision of its backend"),
        **nothing("threads", "uses the threads of its backend"),
    },
    "jax": {
        **yes("shuffle split other precision"),
        **partly("init", f"{_KEYS}: draws of initializers are controlled, draws {_OTHERS}", _NAMED),
        **partly("augment", f"{_KEYS}: flax keys of this name are controlled, draws {_OTHERS}", _NAMED),
        **partly("dropout", f"{_KEYS}: draws of layers are controlled, masks {_OTHERS}", _NAMED),
        **partly("one-bit weights", _IN_STEPS, "train with optax or flax"),
        **nothing("threads", "in tests on a CPU, results did not depend on the number of threads"),
    },
    "flax": yes("init augment dropout one-bit weights"),
    "haiku": yes("init dropout one-bit weights"),
    "optax": yes("one-bit weights"),
    "lightgbm": {**yes("shuffle dropout split other kernels autotune threads weights"), **_TREES},
    "xgboost": {**yes("split other threads weights"), **no("shuffle dropout", _ONE_SEED, _BOTH), **_TREES},
    "catboost": {
        **yes("split other threads weights"),
        **no("shuffle", _ONE_SEED, _BOTH),
        **partly("kernels", "deterministic on a CPU; no deterministic kernels on a GPU", "use a CPU"),
        **_TREES,
    },
    "gymnasium": yes("split other"),
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
        Concern(
            "draws on devices of plug-ins (hpu, mtia, npu and others)",
            "deviate does not route the generators of such devices",
            "draw on the CPU and move the tensors; runs report a model on the device",
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

NO_SEARCH = nothing("autotune", "the search for the fastest kernel runs on GPUs only, and no GPU is visible")
NO_RACES = nothing("kernels", "XLA has no known nondeterministic kernels on a CPU")
DETERMINISTIC_OPS = "--xla_gpu_deterministic_ops=true"


class Switch(NamedTuple):
    """What was tried of one factor: without these facts, deviate cannot control it.

    Attributes:
        why: the reason, where the first fact tells none.
    """

    factor: str
    facts: str
    why: str
    advice: str


SWITCHES: Mapping[str, tuple[Switch, ...]] = {
    "torch": (
        Switch(
            "kernels",
            "is_deterministic refuses",
            "enabling deterministic algorithms has no effect",
            "update torch to 1.11 or newer",
        ),
        Switch("precision", "precision", "set_float32_matmul_precision has no effect", "update torch to 1.12 or newer"),
        Switch("threads", "sets_threads", "set_num_threads has no effect", "set the variable: --env OMP_NUM_THREADS=1"),
    ),
    "tensorflow": (
        Switch(
            "kernels",
            "is_deterministic refuses",
            "enabling op determinism has no effect",
            "update tensorflow to 2.9 or newer",
        ),
        Switch(
            "threads",
            "sets_threads",
            "set_intra_op_parallelism_threads has no effect",
            "set the variable: --env TF_NUM_INTRAOP_THREADS=1",
        ),
    ),
    "jax": (Switch("precision", "precision", "jax_default_matmul_precision has no effect", "update jax"),),
}


def judge(name: str, facts: ChildFacts, fault: str, answers: Mapping[str, ChildFacts], python: str) -> Framework:
    """Judge one framework.

    Args:
        facts: of this framework. answers: facts from every child process, by the name of its question, such as
            `torch.again`.
        fault: why its answers are incomplete; empty if they are complete.
        python: the interpreter, for commands that the user can type.
    """
    return Framework(
        name=name,
        state="broken" if fault else "works",
        version=facts.text("version"),
        build=facts.text("build"),
        path=facts.text("path"),
        devices=_devices(name, facts, answers),
        threads=_threads(name, facts),
        wall_time_s=facts.number("wall_time_s"),
        rests_on=RESTS_ON.get(name, ""),
        controls=() if fault else _controls(name, facts, answers),
        limits=() if fault else LIMITS.get(name, ()),
        tried=() if fault else _list_trials(name, facts, answers),
        fault=fault,
        advice=f"run: {python} -c 'import {name}'; fix the error, or reinstall {name}" if fault else "",
    )


def _devices(name: str, facts: ChildFacts, answers: Mapping[str, ChildFacts]) -> tuple[str, ...]:
    if name == "torch_xla":
        started = answers.get("torch_xla.devices", ChildFacts())
        why = started.faults.get("kinds") or ("" if started.is_whole else f"no answer while {started.doing}")
        return (f"{facts.text('backend')}: {why}",) if why else started.texts("kinds")
    if name not in {"torch", "tensorflow", "jax"}:
        return ()
    instructions = facts.text("instructions")
    return (f"CPU {instructions}".strip(), *facts.texts("gpus"))


def _threads(name: str, facts: ChildFacts) -> str:
    pools = [f"{pool.get('library')} {pool.get('threads')}" for pool in facts.tables("pools")]
    return ", ".join(pools) if name == "numpy" else facts.text("threads")


def _controls(name: str, facts: ChildFacts, answers: Mapping[str, ChildFacts]) -> tuple[Control, ...]:
    if name not in CLAIMS:
        return ()
    tried = TRIALS[name](facts, answers) if name in TRIALS else {}
    claims = {**CLAIMS[name], **tried, **_without_switch(name, facts)}
    for factor, lacks in facts.table("missing").items():
        if factor not in claims or claims[factor].answer in {"yes", "partly"}:
            names = ", ".join(f"{name}.{item}" for item in lacks) if isinstance(lacks, list) else str(lacks)
            claims |= no(factor, f"this version has no {names}, which the control needs", f"update {name}")
    return tuple(claims.get(factor) or Control(factor, "nothing", f"{name} {NOTHING[factor]}") for factor in FACTORS)


def _without_switch(name: str, facts: ChildFacts) -> Claims:
    claims: Claims = {}
    for switch in SWITCHES.get(name, ()):
        needed = switch.facts.split()
        if not all(map(facts.is_true, needed)):
            claims = {**claims, **no(switch.factor, facts.faults.get(needed[0]) or switch.why, switch.advice)}
    return claims


def _judge_python(facts: ChildFacts, _answers: Mapping[str, ChildFacts]) -> Claims:
    if facts.is_true("hash_seed_works"):
        return yes("hash")
    flags = facts.texts("flags")
    which = f", which runs with {', '.join(flags)}" if flags else ""
    return no(
        "hash",
        f"PYTHONHASHSEED has no effect on this interpreter{which}",
        "start Python without -E and -I, or sort items of sets",
    )


def _judge_torch(facts: ChildFacts, answers: Mapping[str, ChildFacts]) -> Claims:
    again, kernels = answers.get("torch.again", ChildFacts()).text("deterministic_gradient"), yes("kernels")
    if not again:
        kernels = partly(
            "kernels",
            "deterministic algorithms are on, but the second process for the comparison did not answer",
            "run deviate doctor again",
        )
    elif facts.text("deterministic_gradient") != again:
        kernels = partly(
            "kernels",
            "with deterministic algorithms, two processes still computed different gradients",
            "use one thread: set = { threads = 1 } in a custom variant",
        )
    has_onednn = facts.is_true("onednn")
    onednn = yes("onednn") if has_onednn else nothing("onednn", "torch is built without oneDNN")
    return {**kernels, **onednn, **(yes("autotune") if facts.texts("gpus") else NO_SEARCH)}


def _judge_tensorflow(facts: ChildFacts, _answers: Mapping[str, ChildFacts]) -> Claims:
    with_kernels = partly(
        "autotune",
        "op determinism holds it together with kernels",
        "vary impl, which varies both; neither varies alone",
    )
    is_without = facts.values.get("onednn") is False
    without = nothing("onednn", "TensorFlow is built or started without oneDNN") if is_without else {}
    return {**(with_kernels if facts.texts("gpus") else NO_SEARCH), **without}


def _judge_keras(facts: ChildFacts, _answers: Mapping[str, ChildFacts]) -> Claims:
    backend = facts.text("backend")
    if backend == "tensorflow":
        return {}
    return partly(
        "shuffle one-bit weights",
        f"deviate does not control fit of the backend {backend or '(unknown)'}",
        "set KERAS_BACKEND=tensorflow for a study of single streams",
    )


def _judge_jax(facts: ChildFacts, answers: Mapping[str, ChildFacts]) -> Claims:
    backend = facts.text("backend")
    if backend == "cpu":
        return {**NO_RACES, **NO_SEARCH}
    if backend in {"tpu", "METAL"}:
        return no("kernels autotune", f"the flags of XLA for GPUs do not reach {backend}", CHECK)
    if answers.get("jax.accepts", ChildFacts()).is_true("accepts"):
        return yes("kernels autotune")
    return no("kernels autotune", f"XLA does not accept {DETERMINISTIC_OPS}", "update jaxlib")


def _judge_torch_xla(facts: ChildFacts, _answers: Mapping[str, ChildFacts]) -> Claims:
    return NO_RACES if facts.text("backend") == "CPU" else {}


TRIALS: Mapping[str, Callable[[ChildFacts, Mapping[str, ChildFacts]], Claims]] = {
    "python": _judge_python,
    "torch": _judge_torch,
    "tensorflow": _judge_tensorflow,
    "keras": _judge_keras,
    "jax": _judge_jax,
    "torch_xla": _judge_torch_xla,
}
"""What facts and tests say beside the claims: of this build, its backend and its devices."""


def _list_trials(name: str, facts: ChildFacts, answers: Mapping[str, ChildFacts]) -> tuple[str, ...]:
    """Results of tests, positive or negative."""
    if name == "python" and facts.is_true("hash_seed_works"):
        return (
            "PYTHONHASHSEED: equal seeds gave equal hashes in two processes, a different seed gave different hashes",
        )
    if name == "torch":
        return tuple(_list_torch_trials(facts, answers.get("torch.again", ChildFacts())))
    if name == "tensorflow" and facts.is_true("refuses"):
        return ("op determinism: a random operation without a seed was rejected",)
    if name == "jax":
        word = "was accepted" if answers.get("jax.accepts", ChildFacts()).is_true("accepts") else "was not accepted"
        return (f"XLA_FLAGS={DETERMINISTIC_OPS}: {word} by this build",)
    return ()


def _list_torch_trials(facts: ChildFacts, again: ChildFacts) -> list[str]:
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
