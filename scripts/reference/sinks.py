"""The page of the ways of reporting that are known."""

from deviate.sinks import SINKS, find_sink
from scripts.reference.docstrings import cell

HEAD = """\
# Sinks

Sinks are the calls that report values, grouped by what they report to. A call counts if the imports of the script show
its name. The last column has spellings for receivers of unknown type. `*` stands for any text, `()` for the result of a
call. For another API, [add a sink](../how-to/add-a-sink.md).

Adapters also record Keras `fit`, Lightning, Hugging Face trainers and others from inside, and deviate follows home-made
loggers to the calls that they make ([what the analyzer finds](../explanation/analysis.md)).

Written from `deviate/sinks/` by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    find_sink(None, "")  # loads every file of the folder
    rows = [
        f"| {cell(it.name)} | {_names(it.names)} | {_names(it.spellings)} |"
        for it in sorted(SINKS.values(), key=lambda it: (it.name, it.key))
    ]
    return "\n".join([HEAD, "| reports to | calls | other spellings |\n|---|---|---|", *rows]) + "\n"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{cell(name)}`" for name in names)
