"""Whether `deviate diverge` finds the step, the line and the cause of a difference that is known.

    python benchmarks/diverge_faults.py [--check] [--only WORD] [--jobs 1] [--answers FOLDER]

Each row of `FAULTS` is a script of benchmarks/faults whose runs differ for one reason. Most of these reasons are those
of nature (the order of a set, a listing, a clock); `chance.py` sees to it that they act in each pair of runs. Faults
without a known cause are one number that one run multiplies by 1 + 1e-7, two examples that it exchanges, or a number
that it draws in addition.

- *step*: the update at which the runs differ first, or the step of the main loop of a script without updates.
- *line*: one that ends in `# cause`. It is right if the answer shows it as the place of the first difference, of the
  first input that differs and came before, or of the first cause. It is the line of what differs (the listing, the
  clock, the operation), or of the call that hands it to compiled code.
- *cause*: the first one of the list. Where there is none to name, the answer is misleading if it calls a mechanism
  proved.
- *cure*: where one exists that deviate can hold or give, runs that have the same of it are equal.

With `--check` the exit code is 1 unless all steps, 9 in 10 of the lines, 26 in 30 of the causes, and all cures are
right. `--answers` keeps what the command printed, and its JSON, one file each per script.
"""

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from diverge_answers import SHARED, Answer, diverge, is_chosen, parse_options

FOLDER = Path(__file__).parent / "faults"
MARK = "# cause"
LEAST_LINES, LEAST_CAUSES = 27 / 30, 26 / 30


class Fault(NamedTuple):
    """A script and what is right to say of it.

    Attributes:
        step: None if it is chance.
        causes: ids of docs/reference/sources.md that are right; empty if no known mechanism acts.
        is_curable: whether deviate can hold or give what differs.
    """

    script: str
    framework: str
    what: str
    step: int | None
    causes: tuple[str, ...] = ()
    is_curable: bool = False
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    n_threads: int = 1


