"""What parameters and loop variables stand for: the value is found where it is handed over, or kept with its key."""

from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

HEAD = """\
{}
for epoch in range(10):
    loss, acc = train_step(epoch)
    loss.backward()
    {}
"""


@pytest.mark.parametrize(
    ("function", "call", "found"),
    [
        ("def log(text): print(text)", "log(f'loss {loss:.3f}')", ["loss"]),
        ("def log(key, value): print(f'{key}: {value}')", "log('loss', loss); log('epoch', epoch)", ["loss"]),
        ("def log(loss): print(f'loss {loss:.3f}')", "log(loss / 2)", ["loss"]),
        ("def log(values): log_line(' '.join(values))\ndef log_line(s): print(s)", "log([f'acc {acc:.3f}'])", ["acc"]),
    ],
)
def test_the_value_is_the_one_that_enters(analyse: Analyse, function: str, call: str, found: list[str]) -> None:
    assert [metric.expression for metric in analyse(HEAD.format(function, call)).metrics] == found


@pytest.mark.parametrize(
    "loop",
    [
        "for k, v in evaluate().items(): print(k, v)",
        "for k, v in sorted(evaluate().items()): print('%s: %.3f' % (k, v))",
        "for k, v in list(evaluate().items())[:-1]: print(k, v)",
    ],
)
def test_a_key_that_only_the_run_knows_is_the_label(analyse: Analyse, loop: str) -> None:
    analysis = analyse(HEAD.format("", loop))
    (metric,) = analysis.metrics
    assert (metric.expression, metric.label) == ("v", None)
    assert analysis.sites[metric.site or 0].label == "k"


@pytest.mark.parametrize(
    "call",
    [
        "for i, (k, v) in enumerate(evaluate().items()): writer.add_scalar(f'val/{k}', v, epoch)",
        "for split in ('train', 'val'): wandb.log({f'{split}/loss': evaluate(split), 'epoch': epoch})",
    ],
)
def test_a_tracker_is_tapped_at_its_call_where_only_the_run_knows_the_name(analyse: Analyse, call: str) -> None:
    analysis = analyse(HEAD.format("", call))
    (metric,) = analysis.metrics
    site = analysis.sites[metric.site or 0]
    assert (site.form, site.label, site.fields[1:]) == ("call", None, ("0",))


def test_a_variable_of_a_comprehension_labels_no_value_outside_of_it(analyse: Analyse) -> None:
    text = "log.info('[%d] %s', step, ', '.join(f'{k}={v:.3f}' for k, v in sorted(evaluate().items())))"
    analysis = analyse(HEAD.format("import logging\nlog = logging.getLogger()\nstep = 0", text))
    assert {site.expression: site.label for site in analysis.sites} == {"step": None, "v": "k"}


def test_options_that_are_listed_are_no_metrics(analyse: Analyse) -> None:
    analysis = analyse(HEAD.format("args = parser.parse_args()", "for k, v in vars(args).items(): print(k, v)"))
    assert analysis.metrics == ()


def test_a_mapping_that_is_updated_is_not_known_by_what_it_was_at_first(analyse: Analyse) -> None:
    loop = "log = {'epoch': epoch}; log.update(evaluate())\n    for k, v in log.items(): print(k, v)"
    analysis = analyse(HEAD.format("", loop))
    assert [metric.expression for metric in analysis.metrics] == ["v"]
