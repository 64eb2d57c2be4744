"""Groups of options: a verb takes one dataclass for many options, and each field of it is an option.

An option is a field of a dataclass, or the default of a parameter of a verb. Its text and the title of the help under
which it is listed stand there.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

Verb = TypeVar("Verb", bound=Callable[..., None])
TITLES = ("Runs", "What varies", "Difference", "Verdict", "Output", "Command", "Machine", "Records", "Help")
"""Titles of the help, in its order; the same in all verbs."""


def option(title: str, metavar: str | None, text: str, *names: str, default: Any = None, **settings: Any) -> Any:
    """An option of the command line.

    Args:
        title: of the help. metavar: the name of its value; None for a switch. text: its help.
        names: where they are not that of the parameter alone. settings: as typer has them.
    """
    settings |= {"metavar": metavar, "help": text, "rich_help_panel": title}
    return dataclasses.field(default=default, metadata={"names": names, "settings": settings})


in_runs, in_variation, in_difference, in_verdict, in_output, in_command, in_machine, in_records, in_help = (
    functools.partial(option, title) for title in TITLES
)


def flatten(verb: Verb, *shared: type) -> Verb:
    """Convert a verb for typer: each parameter that is a dataclass is replaced by the fields of the dataclass.

    `Annotated[Group, "jobs", "gpus"]` takes only these fields; the others have their defaults.

    Args:
        shared: groups of all verbs: their callbacks do what is asked, and no verb is given their values.
    """
    parameters: list[inspect.Parameter] = []
    fields_of: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in inspect.signature(verb).parameters.items():
        group, *chosen = get_args(parameter.annotation) or (parameter.annotation,)
        if dataclasses.is_dataclass(group):
            options = _parameters_of(group, chosen)
            fields_of[name] = group, [option.name for option in options]
            parameters += options
        elif isinstance(parameter.default, dataclasses.Field):
            parameters.append(_parameter(name, parameter.annotation, parameter.default))
        else:
            parameters.append(parameter)
    names_of_verb = [parameter.name for parameter in parameters]

    @functools.wraps(verb)
    def run(**values: Any) -> None:
        arguments = {name: values[name] for name in names_of_verb}
        for name, (group, fields) in fields_of.items():
            arguments[name] = group(**{field: arguments.pop(field) for field in fields})
        verb(**arguments)

    parameters += [parameter for group in shared for parameter in _parameters_of(group)]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def _parameters_of(group: Any, chosen: Sequence[str] = ()) -> list[inspect.Parameter]:
    fields = {field.name: field for field in dataclasses.fields(group)}
    hints = get_type_hints(group)
    return [_parameter(name, hints[name], fields[name]) for name in chosen or fields]


def _parameter(name: str, hint: Any, field: "dataclasses.Field[Any]") -> inspect.Parameter:
    names = field.metadata["names"] or (f"--{name.replace('_', '-')}",)
    hint = Annotated[hint, typer.Option(*names, **field.metadata["settings"])]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)
