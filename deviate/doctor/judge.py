"""Derives answers from facts: what deviate can control in a framework here, and how that was tested."""

from collections.abc import Mapping

from deviate.doctor.claims import CLAIMS, FACTORS, LIMITS, NOTHING, RESTS_ON, YES, Claim
from deviate.doctor.facts import Facts
from deviate.model import Control, Framework

ON_GPUS_ONLY = "searching for the fastest kernel happens on GPUs only, and it sees none here"
WITH_KERNELS = Claim(
    "partly", "op determinism holds it together with the kernels", "vary impl, which moves both; neither moves alone"
)
DETERMINISTIC_OPS = "--xla_gpu_deterministic_ops=true"


def judge(name: str, facts: Facts, fault: str, answers: Mapping[str, Facts], python: str) -> Framework:
    """Judge one framework.

    Args:
        facts: of this framework. answers: facts from every child process, by the name of its question, such as
            `torch.again`.
        fault: why it has not said all; empty when it has.
        python: the interpreter, for commands that the user can type.
    """
    controls, tried = _controls(name, facts, answers), _list_trials(name, facts, answers)
    return Framework(
        name=name,
        state="broken" if fault else "works",
        version=facts.text("version"),
        build=facts.text("build"),
        path=facts.text("path"),
        devices=_devices(name, facts),
        threads=_threads(name, facts),
        wall_time_s=facts.number("wall_time_s"),
        rests_on=RESTS_ON.get(name, ""),
        controls=() if fault else controls,
        limits=() if fault else LIMITS.get(name, ()),
        tried=() if fault else tried,
        fault=fault,
        advice=f"try it with: {python} -c 'import {name}'; mend what it names, or install {name} anew" if fault else "",
    )


