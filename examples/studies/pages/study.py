"""What all pages of results have: the documents and records of a study, its runtime, hardware, versions and figures."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from cells import number, table

import deviate

FACTS = (
    "CPU",
    "cores",
    "GPU",
    "GPUs",
    "driver",
    "platform",
    "python",
    "torch",
    "torch oneDNN",
    "numpy",
    "scikit-learn",
)
"""What the runs recorded of the machine they ran on, as far as times and last digits depend on it."""


@cache
def described(name, metric):
    """What deviate says of an experiment on record, once for all its figures."""
    return deviate.describe(name, metric=metric)


@dataclass(frozen=True)
class Study:
    """One study as it is on record.

    Attributes:
        size: small, full or tiny. documents: folder with a JSON report per experiment, and nothing else.
        output: folder for the page and its figures. load: of the machine before the start, in words.
    """

    name: str
    size: str
    documents: Path
    output: Path
    load: str

    @property
    def is_quiet(self):
        """Whether nothing else ran before the start, so that times say something."""
        try:
            return float(self.load) < 1
        except ValueError:
            return False

    @property
    def prefix(self):
        return f"study-{self.name}" + ("" if self.size == "small" else f"-{self.size}")

    @cached_property
    def reports(self):
        """Experiment to its report, as `--json` wrote it."""
        return {path.stem: json.loads(path.read_text()) for path in sorted(self.documents.glob("*.json"))}

    def variant(self, experiment, name):
        """What the report says of one variant, and its place among them."""
        found = [
            (place, it) for place, it in enumerate(self.reports[experiment]["experiments"]) if it["variant"] == name
        ]
        return found[0]

    def metric(self, experiment, variant, name):
        """A metric of one variant: mean, sd, range and the rest."""
        return next(it for it in self.variant(experiment, variant)[1]["metrics"] if it["metric"] == name)

    def captured(self, experiment, variant, name="test"):
        """What was found on one evaluation set of one variant; None where it was not captured."""
        place = self.variant(experiment, variant)[0]
        sets = self.reports[experiment]["stability"]["sets"]
        return next((it for it in sets if it["experiment"] == place and it["name"] == name), None)

    def weights(self, experiment, variant):
        """How far apart the weights of one variant's runs are; None where they were not captured."""
        place = self.variant(experiment, variant)[0]
        return next((it for it in self.reports[experiment]["stability"]["weights"] if it["experiment"] == place), None)

    def bitwise(self, experiment, variant):
        """In words, whether runs of a variant are bitwise equal in quality metrics and weights."""
        rows = (self.reports[experiment]["noise"] or {"repeatability": []})["repeatability"]
        row = next((it for it in rows if it["variant"] == variant), None)
        if row is None:
            return "not compared"
        return f"all {row['n']} runs bitwise equal" if row["is_equal"] else "runs differ"

    def figure(self, experiment, name, metric=None):
        """Write a figure of an experiment beside the page, and give the line that shows it."""
        results = described(f"{self.prefix}-{experiment}", metric)
        found = next((it for it in results.figures() if name in it), None)
        if found is None:
            return ""
        short = re.sub(r"[^a-z0-9]+", "-", f"{experiment}-{name}".lower()).strip("-")
        file = f"{self.prefix}-{short}.svg"
        results.figure(found).savefig(self.output / file, width_in=6.5)
        return f"![{experiment}: {found.replace('-', ' ')}]({file})\n"

    @cached_property
    def runs(self):
        """All runs on record, by experiment and variant."""
        command = [sys.executable, "-m", "deviate", "list", "--format", "json"]
        listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        own = re.compile(rf"{self.prefix}-(?!full-|tiny-)(.+)")
        found = {(own.match(it["name"])[1], it["variant"]): it["name"] for it in listed if own.match(it["name"])}
        return {key: deviate.read(f"{name}:{key[1]}")[0].runs for key, name in found.items()}

    def settings(self):
        """Each experiment: its command, variants, number of runs, and seconds of a run."""
        rows = []
        for name in dict.fromkeys(name for name, _ in self.runs):
            parts = {variant: runs for (own, variant), runs in self.runs.items() if own == name}
            seconds = [run.wall_time_s for runs in parts.values() for run in runs if run.wall_time_s]
            each = number(sum(seconds) / len(seconds), 1) if seconds else "–"
            counts = ", ".join(sorted({str(len(runs)) for runs in parts.values()}))
            rows.append([f"{name}: {', '.join(parts)}", counts, each])
        words = f"bash examples/studies/{self.name}/run.sh{'' if self.size == 'small' else ' --' + self.size}"
        typed = f"```sh\n{words}\n```\n\nThe settings of each experiment stand in that file.\n\n"
        if self.size == "small":
            typed += (
                "Network, data, learning rate and size were chosen after a few pilot runs, so that a small study can "
                "show what the large one showed; how large an effect is here says nothing about how large it is "
                "there.\n\n"
            )
        return "## Settings\n\n" + typed + table(["experiment: variants", "runs of each", "s per run"], rows)

    def machine(self):
        """Hardware, versions and runtime, as the runs recorded them."""
        runs = [run for those in self.runs.values() for run in those if run.wall_time_s]
        facts = runs[0].environment
        ends = {}
        for (name, _), those in self.runs.items():
            for run in those:
                if run.wall_time_s:
                    first, last = ends.get(name, (run.started, 0))
                    ends[name] = min(first, run.started), max(last, run.started + run.wall_time_s)
        minutes = sum(last - first for first, last in ends.values()) / 60
        lines = [
            f"{len(runs)} runs, {number(minutes, 1)} minutes from the first to the last of each experiment. "
            f"Load of the machine before the start: {self.load}. No GPU was at hand."
            if "GPU" not in facts
            else f"{len(runs)} runs, {number(minutes, 1)} minutes.",
            "",
            ", ".join(f"{name} {facts[name]}" for name in FACTS if facts.get(name)) + ".",
        ]
        return "## Hardware, versions, runtime\n\n" + "\n".join(lines) + "\n"

    def head(self, title, summary):
        """The beginning of a page; what a summary says of the small size is left out of the others."""
        if self.size == "full":
            summary = re.sub(r"In small:.*?(?=\n\n|\Z)", "Here at the size of `--full`.", summary, flags=re.DOTALL)
        return f"# {title}\n\n{summary}\n\n{self.settings()}\n{self.machine()}\n"
