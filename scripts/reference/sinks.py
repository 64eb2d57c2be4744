"""The page of the ways of reporting that are known."""

from deviate.sinks import SINKS, find_sink
from scripts.reference.docstrings import cell

HEAD = """\
# Ways of reporting

Calls that deviate knows to report values, by what they report to. A call counts where its name can be told from the
imports of the script; in the last column are spellings for receivers whose type cannot be told. `*` stands for any
text, `()` for the result of a call. To teach deviate another one, [add a sink](../how-to/add-a-sink.md).

Beside these, Keras `fit`, Lightning, Hugging Face trainers and others are recorded from inside by adapters, and
home-made loggers are followed to the calls that they make ([what the analyzer sees](../explanation/analysis.md)).

Written from `deviate/sinks/` by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    find_sink(None, "")  # loads every file of the folder
    rows = [
        f"| {cell(it.name)} | {_names(it.names)} | {_names(it.spellings)} |"
        for it in sorted(SINKS.values(), key=lambda it: (it.name, it.key))
    ]
    return "\n".join([HEAD, "| reports to | calls | else spelt |\n|---|---|---|", *rows]) + "\n"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{cell(name)}`" for name in names)
