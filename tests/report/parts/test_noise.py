import dataclasses

import numpy as np
from experiments import run, scored, selected, with_moments
from studies import equal, flip, noisy_run, spread, study, usual, variant

from deviate.model.findings import Findings
from deviate.model.records import ControlEvent, Experiment
from deviate.report.document import Absent, DocumentTable, Entry, Section
from deviate.report.parts.build import build_report
from deviate.report.parts.divergence import divergence_section
from deviate.report.parts.noise import noise_result, noise_section
from deviate.report.parts.provenance import seed_set
from deviate.report.statements import with_statements
from deviate.stats.judge import judge


def _scores(n: int, sd: float, seed: int = 0) -> tuple[float, ...]:
    return with_moments(n, 93.4, sd, np.random.default_rng(seed))


def _view(*experiments: Experiment) -> Section:
    return noise_section(study(*experiments))


def _table(*experiments: Experiment) -> DocumentTable:
    (part,) = _view(*experiments).parts
    return part.tables[0]


def _provenance(findings: Findings) -> tuple[Section, ...]:
    section = build_report(findings).section("provenance")
    assert section is not None
    return section.parts


def _missing(*experiments: Experiment) -> tuple[str, ...]:
    (part,) = _view(*experiments).parts
    return part.tables[0].footnotes


def _excess(*experiments: Experiment) -> Entry:
    (part,) = _view(*experiments).parts
    return part.facts[0].cell


def test_a_ratio_that_rounds_to_zero_is_not_shown_as_zero() -> None:
    impl = spread("impl", [93.0 + 1e-8 * i for i in range(5)])
    row = _table(spread("algo+impl", _scores(5, 1)), impl).rows[1]
    assert row.cells[3].text == "1.6e−8 [5.1e−9 … 4.9e−8]"
    assert row.cells[4].text.startswith("2.5e−14 % [")


def test_what_varies_is_said_in_words() -> None:
    items = [*usual(), spread("as-is", _scores(3, 1)), spread("config", _scores(3, 1)), equal("one-bit", 2)]
    words = {row.label: row.cells[0].text for row in _table(*items).rows}
    assert words == {
        "algo+impl": "all streams but split, implementation, hash",
        "algo": "all streams but split",
        "impl": "implementation",
        "control": "nothing",
        "as-is": "as the script leaves it",
        "config": "configuration (no noise)",
        "one-bit": "one bit of one weight",
    }


def test_missing_figures_have_their_reason_once() -> None:
    split = spread("split", _scores(6, 1), draws={"sklearn": ("split",)})
    three = (spread("algo+impl", _scores(6, 1)), spread("algo", _scores(4, 1)), split)
    assert _missing(*three) == (
        "needs 5 runs in each, has 6 and 4",
        "split not varied in algo+impl",
    )
    few = [spread(name, _scores(3, 1), draws={}) for name in ("algo+impl", "algo", "init")]
    assert _missing(*few) == ("needs 5 runs in each, has 3 and 3",)
    assert _missing(*usual()) == ()


def test_a_study_concludes_only_where_one_source_spreads_and_the_other_is_bitwise_equal() -> None:
    def answer(*variants: Experiment) -> str:
        line = noise_result(study(*variants))
        assert line is not None
        return line.label

    algo, impl = spread("algo", _scores(5, 1)), spread("impl", _scores(5, 1, 1))
    both, control = spread("algo+impl", _scores(5, 1, 2)), equal("control", 5)
    assert answer(both, algo, equal("impl", 5), control) == "test_acc: the spread comes from the seeds"
    assert answer(both, equal("algo", 5), impl, control) == "test_acc: the spread comes from the implementation"
    unclear = "SD of test_acc, by what varied"
    assert answer(both, algo, impl, control) == unclear
    assert answer(both, algo, equal("impl", 5), spread("control", _scores(5, 1))) == unclear
    assert answer(both, algo, equal("impl", 1), control) == unclear


