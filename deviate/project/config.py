"""`deviate.toml`: the supported keys, and a reader that checks types."""

import dataclasses
import difflib
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from deviate.base.text_patterns import pattern_regex
from deviate.errors import InputError
from deviate.model.analysis import Place, Role
from deviate.model.places import line_of
from deviate.series.aggregates import refuse_aggregate

PARTS = ("capture", "experiment", "metrics", "snapshot", "statements", "variants")
EXPERIMENT_KEYS = ("train", "command", "then", "runs", "variants", "main_loop")
SNAPSHOT_KEYS = ("fresh",)
CAPTURE_KEYS = ("keep", "every", "limit", "tta")
VARIANT_KEYS = ("vary", "hold", "set", "description")
WHERE = re.compile(r"(.+):(\d+)")
IN_CELL = re.compile(r"(.+\.ipynb) cell (\d+), line (\d+)")

Text = Annotated[str, msgspec.Meta(description='a string, for example "…"')]
Texts = Annotated[
    tuple[Annotated[str, msgspec.Meta(min_length=1)], ...],
    msgspec.Meta(description='a list of strings, for example ["…"]'),
]
Count = Annotated[int, msgspec.Meta(gt=0, description="a positive integer")]
Number = Annotated[float, msgspec.Meta(description="a number")]
Amount = Annotated[float, msgspec.Meta(ge=0, description="a number, at least 0")]
Flag = Annotated[bool, msgspec.Meta(description="true or false")]
Level = Annotated[
    Annotated[str, msgspec.Meta(min_length=1)] | int,
    msgspec.Meta(description="a level as a string or an integer"),
]
PLACES = {"where": Text, "main_loop": Text, "path": Texts}
"""Keys with places, and how they are written."""
FIELDS = {"primary": "is_primary"}
"""Fields by key, where they have another name."""


@dataclass(frozen=True, slots=True)
class MetricConfig:
    """A `[metrics.NAME]` section. Keys that are not set are None."""

    name: str
    where: Place | None = None
    expression: Text | None = None
    path: tuple[Place, ...] | None = None
    label: Text | None = None
    match: Text | None = None
    direction: Literal["max", "min", "none"] | None = None
    aggregate: Text = "last"
    unit: Text = ""
    role: Role | None = None
    is_primary: Flag = False
    margin: Amount | None = None
    target: Number | None = None
    n_examples: Count | None = None
    title: Text = ""


METRIC_KEYS = tuple(
    "primary" if field.name == "is_primary" else field.name for field in dataclasses.fields(MetricConfig)[1:]
)


@dataclass(frozen=True, slots=True)
class VariantConfig:
    """A `[variants.NAME]` section: streams and factors by name, and levels of factors. Names are not checked here."""

    name: str
    vary: Texts = ()
    hold: Texts = ()
    levels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    description: Text = ""


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """The `[capture]` section as written. Keys that are not set are None; values are not checked here."""

    keep: Texts | None = None
    every: Count | None = None
    limit: Text | None = None
    tta: Texts | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """A complete `deviate.toml`. Keys that are not set are None.

    Attributes:
        main_loop: the main loop, if the user named it.
        metrics: None without a metrics part: every metric of the analysis is selected.
        definitions: custom variants.
        fresh: folders that start empty in each run.
        capture: artifacts that runs store in addition to metrics.
        statements: statements at the places of the metrics part when it was saved, by "file:line".
    """

    train: Text | None = None
    command: Text | None = None
    then: Texts = ()
    runs: Count | None = None
    variants: Texts | None = None
    main_loop: Place | None = None
    metrics: tuple[MetricConfig, ...] | None = None
    definitions: tuple[VariantConfig, ...] = ()
    fresh: Texts = ()
    capture: CaptureConfig = CaptureConfig()
    statements: Mapping[Place, str] = dataclasses.field(default_factory=dict)

    def is_for(self, script: str) -> bool:
        """Whether the file applies to a script: it names this script, or none."""
        return self.train is None or Path(self.train).as_posix() == script


def load(path: Path) -> Config:
    """Read a `deviate.toml`; a missing file is an empty configuration.

    Raises:
        InputError: it is no TOML, or has an unknown key or a value of the wrong type.
    """
    return parse(read_text(path), path.name)


