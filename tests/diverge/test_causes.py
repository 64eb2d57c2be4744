"""Causes: each is named for what points to it, and for nothing else."""

import dataclasses
from typing import Any

import pytest

from deviate.diverge.causes import Evidence
from deviate.diverge.causes.find import find_causes
from deviate.diverge.causes.operations import FAMILIES, FROM_WORKER, base_name, is_one_of
from deviate.diverge.findings import Cause, Difference, Place
from deviate.model.analysis import Hazard, SideEffect
from deviate.model.records import SeedEvent
from deviate.replay.variants import VARIANTS, find_variant

CPU = {"CPU": "a processor", "torch": "2.13.0+cpu", "torch threads": "2"}
GPU = {"CPU": "a processor", "GPU": "a GPU", "torch": "2.13.0+cu130", "torch threads": "2"}
HERE = Place("train.py", 41, "y = table[index]")


def operation(name: str, **more: Any) -> Difference:
    return Difference("operations", "backward", 3, 0, "operation", name, place=HERE, **more)


def state(name: str, step: int = 0) -> Difference:
    return Difference("steps", "random", step, 0, "state", name)


def batch(phase: Any = "data") -> Difference:
    return Difference("steps", phase, 0, 0, "batch", "input")


def seen(variant: str = "impl", facts: dict[str, str] | None = None, **more: Any) -> Evidence:
    told = CPU if facts is None else facts
    return Evidence(variant=VARIANTS[variant], frameworks=frozenset({"torch", "numpy"}), facts=(told, told), **more)


def hazard(name: str, line: int = 5, message: str = "") -> Hazard:
    return Hazard(name, "train.py", line, "code", message)


def seeds(*values: str, call: str = "torch.manual_seed") -> tuple[tuple[SeedEvent, ...], tuple[SeedEvent, ...]]:
    first, second = ((SeedEvent(call, value, "train.py", 6, "replaced"),) for value in values)
    return first, second


def ids(causes: tuple[Cause, ...]) -> list[str]:
    return [it.id for it in causes]


def first(difference: Difference, evidence: Evidence) -> Cause:
    return find_causes(difference, evidence)[0]


# ------------------------------------------------------------ nothing points anywhere


@pytest.mark.parametrize("phase", ["initial", "random", "order", "forward", "loss", "backward", "update", "metric"])
def test_under_control_with_nothing_found_the_answer_is_that_none_is_likely(phase: Any) -> None:
    causes = find_causes(Difference("steps", phase, 3, 0, "update", "x"), seen("control"))
    assert [(it.id, it.certainty) for it in causes] == [("unknown", "possible")]
    assert "held" in causes[0].why


@pytest.mark.parametrize(
    ("rung", "framework", "goes_further"),
    [("modules", "torch", True), ("operations", "torch", False), ("modules", "jax", False)],
)
def test_the_operation_is_offered_where_a_rung_below_shows_it(rung: Any, framework: str, goes_further: Any) -> None:
    parted = Difference(rung, "loss", 3, 0, "loss", "loss")
    *_, cause = find_causes(parted, Evidence(variant=VARIANTS["control"], frameworks=frozenset({framework})))
    assert ("--level operations" in cause.cure) is goes_further


def test_a_program_without_a_framework_is_not_told_to_look_at_its_weights() -> None:
    parted = Difference("metrics", "metric", None, 3, "loss", "loss")
    *_, dark = find_causes(parted, Evidence(variant=VARIANTS["control"], frameworks=frozenset({"random", "numpy"})))
    *_, bright = find_causes(parted, seen("control"))
    assert dark.cure.startswith("only reported values could be compared")
    assert bright.cure.startswith("check whether weights and losses are equal")


@pytest.mark.parametrize("name", ["aten.mm.default", "aten.convolution_backward.default", "aten.cumsum.default"])
def test_what_is_noisy_on_a_gpu_alone_is_not_blamed_on_a_cpu(name: str) -> None:
    assert ids(find_causes(operation(name), seen())) == ["unknown"]