def test_the_excess_says_which_side_of_zero_it_is_on() -> None:
    def excess(both: float, algo: float, impl: float) -> str:
        three = zip(("algo+impl", "algo", "impl"), (both, algo, impl), strict=True)
        return _excess(*(spread(name, _scores(20, sd, i)) for i, (name, sd) in enumerate(three))).text

    assert excess(3, 1, 1).endswith("%², above 0: together the sources vary more than their variances add up to")
    assert excess(1, 3, 1).startswith("−9.0 [95% CI ")
    assert excess(1, 3, 1).endswith("below 0: together the sources vary less than their variances add up to")
    assert excess(1.4, 1, 1).endswith("not distinguishable from 0 with these runs")
    assert isinstance(_excess(*usual()[:2]), Absent)


def test_without_a_variant_that_is_free_nothing_is_said_of_the_cost_of_determinism() -> None:
    assert _view(equal("control", 3), spread("init", _scores(3, 1))).of(str) == ()


def test_one_variant_has_a_reason_in_place_of_tables_and_a_proof_of_its_runs() -> None:
    view = _view(equal("control", 3))
    assert view.reasons == ("One variant: deviate run --variants algo+impl,algo,impl,control separates the sources.",)
    alone = judge([equal("control", 3)])
    assert noise_section(with_statements(alone)) == view


def test_the_proof_of_a_variant_says_where_its_runs_part() -> None:
    broken = variant("control", [noisy_run(i, (50.0, 90.0 + i), "a") for i in range(2)])
    row = divergence_section(study(*usual()[:3], broken)).tables[0].rows[3]
    told = ("control", "2", "not equal", "main-loop step 1", "test_acc", "90.0 and 91.0", "equal", "equal")
    assert (row.label, *(cell.text for cell in row.cells)) == told


def test_the_provenance_holds_controls_draws_flips_and_hashes() -> None:
    events = (
        ControlEvent("kernels", "torch.use_deterministic_algorithms", "True", "", 0, "set"),
        ControlEvent("autotune", "torch.backends.cudnn.benchmark", "True", "train.py", 7, "overridden"),
    )
    runs = [
        noisy_run(
            i,
            (50.0, 93.0),
            "ab",
            control_events=events[: i + 1],
            flips=(flip(i),),
            controls={"kernels": "deterministic", "one-bit": str(70 + i)},
            draws={"torch": ("init",), "numpy": ()},
            uncontrolled=("os.urandom (train.py:9)",) if i else (),
        )
        for i in range(2)
    ]
    (source,) = _provenance(study(variant("one-bit", runs, selected())))
    facts = {fact.label: fact.cell.text for fact in source.facts}
    assert facts["Varied"] == "nothing"
    assert facts["Controls"] == "kernels deterministic · one-bit 70 (replicate 0), 71 (replicate 1)"
    assert facts["Numbers drawn, by library"] == "torch: init; numpy: nothing"
    assert facts["Beyond control"] == "os.urandom (train.py:9) (replicate 1)"
    _, controls, flips, _, hashes, *_ = source.tables
    rows = [(row.label, *(cell.text for cell in row.cells[1:])) for row in controls.rows]
    assert rows == [
        ("kernels", "True", "the guest", "set", "2 of 2 runs"),
        ("autotune", "True", "train.py:7", "overridden", "1 of 2 runs"),
    ]
    assert [(row.label, *(cell.text for cell in row.cells)) for row in flips.rows] == [
        ("0", "fc.weight", "[0, 3]", "0.25", "0.25000003"),
        ("1", "fc.weight", "[1, 3]", "0.25", "0.25000003"),
    ]
    assert [cell.text for cell in hashes.rows[0].cells] == [
        "torch exit abababababababab",
        "torch eeeeeeeeeeeeeeee, 100 examples",
    ]


def test_a_stream_without_a_draw_is_marked_unused() -> None:
    one = dataclasses.replace(run(0, {}), seeds={"init": 5, "shuffle": 6, "hash": 7}, draws={"numpy": ("shuffle",)})
    assert seed_set(one) == "shuffle 6 · hash 7 · unused (no draw observed): init 5"
    assert seed_set(dataclasses.replace(one, draws={})) == "init 5 · shuffle 6 · hash 7"


def test_records_that_tell_nothing_of_randomness_say_so() -> None:
    (source,) = _provenance(judge([scored("a", [1.0, 2.0])]))
    assert "No determinism switch was set or overridden." in source.reasons
    assert "Neither weights nor evaluation data were observed." in source.reasons
    assert {fact.label for fact in source.facts if isinstance(fact.cell, Absent)} >= {"Varied", "Controls"}
