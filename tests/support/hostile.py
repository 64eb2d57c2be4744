"""Findings in which whatever the user's code or files may bring is made to break a report, or to be obeyed by it.

`hostile_findings(kind)` and `harmless_findings(kind)` have the same shape: equal numbers, statuses and parts, and at
each place where the first has a hostile text the second has a plain word.
"""

import dataclasses
import functools
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from experiments import experiment, run, selected
from stabilities import stability
from studies import VARIED

from deviate.model.findings import Findings
from deviate.model.plan import SelectedMetric
from deviate.model.records import (
    ControlEvent,
    DrawEvent,
    EvaluationData,
    Experiment,
    Flip,
    Run,
    SeedEvent,
    Series,
    Status,
    Weights,
)
from deviate.model.stability import StabilityFindings
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

Kind = Literal["single", "pair", "study", "many"]
KINDS: tuple[Kind, ...] = ("single", "pair", "study", "many")

NASTY = {
    "script": "<script>alert(1)</script>",
    "attribute": "\"'><img src=x onerror=alert(1)>",
    "handler": "' onmouseover='alert(1)' x=\"",
    "jinja": "{{7*7}}",
    "raw": "{% raw %}{# x #}",
    "end of script": "</script></style></title></svg><b>",
    "comment": "<!--",
    "cdata": "]]><![CDATA[",
    "entity": "&lt;b&gt;&#60;i&#62;&amp",
    "doctype": "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
    "svg": "<svg onload=alert(1)><foreignObject>",
    "address": "javascript:alert(1) https://example.org/?a=1&b=2 http://x.y",
    "TeX": r"_%&#${}~^\ $x^2_1$ \undefined \end{tabular} \\ %",
    "TeX file": r"\input{/etc/passwd}\immediate\write18{id}",
    "formula": "=cmd|' /C calc'!A0",
    "formula of a sum": '@SUM(1+1)*cmd|"/C calc"!A0',
    "plus": "+1+1",
    "minus": "-2+3",
    "wide formula": " \uff1dcmd|' /C calc'!A0",
    "tab": "\t=1+1\tb",
    "lines": "one\r\ntwo\nthree\rfour\u2028five\u2029six\x0bseven\x0ceight\x85nine",
    "quotes": 'a"b,c;d\'e`f"',
    "ANSI": "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\x9b5m",
    "controls": "\x00\x01\x07\x08\x7f\x9f nul",
    "backspaces": "good\b\b\b\bevil\r\x1b[Aup",
    "surrogate": "half \ud83d and \udcff",
    "right to left": "\u202egnp.exe\u202c \u2067x\u2069 \u200f\u200e\u061c",
    "combining": "Z" + "\u0351\u0343\u036b\u0300" * 8 + "algo",
    "invisible": "a\u200bb\u200cc\u2060d\ufeffe\u00adf",
    "emoji": "\U0001f469\U0001f3fd\u200d\U0001f680\U0001f468\u200d\U0001f469\u200d\U0001f467 1\ufe0f\u20e3",
    "wide": "精度（検証用）" * 3,
    "table": "| a | b |\n|---|---|\n# h\n- [x](javascript:alert(1)) ![i](http://x.y/i.png)",
    "Markdown": "**b** `c` ~~d~~ @all #1 <b> [^1] [ref]: http://x.y\n> q\n```\n",
    "annotation": "::error file=a.py,line=1::x%0A::stop-commands::y\n::set-output name=a::b",
    "lower": "accuracy",
    "upper": "ACCURACY",
    "mixed": "Accuracy",
    "none": "",
    "spaces": "   ",
    "twin": "twin",
    "twin with a control": "tw\x07in",
    "no number": "NaN",
    "path": "../../../../etc/passwd\0.png",
    "long": "L" * 4000,
    "long words": "many words " * 360,
    "long and wide": "长" * 1500,
}
"""What each is about, and the text; no two are equal, and some are once they are cleaned."""

VARIANTS = (
    "script",
    "handler",
    "cdata",
    "TeX",
    "formula",
    "lines",
    "surrogate",
    "combining",
    "upper",
    "spaces",
    "long",
)
FAILURES: tuple[Status, ...] = ("crashed", "diverged", "timed_out", "lost")
Say = Callable[[], str]


@functools.cache
def hostile_findings(kind: Kind) -> Findings:
    """Every text of `NASTY` stands at many places in it: as names of metrics, of experiments, in what runs left."""
    return _findings(kind, hostile=True)


@functools.cache
def harmless_findings(kind: Kind) -> Findings:
    """The same with plain words."""
    return _findings(kind, hostile=False)


def controls(text: str) -> set[str]:
    """Characters that steer a terminal or turn the direction of text, and halves of characters."""
    return set(re.findall("[\0-\t\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\u2028\u2029]", text))


def _findings(kind: Kind, *, hostile: bool) -> Findings:
    called = NASTY if hostile else {name: f"word{index}" for index, name in enumerate(NASTY)}
    texts = list(called.values())
    # Each place goes on where the one before ended, so that over all of them every text comes to stand everywhere.
    say = itertools.cycle(texts).__next__
    if kind == "single":
        return judge([_experiment(called["script"], texts, say)])
    if kind == "pair":
        sides = (_experiment(called["attribute"], texts, say), _experiment(called["comment"], texts, say, shift=0.5))
        return dataclasses.replace(judge(sides, AnalysisOptions(margin=0.1)), stability=_stability(sides, say))
    if kind == "many":
        names = [called[it] for it in ("script", "TeX", "formula", "ANSI", "none", "twin", "twin with a control")]
        tasks = [f"{text}/task" for text in texts[:3]]
        sides = [_experiment(name, [*texts[::4], *tasks], say, shift=0.3 * at) for at, name in enumerate(names)]
        return judge(sides, AnalysisOptions(tasks="*/task"))
    return _study(called, say)


