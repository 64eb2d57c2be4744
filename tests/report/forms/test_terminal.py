import dataclasses
import re

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, trained, with_moments
from studies import equal, spread, study, usual

from deviate.errors import InputError
from deviate.model.findings import Findings
from deviate.model.plan import PrimaryChoice
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge


def _mock_up() -> Findings:
    rng = np.random.default_rng(1)
    runs = [run(i, {"test_acc": single(v)}) for i, v in enumerate(with_moments(9, 93.74, 0.21, rng))]
    diverged = run(9, {"test_acc": single(float("nan"))}, status="diverged", reason="test_acc ended NaN")
    metric = selected(is_primary=True, unit="%")
    baseline = scored("train.py", with_moments(10, 93.41, 0.22, rng))
    return judge([baseline, experiment("train_new.py", [*runs, diverged], [metric])])


def test_the_verdict_comes_first_and_warnings_last() -> None:
    lines = render(build_report(_mock_up()), "terminal").splitlines()
    assert " ".join(lines[:2]).startswith(
        "Verdict: better   train_new.py is better than train.py: test_acc +0.330 points (93.410 → 93.740 %, +0.35 % "
        "relative), 95% CI 0.120 to 0.538, p = 0.005, "
    )
    baseline = lines.index("Baseline   train.py · algo+impl · 10/10 completed")
    assert lines[baseline + 1] == (
        "           test_acc (mean ± SD)  93.410 ± 0.220 %   95% CI mean 93.253 … 93.567 · SD 0.151 … 0.402 · n = 10"
    )
    assert lines[baseline + 3] == "Candidate  train_new.py · algo+impl · 9/10 completed, 1 diverged"
    assert next(line for line in lines[::-1] if not line.startswith(" ")).startswith("Warning    1 of 10 runs")


def test_a_comparison_in_one_metric_has_twenty_two_lines() -> None:
    metric = selected(is_primary=True, unit="%")
    sides = [scored(name, (90.1 + i, 90.2 + i, 90.4 + i, 90.6 + i, 90.9 + i), metric) for i, name in enumerate("ab")]
    assert len(render(build_report(judge(sides)), "terminal", width=100).splitlines()) <= 22


def test_both_sides_of_a_metric_are_rounded_alike_and_stand_in_one_row() -> None:
    sides = [trained(name, n_runs=6, n_metrics=2, n_points=5, seed=i) for i, name in enumerate("ab")]
    text = render(build_report(judge(sides)), "terminal", width=120)
    row = next(line for line in text.splitlines() if line.startswith("loss_1"))
    before, after = re.findall(r"\d\.(\d+) ± 0\.(\d+)", row)
    assert len({len(digits) for digits in (*before, *after)}) == 1


def test_of_many_metrics_the_terminal_has_those_that_might_have_been_the_primary_one() -> None:
    names = ["test_acc", *(f"class_{i}_acc" for i in range(29)), "test_loss"]
    rng = np.random.default_rng(0)
    scores = {name: with_moments(5, 1 + i, 0.1 + i / 100, rng) for i, name in enumerate(names)}
    runs = [run(i, {name: single(scores[name][i]) for name in names}) for i in range(5)]
    choice = PrimaryChoice("test_acc", "a measure of merit before a loss", ("test_loss",))
    whole = dataclasses.replace(experiment("a", runs, [selected(name) for name in names]), primary=choice)
    lines = render(build_report(judge([whole])), "terminal", width=100).splitlines()
    assert lines[0].startswith("Result: test_acc (mean ± SD)  1.000 ± 0.100   95% CI mean 0.876 … 1.124")
    assert len(lines) <= 20
    assert any(line.startswith("test_loss ") for line in lines)
    assert "… and 22 more metrics: see the report, Metrics" in lines


@pytest.mark.parametrize(
    ("varied", "words"),
    [
        (("init", "shuffle", "augment", "dropout", "other", "hash", "kernels", "autotune", "precision"), "seeds and k"),
        (("init", "shuffle"), ""),
    ],
)
def test_what_is_free_is_said_once_where_the_variant_first_stands(varied: tuple[str, ...], words: str) -> None:
    sides = [dataclasses.replace(scored(name, (90.0, 91.0)), varied=varied, held=("split",)) for name in "ab"]
    text = render(build_report(judge(sides)), "terminal")
    assert text.count("(training varies: seeds and kernels)") == bool(words)
    assert "Candidate  b · algo+impl ·" in text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    sides = [trained(name, n_runs=6, n_metrics=4, n_points=5, seed=i) for i, name in enumerate("ab")]
    for findings in (_mock_up(), judge(sides), judge(sides[:1]), judge([scored("tiny", [1.0])])):
        for line in render(build_report(findings), "terminal", width=width).splitlines():
            # A part that is longer than a narrow line has nowhere to break.
            assert len(line) <= max(width, 72)


def test_there_are_no_control_codes_unless_colour_is_asked_for() -> None:
    view = build_report(_mock_up())
    plain = render(view, "terminal")
    coloured = render(view, "terminal", is_coloured=True)
    assert "\x1b" not in plain
    assert "\x1b[1;32mbetter\x1b[0m" in coloured
    assert coloured.replace("\x1b[1;32m", "").replace("\x1b[1;33m", "").replace("\x1b[0m", "") == plain


