import textwrap
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.errors import InputError
from deviate.model.analysis import Analysis
from deviate.model.plan import Selection
from deviate.project.config import parse
from deviate.project.selection import choose_loop, describe_moves, match, select_metrics

SCRIPT = """
def evaluate(model, loader):
    acc = accuracy(model, loader)
    return acc
for epoch in range(3):
    loss = criterion(model(x), "it's \\\\n")
    loss.backward()
    print(f"train acc {evaluate(model, train_loader):.4f}")
    print(f"test acc {evaluate(model, test_loader):.4f}")
    print(epoch, "loss", criterion(model(x), "it's \\\\n"))
    hidden = combine(a, b[0])
"""


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    return analyze(script, tmp_path)


def chosen(analysis: Analysis, text: str) -> tuple[Analysis, Selection]:
    config = parse(textwrap.dedent(text), "deviate.toml")
    analysis, matches = match(analysis, config)
    return analysis, select_metrics(analysis, None if config.metrics is None else matches)


def refusal(analysis: Analysis, text: str) -> str:
    with pytest.raises(InputError) as caught:
        chosen(analysis, text)
    assert caught.value.hint
    return f"{caught.value.message} {caught.value.hint}"


def test_without_a_metrics_part_every_metric_is_selected_under_its_own_name(analysis: Analysis) -> None:
    again, selection = chosen(analysis, "")
    assert again == analysis
    assert [item.name for item in selection.metrics] == ["train_acc", "test_acc", "loss"]


def test_only_the_listed_metrics_are_selected_with_what_the_user_says(analysis: Analysis) -> None:
    _, selection = chosen(
        analysis,
        """
        [metrics.final]
        where = "train.py:9"
        expression = "evaluate( model,test_loader )"
        direction = "none"
        aggregate = "at:2"
        unit = "%"
        role = "other"
        primary = true
        margin = 0.2
        title = "Top-1 accuracy"
        [metrics.loss]
        """,
    )
    final, loss = selection.metrics
    assert (final.name, final.metric.name, final.metric.line) == ("final", "test_acc", 9)
    assert (final.direction, final.aggregate, final.unit, final.role) == (None, "at:2", "%", "other")
    assert (final.is_primary, final.margin) == (True, 0.2)
    assert final.shown == "Top-1 accuracy"
    assert (loss.metric.name, loss.direction, loss.is_primary) == ("loss", "min", False)


def test_a_value_that_the_analysis_did_not_list_is_added_with_a_site(analysis: Analysis) -> None:
    added, selection = chosen(
        analysis, '[metrics.hidden]\nwhere = "train.py:11"\nexpression = "b[0]"\ndirection = "max"\n'
    )
    (item,) = selection.metrics
    site = added.sites[-1]
    assert (item.metric.site, site.expression, site.line) == (site.id, "b[0]", 11)
    assert (site.span.column, site.span.end_column) == (24, 28)
    assert item.metric in added.metrics
    assert item.direction == "max"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[metric.x]\n", ["unknown key 'metric'", "metrics"]),
        ("[metrics.loss]\ndirecton = 'max'\n", ["unknown key 'directon'", "Did you mean direction?"]),
        ("[metrics.loss]\ndirection = 'up'\n", ["direction", "max, min, none"]),
        ("[metrics.loss]\naggregate = 'first'\n", ["aggregate", "at:K"]),
        ("[metrics.loss]\nmargin = 'big'\n", ["margin", "number"]),
        ("[metrics.loss]\nmargin = nan\n", ["margin", "number"]),
        ("[metrics.loss]\nprimary = 1\n", ["primary", "true or false"]),
        ("[metrics.loss]\nwhere = 'train.py'\n", ["train.py", "file and line"]),
        ("[metrics]\nloss = 1\n", ["section"]),
        ("[metrics]\n", ["empty"]),
        ("[experiment]\nruns = 0\n", ["runs", "positive"]),
        ("[experiment]\nvariants = 'algo'\n", ["variants", "list"]),
        ("[experiment]\nrun = 3\n", ["Did you mean runs?"]),
        ("[snapshot]\nfresh = [1]\n", ["fresh", "list"]),
        ("[metrics.loss\n", ["not valid TOML", "line 1"]),
        ("[metrics.los]\n", ["no metric of this name", "loss"]),
        ("[metrics.train_acc]\nprimary = true\n[metrics.loss]\nprimary = true\n", ["2 primary metrics"]),
        ("[metrics.a]\nwhere = 'train.py:11'\n", ["no metric at train.py:11", "expression"]),
        ("[metrics.a]\nwhere = 'train.py:11'\nexpression = 'b[1]'\n", ["b[0]"]),
        ("[metrics.a]\nwhere = 'train.py:2'\nexpression = 'x'\n", ["It stands at train.py:6, train.py:10"]),
        ("[metrics.a]\nwhere = 'train.py:99'\nexpression = 'x + y'\n", ["train.py:99", "beyond the end"]),
        ("[metrics.a]\nwhere = 'util.py:2'\nexpression = 'x'\n", ["util.py:2", "no such file", "train.py:2"]),
        ("[metrics.a]\nwhere = '../x/train.py:2'\nexpression = 'acc'\n", ["../x/train.py:2", "no such file"]),
        ("[metrics.test_acc]\naggregate = 'best'\ndirection = 'none'\n", ["best", "direction"]),
        ("[metrics.loss]\naggregate = 'at-best:los'\n", ["at-best:los", "at-best:loss"]),
        ("[metrics.loss]\ndirection = 'none'\naggregate = 'at-best:loss'\n", ["direction", "metrics.loss"]),
        ("[metrics.loss]\n[metrics.b]\nwhere = 'train.py:10'\n", ["two sections"]),
    ],
)
def test_what_cannot_be_obeyed_is_answered_with_what_to_do(analysis: Analysis, text: str, words: list[str]) -> None:
    answer = refusal(analysis, text)
    for word in words:
        assert word in answer


