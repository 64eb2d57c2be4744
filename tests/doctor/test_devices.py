from collections.abc import Sequence

from deviate.doctor.children import ChildFacts
from deviate.doctor.devices import DIFFERENCES, PLUGINS, device_types
from deviate.doctor.judge import FACTORS
from deviate.model.diagnosis import Control, DeviceType

ALL = tuple(Control(factor, "yes") for factor in FACTORS)


def _types(
    name: str, *types: dict[str, object], controls: Sequence[Control] = ALL, **answers: ChildFacts
) -> list[DeviceType]:
    facts = ChildFacts({"device_types": list(types)})
    return list(device_types(name, facts, {f"{name}.{question}": one for question, one in answers.items()}, controls))


def _answers(kind: DeviceType, *factors: str) -> list[str]:
    by_factor = {control.factor: control.answer for control in kind.controls}
    return [by_factor[factor] for factor in factors]


def test_the_generator_of_a_plugin_is_not_called_controlled() -> None:
    cpu, cuda, toy = _types(
        "torch", *({"name": name, "n": 1, "is_built": True} for name in ("cpu", "cuda", "toy")), controls=ALL
    )
    streams = ("init", "dropout", "other")
    assert _answers(toy, *streams) == ["no"] * 3
    assert _answers(cuda, *streams) == _answers(cpu, *streams) == ["yes"] * 3
    assert (cpu.tested_on, cuda.tested_on, toy.tested_on) == ("CPUs", "", "")


def test_a_type_without_devices_says_why() -> None:
    (tpu,) = _types("jax", {"name": "tpu", "n": 0, "is_built": False, "why": "libtpu is not installed"})
    assert (tpu.n_devices, tpu.is_built, tpu.note) == (0, False, "libtpu is not installed")
    (xpu,) = _types("torch", {"name": "xpu", "n": 0, "is_built": False})
    assert xpu.note == "not in this build"


def test_flags_for_gpus_hold_kernels_only_where_this_build_takes_them() -> None:
    held = tuple(Control(factor, "no", "XLA does not accept the flag", "update") for factor in FACTORS)
    cuda = {"name": "cuda", "n": 1, "is_built": True}
    (accepts,) = _types("jax", cuda, accepts=ChildFacts({"accepts": True}))
    assert _answers(accepts, "kernels") == ["yes"]
    (refuses,) = _types("jax", cuda, controls=held, accepts=ChildFacts())
    assert _answers(refuses, "kernels", "dropout") == ["no", "no"]


def test_each_answer_for_a_type_has_its_reason_and_advice() -> None:
    for controls in (*DIFFERENCES.values(), *PLUGINS.values()):
        for control in controls.values():
            assert control.factor in FACTORS
            assert control.why or control.answer == "yes"
            assert control.advice or control.answer in {"yes", "nothing"}
