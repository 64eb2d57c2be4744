"""`scripts/on-accelerator` carries out what needs a device, and says what was proved and what was not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.accelerator.__main__ import main
from scripts.accelerator.catalogue import BY_HAND, FUNCTIONS, Check, Function, read_checks
from scripts.accelerator.machine import Machine
from scripts.accelerator.page import Call, write_page
from scripts.accelerator.results import Result, read_results
from scripts.accelerator.runner import carry_out_checks

ROOT = Path(__file__).parents[1]
GPU = Machine({"GPU": "A100"}, {"torch": "cuda"}, frozenset({"cuda"}), {})
CPU = Machine({"processor": "a CPU"}, {"torch": "cpu"}, frozenset(), {"jax": "ImportError | no"})


def stand_in(
    name: str, typical_s: float = 30, *, needs: tuple[str, ...] = ("cuda",), is_rehearsed: bool = True
) -> Check:
    function = Function(f"accelerator_stand_ins:check_{name}", typical_s, is_rehearsed)
    return Check(name, f"Title of {name}", "A CPU is no GPU", needs, function)


def carried_out(checks: list[Check], machine: Machine, folder: Path, budget_s: float = 60) -> dict[str, Result]:
    results: dict[str, Result] = {}

    def note(check: Check, result: Result) -> None:
        results[check.name] = result

    carry_out_checks(checks, machine, budget_s=budget_s, scratch=folder, done=note)
    return results


def test_every_check_of_the_list_has_a_function_or_a_reason() -> None:
    assert not set(FUNCTIONS) & set(BY_HAND)
    assert {check.name for check in read_checks()} == {*FUNCTIONS, *BY_HAND}
    files = {check.function.name.partition(":")[0].replace(".", "/") for check in read_checks() if check.function}
    assert all((ROOT / f"{file}.py").is_file() for file in files)


def test_a_check_that_fails_hangs_or_dies_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "support"))
    checks = [stand_in("error"), stand_in("claim"), stand_in("hang", 2), stand_in("death"), stand_in("addition")]
    results = carried_out(checks, GPU, tmp_path, budget_s=120)
    assert {name: (result.outcome, result.reason) for name, result in results.items() if name != "hang"} == {
        "error": ("failed", "ValueError: no such thing"),
        "claim": ("not as claimed", "the runs differ"),
        "death": ("failed", "its process ended with exit code 7"),
        "addition": ("proved", ""),
    }
    assert results["hang"].outcome == "failed"
    assert "not done within its" in results["hang"].reason
    (child,) = re.findall(r"started (\d+)", results["hang"].evidence)
    with pytest.raises(ProcessLookupError):
        os.kill(int(child), 0)


def test_what_a_machine_or_the_time_does_not_allow_is_left_out_with_the_reason(tmp_path: Path) -> None:
    checks = [
        stand_in("addition", is_rehearsed=False),
        stand_in("claim", needs=("cuda", "two-gpus"), is_rehearsed=False),
        stand_in("error", 1000),
    ]
    assert {name: result.reason for name, result in carried_out(checks, CPU, tmp_path).items()} == {
        "addition": "needs an NVIDIA GPU",
        "claim": "needs an NVIDIA GPU and two GPUs",
        "error": "no time: 60 s of the budget were left",
    }
    on_gpu = carried_out([stand_in("claim", needs=("cuda", "two-gpus"))], GPU, tmp_path)
    assert on_gpu["claim"].reason == "needs two GPUs"


def test_the_page_keeps_what_was_proved_apart_from_what_was_not() -> None:
    names = ("proved", "rehearsed", "wrong", "failed", "absent", "late", "waiting")
    checks = [stand_in(name) for name in names]
    results = {
        "proved": Result("proved", ("10 runs: 1 hash", "a | b"), wall_time_s=12.4),
        "rehearsed": Result("rehearsed", ("2 runs",), "a CPU stood for the device", wall_time_s=3),
        "wrong": Result("not as claimed", ("2 hashes",), "the runs differ", "hash 0\nhash 1"),
        "failed": Result("failed", (), "ValueError: no", "Traceback"),
        "absent": Result("skipped", (), "needs two GPUs"),
        "late": Result("skipped", (), "no time: 2 s of the budget were left"),
    }
    call = Call("2026-01-02", "scripts/on-accelerator", "abcdef12", 630, 1200)
    page = write_page(call, CPU, checks, results)
    titles, texts = re.findall(r"^##+ (.+)$", page, re.MULTILINE), re.split(r"^##+ .+$", page, flags=re.MULTILINE)
    sections = dict(zip(titles, texts[1:], strict=True))
    named = {title: re.findall(r"^\| `(\w+)`", text, re.MULTILINE) for title, text in sections.items()}
    assert named == {
        "Proved": ["proved"],
        "Not as claimed": ["wrong"],
        "Not proved for want of a device": ["rehearsed", "absent"],
        "Not carried out": ["failed", "late", "waiting"],
        "Output of `wrong`": [],
        "Output of `failed`": [],
    }
    assert "| `proved` | Title of proved | 10 runs: 1 hash<br>a \\| b | 12 s |" in page
    assert "hash 0\nhash 1" in sections["Output of `wrong`"]
    assert "abcdef12: 10.5 of 20 minutes" in page


@pytest.mark.requires("torch")
@pytest.mark.slow
def test_checks_are_rehearsed_and_not_repeated_in_a_second_call(tmp_path: Path) -> None:
    page, keep = tmp_path / "page.md", tmp_path / "results.json"
    words = ("--only", "tf32,refused-operation", "--minutes", "10", "--output", str(page), "--keep", str(keep))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    script = [ROOT / "scripts/on-accelerator", *words]
    answer = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    results = read_results(keep)
    assert {name: result.outcome for name, result in results.items()} == dict.fromkeys(results, "rehearsed")
    assert "max_unpool" in results["refused-operation"].figures[0]
    assert "rehearsed on a CPU" in page.read_text(encoding="utf-8")
    page.unlink()
    assert main(words) == 0
    assert read_results(keep) == results
    assert "rehearsed in" in page.read_text(encoding="utf-8")