def test_index_put_is_not_blamed_where_kernels_are_deterministic_or_threads_are_one() -> None:
    one = {**CPU, "torch threads": "1"}
    held = {**CPU, "torch deterministic algorithms": "on"}
    for evidence in (seen("control"), seen(facts=one), seen("as-is", facts=held)):
        assert "index-put" not in ids(find_causes(operation("aten.index_put.default"), evidence))


def test_hazards_in_the_source_say_nothing_of_a_phase_that_they_cannot_be_first_in() -> None:
    found = tuple(map(hazard, ("entropy", "set-order", "file-order", "unordered-results", "changing-seed")))
    difference = Difference("steps", "backward", 3, 0, "gradient", "weight")
    assert ids(find_causes(difference, seen("control", hazards=found))) == ["unknown"]


# ------------------------------------------------------------ kernels


def test_trees_from_histograms_point_to_threads_unless_lightgbm_is_held() -> None:
    light, other = ({**CPU, name: "1.0"} for name in ("lightgbm", "xgboost"))
    tree = Difference("steps", "update", 3, 3, "update", "tree.leaf_value", place=HERE)
    cause = first(tree, seen("as-is", light))
    assert (cause.id, cause.certainty, cause.places) == ("histogram-threads", "likely", (HERE,))
    assert (
        first(dataclasses.replace(tree, name="HistGradientBoostingRegressor.tree.nodes.value"), seen()).id == cause.id
    )
    evaluated = dataclasses.replace(tree, phase="loss", kind="loss", name="valid_0_l2")
    assert first(evaluated, seen("control", light)).id == cause.id
    for evidence in (seen("control", light), seen("as-is", other)):
        assert cause.id not in ids(find_causes(tree, evidence))


@pytest.mark.parametrize("name", ["aten.index_put.default", "aten._index_put_impl_.default", "aten.index_put_.default"])
def test_index_put_on_two_threads_of_a_cpu_is_likely(name: str) -> None:
    cause = first(operation(name), seen())
    assert (cause.id, cause.certainty, cause.places) == ("index-put", "likely", (HERE,))
    assert "torch.use_deterministic_algorithms(True)" in cause.cure


GUILTY = {
    "aten.scatter_add.default": "scatter",
    "aten.index_add_.default": "scatter",
    "aten._embedding_bag_dense_backward.default": "embedding-bag",
    "aten.upsample_bilinear2d_backward.default": "interpolate",
    "aten._adaptive_avg_pool2d_backward.default": "pooling",
    "aten.max_pool3d_with_indices_backward.default": "pooling",
    "aten.max_unpool2d.default": "max-unpool",
    "aten.reflection_pad2d_backward.default": "padding",
    "aten.replication_pad1d_backward.default": "replication",
    "aten.grid_sampler_2d_backward.default": "grid-sample",
    "aten._ctc_loss_backward.default": "ctc-loss",
    "aten.nll_loss2d_forward.default": "pixel-loss",
    "aten.bincount.default": "histogram",
    "aten.histc.default": "histogram",
    "aten.cumsum.default": "running-sum",
    "aten.median.dim": "running-sum",
    "aten._scaled_dot_product_flash_attention_backward.default": "attention",
    "aten.convolution_backward.default": "convolution",
    "aten._cudnn_rnn_backward.default": "recurrent",
}


@pytest.mark.parametrize(("name", "cause"), GUILTY.items())
def test_an_operation_that_pytorch_calls_nondeterministic_on_cuda_is_likely_there(name: str, cause: str) -> None:
    found = first(operation(name, more={"device": "cuda:0"}), seen(facts=GPU))
    assert (found.id, found.certainty) == (cause, "likely")


@pytest.mark.parametrize("name", GUILTY)
def test_where_the_device_is_not_known_it_is_possible_and_no_more(name: str) -> None:
    assert find_causes(operation(name), seen(facts=GPU))[0].certainty == "possible"


def test_what_nobody_documents_is_possible_at_most() -> None:
    for name in ("aten.embedding_dense_backward.default", "aten.relu.default"):
        causes = find_causes(operation(name, more={"device": "cuda:0"}), seen(facts=GPU))
        assert {it.certainty for it in causes} == {"possible"}


