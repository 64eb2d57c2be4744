"""Jupyter notebooks as scripts: code cells in order, and lines whose numbers tell their cells.

Line k of the code cell n is line `1000 n + k` of the script, so a line number alone, in a traceback too, leads back to
the cell. Code cells are counted as Jupyter counts them when all are run in a new kernel: `In [n]`. What a cell shows in
Markdown cells and outputs is no part of the script.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deviate.errors import InputError
from deviate.model.places import CELL_LINES, line_of, place_text
from deviate.model.texts import first_few

MARK = "# A notebook as a script:"
HEADING = f"{MARK} line 3 of the code cell In [7] is line 7003; what only Jupyter can run is set aside as a comment."
# In Jupyter all modules have both names. Figures are drawn and never shown: a window would wait to be closed.
PRELUDE = (
    'exec("import builtins, os\\n'
    "def display(*objects, **options):\\n"
    " for shown in objects:\\n  shown is None or print(repr(shown))\\n"
    "builtins.display, builtins.get_ipython = display, lambda: None\\n"
    "os.environ['MPLBACKEND'] = 'agg'\", {})"
)
BODY_MAGICS = frozenset({"time", "capture", "prun", "memit", "mprun", "lprun", "wandb"})
"""Cell magics that run their cell as the Python that it is."""
NUMBER_WORD = re.compile(
    "scores?|accuracy|acc|loss|error|auc|f1|mse|rmse|mae|r2|precision|recall|perplexity|evaluate|eval|validate|val|test|"
    "item|mean|median|max|min|std|sum|float|round|compute|result"
)
MOST_SHOWN = 4
LONGEST_SHOWN = 40

OPEN = re.compile(r"(?!f-string).*(never closed|unterminated|unexpected EOF)")
SPECIAL = re.compile(r"[%!?]|[\w.*%]+(\[[^\]]*\])?\?{1,2}\s*$|[A-Za-z_][\w., ]*=\s*[%!]|get_ipython\(\)\.")
"""How a statement begins that only IPython reads; the last is what exporting a notebook makes of a magic."""
TIMED = re.compile(r"(\s*)%time\s+(\S.*)", re.DOTALL)
TOKEN = re.compile(r"""\\.|\#.*|\"{3}|'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[(\[{)\]}]""", re.DOTALL)
CLOSING = {'"""': re.compile(r'\\.|"{3}', re.DOTALL), "'''": re.compile(r"\\.|'{3}", re.DOTALL)}


@dataclass(frozen=True, slots=True)
class SetAside:
    """Lines of a notebook that are no Python.

    Attributes:
        line: the first of them, in the script.
        text: the first of them.
    """

    line: int
    n_lines: int
    text: str


@dataclass(frozen=True, slots=True)
class NotebookScript:
    """The script of a notebook.

    Attributes:
        set_aside: what became a comment, in order, apart from magics that only time or capture their cell; none for a
            script that was read from a snapshot.
    """

    text: str
    set_aside: tuple[SetAside, ...]


def set_aside_text(file: str, set_aside: Sequence[SetAside]) -> str:
    """A sentence on what became a comment; empty for nothing."""
    places = []
    for part in set_aside:
        cell, first = divmod(part.line, CELL_LINES)
        lines = f"line {first}" if part.n_lines == 1 else f"lines {first} to {first + part.n_lines - 1}"
        text = part.text if len(part.text) <= LONGEST_SHOWN else f"{part.text[: LONGEST_SHOWN - 1]}…"
        places.append(f"{text} (cell {cell}, {lines})")
    return f"{file}: set aside, as only Jupyter can run it: {first_few(places, MOST_SHOWN)}" if places else ""