def _devices(name: str, facts: Facts) -> tuple[str, ...]:
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
            claims[factor] = Claim("no", f"this version has no {names}, where it is controlled", f"update {name}")
    return tuple(
        Control(factor, claim.answer, claim.why, claim.advice)
        for factor in FACTORS
        for claim in (claims.get(factor) or Claim("nothing", f"it {NOTHING[factor]}"),)
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
    return _judge_jax(facts, answers) if name == "jax" else {}


def _hash_seed(facts: Facts) -> Claim:
    if facts.is_true("hash_seed_works"):
        return YES
    why = "PYTHONHASHSEED has no effect on this interpreter"
    return Claim("no", f"{why}{_flags(facts)}", "start Python without -E and -I, or sort what comes out of sets")


def _flags(facts: Facts) -> str:
    flags = facts.texts("flags")
    return f": it runs with {', '.join(flags)}" if flags else ""


def _judge_torch(facts: Facts, answers: Mapping[str, Facts]) -> dict[str, Claim]:
    claims = {"autotune": YES if facts.texts("gpus") else Claim("nothing", ON_GPUS_ONLY)}
    again = answers.get("torch.again", Facts())
    if not (facts.is_true("is_deterministic") and facts.is_true("refuses")):
        why = facts.faults.get("is_deterministic") or "deterministic algorithms were switched on to no effect"
        claims["kernels"] = Claim("no", why, "update torch to 1.11 or newer")
    elif not again.text("deterministic_gradient"):
        why = "deterministic algorithms are on, but a second process to compare with did not answer"
        claims["kernels"] = Claim("partly", why, "run deviate doctor again")
    elif facts.text("deterministic_gradient") != again.text("deterministic_gradient"):
        why = "with deterministic algorithms two processes still gave different gradients"
        claims["kernels"] = Claim("partly", why, "use one thread: set = { threads = 1 } in a variant of your own")
    if not facts.is_true("precision"):
        why = facts.faults.get("precision", "set_float32_matmul_precision has no effect")
        claims["precision"] = Claim("no", why, "update torch to 1.12 or newer")
    if not facts.is_true("sets_threads"):
        why = facts.faults.get("sets_threads", "set_num_threads has no effect")
        claims["threads"] = Claim("no", why, "set OMP_NUM_THREADS yourself: --env OMP_NUM_THREADS=1")
    claims["onednn"] = YES if facts.is_true("onednn") else Claim("nothing", "torch is built without oneDNN")
    return claims


def _judge_tensorflow(facts: Facts) -> dict[str, Claim]:
    claims = {"autotune": WITH_KERNELS if facts.texts("gpus") else Claim("nothing", ON_GPUS_ONLY)}
    if not (facts.is_true("is_deterministic") and facts.is_true("refuses")):
        why = facts.faults.get("is_deterministic") or "op determinism was switched on to no effect"
        claims["kernels"] = Claim("no", why, "update tensorflow to 2.9 or newer")
    if not facts.is_true("sets_threads"):
        why = facts.faults.get("sets_threads", "set_intra_op_parallelism_threads has no effect")
        claims["threads"] = Claim("no", why, "set TF_NUM_INTRAOP_THREADS yourself with --env")
    if facts.values.get("onednn") is False:
        claims["onednn"] = Claim("nothing", "it is built or started without oneDNN")
    else:
        claims["onednn"] = YES
    return claims


def _judge_keras(facts: Facts) -> dict[str, Claim]:
    backend = facts.text("backend")
    if backend == "tensorflow":
        return {}
    why = f"the backend is {backend or 'unknown'}, whose fit is not reached"
    unreached = Claim("partly", why, "set KERAS_BACKEND=tensorflow for a study of single streams")
    return {"shuffle": unreached, "one-bit": unreached, "weights": unreached}


def _judge_jax(facts: Facts, answers: Mapping[str, Facts]) -> dict[str, Claim]:
    claims = {}
    accepts = answers.get("jax.accepts", Facts())
    on_cpu = facts.text("backend") == "cpu"
    if on_cpu:
        claims["kernels"] = Claim("nothing", "on a CPU no nondeterministic kernels of XLA are known")
        claims["autotune"] = Claim("nothing", ON_GPUS_ONLY)
    elif accepts.is_true("accepts"):
        claims["kernels"] = claims["autotune"] = YES
    else:
        why = f"XLA does not take {DETERMINISTIC_OPS}"
        claims["kernels"] = claims["autotune"] = Claim("no", why, "update jaxlib")
    if facts.is_true("precision"):
        claims["precision"] = YES
    else:
        why = facts.faults.get("precision", "jax_default_matmul_precision has no effect")
        claims["precision"] = Claim("no", why, "update jax")
    return claims


def _list_trials(name: str, facts: Facts, answers: Mapping[str, Facts]) -> tuple[str, ...]:
    """What was tried, whatever came of it."""
    if name == "python" and facts.is_true("hash_seed_works"):
        return ("PYTHONHASHSEED: equal seeds gave equal hashes in two processes, another seed gave others",)
    if name == "torch":
        return tuple(_list_torch_trials(facts, answers.get("torch.again", Facts())))
    if name == "tensorflow" and facts.is_true("refuses"):
        return ("op determinism: once on, a random operation without a seed was refused",)
    if name == "jax":
        word = "was accepted" if answers.get("jax.accepts", Facts()).is_true("accepts") else "was not accepted"
        return (f"XLA_FLAGS={DETERMINISTIC_OPS}: {word} by this build",)
    return ()


def _list_torch_trials(facts: Facts, again: Facts) -> list[str]:
    trials = []
    default = {facts.text("default_gradient"), again.text("default_gradient")}
    held_gradients = {facts.text("deterministic_gradient"), again.text("deterministic_gradient")}
    if "" not in default | held_gradients:
        gradients = "different gradients" if len(default) > 1 else "equal gradients this time"
        after = "different ones" if len(held_gradients) > 1 else "equal ones"
        trials.append(
            f"advanced indexing on several threads, backward: two processes gave {gradients};"
            f" with deterministic algorithms, {after}"
        )
    if facts.is_true("refuses"):
        trials.append("deterministic algorithms: once on, an operation without a deterministic version was refused")
    return trials
