"""Where the spread of one model comes from, in PyTorch and in JAX, on the device at hand; written as a page.

    python benchmarks/noise_study.py [--runs 8] [--epochs 12] [--output docs/results/…-noise-study-DEVICE.md]

Runs examples/factors_torch and examples/factors_jax in the variants algo+impl, algo, impl, control, init, shuffle and
one-bit, and writes what `deviate run` says of them, with hardware and versions. A framework that is not installed is
left out and named.
"""

import argparse
import datetime as dt
import importlib.util
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
STUDIES = {"torch": "factors_torch", "jax": "factors_jax"}
VARIANTS = "algo+impl,algo,impl,control,init,shuffle,one-bit"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--variants", default=VARIANTS)
    parser.add_argument("--output", type=Path, help="the page to write; a name with date and device by default")
    options = parser.parse_args()
    device = device_name()
    today = dt.datetime.now(dt.UTC).date().isoformat()
    parts = [f"# Noise study on {device}, {today}\n", machine(device)]
    for module, example in STUDIES.items():
        if importlib.util.find_spec(module) is None:
            parts.append(f"## {example}\n\nNot run: {module} is not installed.\n")
        else:
            parts.append(study(example, options.runs, options.epochs, options.variants))
    name = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    target = options.output or ROOT / "docs" / "results" / f"{today}-noise-study-{name}.md"
    target.write_text("\n".join(parts), encoding="utf-8")
    print(f"written: {target}")


def study(example: str, runs: int, epochs: int, variants: str) -> str:
    """One framework's section: the command, what it printed, and the environment that the runs themselves recorded."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "examples" / example
        shutil.copytree(ROOT / "examples" / example, folder)
        arguments = ["run", "train.py", "--runs", str(runs), "--variants", variants, "--name", example, "--json"]
        command = [*arguments, str(Path(scratch) / "out.json"), "--jobs", "1", "--", "--epochs", str(epochs)]
        print(f"{example}: {runs} runs in each of {variants}", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "deviate", *command], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{example} ended with exit code {done.returncode}:\n{done.stdout}\n{done.stderr}")
        document = json.loads((Path(scratch) / "out.json").read_text())
    facts = document["experiments"][0]["runs"][0]["environment"]
    table = "\n".join(f"| {name} | {value} |" for name, value in sorted(facts.items(), key=lambda it: it[0].lower()))
    summary = re.search(r"^(Variant|Experiment) .* completed", done.stdout, re.MULTILINE)
    shown = done.stdout[summary.start() if summary else 0 :].replace(scratch, "")
    shown = "\n".join(line for line in shown.splitlines() if not line.startswith("Report "))
    typed = f"deviate run train.py --runs {runs} --variants {variants} --jobs 1 -- --epochs {epochs}"
    return (
        f"## {example}\n\n```sh\n{typed}\n```\n\n```text\n{shown}\n```\n\n"
        f"| environment of the first run | |\n|---|---|\n{table}\n"
    )


def device_name() -> str:
    """The first GPU that the driver names, else the processor."""
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        answer = subprocess.run(query, capture_output=True, text=True, check=False)
        if answer.returncode == 0 and answer.stdout.strip():
            return answer.stdout.splitlines()[0].strip()
    return "CPU"


def machine(device: str) -> str:
    driver = ""
    if device != "CPU":
        query = ["nvidia-smi", "--query-gpu=driver_version,memory.total", "--format=csv,noheader"]
        driver = (
            ", driver and memory " + subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
        )
    model = next(
        (line.partition(":")[2].strip() for line in lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    missing = "" if driver else "No GPU was at hand: run the same command where there is one, and put its page here.\n"
    return (
        f"Hardware: {device}{driver}; processor {model}. {platform.system()} {platform.release()}, "
        f"CPython {platform.python_version()}. Made by `python benchmarks/noise_study.py`.\n{missing}"
    )


def lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


if __name__ == "__main__":
    main()