def test_index_put_on_a_gpu_is_possible_alone_for_only_its_race_is_left_there() -> None:
    on_gpu = operation("aten.index_put.default", more={"device": "cuda:0"})
    assert (first(on_gpu, seen(facts=GPU)).id, first(on_gpu, seen(facts=GPU)).certainty) == ("index-put", "possible")


def test_no_operation_belongs_to_two_families() -> None:
    for name in (*GUILTY, "aten.index_put.default", "aten.embedding_dense_backward.default", "aten.bmm_sparse.default"):
        assert sum(is_one_of(name, family.names) for family in FAMILIES) == 1, name


def test_forward_operations_and_those_with_an_order_belong_to_none() -> None:
    for name in ("mm", "addmm", "convolution", "embedding", "relu", "sum.dim_IntList", "upsample_nearest2d_backward"):
        assert not any(is_one_of(f"aten.{name}.default", family.names) for family in FAMILIES), name


def test_a_gradient_that_is_first_on_a_cpu_points_to_indexing_the_more_where_the_source_has_it() -> None:
    difference = Difference("steps", "backward", 0, 0, "gradient", "table")
    told = hazard("gather", 8, "the gradient of an index adds in no fixed order on several threads of a CPU")
    assert [(it.id, it.certainty) for it in find_causes(difference, seen(hazards=(told,)))] == [("index-put", "likely")]
    assert first(difference, seen()).certainty == "possible"


def test_an_operation_that_ran_without_a_deterministic_version_is_named_with_its_line() -> None:
    evidence = seen("control", facts=GPU, operations=("adaptive_avg_pool2d_backward_cuda (net.py:12)",))
    causes = find_causes(operation("aten._adaptive_avg_pool2d_backward.default", more={"device": "cuda:0"}), evidence)
    assert ids(causes)[:2] == ["pooling", "no-version"]
    assert causes[1].places == (Place("net.py", 12),)


def test_a_convolution_under_benchmark_points_to_autotuning() -> None:
    evidence = seen("as-is", facts={**GPU, "torch cuDNN benchmark": "on"})
    causes = find_causes(operation("aten.convolution.default", more={"device": "cuda:0"}), evidence)
    assert (causes[0].id, causes[0].certainty) == ("autotuning", "likely")


def test_several_ranks_point_to_collectives_where_one_differs_first() -> None:
    reduced = operation("c10d.allreduce_.default", rank=1)
    assert first(reduced, seen("control", n_ranks=2)).id == "collectives"
    on_gpu = operation("c10d.allreduce_.default", rank=1, more={"device": "cuda:0"})
    told = [first(it, seen("control", n_ranks=2)).certainty for it in (reduced, on_gpu)]
    assert told == ["possible", "likely"], "of other backends than NCCL nobody says so"
    assert "collectives" not in ids(find_causes(reduced, seen("control", n_ranks=1)))


# ------------------------------------------------------------ two environments


@pytest.mark.parametrize(
    ("fact", "values", "cause"),
    [
        ("torch", ("2.12.0", "2.13.0"), "software"),
        ("torch threads", ("1", "2"), "threads"),
        ("variable OMP_NUM_THREADS", ("1", "2"), "threads"),
        ("CPU", ("one", "another"), "code-paths"),
        ("torch TF32 in matmul", ("on", "off"), "precision"),
        ("torch deterministic algorithms", ("on", "off"), "switches"),
        ("GPU", ("A100", "H100"), "devices"),
    ],
)
def test_a_fact_that_is_not_the_same_in_both_runs_is_the_first_cause(
    fact: str, values: tuple[str, str], cause: str
) -> None:
    evidence = dataclasses.replace(seen("control"), facts=({**CPU, fact: values[0]}, {**CPU, fact: values[1]}))
    found = first(Difference("steps", "forward", 0, 0, "forward", "output"), evidence)
    assert (found.id, found.certainty) == (cause, "likely")
    assert values[0] in found.why
    assert values[1] in found.why


