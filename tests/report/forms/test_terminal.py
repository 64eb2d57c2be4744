import dataclasses

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, trained, with_moments
from studies import equal, spread, study, usual

from deviate.errors import InputError
from deviate.model import Findings
from deviate.report import build_report, render
from deviate.stats import judge


def _mock_up() -> Findings:
    rng = np.random.default_rng(1)
    runs = [run(i, {"test_acc": single(v)}) for i, v in enumerate(with_moments(9, 93.74, 0.21, rng))]
    diverged = run(9, {"test_acc": single(float("nan"))}, status="diverged", reason="test_acc ended NaN")
    metric = selected(is_primary=True, unit="%")
    baseline = scored("train.py", with_moments(10, 93.41, 0.22, rng))
    return judge([baseline, experiment("train_new.py", [*runs, diverged], [metric])])


def test_the_verdict_stands_between_the_blocks_and_the_warnings() -> None:
    lines = render(build_report(_mock_up()), "terminal").splitlines()
    assert lines[0] == "Baseline   train.py   algo+impl · 10/10 completed"
    assert lines[1] == (
        "  test_acc (mean ± SD)  93.410 ± 0.220 %    95% CI mean 93.253 … 93.567 · SD 0.151 … 0.402 · n = 10"
    )
    assert lines[3] == "Candidate  train_new.py   algo+impl · 9/10 completed, 1 diverged"
    verdict = next(index for index, line in enumerate(lines) if line.startswith("Verdict: better"))
    assert lines[verdict].endswith("test_acc +0.330 points  [95% CI 0.120 … 0.538]  g 1.46 [0.46 … 2.44]")
    warning = next(index for index, line in enumerate(lines) if line.startswith("Warning"))
    assert verdict < warning
    assert "diverged" in lines[warning]


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


def test_a_single_experiment_has_every_metric_in_its_block_and_no_verdict() -> None:
    text = render(build_report(judge([trained("a", n_runs=5, n_metrics=3, n_points=5)])), "terminal")
    assert all(f"  {name}" in text for name in ("acc_0", "loss_1", "acc_2"))
    assert "Verdict" not in text
    assert text.startswith("Experiment  a ")


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
    assert "Failed   old, replicate 3 (offline-run-7): crashed, exit code 1 · as it was imported\nWarning" in text
    assert "stderr.log" not in text
    assert "stderr.log" not in render(build_report(judge([item])), "html")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_number_of_the_line_that_failed_is_seen_however_long_its_path_is(width: int) -> None:
    frame = f'  File "/home/me/{"long/" * 40}train.py", line 61, in main'
    lost = [run(i, {}, status="crashed", reason="exit code 1", stderr_tail=(frame, "ValueError: no")) for i in range(5)]
    text = render(build_report(judge([experiment("old", lost, [selected("acc")])])), "terminal", width=width)
    assert text.count("line 61, in main\n" if width > 40 else "61, in main\n") == 3
    assert "… and 2 more: see the" in text
    assert all(len(line) <= width for line in text.splitlines() if "stderr.log" not in line)


def test_other_metrics_are_headed_by_the_method_of_their_intervals() -> None:
    sides = [trained(name, n_runs=7, n_metrics=3, n_points=4, seed=i) for i, name in enumerate("ab")]
    assert "CI (Welch and permutation)" in render(build_report(judge(sides)), "terminal", width=120)
    assert "CI (paired t and sign flips)" in render(build_report(judge(sides, is_paired=True)), "terminal", width=120)


def test_why_an_sd_ratio_whose_interval_excludes_1_is_undecided_is_said() -> None:
    wide = scored("wide", (90.0, 95.0, 85.0, 99.0, 88.0, 93.0))
    narrow = scored("narrow", (90.0, 90.1, 90.2, 90.1, 90.0, 90.15))
    assert "undecided (needs 16 runs in each, has 6 and 6)" in render(build_report(judge([wide, narrow])), "terminal")
    assert ": undecided\n" in render(
        build_report(judge([wide, scored("same", (91.0, 95.5, 85.0, 98.0, 88.0, 93))])), "terminal"
    )