def test_a_value_that_was_rejected_keeps_its_site(analysis: Analysis) -> None:
    added, selection = chosen(analysis, "[metrics.step]\nwhere = 'train.py:10'\nexpression = 'epoch'\n")
    assert selection.metrics[0].metric.site in {item.site for item in analysis.rejected}
    assert added.sites == analysis.sites


def test_a_line_inside_a_statement_is_as_good_as_its_first(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("for epoch in range(3):\n    loss.backward()\n    print(\n        'loss', loss\n    )\n")
    outcome = analyze(script, tmp_path)
    added, selection = chosen(outcome, "[metrics.x]\nwhere = 'train.py:4'\nexpression = 'loss'\n")
    assert selection.metrics[0].metric.name == "loss"
    assert added == outcome


TWO_LOOPS = """
def first(n):
    for epoch in range(n):
        loss = f(epoch)
        optimizer.step()
        print("loss", loss)
def second(n):
    for step in range(n):
        cost = f(step)
        optimizer.step()
        print("cost", cost)
first(2)
second(3)
"""


def test_another_main_loop_is_taken_on_request_and_followed(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TWO_LOOPS)
    outcome = analyze(script, tmp_path)
    text = '[experiment]\nmain_loop = "train.py:1"\n[statements]\n"train.py:1" = "second: for step in range(n):"\n'
    chosen, problem = choose_loop(outcome, parse(text, "deviate.toml"))
    assert problem is None
    assert chosen.main_loop is not None
    assert (chosen.main_loop.line, chosen.main_loop.variable, chosen.main_loop.is_main) == (8, "step", True)
    assert "named in deviate.toml" in chosen.main_loop.evidence
    assert [loop.is_main for loop in chosen.loops if loop.id != chosen.main_loop.id] == [False]
    assert len({loop.id for loop in chosen.loops}) == 2
    assert [loop.line for loop in chosen.alternatives] == [3]
    assert choose_loop(outcome, parse("", "deviate.toml")) == (outcome, None)


def test_a_main_loop_that_is_none_is_told_with_those_there_are(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TWO_LOOPS)
    outcome = analyze(script, tmp_path)
    same, problem = choose_loop(outcome, parse('[experiment]\nmain_loop = "train.py:4"\n', "deviate.toml"))
    assert same == outcome
    assert problem is not None
    assert "train.py:4 is not a loop" in problem.message
    assert "train.py:3, train.py:8" in problem.hint


MOVED = """
[metrics.b]
where = "train.py:8"
expression = "combine(a, b[0])"
[statements]
"train.py:8" = "hidden = combine(a, b[0])"
"""


def test_a_section_whose_statement_has_moved_is_followed_and_told(analysis: Analysis) -> None:
    config = parse(MOVED, "deviate.toml")
    analysis, matches = match(analysis, config)
    (item,) = select_metrics(analysis, matches).metrics
    assert item.metric.line == 11
    assert "b from train.py:8 to train.py:11" in describe_moves(matches)
    assert describe_moves([]) == ""


def test_a_section_whose_statement_is_gone_says_what_stood_there_and_what_to_do(analysis: Analysis) -> None:
    text = '[metrics.c]\nwhere = "train.py:7"\nexpression = "c"\n' + MOVED.replace("b[0]", "b[7]")
    config = parse(text, "deviate.toml")
    with pytest.raises(InputError) as caught:
        select_metrics(analysis, match(analysis, config)[1])
    message = caught.value.message
    assert message.startswith("train.py has changed, and deviate.toml no longer matches:")
    assert "[metrics.b]" in message
    assert "former statement: hidden = combine(a, b[7])" in message
    assert "[metrics.c]" in message
    assert "--edit" in caught.value.hint


def written(folder: Path, text: str) -> Analysis:
    script = folder / "train.py"
    script.write_text(text, encoding="utf-8")
    return analyze(script, folder)


def test_a_section_means_one_of_the_metrics_of_a_line(tmp_path: Path) -> None:
    analysis = written(tmp_path, "for epoch in range(3):\n    loss.backward()\n    print('f1', f1(x), 'auc', auc(x))\n")
    answer = refusal(analysis, '[metrics.a]\nwhere = "train.py:3"\n')
    for word in ("several metrics", "f1(x)", "auc(x)", "expression"):
        assert word in answer
    _, selection = chosen(analysis, '[metrics.auc]\nwhere = "train.py:3"\n')
    assert selection.metrics[0].metric.expression == "auc(x)"


CALLED = """
import wandb
def report(stats, loss):
    wandb.log(stats)
    print("loss", loss)
for epoch in range(3):
    loss.backward()
    report(evaluate(train), loss)
    report(evaluate(test), loss)
"""


def test_a_label_or_a_call_path_means_a_part_of_what_a_place_reports(tmp_path: Path) -> None:
    analysis = written(tmp_path, CALLED)
    place = 'where = "train.py:4"\nexpression = "stats"\n'
    loss = 'where = "train.py:5"\nexpression = "loss"\n'
    _, selection = chosen(
        analysis,
        f'[metrics.exact]\n{place}label = "acc"\n[metrics.mine]\n{place}[metrics.more]\n{place}label = "top5_error"\n'
        f'[metrics.train]\n{loss}path = ["train.py:8"]\n[metrics.test]\n{loss}path = ["train.py:9"]\n',
    )
    assert [(item.name, item.metric.label, item.direction) for item in selection.metrics[:3]] == [
        ("exact", "acc", "max"),
        ("mine", None, None),
        ("more", "top5_error", "min"),
    ]
    train, test = selection.metrics[3:]
    assert train.metric.site == test.metric.site
    assert [train.metric.path[0].line, test.metric.path[0].line] == [8, 9]
    assert (train.direction, test.direction) == ("min", "min")


def test_a_call_path_moves_with_its_call(tmp_path: Path) -> None:
    analysis = written(tmp_path, f"import os{CALLED}")
    text = (
        '[metrics.test]\nwhere = "train.py:4"\nexpression = "loss"\npath = ["train.py:8"]\n'
        '[statements]\n"train.py:4" = "report: print(\'loss\', loss)"\n"train.py:8" = "report(evaluate(test), loss)"\n'
    )
    _, selection = chosen(analysis, text)
    (item,) = selection.metrics
    assert (item.metric.line, item.metric.path[0].line) == (5, 9)


def test_a_value_that_only_the_user_named_has_parts_too(analysis: Analysis) -> None:
    place = 'where = "train.py:3"\nexpression = "acc"\n'
    added, selection = chosen(
        analysis,
        f'[metrics.train]\n{place}path = ["train.py:8"]\n[metrics.test]\n{place}path = ["train.py:9"]\n',
    )
    train, test = selection.metrics
    assert train.metric.site == test.metric.site == added.sites[-1].id
    assert [train.metric.path[0].line, test.metric.path[0].line] == [8, 9]
