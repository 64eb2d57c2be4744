import textwrap
from pathlib import Path

import pytest

from deviate.analysis import analyze
from deviate.errors import InputError
from deviate.model import Analysis, Selection
from deviate.project.config import parse
from deviate.project.selection import choose_loop, describe_moves, match, select_metrics

SCRIPT = """
def evaluate(model, loader):
    acc = accuracy(model, loader)
    print(f"acc {acc:.4f}")
for epoch in range(3):
    loss = criterion(model(x), "it's \\\\n")
    loss.backward()
    print(epoch, "loss", criterion(model(x), "it's \\\\n"))
    evaluate(model, train_loader)
    evaluate(model, test_loader)
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
        where = "train.py:4"
        expression = "( acc )"
        path = ["train.py:10"]
        direction = "none"
        aggregate = "at:2"
        unit = "%"
        role = "other"
        primary = true
        margin = 0.2
        [metrics.loss]
        """,
    )
    final, loss = selection.metrics
    assert (final.name, final.metric.name, final.metric.path[0].line) == ("final", "test_acc", 10)
    assert (final.direction, final.aggregate, final.unit, final.role) == (None, "at:2", "%", "other")
    assert (final.is_primary, final.margin) == (True, 0.2)
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
        ("[metrics.a]\nwhere = 'train.py:4'\nexpression = 'acc'\n", ["several metrics", "train.py:9", "train.py:10"]),
        ("[metrics.a]\nwhere = 'train.py:4'\nexpression = 'acc'\npath = ['train.py:7']\n", ["train.py:9", "path"]),
        ("[metrics.a]\nwhere = 'train.py:11'\n", ["no metric at train.py:11", "expression"]),
        ("[metrics.a]\nwhere = 'train.py:11'\nexpression = 'b[1]'\n", ["b[0]"]),
        ("[metrics.a]\nwhere = 'train.py:2'\nexpression = 'x'\n", ["It stands at train.py:6, train.py:8"]),
        ("[metrics.a]\nwhere = 'train.py:99'\nexpression = 'x + y'\n", ["train.py:99", "beyond the end"]),
        ("[metrics.a]\nwhere = 'util.py:2'\nexpression = 'x'\n", ["util.py:2", "no such file", "train.py:2"]),
        ("[metrics.a]\nwhere = '../x/train.py:2'\nexpression = 'acc'\n", ["../x/train.py:2", "no such file"]),
        ("[metrics.test_acc]\naggregate = 'best'\ndirection = 'none'\n", ["best", "direction"]),
        ("[metrics.loss]\naggregate = 'at-best:los'\n", ["at-best:los", "at-best:loss"]),
        ("[metrics.loss]\ndirection = 'none'\naggregate = 'at-best:loss'\n", ["direction", "metrics.loss"]),
        ("[metrics.loss]\n[metrics.b]\nwhere = 'train.py:8'\n", ["two sections"]),
    ],
)
def test_what_cannot_be_obeyed_is_answered_with_what_to_do(analysis: Analysis, text: str, words: list[str]) -> None:
    answer = refusal(analysis, text)
    for word in words:
        assert word in answer


def test_a_value_that_was_rejected_keeps_its_site(analysis: Analysis) -> None:
    added, selection = chosen(analysis, "[metrics.step]\nwhere = 'train.py:8'\nexpression = 'epoch'\n")
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
    assert "--review" in caught.value.hint


def test_a_section_of_a_mapping_does_not_mean_its_items(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import wandb\nfor epoch in range(3):\n    loss.backward()\n"
        "    stats = {'loss': loss}\n    stats['acc'] = test()\n    wandb.log(stats)\n",
        encoding="utf-8",
    )
    analysis = analyze(script, tmp_path)
    assert [metric.name for metric in analysis.metrics] == ["stats", "loss", "acc"]
    place = 'where = "train.py:6"\nexpression = "stats"\n'
    sections = (
        f'[metrics.mine]\n{place}[metrics.exact]\n{place}label = "acc"\n[metrics.more]\n{place}label = "top5_error"\n'
    )
    _, selection = chosen(analysis, sections)
    assert [(item.name, item.metric.label, item.direction) for item in selection.metrics] == [
        ("mine", None, None),
        ("exact", "acc", "max"),
        ("more", "top5_error", "min"),
    ]