def test_a_fact_that_one_run_did_not_tell_differs_only_if_it_is_a_variable() -> None:
    difference = Difference("steps", "forward", 0, 0, "forward", "output")
    silent = {name: value for name, value in CPU.items() if name != "torch threads"}
    assert ids(find_causes(difference, dataclasses.replace(seen("control"), facts=(CPU, silent)))) == ["unknown"]
    more = {**CPU, "variable OMP_NUM_THREADS": "1"}
    assert first(difference, dataclasses.replace(seen("control"), facts=(CPU, more))).id == "threads"
    assert ids(find_causes(difference, dataclasses.replace(seen("control"), facts=({}, more)))) == ["unknown"]


def test_other_versions_do_not_explain_other_batches() -> None:
    evidence = dataclasses.replace(seen("control"), facts=(CPU, {**CPU, "torch": "2.12.0"}))
    assert all(it.certainty == "possible" for it in find_causes(batch(), evidence))


FORWARD = Difference("steps", "forward", 0, 0, "forward", "output")


def differing(variant: str = "control", **facts: str) -> Evidence:
    """Two runs whose facts of these names differ."""
    told = {name.replace("_", " "): value for name, value in facts.items()}
    others = {name: f"another {value}" for name, value in told.items()}
    return dataclasses.replace(seen(variant), facts=({**CPU, **told}, {**CPU, **others}))


def sure(causes: tuple[Cause, ...]) -> dict[str, str]:
    return {it.id: it.certainty for it in causes}


def test_two_kinds_of_devices_leave_no_other_explanation_where_all_else_is_held_and_alike() -> None:
    two = {"devices": ("cpu", "cuda")}
    assert first(FORWARD, dataclasses.replace(seen("control"), **two)).is_certain
    assert first(FORWARD, dataclasses.replace(seen("impl"), **two)).certainty == "likely"
    causes = find_causes(FORWARD, dataclasses.replace(differing(torch="2.13.0"), **two))
    assert sure(causes) == {"devices": "likely", "software": "possible"}
    assert first(state("torch"), dataclasses.replace(seen("as-is"), **two)).id == "unseeded"


def test_two_facts_that_differ_are_not_told_apart_and_one_alone_is_likely() -> None:
    assert sure(find_causes(FORWARD, differing(torch="2.13.0"))) == {"software": "likely"}
    both = find_causes(FORWARD, differing(torch="2.13.0", torch_threads="2"))
    assert sure(both) == {"software": "possible", "threads": "possible"}


def test_an_operation_that_is_known_to_be_noisy_is_told_before_another_version() -> None:
    causes = find_causes(operation("aten.index_put.default"), differing("impl", torch="2.13.0"))
    assert [(it.id, it.certainty) for it in causes] == [("index-put", "likely"), ("software", "possible")]


@pytest.mark.parametrize("name", ["numpy", "keras", "flax", "packages", "interpreter"])
def test_software_that_did_not_compute_it_is_possible_and_no_more(name: str) -> None:
    evidence = differing(**{name: "1"})
    assert first(operation("aten.mm.default"), evidence).certainty == "possible"
    assert first(operation("aten.mm.default"), differing(torch="2.13.0")).certainty == "likely"
    is_framework = name in {"keras", "flax"}
    assert (first(FORWARD, evidence).certainty == "likely") is is_framework


def test_another_driver_is_no_other_device() -> None:
    cause = first(FORWARD, differing(NVIDIA_driver="550"))
    assert (cause.id, cause.certainty) == ("devices", "possible")
    assert first(FORWARD, differing(NVIDIA_driver="550", GPU="A100")).certainty == "likely"


@pytest.mark.parametrize("phase", ["initial", "metric"])
def test_other_versions_are_likely_for_draws_and_bare_values_only_where_seeds_are_held(phase: Any) -> None:
    parted = Difference("metrics" if phase == "metric" else "steps", phase, 0, 0, "weights", "0.weight")
    told = {variant: sure(find_causes(parted, differing(variant, torch="2.13.0"))) for variant in ("control", "as-is")}
    assert {variant: causes["software"] for variant, causes in told.items()} == {
        "control": "likely",
        "as-is": "possible",
    }


# ------------------------------------------------------------ draws


def test_a_stream_that_the_variant_varies_is_certain() -> None:
    cause = first(state("torch/dropout"), seen("dropout"))
    assert (cause.id, cause.certainty) == ("varied-stream", "certain")
    assert "varied-stream" not in ids(find_causes(state("torch/shuffle"), seen("dropout")))