DATA = ("--data", f"{SHARED}/data")
FAULTS = (
    Fault("words", "Python", "order of a set of strings", 0, ("set-order",), is_curable=True),
    Fault("folds", "Python", "hash() of strings as folds", 0, ("hash-value",), is_curable=True),
    Fault("neurons", "Python", "order of a set of objects", 0, ("memory-address",)),
    Fault("decay", "Python", "clock in a condition", 1, ("clock",), is_curable=True),
    Fault("budget", "Python", "time limit of a loop", 2, ("time-limit",), is_curable=True),
    Fault("resume", "Python", "left-over file", 0, ("leftover-file",), arguments=("--state", f"{SHARED}/state.json")),
    Fault("process", "Python", "process id in a seed", 0, ("process-number", "changing-seed")),
    Fault("futures", "Python", "as_completed", 0, ("unordered-results",), is_curable=True),
    Fault("pool", "Python", "imap_unordered", 0, ("unordered-results",), is_curable=True),
    Fault("service", "Python", "answer from the network", 0, ("network-answer",)),
    Fault("producers", "Python", "queue of two threads", 0, ("unordered-results", "thread-updates")),
    Fault("threads", "NumPy", "threads append to a list", 0, ("thread-updates",), is_curable=True),
    Fault("shards", "NumPy", "glob", 0, ("file-order",), is_curable=True, arguments=DATA),
    Fault("salt", "NumPy", "os.urandom as a seed", 0, ("entropy", "changing-seed"), is_curable=True),
    Fault("density", "NumPy", "np.empty", 0, ("uninitialised",)),
    Fault(
        "scale",
        "NumPy",
        "environment variable",
        0,
        ("environment-variable",),
        flags=("--second-env", "FEATURE_SCALE=1.1"),
    ),
    Fault("kmeans", "NumPy", "unseeded generator", 0, ("missing-seed",), is_curable=True),
    Fault("classes", "scikit-learn", "os.listdir", 0, ("file-order",), is_curable=True, arguments=DATA),
    Fault("forest", "scikit-learn", "unseeded split", 0, ("unseeded-split", "missing-seed"), is_curable=True),
    Fault("stream", "scikit-learn", "input × (1 + 1e-7)", 3),
    Fault("columns", "LightGBM", "order of features, of a set", 0, ("set-order",), is_curable=True),
    Fault("boosting", "LightGBM", "clock as a seed", 0, ("clock", "changing-seed"), is_curable=True),
    Fault("rate", "PyTorch MLP", "learning rate × (1 + 1e-7)", 3),
    Fault("sampler", "PyTorch MLP", "two examples exchanged", 3),
    Fault("loading", "PyTorch MLP", "as_completed", 0, ("unordered-results",), is_curable=True),
    Fault("convolution", "PyTorch CNN", "output of a block × (1 + 1e-7)", 3),
    Fault("images", "PyTorch CNN", "os.scandir", 0, ("file-order",), is_curable=True, arguments=DATA),
    Fault("transformer", "PyTorch transformer", "output of an MLP × (1 + 1e-7)", 3),
    Fault(
        "characters",
        "PyTorch transformer",
        "order of a set of strings",
        0,
        ("set-order",),
        is_curable=True,
    ),
    Fault("recurrent", "PyTorch RNN", "gate of a cell × (1 + 1e-7)", 3),
    Fault("identity", "PyTorch RNN", "uuid as a seed", 0, ("entropy", "changing-seed"), is_curable=True),
    Fault(
        "lookup",
        "PyTorch",
        "index_put, two threads",
        None,
        ("gather",),
        is_curable=True,
        flags=("--variant", "impl"),
        n_threads=2,
    ),
    Fault("balanced", "PyTorch", "torch.empty", 0, ("uninitialised",)),
    Fault("module", "Lightning", "output of an encoder × (1 + 1e-7)", 3),
    Fault(
        "continued", "Lightning", "left-over file", 0, ("leftover-file",), arguments=("--checkpoint", f"{SHARED}/a.pt")
    ),
    Fault("layer", "Keras fit", "output of a layer × (1 + 1e-7)", 3),
    Fault("labels", "Keras fit", "order of a set of strings", 0, ("set-order",), is_curable=True),
    Fault("tape", "TensorFlow", "gradient × (1 + 1e-7)", 3),
    Fault("function", "TensorFlow", "unseeded generator", 0, ("missing-seed",), is_curable=True),
    Fault("average", "Flax", "weights × (1 + 1e-7)", 3),
    Fault("key", "Flax", "clock as a seed", 0, ("clock", "changing-seed"), is_curable=True),
    Fault("noise", "Flax", "a draw in addition", 3),
)


class Score(NamedTuple):
    """What the command said of a fault, and whether it was right; None where nothing is to be said.

    Attributes:
        cures: flags that were tried, with the result.
        is_misleading: whether it calls a mechanism proved where none is known.
    """

    step: int | None
    lines: tuple[int, ...]
    cause: str
    cures: str
    is_step_right: bool | None
    is_line_right: bool
    is_cause_right: bool | None
    is_cure_right: bool | None
    is_misleading: bool = False


