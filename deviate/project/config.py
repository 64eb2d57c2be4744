"""`deviate.toml`: the supported keys, and a reader that checks types."""

import dataclasses
import difflib
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, cast, get_args

from deviate.base.text_patterns import pattern_regex
from deviate.errors import InputError
from deviate.model.analysis import Direction, Place, Role
from deviate.model.places import line_of
from deviate.series.aggregates import refuse_aggregate

T = TypeVar("T")
PARTS = ("capture", "experiment", "metrics", "snapshot", "statements", "variants")
EXPERIMENT_KEYS = ("train", "command", "then", "runs", "variants", "main_loop")
SNAPSHOT_KEYS = ("fresh",)
CAPTURE_KEYS = ("keep", "every", "limit", "tta")
VARIANT_KEYS = ("vary", "hold", "set", "description")
WHERE = re.compile(r"(.+):(\d+)")
IN_CELL = re.compile(r"(.+\.ipynb) cell (\d+), line (\d+)")


@dataclass(frozen=True, slots=True)
class MetricConfig:
    """A `[metrics.NAME]` section. Keys that are not set are None."""

    name: str
    where: Place | None = None
    expression: str | None = None
    path: tuple[Place, ...] | None = None
    label: str | None = None
    match: str | None = None
    direction: Direction | Literal["none"] | None = None
    aggregate: str = "last"
    unit: str = ""
    role: Role | None = None
    is_primary: bool = False
    margin: float | None = None
    target: float | None = None
    n_examples: int | None = None


METRIC_KEYS = tuple(
    "primary" if field.name == "is_primary" else field.name for field in dataclasses.fields(MetricConfig)[1:]
)


@dataclass(frozen=True, slots=True)
class VariantConfig:
    """A `[variants.NAME]` section: streams and factors by name, and levels of factors. Names are not checked here."""

    name: str
    vary: tuple[str, ...] = ()
    hold: tuple[str, ...] = ()
    levels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    description: str = ""


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """The `[capture]` section as written. Keys that are not set are None; values are not checked here."""

    keep: tuple[str, ...] | None = None
    every: int | None = None
    limit: str | None = None
    tta: tuple[str, ...] | None = None


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

    train: str | None = None
    command: str | None = None
    then: tuple[str, ...] = ()
    runs: int | None = None
    variants: tuple[str, ...] | None = None
    main_loop: Place | None = None
    metrics: tuple[MetricConfig, ...] | None = None
    definitions: tuple[VariantConfig, ...] = ()
    fresh: tuple[str, ...] = ()
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
    experiment = _Section(f"{file} [experiment]", _table(content, "experiment", file))
    _refuse_unknown(experiment.values, EXPERIMENT_KEYS, experiment.title)
    main_loop = experiment.text("main_loop")
    snapshot = _Section(f"{file} [snapshot]", _table(content, "snapshot", file))
    _refuse_unknown(snapshot.values, SNAPSHOT_KEYS, snapshot.title)
    capture = _Section(f"{file} [capture]", _table(content, "capture", file))
    _refuse_unknown(capture.values, CAPTURE_KEYS, capture.title)
    metrics, variants = _table(content, "metrics", file), _table(content, "variants", file)
    statements = _Section(f"{file} [statements]", _table(content, "statements", file))
    return Config(
        train=experiment.text("train"),
        command=experiment.text("command"),
        then=experiment.texts("then") or (),
        runs=experiment.count("runs"),
        variants=experiment.texts("variants"),
        main_loop=None if main_loop is None else _place(main_loop, experiment.title),
        metrics=_metric_configs(metrics, file) if "metrics" in content else None,
        definitions=tuple(
            _variant_config(name, _table(variants, name, f"{file} [variants]"), file) for name in variants
        ),
        fresh=snapshot.texts("fresh") or (),
        capture=CaptureConfig(
            capture.texts("keep"), capture.count("every"), capture.text("limit"), capture.texts("tta")
        ),
        statements={_place(key, statements.title): statements.text(key) or "" for key in statements.values},
    )


def _metric_configs(metrics: Mapping[str, object], file: str) -> tuple[MetricConfig, ...]:
    configs = tuple(_metric_config(name, _table(metrics, name, f"{file} [metrics]"), file) for name in metrics)
    patterns = [config.match for config in configs if config.match is not None]
    for pattern in patterns:
        if patterns.count(pattern) > 1:
            raise InputError(f"{file} has match = {pattern!r} more than once", "Keep it in one section.")
    primary = [config.name for config in configs if config.is_primary]
    if len(primary) > 1:
        raise InputError(
            f"{file} names {len(primary)} primary metrics: {', '.join(primary)}", "Keep one of them primary."
        )
    return configs