def test_runs_that_were_not_given_the_same_seeds_are_told_so_before_what_differs_around_them() -> None:
    facts = ({**CPU, "torch TF32 in matmul": "on"}, {**CPU, "torch TF32 in matmul": "off"})
    given = {"init": 1, "shuffle": 2}
    for variant, pair in (("control", (given, {"init": 3, "shuffle": 4})), (None, ({}, given)), (None, (given, {}))):
        evidence = dataclasses.replace(seen("control", seeds=pair), facts=facts)
        evidence = dataclasses.replace(evidence, variant=evidence.variant if variant else None)
        for phase, certainty in (("initial", "certain"), ("forward", "likely"), ("metric", "likely")):
            found = find_causes(Difference("steps", phase, 0, None, phase, "it"), evidence)
            assert (found[0].id, found[0].certainty) == ("other-seeds", certainty)
            assert "init, shuffle" in found[0].why
            assert {it.certainty for it in found if it.id == "precision"} <= {"possible"}
    for same in (({}, {}), (given, given)):
        difference = Difference("steps", "initial", 0, None, "weights", "0.weight")
        assert "other-seeds" not in ids(find_causes(difference, seen("control", seeds=same)))
    varied = seen("dropout", seeds=({"dropout": 1}, {"dropout": 2}))
    assert "other-seeds" not in ids(find_causes(state("torch/dropout"), varied))


def test_a_seed_that_was_asked_for_with_two_values_is_certain() -> None:
    difference = Difference("steps", "initial", 0, None, "weights", "0.weight")
    cause = first(difference, seen("control", seed_events=seeds("1790000000", "1790000003")))
    assert (cause.id, cause.certainty, cause.places) == ("changing-seed", "certain", (Place("train.py", 6),))
    assert "1790000000" in cause.why
    assert ids(find_causes(difference, seen("control", seed_events=seeds("42", "42")))) == ["unknown"]


def test_a_seed_of_another_library_does_not_explain_the_state_of_a_generator() -> None:
    evidence = seen("control", seed_events=seeds("1", "2", call="numpy.random.seed"))
    assert sure(find_causes(state("torch"), evidence))["changing-seed"] == "possible"
    assert first(state("numpy"), evidence).is_certain
    everything = seen("control", seed_events=seeds("1", "2", call="lightning.seed_everything"))
    assert first(state("torch"), everything).is_certain


def test_a_seed_that_changes_is_not_likely_behind_an_operation_whose_draws_were_equal() -> None:
    evidence = seen("impl", seed_events=seeds("1", "2"))
    assert sure(find_causes(operation("aten.index_put.default"), evidence)) == {
        "index-put": "likely",
        "changing-seed": "possible",
    }


def test_a_generator_that_nobody_seeds_is_certain_at_the_start_and_only_as_is() -> None:
    assert (first(state("numpy"), seen("as-is")).id, first(state("numpy"), seen("as-is")).certainty) == (
        "unseeded",
        "certain",
    )
    assert first(state("numpy", step=5), seen("as-is")).certainty == "likely"
    assert ids(find_causes(state("numpy"), seen("control"))) == ["unknown"]


@pytest.mark.parametrize("call", ["numpy.random.seed", "lightning.seed_everything", "transformers.set_seed"])
def test_a_library_that_a_call_seeds_is_not_called_unseeded(call: str) -> None:
    evidence = seen("as-is", seed_events=seeds("1", "1", call=call))
    assert "unseeded" not in ids(find_causes(state("numpy"), evidence))


def test_a_draw_of_a_library_that_nobody_seeds_is_likely_and_of_one_that_is_seeded_not_even_possible() -> None:
    drawn = Difference("operations", "random", 0, None, "operation", "aten.randn.default", place=HERE)
    assert (first(drawn, seen("as-is")).id, first(drawn, seen("as-is")).certainty) == ("unseeded", "likely")
    assert "unseeded" not in ids(find_causes(drawn, seen("as-is", seed_events=seeds("1", "1"))))