def test_control_codes_of_the_user_never_reach_the_terminal() -> None:
    name = "acc\x1b[2J\x07"
    item = experiment(name, [run(0, {name: single(1.0)}, warnings=(name,))], [selected(name)], warnings=(name,))
    assert not any(
        ord(character) < 32 and character != "\n" for character in render(build_report(judge([item])), "terminal")
    )


def test_a_single_experiment_has_every_metric_and_no_verdict() -> None:
    text = render(build_report(judge([trained("a", n_runs=5, n_metrics=3, n_points=5)])), "terminal")
    assert all(f"\n{name} " in text for name in ("loss_1", "acc_2"))
    assert "Verdict" not in text
    assert text.startswith("Result: acc_0 (mean ± SD)  ")
    assert "\nExperiment a · " in text


def test_an_unknown_form_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError) as caught:
        render(build_report(_mock_up()), "pdf")
    assert "html" in caught.value.hint


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_of_a_noise_study_is_wider_than_the_terminal(width: int) -> None:
    text = render(build_report(study(*usual(), spread("as-is", [93.0, 94.0]))), "terminal", width=width)
    for line in text.splitlines():
        assert len(line) <= max(width, 72)


def test_a_single_variant_that_varies_everything_has_no_block_of_noise() -> None:
    assert "Noise" not in render(build_report(study(spread("algo+impl", [1.0, 2.0, 3.0]))), "terminal")
    assert "Noise      control is intact" in render(build_report(study(equal("control", 3))), "terminal")


def test_a_failed_run_from_elsewhere_is_called_as_there_and_has_no_log() -> None:
    lost = run(3, {}, status="crashed", reason="as it was imported", environment={"imported as": "offline-run-7"})
    runs = [run(i, {"acc": single(0.9 + i / 100)}) for i in range(3)]
    item = dataclasses.replace(experiment("old", [*runs, lost], [selected("acc")]), imported=("imported from old",))
    text = render(build_report(judge([item])), "terminal", width=120)
    assert "Failed     old, replicate 3 (offline-run-7): crashed, exit code 1 · as it was imported\n" in text
    assert "stderr.log" not in text
    assert "stderr.log" not in render(build_report(judge([item])), "html")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_number_of_the_line_that_failed_is_seen_however_long_its_path_is(width: int) -> None:
    frame = f'  File "/home/me/{"long/" * 40}train.py", line 61, in main'
    lost = [run(i, {}, status="crashed", reason=f"no {i}", stderr_tail=(frame, "ValueError: no")) for i in range(5)]
    text = render(build_report(judge([experiment("old", lost, [selected("acc")])])), "terminal", width=width)
    assert text.count(f"| {frame}\n") == 3
    assert "… and 2 more: see the" in text
    assert all(len(line) <= width for line in text.splitlines() if "stderr.log" not in line and "| " not in line)


def test_runs_that_failed_alike_are_shown_once() -> None:
    lost = [run(i, {}, status="crashed", reason="exit code 1", stderr_tail=("ValueError: no",)) for i in range(7)]
    text = render(build_report(judge([experiment("old", lost, [selected("acc")])])), "terminal", width=120)
    assert text.count("ValueError: no") == 1
    assert "Failed     old, replicate 0, replicate 1, replicate 2, replicate 3, replicate 4 and 2 more: crashed" in text


def test_why_an_sd_ratio_whose_interval_excludes_1_is_undecided_is_said() -> None:
    wide = scored("wide", (90.0, 95.0, 85.0, 99.0, 88.0, 93.0))
    narrow = scored("narrow", (90.0, 90.1, 90.2, 90.1, 90.0, 90.15))
    text = " ".join(render(build_report(judge([wide, narrow])), "terminal").split())
    assert "undecided (needs 16 runs in each, has 6 and 6)" in text
    assert ": undecided\n" in render(
        build_report(judge([wide, scored("same", (91.0, 95.5, 85.0, 98.0, 88.0, 93))])), "terminal"
    )


def test_why_another_metric_is_undecided_although_its_p_is_below_alpha_is_said() -> None:
    loss = selected("loss", is_primary=False, direction="min")
    values = {"base": [0.50 + 0.001 * (i % 5) for i in range(10)], "new": [0.40 + 0.001 * (i % 5) for i in range(10)]}

    def text(n_failed: int) -> str:
        sides = []
        for name, losses in values.items():
            crashed = range(n_failed if name == "new" else 0)
            runs = [
                run(
                    i,
                    {"test_acc": single(90 + i % 5), "loss": single(loss_i)},
                    status="crashed" if i in crashed else "completed",
                )
                for i, loss_i in enumerate(losses)
            ]
            sides.append(experiment(name, runs, [selected(is_primary=True), loss]))
        return " ".join(render(build_report(judge(sides)), "terminal", width=200).split())

    assert "¹ no score from replicates 0–3: crashed ² better among completed runs, but 4 of 10 runs of new" in text(4)
    assert "better among" not in text(0)
