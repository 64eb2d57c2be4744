"""The page of verbs and flags, from the command line itself."""

import enum
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

from deviate.cli.app import VERBS, app, load_command
from scripts.reference.docstrings import cell

HEAD = """\
# Command line

`deviate VERB`: results go to standard output, errors and warnings to standard error. Everything after `--` is the
user's own command, passed on unchanged. `deviate VERB --help` shows the common options, `deviate VERB --help-all` all,
in the groups below. Many options can also be set by a [variable](configuration.md#variables). Written from the program
by `python -m scripts.reference`.

`--debug`, in every verb, logs decisions to standard error, a line each without secrets: settings and interpreter, main
loop, metrics and why other values are none, caches, git, which runs are started, lost and retried, and the time of each
stage. `DEVIATE_DEBUG=1` does the same. A program that imports deviate gets these lines by `logging`, from the logger
`deviate`, at the level `DEBUG`. An unexpected exception is a defect of deviate: two lines say so, and its traceback is
kept in `.deviate/defects/`, or in the folder for temporary files where there is no `.deviate/`. It is also printed with
`--debug`, and where standard error is not a terminal ([how to report it](doctor.md#report-a-defect)).

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | bad input, or an error of deviate itself |
| 2 | wrong usage |
| 3 | some runs failed, or records are incomplete; what there is was reported |
| 4 | `check`: worse |
| 5 | `check`: undecided, with `--undecided fail` |
| 6 | `check`: the control variant is broken |
| 75 | the experiment is in use by another process, or the run of `worker` was lost: try again later |
| 130 | interrupted; records are intact |
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    commands = [(name, load_command(name)) for name in VERBS]
    types = {it.name: get_type_hints(it.callback) for it in app.registered_commands if it.callback}
    parts = [HEAD, "| verb | does |\n|---|---|"]
    parts += [f"| [`{name}`](#deviate-{name}) | {cell(command.short_help or '')} |" for name, command in commands]
    parts += [line for name, command in commands for line in _command(name, command, types[name])]
    return "\n".join(parts) + "\n"


def _command(name: str, command: Any, types: Mapping[str, Any]) -> Iterator[str]:
    arguments = [it for it in command.params if it.param_type_name == "argument"]
    usage = " ".join(["deviate", name, "[OPTIONS]", *(it.metavar or it.name.upper() for it in arguments)])
    yield f"\n## deviate {name}\n"
    yield f"```text\n{usage}\n```\n"
    yield f"{(command.help or '').strip()}\n"
    yield f"{_example(command.epilog or '')}\n"
    if arguments:
        yield "| argument | meaning |\n|---|---|"
        yield from (f"| `{it.metavar or it.name.upper()}` | {cell(it.help or '')} |" for it in arguments)
        yield ""
    yield "| option | meaning | default |\n|---|---|---|"
    options = [it for it in command.options() if it.rich_help_panel != "Help"]
    for title, members in itertools.groupby(options, key=lambda it: it.rich_help_panel):
        yield f"| **{title}** | | |"
        yield from (f"| {_flag(it, types)} | {cell(it.help or '')} | {_default(it)} |" for it in members)


def _example(epilog: str) -> str:
    told, _, command = epilog.partition(": ")
    return f"{told}: `{command}`"


def _flag(option: Any, types: Mapping[str, Any]) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} `{cell(option.metavar or _kind(types[option.name]))}`"


def _kind(hint: Any) -> str:
    """What a flag takes: the values of a choice, else the sort of value."""
    (kind, *_) = [it for it in get_args(hint) or (hint,) if it is not type(None)]
    (kind, *_) = [it for it in get_args(kind) or (kind,) if it is not type(None)]
    if issubclass(kind, enum.Enum):
        return "|".join(it.value for it in kind)
    return {int: "N", float: "X", str: "TEXT", Path: "FILE"}[kind]


def _default(option: Any) -> str:
    value = option.default
    if value is None or value is False or value == () or callable(value):
        return ""
    return f"`{cell(str(getattr(value, 'value', value)))}`"