def test_a_draw_among_operations_is_one_of_pytorch_whatever_else_was_imported() -> None:
    drawn = Difference("operations", "initial", 0, None, "operation", "aten.randn.default", place=HERE)
    beside = dataclasses.replace(seen("as-is"), frameworks=frozenset({"torch", "tensorflow"}))
    cause = first(drawn, beside)
    assert (cause.id, cause.cure.partition("\n")[2]) == ("unseeded", "torch.manual_seed(1)")
    assert "tensorflow" in first(dataclasses.replace(drawn, kind="weights", name="w"), beside).why


def test_the_state_of_a_generator_on_a_rung_above_tells_more_than_the_operation() -> None:
    entering = Difference("operations", "data", 0, 0, "operation", "aten.lift_fresh.default", place=HERE)
    seeded = seeds("1", "1")
    assert "unseeded" not in ids(find_causes(entering, seen("as-is", seed_events=seeded)))
    assert first(entering, seen("as-is", seed_events=seeded, above=(state("numpy"),))).is_certain
    later = seen("as-is", seed_events=seeded, above=(state("numpy", step=4),))
    assert first(entering, later).certainty == "possible"


def test_numbers_from_the_system_are_likely_and_identifiers_possible() -> None:
    for phrase, certainty in (("os.urandom (data.py:3)", "likely"), ("uuid.uuid4 (log.py:9)", "possible")):
        cause = first(batch(), seen("control", uncontrolled=(phrase,)))
        assert (cause.id, cause.certainty) == ("entropy", certainty)
        assert len(cause.places) == 1


def test_what_a_run_told_to_be_beyond_control_is_named_with_its_line() -> None:
    told = ("torch.set_rng_state with a state from elsewhere (train.py:7)",)
    cause = first(state("torch"), seen("control", uncontrolled=told))
    assert (cause.id, cause.certainty, cause.places) == ("beyond-control", "possible", (Place("train.py", 7),))


def test_a_generator_of_workers_is_blamed_only_where_batches_differ() -> None:
    found = seen("control", hazards=(hazard("loader-workers"),))
    assert first(batch(), found).certainty == "possible"
    assert first(batch(), found).id == "loader-workers"
    assert first(dataclasses.replace(batch(), kind="operation", name=FROM_WORKER), found).certainty == "likely"
    assert "loader-workers" not in ids(find_causes(state("torch"), found))


# ------------------------------------------------------------ order, time, what was there before


def test_a_set_points_to_the_hash_seed_unless_it_is_held() -> None:
    found = (hazard("set-order"),)
    cause = first(batch(), seen("as-is", hazards=found, seed_events=seeds("1", "1")))
    assert (cause.id, cause.certainty) == ("hash-order", "likely")
    varied = first(batch(), Evidence(variant=find_variant("hash"), hazards=found))
    assert varied.id == "hash-order"
    fixed = {**CPU, "variable PYTHONHASHSEED": "0"}
    assert "hash-order" not in ids(find_causes(batch(), seen("as-is", facts=fixed, hazards=found)))
    assert "hash-order" not in ids(find_causes(batch(), seen("control", hazards=found)))


@pytest.mark.parametrize(("name", "cause"), [("file-order", "file-order"), ("unordered-results", "unordered-results")])
def test_an_order_of_examples_points_to_what_the_source_lists_or_joins(name: str, cause: str) -> None:
    found = (hazard(name),)
    assert [first(batch(it), seen("control", hazards=found)).certainty for it in ("order", "data")] == [
        "likely",
        "possible",
    ]
    assert first(batch("order"), seen("control", hazards=found)).id == cause


def test_two_orders_of_the_source_are_not_told_apart() -> None:
    causes = find_causes(
        batch("order"), seen("control", hazards=(hazard("file-order"), hazard("unordered-results", 9)))
    )
    assert sure(causes) == {"file-order": "possible", "unordered-results": "possible"}


def test_a_listing_of_files_is_not_likely_beside_numbers_that_a_run_took_from_the_system() -> None:
    evidence = seen("control", hazards=(hazard("file-order"),), uncontrolled=("os.urandom (data.py:3)",))
    assert sure(find_causes(batch("order"), evidence)) == {"entropy": "likely", "file-order": "possible"}