def _metric_config(name: str, values: Mapping[str, object], file: str) -> MetricConfig:
    section = _Section(f"{file} [metrics.{name}]", values)
    _refuse_unknown(values, METRIC_KEYS, section.title)
    where, path = section.text("where"), section.texts("path")
    aggregate = section.text("aggregate") or "last"
    refuse_aggregate(aggregate, section.title)
    match = section.text("match")
    if match is not None:
        pattern_regex(match, section.title)
        for key in ("where", "expression", "path", "label"):
            if key in values:
                raise InputError(
                    f"{section.title} has both match and {key}", "Name a value by its text or by its place, not both."
                )
    return MetricConfig(
        name=name,
        where=None if where is None else _place(where, section.title),
        expression=section.text("expression"),
        match=match,
        path=None if path is None else tuple(_place(item, section.title) for item in path),
        label=section.text("label"),
        direction=cast("Direction | Literal['none'] | None", section.choice("direction", ("max", "min", "none"))),
        aggregate=aggregate,
        unit=section.text("unit") or "",
        role=cast("Role | None", section.choice("role", get_args(Role))),
        is_primary=section.flag("primary"),
        margin=section.amount("margin"),
        target=section.number("target"),
        n_examples=section.count("n_examples"),
    )


def _variant_config(name: str, values: Mapping[str, object], file: str) -> VariantConfig:
    section = _Section(f"{file} [variants.{name}]", values)
    _refuse_unknown(values, VARIANT_KEYS, section.title)
    levels = _Section(f"{section.title} set", _table(values, "set", section.title))
    return VariantConfig(
        name=name,
        vary=section.texts("vary") or (),
        hold=section.texts("hold") or (),
        levels={factor: levels.level(factor) for factor in levels.values},
        description=section.text("description") or "",
    )


@dataclass(frozen=True, slots=True)
class _Section:
    """A table of the file, which checks the type of each key."""

    title: str
    values: Mapping[str, object]

    def text(self, key: str) -> str | None:
        return self._read(key, str, bool, 'a string, for example "…"')

    def texts(self, key: str) -> tuple[str, ...] | None:
        texts = self._read(
            key, list, lambda items: all(isinstance(item, str) and item for item in items),
            'a list of strings, for example ["…"]',
        )  # fmt: skip
        return None if texts is None else tuple(texts)

    def count(self, key: str) -> int | None:
        return self._read(key, int, lambda number: number > 0, "a positive integer")

    def level(self, key: str) -> str:
        wanted = "a level as a string or an integer"
        return str(self._read(key, object, lambda level: isinstance(level, str | int) and level != "", wanted))

    def amount(self, key: str) -> float | None:
        return self._read(key, float, lambda number: math.isfinite(number) and number >= 0, "a number, at least 0")

    def number(self, key: str) -> float | None:
        return self._read(key, float, math.isfinite, "a number")

    def flag(self, key: str) -> bool:
        return self._read(key, bool, lambda _: True, "true or false") or False

    def choice(self, key: str, options: tuple[str, ...]) -> str | None:
        value = self.text(key)
        return self._read(key, str, options.__contains__, f"one of {', '.join(options)}") if value else value

    def _read(self, key: str, kind: type[T], is_right: Callable[[T], object], wanted: str) -> T | None:
        """The value of a key; None if it is absent. An integer is a valid float; a boolean is no number.

        Raises:
            InputError: its type or its value is wrong.
        """
        value = self.values.get(key)
        if kind is float and type(value) is int:
            value = float(value)
        if value is None:
            return None
        if isinstance(value, kind) and isinstance(value, bool) == (kind is bool) and is_right(value):
            return value
        raise InputError(f"{self.title}: {key} = {self.values[key]!r} is invalid", f"Use {wanted}.")


def _table(content: Mapping[str, object], key: str, title: str) -> Mapping[str, object]:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{title}: {key} must be a section, not a value", f"Write [{key}] on a separate line.")
    return value


def _refuse_unknown(values: Iterable[str], allowed: tuple[str, ...], title: str) -> None:
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