def _stability(sides: tuple[Experiment, ...], say: Say) -> StabilityFindings:
    """All that captures tell, with names and sentences from the script or its files."""
    found = stability(sides, (say(), say()), columns=(say(), say()))
    sets = [dataclasses.replace(it, notes=(say(),)) for it in found.sets]
    for place, it in enumerate(sets):
        groups = tuple(one if not one.column else dataclasses.replace(one, value=say()) for one in it.groups)
        reductions = tuple(dataclasses.replace(one, name=say()) for one in it.reductions)
        sets[place] = dataclasses.replace(it, groups=groups, reductions=reductions, group_notes=(say(),))
    weights = [
        dataclasses.replace(it, layers=tuple(dataclasses.replace(one, name=say()) for one in it.layers))
        for it in found.weights
    ]
    rows = [tuple(dataclasses.replace(row, criterion=say()) for row in it.rows) for it in found.convergence]
    return dataclasses.replace(
        found,
        sets=tuple(sets),
        weights=tuple(weights),
        convergence=tuple(
            dataclasses.replace(it, metric=say(), rows=own) for it, own in zip(found.convergence, rows, strict=True)
        ),
        weak=tuple(dataclasses.replace(it, metric=say(), rule=say()) for it in found.weak),
        reasons=tuple((say(),) for _ in sides),
    )


def _study(called: dict[str, str], say: Say) -> Findings:
    """Variants that have names of their own beside those that deviate knows."""
    known = ("algo+impl", "algo", "impl", "control", "one-bit")
    own = [(text, VARIED["init"]) for name, text in called.items() if name in VARIANTS]
    sides = []
    for name, varied in [*((name, VARIED[name]) for name in known), *own]:
        item = _experiment(called["script"], list(called.values())[:4], say, is_constant=name == "control", fails=False)
        runs = [dataclasses.replace(it, variant=name) for it in item.runs]
        if name == "one-bit":
            flips = [(Flip(say(), say(), (index, 2), 0.25, math.nan),) for index in range(len(runs))]
            runs = [dataclasses.replace(it, flips=flip) for it, flip in zip(runs, flips, strict=True)]
        sides.append(dataclasses.replace(item, variant=name, varied=varied, runs=tuple(runs)))
    return judge(sides, AnalysisOptions(compares=False))


def _experiment(
    name: str, metrics: list[str], say: Say, *, shift: float = 0.0, is_constant: bool = False, fails: bool = True
) -> Experiment:
    """Six completed runs, and one that failed in each way."""
    selection = [_metric(metric, say, is_primary=index == 0) for index, metric in enumerate(metrics)]
    runs = [_run(index, metrics, say, 0.0 if is_constant else shift + 0.1 * index) for index in range(6)]
    if fails:
        runs += [_run(6 + index, metrics, say, 9.0, status=status) for index, status in enumerate(FAILURES)]
    bare = experiment(name, runs, selection, variant=say(), command=tuple(_several(say, 4)), warnings=_several(say, 2))
    return dataclasses.replace(
        bare,
        folder=Path("/records", say().replace("\0", "")),
        root=f"/{say()}",
        sources_hash=say(),
        precision=say(),
        varied=_several(say, 2),
        held=_several(say, 2),
    )


def _metric(name: str, say: Say, *, is_primary: bool) -> SelectedMetric:
    chosen = selected(name, unit=say(), expression=say(), is_primary=is_primary)
    source = dataclasses.replace(chosen.metric, file=say(), label=say(), evidence=_several(say, 1))
    return dataclasses.replace(chosen, metric=source, target=1.2 if is_primary else None)


def _run(index: int, metrics: list[str], say: Say, level: float, status: Status = "completed") -> Run:
    ends = math.nan if status == "diverged" else 1 + level
    series = {
        name: Series((0, 1, 2), (0.5, 0.8 + level / 2, ends + 0.03 * at), (1.0, 2.0, 3.0))
        for at, name in enumerate(metrics)
    }
    plain = run(
        index,
        series,
        status=status,
        reason="" if status == "completed" else say(),
        stderr_tail=() if status == "completed" else _several(say, 5),
        environment={f"fact {index}": say(), say() or "empty": say()} | {"python": "3.11.9"},
        warnings=_several(say, 1),
    )
    return dataclasses.replace(
        plain,
        folder=Path("/records", say().replace("\0", ""), "attempt-0"),
        seeds={"init": index, say(): index},
        seed_events=(SeedEvent(say(), say(), say(), 3, "replaced"),),
        controls={say(): say()},
        control_events=(ControlEvent(say(), say(), say(), say(), 4, "set"),),
        draws={say(): _several(say, 2)},
        weights=(Weights("exit", say(), say(), 1000),),
        drawn=(DrawEvent(say(), "other", say(), 3),),
        evaluation=(EvaluationData(say(), say(), 100),),
        operations=_several(say, 1),
        uncontrolled=_several(say, 1),
        device=say(),
        n_sharing=1,
    )


def _several(say: Say, n: int) -> tuple[str, ...]:
    return tuple(say() for _ in range(n))