def test_a_set_is_not_likely_behind_a_generator_or_weights() -> None:
    evidence = seen("impl", hazards=(hazard("set-order"),))
    evidence = dataclasses.replace(evidence, variant=dataclasses.replace(VARIANTS["impl"], held=("init",)))
    for parted in (state("torch"), Difference("steps", "initial", 0, None, "weights", "0.weight")):
        assert sure(find_causes(parted, evidence))["hash-order"] == "possible"
    assert sure(find_causes(batch("order"), evidence))["hash-order"] == "likely"


@pytest.mark.parametrize(
    ("phase", "certainty"),
    [("update", "likely"), ("forward", "likely"), ("backward", "possible"), ("initial", "possible"), ("order", "")],
)
def test_weights_without_a_lock_are_likely_only_where_weights_show_it(phase: Any, certainty: str) -> None:
    parted = Difference("steps", phase, 3, 0, "update", "weight")
    causes = sure(find_causes(parted, seen("control", hazards=(hazard("shared-memory"),))))
    assert causes.get("shared-weights", "") == certainty


@pytest.mark.parametrize(
    ("line", "called"),
    [
        ("x = x + time.time() % 1", "time.time"),
        ("x += perf_counter()", "perf_counter"),
        ("now = torch.tensor([datetime.datetime.now().second])", "datetime.datetime.now"),
        ("y = net(x)  # took 3 ms by time.time()", ""),
        ('log("time.time()", net(x))', ""),
        ("x = x + self.time.time()", ""),
        ("grid(x, time_step)", ""),
    ],
)
def test_a_clock_is_likely_in_the_line_that_calls_it(line: str, called: str) -> None:
    parted = dataclasses.replace(operation("aten.add.Tensor"), place=Place("train.py", 7, line))
    found = first(parted, seen("control"))
    assert (found.id, found.certainty) == (("clock", "likely") if called else ("unknown", "possible"))
    assert f"calls {called} (train.py:7)" in found.why or not called
    keyed = dataclasses.replace(parted, place=Place("train.py", 7, "cache[id(x)] = encode(x)"))
    assert first(keyed, seen("control")).certainty == "possible"
    reported = dataclasses.replace(parted, rung="metrics", phase="metric", kind="loss")
    assert "clock" not in ids(find_causes(reported, seen("control")))


def test_a_clock_is_certain_where_one_run_made_more_updates() -> None:
    ended = "its process ended after 40 updates"
    end = Difference("steps", "program", 40, 40, "update", "weight", only_in=2, instead=ended)
    evidence = seen("control", hazards=(hazard("time-limit"),), n_steps=(40, 52))
    assert (first(end, evidence).id, first(end, evidence).certainty) == ("time-limit", "certain")
    same = dataclasses.replace(evidence, n_steps=(40, 40))
    assert not any(it.is_certain for it in find_causes(end, same))
    before = dataclasses.replace(end, step=7, instead="update bias")
    assert "time-limit" not in ids(find_causes(before, evidence))
    silent = dataclasses.replace(evidence, hazards=())
    assert not any(it.is_certain for it in find_causes(end, silent))


def test_behind_a_value_that_differs_anything_is_possible_and_nothing_likely() -> None:
    value = Difference("metrics", "metric", 3, 1, "metric", "test_acc", values=(0.5, 0.6))
    causes = find_causes(
        value, seen("as-is", hazards=(hazard("set-order"), hazard("entropy")), seed_events=seeds("1", "1"))
    )
    assert {"hash-order", "entropy", "index-put"} <= set(ids(causes))
    assert {it.certainty for it in causes} == {"possible"}
    assert first(value, seen("control", seed_events=seeds("17", "18"))).id == "changing-seed"
    assert ids(find_causes(dataclasses.replace(value, rung="steps"), seen("as-is", hazards=(hazard("entropy"),)))) == [
        "unknown"
    ]


def test_memory_that_nothing_had_written_is_named_where_an_operation_read_it() -> None:
    cause = first(operation("aten.mul.Tensor", more={"reads": "uninitialised"}), seen())
    assert (cause.id, cause.certainty, cause.places) == ("uninitialised", "likely", (HERE,))


