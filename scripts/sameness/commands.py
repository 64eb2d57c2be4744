"""Which commands are run: every verb that writes or prints, in all its forms, over the projects of inputs.py."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from scripts.sameness.inputs import EXAMPLES

BATCH = 60
"""Scripts that are analysed in one process: more would share what the analysis remembers."""
VERBS = (
    "analyze", "run", "resume", "worker", "compare", "check", "diverge", "report", "list", "show", "clean", "doctor",
    "import", "overhead", "plan", "plugins",
)  # fmt: skip
FORMS = "--html a.html --latex a.tex --markdown a.md --json a.json --csv a.csv"
PAPER = "--paper paper --dl-variance artifact"


@dataclass(frozen=True)
class Scene:
    """Commands that follow one another in one copy of a project.

    Attributes:
        lines: what follows `deviate`. is_batch: all in one process; otherwise each in its own.
        is_cold: started as a person does, from a new interpreter, by the clock of the machine.
        has_runs: the script is run, so that times and numbers of processes are others each time.
    """

    project: str
    lines: tuple[str, ...]
    is_batch: bool = False
    is_cold: bool = False
    has_runs: bool = False

    def named(self, line: str) -> str:
        return f"[{self.project}] deviate {line}"


def scenes(
    scripts: dict[str, list[str]], samples: list[str], *, with_runs: bool, with_examples: bool
) -> Iterator[Scene]:
    """All scenes, those first that take longest.

    Args:
        scripts: paths of scripts to analyse, by project.
        samples: names of the stored records.
    """
    if with_runs:
        yield from _with_runs()
    yield from _recorded()
    if with_examples:
        yield from (Scene("trained", (f"report {name} {FORMS} {PAPER}", f"show {name}")) for name in EXAMPLES)
    yield from _stored(samples)
    yield from _imported()
    yield from _planned()
    yield from _cold()
    for name, paths in scripts.items():
        yield from _analysed(name, paths)


def _analysed(project: str, scripts: list[str]) -> Iterator[Scene]:
    for start in range(0, len(scripts), BATCH):
        chosen = [shlex.quote(path) for path in scripts[start : start + BATCH]]
        lines = [f"analyze {form} {path}" for path in chosen for form in ("--all", "--format json")]
        yield Scene(project, tuple(lines), is_batch=True)
    if project != "snippets":
        yield Scene(project, ("analyze .",))


def _recorded() -> Iterator[Scene]:
    for name in ("base", "fast", "failing", "looks", "tiny"):
        yield Scene("runs", (f"report {name} {FORMS} {PAPER}",))
    yield Scene("runs", (f"report swept --sweep {FORMS}",))
    yield Scene("runs", (f"compare base fast {FORMS} {PAPER} --siunitx --column-width 3",))
    yield Scene("runs", (f"compare base fast third failing --margin 0.5 --metric test_acc {FORMS} --paper paper",))
    yield Scene("runs", (f"compare base fast --paired --spread-ratio 1.5 --target test_acc=80 {FORMS}",))
    for flags in (
        "--html -", "--latex - --siunitx", "--markdown -", "--json -", "--csv -", "--confidence 0.9",
        "--aggregate best", "--aggregate at:2 --weak-below test_acc=90",
    ):  # fmt: skip
        yield Scene("runs", (f"report base {flags}",))
    for flags in ("--match train_loss=test_f1", "--direction test_acc=min", "--baseline fast", "--metric nothing"):
        yield Scene("runs", (f"compare base fast {flags}",))
    yield Scene("runs", ("report base:control", "report base:algo fast:algo+impl", "report nowhere"))
    yield from _checked()
    yield Scene("runs", ("list", "list --size", "list --format json"))
    for name in ("base", "base:control", "failing", "swept", "apart", "looks"):
        yield Scene("runs", (f"show {name}", f"show {name} --format json"))
    yield Scene(
        "runs",
        (
            "show base:algo --run 1",
            "show base:algo --run 1 --log",
            "show failing --run 1 --stderr",
            "show base --run 9",
        ),
    )
    yield Scene("runs", ("resume base", "resume base -q --json -"))
    yield Scene("runs", ("clean --dry-run", "clean base --keep best", "clean", "list --size"))
    yield Scene("runs", ("plan --pilot base --difference 0.3", "plan --pilot base --margin 0.5 --format json"))
    yield from _diverged("runs", ("apart:0 apart:1", "same:0 same:1", "apart:0 same:0"))
    yield Scene("runs", ("diverge apart:0 apart:0", "diverge apart:0", "diverge nowhere:0 nowhere:1"))
    yield Scene("networks", (f"report net {FORMS} {PAPER}",))
    yield Scene("networks", (f"compare net:algo+impl shuffled {FORMS} --paper paper",))
    yield Scene("networks", ("show net", "show net --format json", "show net:algo+impl --run 0", "list"))
    yield Scene("networks", ("clean --captured --dry-run", "clean net --captured", "report net"))
    yield from _diverged(
        "networks", ("noisy:0 noisy:1", "noisy.2:0 noisy.2:1", "noisy.3:0 noisy.3:1", "noisy.4:0 noisy.4:1")
    )
    yield Scene("costs", (f"report costly {FORMS}", "show costly", "list"))


def _stored(samples: list[str]) -> Iterator[Scene]:
    for name in samples:
        yield Scene("records", (f"report {name} {FORMS} {PAPER}",))
        yield Scene("records", (f"show {name}", f"show {name} --format json", f"show {name} --run 0 --log"))
    yield Scene("records", (f"compare s1 s3 s6 {FORMS}", "compare s2 old", "check s1 s3"))
    yield Scene("records", ("list", "list --size", "list --format json", "clean --dry-run"))


def _checked() -> Iterator[Scene]:
    forms = "--junit a.xml --markdown a.md --json a.json --html a.html"
    yield Scene("runs", (f"check base fast --metric test_acc --margin 0.5 {forms} --github",))
    yield Scene("runs", (f"check fast third --metric test_acc --metric test_f1 {forms}",))
    yield Scene(
        "runs",
        (
            "check base fast --require-control --undecided fail", "check base failing",
            "check third fast --require-control --control base --paired", "check base fast --junit - -q",
            "check base fast --json - -q", "check base fast --markdown - --no-github",
        ),
    )  # fmt: skip
    yield Scene(
        "runs",
        (
            "check base:algo --save baseline.json --metric test_acc --margin 0.5", "check baseline.json fast:algo+impl",
            "check baseline.json third --paired --json -", f"compare baseline.json third {FORMS}",
        ),
    )  # fmt: skip


def _diverged(project: str, pairs: tuple[str, ...]) -> Iterator[Scene]:
    for pair in pairs:
        yield Scene(project, (f"diverge {pair} {FORMS}", f"diverge {pair} --ulps 4", f"diverge {pair} --json -"))


def _imported() -> Iterator[Scene]:
    files = {
        "wide.csv": "wide", "long.csv": None, "tasks.csv": None, "list.json": "list", "lists.json": None,
        "records.json": "records", "history.json": "history", "'lightning_logs/version_*'": "lightning",
        "'keras/training_*.log.csv'": "keras", "deviate2021/mine": "mine", "dl_variance/analysis_raw.csv": None,
        "baseline/schema-1.json": None, "'tensorboard/seed*'": "tensorboard", "mlflow.db": "mlflow",
        "wandb": "wandb", "broken.json": None, "empty.csv": None, "absent.csv": None,
    }  # fmt: skip
    for path, name in files.items():
        as_name = f" --name {name}" if name else ""
        yield Scene("files", (f"import {path}{as_name}", "list", f"report {path} {FORMS}"))
    yield Scene("files", ("import wide.csv --name wide", "show wide", "show wide --run 2", "show wide --format json"))
    yield Scene("files", (f"compare wide.csv new.csv {FORMS} {PAPER}", "check wide.csv new.csv --margin acc=0.2"))
    yield Scene("files", (f"compare long.csv:sgd long.csv:adam long.csv:adamw {FORMS}",))
    yield Scene("files", ("report tasks.csv --json a.json --html a.html", "compare tasks.csv --tasks '*/acc'"))
    tasks = "tasks.csv:sgd tasks.csv:adam tasks.csv:adamw --tasks '*/acc'"
    yield Scene("files", (f"compare {tasks} {FORMS} --paper paper",))
    yield Scene("files", ("plan --pilot wide.csv --difference 0.2", "plan --pilot wide.csv --metric loss --runs 9"))
    yield Scene("files", ("import wide.csv --format json", "compare wide.csv --format csv"))


def _planned() -> Iterator[Scene]:
    yield Scene(
        "fresh",
        (
            "plan --effect 0.5 --power 0.8", "plan --difference 0.5 --sd 0.7", "plan --runs 5 --runs 10 --sd 0.5",
            "plan --effect 0.5 --paired --correlation 0.5 --format json", "plan --effect 0.8 --looks 4",
            "plan --effect 0.8 --looks pocock:3 --candidates 3", "plan --margin 0.5 --sd 0.4 --format json", "plan",
        ),
    )  # fmt: skip
    yield Scene("fresh", ("analyze train.py --save", "analyze train.py", "run --runs 2 --dry-run"))
    yield Scene("fresh", ("analyze net.py --save", "analyze .", "list", "show nothing", "clean"))
    for line in (
        "run train.py --runs 3 --variants algo+impl,algo,impl,control,init+shuffle,one-bit,config",
        "run net.py --runs 2 --capture predictions,weights --capture-every 2 --name kept",
        "run train.py --runs 2 --sweep --batch-size=2,8 --name swept",
        "run tiny.py --runs 2 --env A=1 --then true --timeout 20m --retries 2",
    ):
        yield Scene("fresh", (f"{line} --dry-run",))
        yield Scene("fresh", (f"{line} --plan-only", "list", "list --format json"))
    # Only shown: what prepares is run even where the runs are only planned.
    yield Scene("fresh", ("run tiny.py --prepare true --wrap env --dry-run",))
    yield Scene("fresh", ("diverge part.py --dry-run", "overhead costly.py --dry-run", "run train.py --runs 0"))
    yield Scene("fresh", ("run absent.py", "analyze absent.py", "run train.py --variants nonsense", "run --nonsense"))


def _cold() -> Iterator[Scene]:
    yield Scene("fresh", ("--version", "--help", "", "nonsense"), is_cold=True)
    yield Scene("fresh", tuple(f"{verb} --help" for verb in VERBS))
    yield Scene("fresh", ("analyze train.py", "plan --effect 0.5"), is_cold=True)
    yield Scene("files", ("compare wide.csv new.csv --html a.html --csv a.csv", "report long.csv"), is_cold=True)


def _with_runs() -> Iterator[Scene]:
    """Training on both sides, by the clock of the machine."""
    yield Scene("fresh", ("doctor", "doctor --format json"), is_cold=True, has_runs=True)
    yield Scene(
        "fresh",
        (
            "run train.py --runs 3 --jobs 1 --variants algo,control --name again --csv a.csv",
            "run train.py --runs 4 --jobs 1 --variants algo,control --name again --latex a.tex",
            "run train.py --runs 3 --jobs 1 --name failing -- --fails",
        ),
        is_cold=True,
        has_runs=True,
    )  # fmt: skip
    yield Scene("fresh", (f"diverge part.py --name apart {FORMS} -- part",), is_cold=True, has_runs=True)
    yield Scene("fresh", (f"diverge noisy.py --variant as-is {FORMS}",), is_cold=True, has_runs=True)
    yield Scene("records", ("resume old --jobs 1 --csv a.csv",), is_cold=True, has_runs=True)