def main() -> int:
    options = parse_options(__doc__)
    faults = [fault for fault in FAULTS if is_chosen(options, fault.script, fault.framework, fault.what)]
    print("| script | framework | fault | step | line | first cause | cure | wrong | seconds |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    scores = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for fault, answer in zip(faults, pool.map(answer_of, faults), strict=True):
            if options.answers is not None:
                keep(options.answers, fault, answer)
            score = score_of(fault, answer.document, marked_lines(fault.script))
            print(row(fault, score, answer), flush=True)
            scores.append(score)
    return 1 if not is_enough(scores) and options.check else 0


def answer_of(fault: Fault) -> Answer:
    files = (FOLDER / f"{fault.script}.py", FOLDER / "chance.py")
    return diverge(files, flags=fault.flags, arguments=fault.arguments, n_threads=fault.n_threads)


def marked_lines(script: str) -> tuple[int, ...]:
    lines = (FOLDER / f"{script}.py").read_text(encoding="utf-8").splitlines()
    return tuple(number for number, line in enumerate(lines, 1) if line.endswith(MARK))


def score_of(fault: Fault, document: dict[str, Any], expected: Sequence[int]) -> Score:
    """Compare an answer with what is right; the answer is empty if the command failed."""
    first, causes = document.get("first") or {}, document.get("causes", [])
    step = first.get("main_step") if first.get("step") is None else first["step"]
    lines = shown_lines(fault, document)
    cause = causes[0] if causes else {"id": "", "certainty": ""}
    confirmations = document.get("confirmations", [])
    return Score(
        step=step,
        lines=lines,
        cause=f"{cause['id']} ({cause['certainty']})" if causes else "-",
        cures=", ".join(f"{item['given']}: {'equal' if item['is_equal'] else 'not equal'}" for item in confirmations),
        is_step_right=None if fault.step is None and first else step == fault.step,
        is_line_right=not set(expected).isdisjoint(lines),
        is_cause_right=cause["id"] in fault.causes if fault.causes else None,
        is_cure_right=any(item["is_equal"] for item in confirmations) if fault.is_curable else None,
        is_misleading=not fault.causes and cause["certainty"] == "proved",
    )


def shown_lines(fault: Fault, document: dict[str, Any]) -> tuple[int, ...]:
    """Lines of the script that an answer names first: of the difference, an input before it, and the first cause."""
    upstream = [item["place"] for item in document.get("inputs", []) if item["is_upstream"]]
    causes = document.get("causes", [])
    places = [(document.get("first") or {}).get("place"), *upstream[:1], *(causes[0]["places"][:1] if causes else ())]
    script = f"{fault.script}.py"
    return tuple(dict.fromkeys(place["line"] for place in places if place is not None and place["file"] == script))


def row(fault: Fault, score: Score, answer: Answer) -> str:
    expected = ", ".join(map(str, marked_lines(fault.script)))
    wrong = [
        name
        for name, is_right in (
            ("step", score.is_step_right),
            ("line", score.is_line_right),
            ("cause", score.is_cause_right),
            ("cure", score.is_cure_right),
        )
        if is_right is False
    ]
    wrong += ["misleading"] * score.is_misleading + [f"exit code {answer.code}"] * (answer.code != 0)
    cells = (
        fault.script,
        fault.framework,
        fault.what,
        expectation("any" if fault.step is None else str(fault.step), str(score.step), is_right=score.is_step_right),
        expectation(expected, ", ".join(map(str, score.lines)) or "-", is_right=score.is_line_right),
        expectation(
            " or ".join(fault.causes) or "none",
            score.cause,
            is_right=score.is_cause_right is not False and not score.is_misleading,
        ),
        score.cures or "-",
        ", ".join(wrong) or "-",
        f"{answer.seconds:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def expectation(expected: str, actual: str, *, is_right: bool | None) -> str:
    return f"{actual}, not {expected}" if is_right is False else actual


def is_enough(scores: Sequence[Score]) -> bool:
    """Print the totals, and whether they reach the bars."""
    steps = [score.is_step_right for score in scores if score.is_step_right is not None]
    lines = [score.is_line_right for score in scores]
    causes = [score.is_cause_right for score in scores if score.is_cause_right is not None]
    cures = [score.is_cure_right for score in scores if score.is_cure_right is not None]
    print(
        f"right: step {sum(steps)} of {len(steps)}, line {sum(lines)} of {len(lines)}, "
        f"first cause {sum(causes)} of {len(causes)}, cure {sum(cures)} of {len(cures)}; "
        f"misleading: {sum(score.is_misleading for score in scores)}"
    )
    return (
        all(steps)
        and sum(lines) >= LEAST_LINES * len(lines)
        and sum(causes) >= LEAST_CAUSES * len(causes)
        and all(cures)
    )


def keep(folder: Path, fault: Fault, answer: Answer) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{fault.script}.txt").write_text(answer.text, encoding="utf-8")
    (folder / f"{fault.script}.json").write_text(json.dumps(answer.document, indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