def test_a_file_outside_of_the_work_copy_is_possible_and_no_more() -> None:
    effect = SideEffect("absolute-path", "/tmp/cache.pt", "train.py", 12)
    difference = Difference("steps", "initial", 0, None, "weights", "0.weight")
    cause = first(difference, seen("control", side_effects=(effect,)))
    assert (cause.id, cause.certainty, cause.places) == ("leftover-file", "possible", (Place("train.py", 12),))


def test_a_record_in_one_run_alone_is_another_way_through_the_program() -> None:
    cause = first(operation("aten.mul.Tensor", only_in=2, instead="aten.add.Tensor"), seen("control"))
    assert (cause.id, cause.places) == ("another-way", (HERE,))
    assert cause.why == "the second run has operation aten.mul.Tensor; the first run has aten.add.Tensor instead"


def test_runs_are_called_what_the_answer_calls_them() -> None:
    named = seen(
        "control", runs=("run 0", "run 1"), n_steps=(8, 9), devices=("cpu", "cuda"), seed_events=seeds("1", "2")
    )
    told = [it.why for it in find_causes(operation("aten.mul.Tensor", only_in=2, instead="aten.add.Tensor"), named)]
    assert "run 1 has operation aten.mul.Tensor; run 0 has aten.add.Tensor instead" in told
    assert "run 0 used cpu, run 1 used cuda" in told
    assert "torch.manual_seed received 1 in run 0 and 2 in run 1 (train.py:6)" in told


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("random.seed", "random.seed(1)"),
        ("numpy.random.RandomState", "numpy.random.RandomState(1)"),
        ("torch.Generator.manual_seed", "generator.manual_seed(1)"),
    ],
)
def test_the_cure_of_a_seed_is_the_call_that_was_seen(call: str, code: str) -> None:
    cause = first(batch(), seen("control", seed_events=seeds("1", "2", call=call)))
    assert (cause.id, cause.cure.partition("\n")[2]) == ("changing-seed", code)


def test_a_call_that_takes_its_seed_from_the_system_seeds_nothing() -> None:
    both = (
        SeedEvent("torch.manual_seed", "0", "train.py", 2, "kept"),
        SeedEvent("torch.seed", "None", "train.py", 6, "kept"),
    )
    cause = first(state("torch"), seen("as-is", seed_events=(both, both)))
    assert (cause.id, cause.certainty, cause.cure.partition("\n")[2]) == ("unseeded", "certain", "torch.manual_seed(1)")
    assert cause.why == "torch.seed takes a seed from the operating system (train.py:6)"


@pytest.mark.parametrize("call", ["numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.seed"])
def test_a_generator_of_ones_own_is_seeded_where_it_is_made(call: str) -> None:
    made = (SeedEvent(call, "None", "data.py", 20, "kept"),)
    cause = first(batch(), seen("as-is", seed_events=(made, made)))
    assert (cause.id, cause.cure.partition("\n")[2]) == ("unseeded", f"{call}(1)")


def test_memory_is_not_likely_to_blame_for_an_operation_on_another_line() -> None:
    there = dataclasses.replace(operation("aten.rand.default"), phase="initial")
    causes = find_causes(there, seen(hazards=(hazard("uninitialised"),)))
    assert [it.certainty for it in causes if it.id == "uninitialised"] == ["possible"]


# ------------------------------------------------------------ all of them


def test_the_likeliest_come_first_each_once_and_never_more_than_a_screen() -> None:
    every = tuple(
        hazard(name, line)
        for line, name in enumerate(
            ["entropy", "set-order", "file-order", "unordered-results", "changing-seed", "parallel-draws"]
        )
    )
    causes = find_causes(batch("order"), seen("as-is", hazards=every))
    ranks = [("certain", "likely", "possible").index(it.certainty) for it in causes]
    assert ranks == sorted(ranks)
    assert len(set(ids(causes))) == len(causes) <= 6
    assert len(causes) > 3


@pytest.mark.parametrize(
    ("name", "base"),
    [("aten._index_put_impl_.default", "index_put_impl"), ("aten.add.Tensor", "add"), ("relu", "relu")],
)
def test_an_operation_is_known_by_its_name_alone(name: str, base: str) -> None:
    assert base_name(name) == base