def notebook_script(content: bytes, file: str) -> NotebookScript:
    """The script of a notebook of nbformat 4.

    Args:
        content: of the file; the script itself, as a snapshot keeps it, is returned as it is.
        file: its name, for messages.

    Raises:
        InputError: it is no such notebook, or not one in Python, or a cell cannot be a part of a script.
    """
    if content.startswith(MARK.encode()):
        return NotebookScript(content.decode("utf-8"), ())
    cells = _code_cells(_read(content, file), file)
    set_aside: list[SetAside] = []
    features: dict[str, None] = {}
    parts: list[str] = []
    for number, source in enumerate(cells, start=1):
        lines = _python(source.split("\n"), number, set_aside)
        tree = _parsed(lines)
        if tree is None:
            _refuse_open(lines, number, file)
        else:
            _refuse_await(tree, number, file)
            features.update(dict.fromkeys(_take_features(tree, lines)))
            _show_last(tree, lines)
        if len(lines) >= CELL_LINES:
            raise InputError(
                f"{file} cell {number} has {len(lines)} lines; places in a notebook are counted up to {CELL_LINES - 1}",
                "Split the cell, or move its code to a module.",
            )
        parts += [f"# In [{number}]:", *lines, *_padding(CELL_LINES - 1 - len(lines))]
    imports = f"from __future__ import {', '.join(features)}" if features else ""
    # Strings would come before the import: in front of the first cell there are empty lines.
    head = [HEADING, imports, PRELUDE, *[""] * (CELL_LINES - 4)]
    return NotebookScript("\n".join([*head, *parts]) + "\n", tuple(set_aside))


def _padding(n_lines: int) -> list[str]:
    """Lines without effect. A string is one token to parsers, which take longer over hundreds of empty lines."""
    return [""] * n_lines if n_lines < 2 else ['"""', *[""] * (n_lines - 2), '"""']


# ---------------------------------------------------------------- the file


def _read(content: bytes, file: str) -> Mapping[str, object]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{file} is no notebook: {error}", "Open it in Jupyter and save it again, or take an earlier version."
        ) from None
    version = document.get("nbformat") if isinstance(document, dict) else None
    if version is None:
        raise InputError(f"{file} is no notebook: it has no nbformat", "Open it in Jupyter and save it again.")
    if version != 4:
        raise InputError(
            f"{file} is a notebook of nbformat {version}; deviate reads nbformat 4",
            f"Convert it: jupyter nbconvert --to notebook --nbformat 4 --inplace {file}",
        )
    language = _language(document)
    if not language.lower().startswith(("python", "ipython")):
        raise InputError(f"{file} is a notebook in {language}, not in Python", "Name a notebook or script in Python.")
    return dict(document)


def _language(document: Mapping[str, object]) -> str:
    facts = document.get("metadata")
    for part, member in (("language_info", "name"), ("kernelspec", "language")):
        entry = facts.get(part) if isinstance(facts, dict) else None
        if isinstance(entry, dict) and isinstance(entry.get(member), str):
            return str(entry[member])
    return "python"


def _code_cells(document: Mapping[str, object], file: str) -> list[str]:
    """The text of each cell that Jupyter gives a number, as it would run them all in a new kernel."""
    cells = document.get("cells")
    sources = [_text(cell.get("source")) for cell in cells if _is_code(cell)] if isinstance(cells, list) else []
    code = [source for source in sources if source.strip()]
    if not code:
        raise InputError(f"{file} has no code cells", "Name the notebook that trains.")
    return code


def _is_code(cell: object) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _text(source: object) -> str:
    text = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip()


# ---------------------------------------------------------------- one cell


def _python(lines: list[str], cell: int, set_aside: list[SetAside]) -> list[str]:
    """The lines of a cell with a comment for each that is no Python; those are added to `set_aside`."""
    first = next(index for index, line in enumerate(lines) if line.strip())
    if lines[first].startswith("%%"):
        name = lines[first][2:].split(" ")[0]
        if name not in BODY_MAGICS:
            set_aside.append(SetAside(line_of(cell, first + 1), len(lines) - first, lines[first]))
            return [f"# {line}" if line.strip() else line for line in lines]
        lines = [*lines[:first], f"# {lines[first]}", *lines[first + 1 :]]
    if _parsed(lines) is not None and not any("get_ipython()." in line for line in lines):
        return lines
    python: list[str] = []
    for start, end in _statements(lines):
        text = lines[start].lstrip()
        timed = TIMED.fullmatch(lines[start])
        if timed:
            python += [timed[1] + timed[2], *lines[start + 1 : end]]
        elif SPECIAL.match(text):
            indent = lines[start][: len(lines[start]) - len(text)]
            python += [f"{indent}pass  # {text}", *(f"# {line}" for line in lines[start + 1 : end])]
            set_aside.append(SetAside(line_of(cell, start + 1), end - start, text))
        else:
            python += lines[start:end]
    return python


