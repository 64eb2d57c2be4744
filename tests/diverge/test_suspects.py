"""Suspects: a source is named for what points to it, and for nothing else."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from samples import run

from deviate.diverge.calls import Calls
from deviate.diverge.findings import Cause, CodeLine, Difference, InputDifference, Phase
from deviate.diverge.source import Texts
from deviate.diverge.suspects import Evidence, base_name, find_causes
from deviate.model.analysis import Hazard
from deviate.model.records import SeedEvent
from deviate.replay.variants import VARIANTS
from deviate.sources.catalogue import SOURCES

CPU = {"CPU": "a processor", "torch": "2.13.0+cpu", "torch threads": "2"}
GPU = {"CPU": "a processor", "GPU": "a GPU", "torch": "2.13.0+cu130", "torch threads": "2"}
ON_GPU = {"device": "cuda:0"}
HERE = CodeLine("train.py", 41, "y = table[index]")
LOSS = Difference("metrics", "metric", 0, 0, "metric", "loss")
BATCH = Difference("steps", "data", 0, 0, "batch", "input")
FORWARD = Difference("steps", "forward", 0, 0, "forward", "output")
WEIGHTS = Difference("steps", "initial", 0, None, "weights", "0.weight")


def operation(name: str, **more: Any) -> Difference:
    return Difference("operations", "backward", 3, 0, "operation", name, place=HERE, **more)


def state(name: str) -> Difference:
    return Difference("steps", "random", 0, 0, "state", name)


def seen(variant: str = "control", facts: Any = CPU, others: Any = None, **more: Any) -> Evidence:
    """Evidence of two runs; `more` has fields of it, and of both runs."""
    fields = {field.name for field in dataclasses.fields(Evidence)}
    more.setdefault("seed_events", seeds("torch.manual_seed", "1", "1"))
    of_runs = {name: more.pop(name) for name in list(more) if name not in fields}
    first, second = (
        dataclasses.replace(run(number, {}), environment=told, **{name: pair[number] for name, pair in of_runs.items()})
        for number, told in enumerate((facts, others or facts))
    )
    return Evidence((first, second), ("run 0", "run 1"), VARIANTS[variant], **more)


def hazard(name: str, line: int = 5, code: str = "code", **more: Any) -> Hazard:
    return Hazard(name, "train.py", line, code, "what happens", **more)


def entered(source: str, call: str = "call()", shown: Any = ("a, b", "b, a"), line: int = 5, **more: Any) -> Any:
    shown = tuple(f"2 names: {names}" for names in shown) if source == "listing" and ":" not in shown[0] else shown
    return InputDifference(source, call, CodeLine("train.py", line), 0, None, shown, **{"is_upstream": True, **more})


def seeds(call: str, *values: str) -> tuple[tuple[SeedEvent, ...], ...]:
    return tuple((SeedEvent(call, value, "train.py", 9, "kept"),) for value in values)


def ids(difference: Difference, evidence: Evidence) -> list[str]:
    return [cause.id for cause in find_causes(difference, evidence)]


def first(difference: Difference, evidence: Evidence) -> Cause:
    return find_causes(difference, evidence)[0]


# ------------------------------------------------------------ nothing points anywhere


@pytest.mark.parametrize("phase", ["initial", "random", "order", "data", "forward", "backward", "update", "metric"])
def test_where_nothing_is_found_nothing_is_suspected(phase: Phase) -> None:
    assert ids(Difference("steps", phase, 3, 0, "update", "x"), seen()) == []


def test_hazards_say_nothing_of_a_phase_that_they_cannot_be_first_in() -> None:
    found = tuple(map(hazard, ("entropy", "set-order", "file-order", "unordered-results", "changing-seed")))
    assert ids(Difference("steps", "backward", 3, 0, "gradient", "weight"), seen("as-is", hazards=found)) == []
    assert len(ids(BATCH, seen("as-is", hazards=found))) == 5
    assert len(ids(LOSS, seen("as-is", hazards=found))) == 5, "behind a bare value, anything is possible"


def test_a_line_that_did_not_run_and_an_order_that_was_equal_are_never_suspected() -> None:
    evidence = seen(hazards=(hazard("file-order"),))
    assert ids(BATCH, evidence) == ["file-order"]
    assert ids(BATCH, dataclasses.replace(evidence, idle_lines=frozenset({("train.py", 5)}))) == []
    assert ids(BATCH, dataclasses.replace(evidence, equal_inputs=frozenset({("listing", "train.py", 5)}))) == []


def test_what_is_held_or_was_given_in_vain_is_no_suspect() -> None:
    found = (hazard("environment-seed"), hazard("set-order", 6), hazard("file-order", 7))
    assert set(ids(BATCH, seen("as-is", hazards=found))) == {"environment-seed", "set-order", "file-order"}
    assert set(ids(BATCH, seen("control", hazards=found))) == {"memory-address", "file-order"}
    assert set(ids(BATCH, seen("as-is", hazards=found, is_chance_equal=True))) == {"memory-address", "file-order"}
    fixed = {**CPU, "variable PYTHONHASHSEED": "0"}
    assert "set-order" not in ids(BATCH, seen("as-is", fixed, hazards=found))
    sorted_names = dataclasses.replace(VARIANTS["as-is"], controls=(("listing", "sorted"),))
    assert "file-order" not in ids(BATCH, dataclasses.replace(seen(hazards=found), variant=sorted_names))


def test_a_generator_that_was_given_in_vain_leaves_all_that_its_state_does_not_explain() -> None:
    state = Difference("steps", "random", 0, 0, "state", "python")
    evidence = seen("as-is", hazards=(hazard("shared-memory"),))
    assert ids(state, evidence) == []
    assert ids(state, dataclasses.replace(evidence, is_chance_equal=True)) == ["shared-memory"]


# ------------------------------------------------------------ what entered

OBSERVED = [
    (entered("listing", "os.listdir('data')"), "as-is", "file-order"),
    (entered("listing", shown=("2 names: a, b", "3 names: a, b, c")), "as-is", "leftover-file"),
    (entered("file-state", "os.path.exists('c')", ("False", "True")), "as-is", "leftover-file"),
    (entered("file", "open('c')", ("3 bytes", "4 bytes")), "as-is", "file-contents"),
    (entered("environment", "os.environ['SIZE']", ("3", "4")), "as-is", "environment-variable"),
    (entered("network", "http.client: host", ("1", "2")), "as-is", "network-answer"),
    (entered("set-order", "set of str"), "as-is", "set-order"),
    (entered("set-order", "set of Node"), "control", "memory-address"),
    (entered("hash", "hash('a')", ("1", "2")), "as-is", "hash-value"),
    (entered("completion", "as_completed"), "as-is", "unordered-results"),
    (entered("thread-order", "threading.Thread"), "as-is", "thread-updates"),
]


@pytest.mark.parametrize(("item", "variant", "source"), OBSERVED, ids=[case[0].source for case in OBSERVED])
def test_an_input_that_differs_is_named_by_its_source(item: InputDifference, variant: str, source: str) -> None:
    found = first(LOSS, seen(variant, inputs=(item,)))
    assert (found.id, found.places) == (source, (item.place,))
    assert ids(LOSS, seen(variant, inputs=(dataclasses.replace(item, is_upstream=False),))) == []


def test_the_evidence_says_what_entered_where_and_when() -> None:
    item = entered("listing", "os.listdir('data')", ("b, a", "a, b"), line=12)
    shown = "2 names: b, a in run 0 and 2 names: a, b in run 1"
    why = f"os.listdir('data') gave {shown}, before the first difference (train.py:12)"
    assert first(LOSS, seen(inputs=(item,))).why == why


def test_what_differs_between_any_two_runs_is_suspected_on_a_line_of_the_source_alone() -> None:
    names = {"clock": "time.time()", "entropy": "os.urandom(4)", "process-id": "os.getpid()"}
    inputs = tuple(entered(source, call, ("1", "2")) for source, call in names.items())
    assert ids(LOSS, seen("as-is", inputs=inputs)) == []
    assert ids(LOSS, seen("as-is", inputs=inputs, hazards=(hazard("clock", 5),))) == ["clock"]


def test_what_entered_goes_before_what_the_source_can_do() -> None:
    hazards = (hazard("unordered-results", 30),)
    assert ids(BATCH, seen(inputs=(entered("listing"),), hazards=hazards)) == ["file-order"]


def test_the_input_that_came_first_is_named_and_what_follows_from_it_comes_after() -> None:
    state_of_file = entered("file-state", "Path.exists('c')", ("False", "True"), 4)
    read = entered("file", "open('c')", ("", "3 bytes"), 5, only_in=2)
    assert ids(LOSS, seen(inputs=(read, state_of_file))) == ["leftover-file", "file-contents"]
    assert ids(LOSS, seen(inputs=(entered("completion", line=2), entered("listing", line=3)))) == [
        "unordered-results",
        "file-order",
    ]


def test_a_line_that_the_analysis_lists_says_which_source_it_is() -> None:
    begin, limit = (entered("clock", "time.time()", ("1", "2"), line) for line in (13, 14))
    found = first(LOSS, seen("as-is", inputs=(begin, limit), hazards=(hazard("time-limit", 14),)))
    assert (found.id, found.places) == ("time-limit", (limit.place,))


# ------------------------------------------------------------ seeds


def test_different_seeds_by_design_are_said_first() -> None:
    pair = ({"init": 1, "shuffle": 2}, {"init": 3, "shuffle": 4})
    others = {**CPU, "torch TF32 in matmul": "on"}
    found = find_causes(FORWARD, seen("control", {**others, "torch TF32 in matmul": "off"}, others, seeds=pair))
    assert [cause.id for cause in found] == ["given-seeds", "precision"]
    assert "init, shuffle" in found[0].why
    assert "given-seeds" not in ids(state("torch/dropout"), seen(seeds=pair))
    assert ids(FORWARD, seen(seeds=(pair[0], pair[0]))) == []


def test_a_call_that_got_other_seeds_is_named_with_its_values_unless_the_values_only_changed_places() -> None:
    cause = first(WEIGHTS, seen(seed_events=seeds("torch.manual_seed", "1790000000", "1790000003")))
    assert (cause.id, cause.places) == ("changing-seed", (CodeLine("train.py", 9),))
    assert cause.why.startswith("torch.manual_seed received 1790000000 in run 0 and 1790000003 in run 1")
    one, other = (SeedEvent("numpy.random.default_rng", value, "train.py", 9, "kept") for value in "12")
    assert ids(WEIGHTS, seen(seed_events=((one, other), (other, one)))) == []


def test_a_clock_that_makes_a_seed_is_told_once() -> None:
    clock = entered("clock", "time.time()", ("1", "2"), 9)
    assert ids(LOSS, seen(inputs=(clock,), seed_events=seeds("numpy.random.seed", "1", "2"))) == ["changing-seed"]


def test_a_call_that_takes_its_seed_from_the_system_seeds_nothing_as_is() -> None:
    events = seeds("torch.seed", "None", "None")
    assert first(state("torch"), seen("as-is", seed_events=events)).id == "missing-seed"
    assert ids(state("torch"), seen("control", seed_events=events)) == []


@pytest.mark.parametrize("call", ["torch.manual_seed", "lightning.seed_everything", "transformers.set_seed"])
def test_a_library_that_nothing_seeds_is_suspected_only_as_is(call: str) -> None:
    none = ((), ())
    assert first(state("torch"), seen("as-is", seed_events=none)).id == "missing-seed"
    assert ids(state("torch"), seen("control", seed_events=none)) == []
    assert ids(state("torch"), seen("as-is", seed_events=seeds(call, "1", "1"))) == []


def test_what_a_run_reported_as_uncontrolled_is_named_with_its_line() -> None:
    for phrase, source in (
        ("os.urandom (data.py:3)", "entropy"),
        ("torch.set_rng_state with a state from elsewhere (data.py:3)", "unrouted-draws"),
        ("draws of Python in parallel threads of tf.data (data.py:3)", "parallel-draws"),
    ):
        cause = first(BATCH, seen("as-is", uncontrolled=((phrase,), ())))
        assert (cause.id, "(data.py:3)" in cause.why) == (source, True)
        assert ids(operation("aten.mm.default"), seen("as-is", uncontrolled=((phrase,), ()))) in ([], [source])


# ------------------------------------------------------------ kernels

GUILTY = {
    "aten.index_put.default": "gather",
    "aten._index_put_impl_.default": "gather",
    "aten.scatter_add.default": "scatter",
    "aten.index_add_.default": "scatter",
    "aten._embedding_bag_dense_backward.default": "no-deterministic-kernel",
    "aten.upsample_bilinear2d_backward.default": "no-deterministic-kernel",
    "aten._adaptive_avg_pool2d_backward.default": "no-deterministic-kernel",
    "aten.max_pool3d_with_indices_backward.default": "no-deterministic-kernel",
    "aten.max_unpool2d.default": "no-deterministic-kernel",
    "aten.reflection_pad2d_backward.default": "no-deterministic-kernel",
    "aten.replication_pad1d_backward.default": "no-deterministic-kernel",
    "aten.grid_sampler_2d_backward.default": "no-deterministic-kernel",
    "aten._ctc_loss_backward.default": "no-deterministic-kernel",
    "aten.nll_loss2d_forward.default": "no-deterministic-kernel",
    "aten.bincount.default": "no-deterministic-kernel",
    "aten.histc.default": "no-deterministic-kernel",
    "aten.cumsum.default": "no-deterministic-kernel",
    "aten.median.dim": "no-deterministic-kernel",
    "aten._scaled_dot_product_flash_attention_backward.default": "attention",
    "aten.convolution_backward.default": "convolution",
    "aten._cudnn_rnn_backward.default": "recurrent",
    "aten.mm.default": "matrix-products",
    "aten.bmm_sparse.default": "torch-kernels",
}


@pytest.mark.parametrize(("name", "source"), GUILTY.items())
def test_an_operation_that_is_not_deterministic_on_a_gpu_is_named_there(name: str, source: str) -> None:
    found = find_causes(operation(name, more=ON_GPU), seen("impl", GPU))
    assert [(cause.id, cause.places) for cause in found] == [(source, (HERE,))]
    assert ids(operation(name, more=ON_GPU), seen("control", GPU)) == []


@pytest.mark.parametrize(
    "name", [name for name, source in GUILTY.items() if source != "gather" and "unpool" not in name]
)
def test_what_only_a_gpu_has_is_not_said_without_one(name: str) -> None:
    assert ids(operation(name), seen("impl")) == []
    hazards = (hazard("scatter", device="gpu"), hazard("no-deterministic-kernel", device="gpu"))
    assert ids(operation(name), seen("impl", hazards=hazards)) == []


def test_indexing_is_suspected_on_several_threads_of_a_cpu_unless_kernels_are_deterministic() -> None:
    name = operation("aten.index_put.default")
    found = first(name, seen("impl"))
    assert (found.id, found.cure.partition("\n")[2]) == ("gather", "torch.use_deterministic_algorithms(True)")
    for facts in ({**CPU, "torch threads": "1"}, {**CPU, "torch deterministic algorithms": "on"}):
        assert ids(name, seen("as-is", facts)) == []


def test_the_operation_that_differs_with_equal_inputs_goes_before_an_input_far_above() -> None:
    inputs = (entered("environment", "os.environ['A']"),)
    assert ids(operation("aten.index_put.default"), seen("impl", inputs=inputs))[0] == "gather"


def test_a_convolution_under_benchmark_points_to_autotuning() -> None:
    tuned = {**GPU, "torch cuDNN benchmark": "on"}
    assert first(operation("aten.convolution.default", more=ON_GPU), seen("as-is", tuned)).id == "autotuning"


def test_several_ranks_point_to_collectives_where_one_differs_first() -> None:
    reduced = operation("c10d.allreduce_.default", rank=1, more=ON_GPU)
    assert ids(reduced, seen("impl", GPU, n_ranks=2)) == ["collectives"]
    assert "collectives" not in ids(reduced, seen("impl", GPU))


def test_an_operation_without_a_deterministic_version_is_named_with_its_line() -> None:
    told = (("adaptive_avg_pool2d_backward_cuda (net.py:12)",), ())
    cause = first(Difference("steps", "backward", 0, 0, "gradient", "w"), seen("impl", GPU, operations=told))
    assert (cause.id, "(net.py:12)" in cause.why) == ("torch-kernels", True)


@pytest.mark.parametrize(
    ("framework", "source"), [("torch", "torch-kernels"), ("tensorflow", "tensorflow-kernels"), ("jax", "xla-kernels")]
)
def test_kernels_of_a_gpu_explain_a_gradient_where_operations_were_not_compared(framework: str, source: str) -> None:
    gradient = Difference("steps", "backward", 0, 0, "gradient", "w")
    facts = {"CPU": "a processor", "GPU": "a GPU", framework: "2"}
    assert ids(gradient, seen("impl", facts)) == [source]
    assert ids(gradient, seen("control", facts)) == []
    assert ids(dataclasses.replace(gradient, phase="data"), seen("impl", facts)) == []


def test_another_seed_does_not_explain_an_operation_whose_draws_were_equal() -> None:
    events = seeds("torch.manual_seed", "1", "2")
    assert ids(operation("aten.index_put.default"), seen("impl", seed_events=events)) == ["gather"]


def test_trees_from_histograms_point_to_threads() -> None:
    tree = Difference("steps", "update", 3, 3, "update", "tree.leaf_value", place=HERE)
    assert ids(tree, seen("as-is", {**CPU, "lightgbm": "4.6"})) == ["boosting-threads"]
    assert ids(tree, seen("as-is", {**CPU, "xgboost": "3.0"})) == []
    of_sklearn = dataclasses.replace(tree, name="HistGradientBoostingRegressor.tree.nodes.value")
    assert ids(of_sklearn, seen("as-is")) == ["boosting-threads"]


def test_memory_that_nothing_had_written_is_named_where_an_operation_read_it() -> None:
    cause = first(operation("aten.mul.Tensor", more={"reads": "uninitialised"}), seen("impl"))
    assert (cause.id, cause.places) == ("uninitialised", (HERE,))


# ------------------------------------------------------------ around the runs


@pytest.mark.parametrize(
    ("fact", "values", "source"),
    [
        ("torch", ("2.12.0", "2.13.0"), "software"),
        ("torch threads", ("1", "2"), "thread-count"),
        ("variable OMP_NUM_THREADS", ("1", "2"), "thread-count"),
        ("CPU", ("one", "another"), "code-paths"),
        ("torch TF32 in matmul", ("on", "off"), "precision"),
        ("torch deterministic algorithms", ("on", "off"), "switches"),
        ("GPU", ("A100", "H100"), "devices"),
    ],
)
def test_a_fact_that_differs_is_named_with_both_values(fact: str, values: tuple[str, str], source: str) -> None:
    one, other = ({**CPU, fact: value} for value in values)
    found = first(FORWARD, seen("control", one, other))
    assert found.id == source
    assert all(value in found.why for value in values)
    assert ids(BATCH, seen("control", one, other)) == [], "batches are copied, not computed"


def test_a_fact_that_one_run_did_not_tell_differs_only_if_it_is_a_variable() -> None:
    silent = {name: value for name, value in CPU.items() if name != "torch threads"}
    assert ids(FORWARD, seen("control", CPU, silent)) == []
    more = {**CPU, "variable OMP_NUM_THREADS": "1"}
    assert ids(FORWARD, seen("control", CPU, more)) == ["thread-count"]
    assert ids(FORWARD, seen("control", {"torch": "2.13.0+cpu"}, {**more, "torch": "2.13.0+cpu"})) == []


def test_two_kinds_of_devices_are_named() -> None:
    assert "cpu and cuda" in first(FORWARD, seen(devices=("cpu", "cuda"))).why


# ------------------------------------------------------------ the cure


CURES = {
    ("changing-seed", "time.time()"): "0",
    ("drawn-seed", "random.randint(0, 9)"): "0",
    ("set-order", "list(set(labels))"): "sorted(set(labels))",
    ("hash-value", "hash(name)"): "zlib.crc32(str(name).encode())",
    ("file-order", "glob.glob('*.txt')"): "sorted(glob.glob('*.txt'))",
    ("file-order", "os.scandir(path)"): "sorted(os.scandir(path), key=lambda entry: entry.name)",
    ("unordered-results", "pool.imap_unordered(f, x)"): "pool.imap(f, x)",
    ("unordered-results", "as_completed(jobs)"): "jobs",
    ("environment-seed", "env.action_space.sample()"): "env.action_space.seed(0)",
    ("environment-seed", "env.reset()"): "env.reset(seed=0)",
    ("environment-seed", "random.sample(a, 3)"): "",
    ("missing-seed", "np.random.default_rng()"): "np.random.default_rng(0)",
    ("missing-seed", "np.random.default_rng(7)"): "",
    ("entropy", "secrets.token_bytes(8)"): "random.Random(0).randbytes(8)",
    ("entropy", "secrets.token_bytes()"): "",
    ("uninitialised", "torch.empty(3)"): "torch.zeros(3)",
    ("uninitialised", "torch.ones(3)"): "",
}


@pytest.mark.parametrize(("place", "code"), CURES.items(), ids=lambda value: str(value)[:40])
def test_the_cure_is_for_the_code_at_the_place(place: tuple[str, str], code: str) -> None:
    assert SOURCES[place[0]].cure_of(place[1]) == code


def test_the_cure_of_an_input_is_written_for_the_call_on_its_line(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/train.py").write_text("import os\nnames = [n for n in os.listdir('data')]\nos.getpid(\n")
    (tmp_path / "tree/lib.py").write_text("import time, random\nrandom.seed(time.time())\n")
    calls = Calls(Texts(tmp_path))
    assert list(calls.at("train.py", 2)) == [], "a file that cannot be parsed has no calls"
    (tmp_path / "tree/train.py").write_text("import os\nnames = [n for n in os.listdir('data')]\n")
    listing = entered("listing", "os.listdir('data')", line=2)
    found = first(LOSS, seen(inputs=(listing,), calls=Calls(Texts(tmp_path))))
    assert found.cure == "sort the names; instead of `os.listdir('data')`\nsorted(os.listdir('data'))"
    clock = dataclasses.replace(entered("clock", "time.time()"), place=CodeLine("lib.py", 2))
    evidence = seen("as-is", inputs=(clock,), hazards=(Hazard("changing-seed", "lib.py", 2, "time.time()", ""),))
    cause = first(LOSS, dataclasses.replace(evidence, calls=calls))
    assert cause.cure == "instead of `random.seed(time.time())`\nrandom.seed(0)"


def test_no_more_is_suspected_than_a_screen_has() -> None:
    every = tuple(hazard(name, line) for line, name in enumerate(SOURCES) if SOURCES[name].pattern)
    found = ids(LOSS, seen("as-is", hazards=every))
    assert len(set(found)) == len(found) == 5


@pytest.mark.parametrize(
    ("name", "base"),
    [("aten._index_put_impl_.default", "index_put_impl"), ("aten.add.Tensor", "add"), ("relu", "relu")],
)
def test_an_operation_is_known_by_its_name_alone(name: str, base: str) -> None:
    assert base_name(name) == base
