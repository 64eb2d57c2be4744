"""Whether `deviate diverge` names the first operation on the device that differs."""

from typing import Any

from scripts.accelerator.bench import Bench, read_document
from scripts.accelerator.results import Result

OPERATIONS = ("index_add", "scatter_add", "index_select")
"""The operations of the program whose kernels add in varying order, forwards or backwards."""


def check_divergence(bench: Bench) -> Result:
    project = bench.project("additions_torch")
    options = ["-q", "--name", "check", "--variant", "impl", "--level", "operations", "--json", "answer.json"]
    arguments, variables = ["--steps", "4"], {}
    if bench.is_rehearsal:  # sums by other numbers of threads stand for additions in another order
        arguments += ["--layers", "convolutions", "--rows", "4096"]
        options += ["--second-env", "OMP_NUM_THREADS=1"]
        variables = {"OMP_NUM_THREADS": "2"}
    bench.deviate(project, "diverge", *options, arguments=arguments, **variables)
    document: Any = read_document(project / "answer.json")
    first = document["first"]
    if document["is_equal"] or first is None:
        fault = f"two runs of impl are equal ({document['what']})"
        return bench.conclude([f"equal over {document['n_steps']} updates"], [fault])
    place = first["place"] or {"file": "", "line": 0, "text": ""}
    ulps = first["ulps"] or {"most": None}
    figures = [
        f"first difference at level {first['rung']}, step {first['step']}: {first['kind']} {first['name']}",
        f"at {place['file']}:{place['line']}, `{place['text'].strip()}`",
        f"by at most {ulps['most']} units in the last place",
        *(f"cause: {cause['title']} ({cause['certainty']})" for cause in document["causes"]),
    ]
    faults = [] if first["rung"] == "operations" else [f"the difference is seen at level {first['rung']} only"]
    if not bench.is_rehearsal and not any(name in first["name"] + place["text"] for name in OPERATIONS):
        faults.append(f"the operation is none of {', '.join(OPERATIONS)}")
    return bench.conclude(figures, faults, (project / "answer.json").read_text(encoding="utf-8")[:4000])
