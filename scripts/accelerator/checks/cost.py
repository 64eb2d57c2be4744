"""What determinism costs: by `deviate overhead` in total and by kernel, and by layer as the program times it."""

import statistics
from collections import defaultdict
from typing import Any

from scripts.accelerator.bench import Bench, named_values, printed, read_document
from scripts.accelerator.results import Result

N_KERNELS = 10
QUANTITIES = {"run": "whole run", "step": "main-loop step", "kernels": "all kernels in the window"}


def check_cost(bench: Bench) -> Result:
    project = bench.project("layers")
    n_timed, n_profiled = bench.amount(4, 2), bench.amount(3, 2)
    arguments = ("--batch", str(bench.amount(128, 4)), "--steps", str(bench.amount(48, 8)))
    options = ("-q", "--name", "check", "--runs", str(n_timed), "--profiled-runs", str(n_profiled), "-j", "1")
    report = bench.deviate(project, "overhead", *options, "--json", "cost.json", arguments=arguments)
    document: Any = read_document(project / "cost.json")
    figures = [_factor(factor) for factor in document["factors"]]
    by_layer = _times_by_layer(bench, project)
    for layer, (free_ms, held_ms) in by_layer.items():
        figures.append(
            f"layer {layer}: {held_ms / free_ms:.2f}x ({free_ms:.3f} ms free, {held_ms:.3f} ms deterministic)"
        )
    profile = document["profile"]
    faults = []
    if not isinstance(profile, dict) or "kernels" not in profile:
        faults.append(f"no times of kernels: {profile}")
    else:
        figures.append(f"{profile['n_kernels']} kernels: {profile['measure']}; those that take longest:")
        figures += [_kernel(kernel) for kernel in profile["kernels"][:N_KERNELS]]
        if not bench.is_rehearsal and profile["device"] == "cpu":
            faults.append("the profile has no kernels of the device")
    if not by_layer:
        faults.append("no run completed")
    return bench.conclude(figures, faults, report)


def _times_by_layer(bench: Bench, project: Any) -> dict[str, tuple[float, float]]:
    """Mean milliseconds of each layer with free and with deterministic kernels; the first run warms up caches."""
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for variant, runs in bench.runs(project).items():
        for run in runs[1:]:
            for layer, text in named_values(printed(run), "time").items():
                times[layer][variant].append(float(text))
    return {
        layer: (statistics.mean(of_layer["impl"]), statistics.mean(of_layer["control"]))
        for layer, of_layer in times.items()
        if set(of_layer) == {"impl", "control"}
    }


def _factor(factor: Any) -> str:
    interval = factor["interval"]
    shown = f"{interval['low']:.2f} … {interval['high']:.2f}" if "low" in interval else interval["unavailable"]
    value = factor["factor"]
    return f"{QUANTITIES[factor['quantity']]}: " + (
        f"{value:.2f}x [{shown}]" if isinstance(value, float) else str(value)
    )


def _kernel(kernel: Any) -> str:
    return (
        f"{kernel['name'][:60]}: {1000 * kernel['free_s']:.3f} ms free, {1000 * kernel['held_s']:.3f} ms deterministic"
    )