def _statements(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Index of the first line of each logical line, and of the first line behind it."""
    start = 0
    while start < len(lines):
        end, state = start + 1, _Open()
        is_shell = lines[start].lstrip()[:1] in ("%", "!")
        if not is_shell:
            state.read(lines[start])
        while end < len(lines) and (lines[end - 1].endswith("\\") or (state.is_open and not is_shell)):
            state.read(lines[end])
            end += 1
        yield start, end
        start = end


@dataclass(slots=True)
class _Open:
    """Brackets and strings that are open behind the lines that were read."""

    depth: int = 0
    quote: str = ""

    @property
    def is_open(self) -> bool:
        return self.depth > 0 or bool(self.quote)

    def read(self, line: str) -> None:
        place = 0
        while match := (CLOSING[self.quote] if self.quote else TOKEN).search(line, place):
            mark, place = match[0], match.end()
            if self.quote:
                self.quote = "" if mark == self.quote else self.quote
            elif mark in CLOSING:
                self.quote = mark
            else:
                self.depth += (mark in "([{") - (mark in ")]}")


def _parsed(lines: Sequence[str]) -> ast.Module | None:
    """The tree of a cell; None for what this Python cannot read, newer syntax included."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _refuse_open(lines: Sequence[str], cell: int, file: str) -> None:
    """Refuse a string or bracket that would end in another cell, for the cells share one script.

    Raises:
        InputError: the cell is no whole code.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        if OPEN.match(error.msg):
            place = place_text(file, line_of(cell, error.lineno or 1), error.offset or 1)
            raise InputError(f"{place}: not valid Python: {error.msg}", "Correct the cell.") from None
    except (ValueError, RecursionError, MemoryError):  # the whole script is refused with the reason
        pass


def _refuse_await(tree: ast.Module, cell: int, file: str) -> None:
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            raise InputError(
                f"{place_text(file, line_of(cell, node.lineno))}: await outside of a function, which only Jupyter runs",
                "Put it into `async def main()`, and call asyncio.run(main()).",
            )
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            nodes += ast.iter_child_nodes(node)


def _take_features(tree: ast.Module, lines: list[str]) -> Iterator[str]:
    """The names that a cell imports from `__future__`, which a script does in its head alone."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            yield from (alias.name for alias in node.names)
            for index in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[index] = f"{'pass  ' * (index == node.lineno - 1)}# {lines[index]}"


def _show_last(tree: ast.Module, lines: list[str]) -> None:
    """Print what the last expression of a cell yields, as Jupyter shows it; `;` behind it says not to.

    Of calls those alone whose names say that they yield a number: most are there for what they do.
    """
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or isinstance(last.value, ast.Constant):
        return
    if isinstance(last.value, ast.Call) and not _yields_number(last.value):
        return
    end = (last.end_lineno or last.lineno) - 1
    behind = _characters(lines[end], last.end_col_offset or 0)
    if lines[end][behind:].lstrip().startswith(";") or any(line.lstrip().startswith(";") for line in lines[end + 1 :]):
        return
    lines[end] = f"{lines[end][:behind]}){lines[end][behind:]}"
    start = _characters(lines[last.lineno - 1], last.col_offset)
    lines[last.lineno - 1] = f"{lines[last.lineno - 1][:start]}display({lines[last.lineno - 1][start:]}"


def _yields_number(call: ast.Call) -> bool:
    name = ast.unparse(call.func).rpartition(".")[2]
    return any(map(NUMBER_WORD.fullmatch, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")))


def _characters(line: str, n_bytes: int) -> int:
    return len(line.encode()[:n_bytes].decode())
