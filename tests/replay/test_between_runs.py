"""Test data of the first two runs: said at once where they differ, if they are shown to be examples."""

from pathlib import Path

import pytest

from deviate.eventlog import encode
from deviate.model.plan import Selection, Spec, Variant
from deviate.records.plans import Plan, VariantPlan
from deviate.replay.between_runs import SameData
from deviate.replay.experiments import PreparedExperiment
from deviate.replay.protocol import Order, Outcome, RunUpdate
from deviate.replay.variants import VARIANTS


def begun(folder: Path, *variants: str, capture: tuple[tuple[str, str], ...] = ()) -> PreparedExperiment:
    plans = tuple(VariantPlan(name, 5, VARIANTS[name]) for name in variants)
    plan = Plan(
        name="train", created=0.0, root=folder, command=("python", "train.py"), cwd=".", seed=0, sources_hash="0" * 64,
        variants=plans, selection=Selection(()), capture=capture,
    )  # fmt: skip
    return PreparedExperiment(folder / "train", plan)


def ended(folder: Path, variant: str, replicate: int, evidence: str, status: str = "completed") -> RunUpdate:
    """A run that has ended, with a hash of its own."""
    attempt = folder / variant / str(replicate)
    attempt.mkdir(parents=True)
    events = [
        encode("value", 0, 0, [], 0.1, 0.5, None),
        encode("drawn", "numpy.random.rand", "other", "data.py", 9),
        encode("evaluation", "sklearn", f"{replicate}" * 64, 20, evidence),
        '["evaluation", "torn',
    ]
    (attempt / "events-1-1.jsonl").write_text("".join(events))
    spec = Spec("", (), ".", variant, replicate)
    outcome = Outcome(spec, status, 1.0, attempt)  # type: ignore[arg-type]
    return RunUpdate("finished", Order(folder / "train", spec), attempt, outcome=outcome)


def told(folder: Path, variant: str, evidence: str = "labels", **changes: str) -> list[str | None]:
    data = SameData([begun(folder, variant)])
    return [data.take(ended(folder, variant, replicate, evidence, **changes)) for replicate in range(3)]


def test_other_test_data_are_said_once_when_two_runs_have_ended(tmp_path: Path) -> None:
    sentence = (
        "algo: the first 2 runs were not tested on the same data, by a hash of the evaluation data. "
        "Drawn outside of the main loop, in streams that vary: numpy.random.rand (data.py:9, other). "
        "Read the data from files, or hold other: --variants init+shuffle+augment+dropout."
    )
    assert told(tmp_path, "algo") == [None, sentence, None]


def test_other_test_data_that_no_held_draw_explains_are_said_with_the_line_beyond_control(tmp_path: Path) -> None:
    data = SameData([begun(tmp_path, "algo")])
    sentences = []
    for replicate in range(2):
        update = ended(tmp_path, "algo", replicate, "labels")
        path = update.folder / "events-1-1.jsonl"
        drawn = encode("drawn", "numpy.random.rand", "split", "data.py", 9)
        system = encode("uncontrolled", "os.urandom", "data.py", 5)
        path.write_text(path.read_text().replace(path.read_text().splitlines(keepends=True)[1], drawn + system))
        sentences.append(data.take(update))
    assert sentences[1] is not None
    assert sentences[1].endswith(
        "No draw that a variant holds explains it. Beyond control: os.urandom (data.py:5). Or read the data from files."
    )


@pytest.mark.parametrize(("variant", "evidence"), [("algo", "inputs"), ("split", "labels")])
def test_nothing_is_said_of_inputs_that_may_be_the_models_own_or_where_the_split_varies(
    tmp_path: Path, variant: str, evidence: str
) -> None:
    assert told(tmp_path, variant, evidence) == [None, None, None]


def test_diverge_says_itself_why_its_runs_differ(tmp_path: Path) -> None:
    data = SameData([begun(tmp_path, "algo", capture=(("trace", "1"),))])
    assert [data.take(ended(tmp_path, "algo", replicate, "labels")) for replicate in range(2)] == [None, None]


def test_runs_that_failed_do_not_count(tmp_path: Path) -> None:
    assert told(tmp_path, "algo", status="crashed") == [None, None, None]


def test_a_variant_of_the_users_own_is_asked_for_what_it_varies(tmp_path: Path) -> None:
    own = Variant("mine", "", varied=("split",))
    plan = Plan(
        name="train", created=0.0, root=tmp_path, command=("python", "train.py"), cwd=".", seed=0,
        sources_hash="0" * 64, variants=(VariantPlan("mine", 5, own),), selection=Selection(()),
    )  # fmt: skip
    data = SameData([PreparedExperiment(tmp_path / "train", plan)])
    assert [data.take(ended(tmp_path, "mine", replicate, "labels")) for replicate in range(2)] == [None, None]