def read_text(path: Path) -> str:
    """The text of a `deviate.toml` with its line ends; empty if it does not exist.

    Raises:
        InputError: it cannot be read, or is no text.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not valid TOML: {error}", "Save it as UTF-8.") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "Check the path and its permissions.") from None


def parse(text: str, file: str) -> Config:
    """Parse the text of a `deviate.toml`; `file` is its name for messages.

    Raises:
        InputError: it is no TOML, or has an unknown key or a value of the wrong type.
    """
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{file} is not valid TOML: {error}", "Correct the line.") from None
    _refuse_unknown(content, PARTS, file)
    metrics, variants, statements = (_table(content, part, file) for part in ("metrics", "variants", "statements"))
    return Config(
        **_part(content, "experiment", Config, EXPERIMENT_KEYS, file),
        metrics=_metric_configs(metrics, file) if "metrics" in content else None,
        definitions=tuple(_variant_config(name, variants, file) for name in variants),
        **_part(content, "snapshot", Config, SNAPSHOT_KEYS, file),
        capture=CaptureConfig(**_part(content, "capture", CaptureConfig, CAPTURE_KEYS, file)),
        statements={
            _place(key, f"{file} [statements]"): _value(text, Text, key, f"{file} [statements]")
            for key, text in statements.items()
        },
    )


def _metric_configs(metrics: Mapping[str, object], file: str) -> tuple[MetricConfig, ...]:
    configs = tuple(_metric_config(name, metrics, file) for name in metrics)
    patterns = [config.match for config in configs if config.match is not None]
    for pattern in patterns:
        if patterns.count(pattern) > 1:
            raise InputError(f"{file} has match = {pattern!r} more than once", "Keep it in one section.")
    titles = [config.title or config.name for config in configs]
    if twice := next((title for title in titles if titles.count(title) > 1), None):
        raise InputError(f"{file} calls two metrics {twice!r}", "Give each a title of its own.")
    primary = [config.name for config in configs if config.is_primary]
    if len(primary) > 1:
        raise InputError(
            f"{file} names {len(primary)} primary metrics: {', '.join(primary)}", "Keep one of them primary."
        )
    return configs


def _metric_config(name: str, metrics: Mapping[str, object], file: str) -> MetricConfig:
    title, values = f"{file} [metrics.{name}]", _table(metrics, name, f"{file} [metrics]")
    config = MetricConfig(name, **_read(values, MetricConfig, METRIC_KEYS, title))
    refuse_aggregate(config.aggregate, title)
    if config.match is not None:
        pattern_regex(config.match, title)
        for key in ("where", "expression", "path", "label"):
            if key in values:
                raise InputError(
                    f"{title} has both match and {key}", "Name a value by its text or by its place, not both."
                )
    return config


def _variant_config(name: str, variants: Mapping[str, object], file: str) -> VariantConfig:
    title, values = f"{file} [variants.{name}]", dict(_table(variants, name, f"{file} [variants]"))
    levels = _table(values, "set", title)
    values.pop("set", None)
    return VariantConfig(
        name,
        **_read(values, VariantConfig, VARIANT_KEYS, title),
        levels={factor: str(_value(level, Level, factor, f"{title} set")) for factor, level in levels.items()},
    )


def _part(content: Mapping[str, object], part: str, kind: type, keys: Sequence[str], file: str) -> dict[str, Any]:
    return _read(_table(content, part, file), kind, keys, f"{file} [{part}]")


def _read(values: Mapping[str, object], kind: type, keys: Sequence[str], title: str) -> dict[str, Any]:
    """The keys of a table as fields of a dataclass, which declares their types."""
    _refuse_unknown(values, keys, title)
    types, read = get_type_hints(kind, include_extras=True), dict[str, Any]()
    for key, written in values.items():
        field = FIELDS.get(key, key)
        value = _value(written, PLACES.get(key, types[field]), key, title)
        if key in PLACES:
            value = _place(value, title) if isinstance(value, str) else tuple(_place(text, title) for text in value)
        read[field] = value
    return read


def _value(value: object, kind: Any, key: str, title: str) -> Any:
    """A value of its type. An integer is a valid float; a boolean is no number.

    Raises:
        InputError: its type or its value is wrong.
    """
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        converted = math.nan
    if isinstance(converted, float) and not math.isfinite(converted):
        raise InputError(f"{title}: {key} = {value!r} is invalid", f"Use {_wanted(kind)}.")
    return converted


def _wanted(kind: Any) -> str:
    """What a value of this type is, in words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    return kind.__metadata__[0].description if get_origin(kind) is Annotated else _wanted(get_args(kind)[0])


def _table(content: Mapping[str, object], key: str, title: str) -> Mapping[str, object]:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{title}: {key} must be a section, not a value", f"Write [{key}] on a separate line.")
    return value


def _refuse_unknown(values: Mapping[str, object], allowed: Sequence[str], title: str) -> None:
    for key in values:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, 1, 0.5)
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(allowed)}."
            raise InputError(f"{title} has the unknown key {key!r}", hint)


def _place(text: str, title: str) -> Place:
    in_cell = IN_CELL.fullmatch(text)
    if in_cell is not None:
        return Place(Path(in_cell[1]).as_posix(), line_of(int(in_cell[2]), int(in_cell[3])))
    match = WHERE.fullmatch(text)
    if match is None:
        raise InputError(f"{title}: {text!r} is not a place", 'Write file and line: "train.py:61".')
    return Place(Path(match[1]).as_posix(), int(match[2]))
