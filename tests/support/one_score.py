"""Do all outputs of an experiment give the same score of each run?"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import deviate

RESULT = re.compile(r"^Result: (.+?)(?: \(mean ± SD\)|(?=  )) +(\S+)", re.MULTILINE)
MINUS = "−"


def find_differences(ask: Callable[..., str], folder: Path, experiment: str, said: str) -> Iterator[str]:
    """Hold terminal, table, progress, `show`, JSON, API, LaTeX, Markdown, page and `list` against each other.

    Args:
        ask: gives what `deviate` says in the folder, on both of its streams.
        said: what `deviate run` said.
    """
    result = RESULT.search(said)
    if result is None:
        yield "the terminal has no result"
        return
    name, mean = result[1], result[2]
    files = {form: folder / f"scores.{form}" for form in ("csv", "json", "latex", "markdown")}
    ask("report", experiment, "-q", *(word for form, file in files.items() for word in (f"--{form}", str(file))))
    texts = {form: file.read_text() for form, file in files.items()}
    rows = csv.DictReader(io.StringIO(texts["csv"]))
    scores = {int(row["replicate"]): float(row["score"]) for row in rows if row["metric"] == name}
    if not scores:
        yield f"the table has no score of {name}"
        return
    written = {replicate: f"{score:.6g}" for replicate, score in scores.items()}

    progress = dict(re.findall(rf"replicate (\d+) · completed · [^·]+ · {re.escape(name)} (\S+)", said))
    if {int(replicate): text for replicate, text in progress.items()} != written:
        yield f"progress {progress}, table {written}"
    for replicate, text in written.items():
        shown = ask("show", experiment, "--run", str(replicate))
        if not re.search(rf"^Score +{re.escape(name)} {re.escape(text)}$", shown, re.MULTILINE):
            yield f"show has another score of replicate {replicate} than {text}"

    document = json.loads(texts["json"])
    of_json = {
        one["replicate"]: one["score"]
        for metric in document["experiments"][0]["metrics"]
        if metric["metric"] == name
        for one in metric["scores"]
    }
    of_api = deviate.describe(experiment, folder=folder).scores()
    of_api = of_api[of_api["metric"] == name].set_index("replicate")["score"].to_dict()
    for place, others in (("JSON", of_json), ("API", of_api)):
        if others != scores:
            yield f"{place} {others}, table {scores}"
    if document["primary"] != name:
        yield f"JSON leads with {document['primary']}, the terminal with {name}"

    places = len(mean.partition(".")[2])
    average = sum(scores.values()) / len(scores)
    if f"{average:.{places}f}" != mean.replace(MINUS, "-"):
        yield f"the terminal has the mean {mean}, the table {average}"
    texts["page"] = (folder / ".deviate" / "reports" / experiment / "report.html").read_text()
    texts["list"] = ask("list")
    for form in ("latex", "markdown", "page", "list"):
        if mean.lstrip(MINUS) not in texts[form]:
            yield f"{form} has no {mean}"
