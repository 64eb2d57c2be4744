import textwrap
from pathlib import Path

import pytest

from deviate.analysis import analyze
from deviate.config import Config, load
from deviate.errors import InputError
from deviate.model import Analysis, Selection
from deviate.selection import plan_text, save, select

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
    path = analysis.root / "deviate.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return select(analysis, load(path))


def refusal(analysis: Analysis, text: str) -> str:
    with pytest.raises(InputError) as caught:
        chosen(analysis, text)
    assert caught.value.hint
    return f"{caught.value.message} {caught.value.hint}"


def test_without_a_file_every_metric_is_selected_under_its_own_name(analysis: Analysis) -> None:
    config = load(analysis.root / "deviate.toml")
    assert config == Config()
    _, selection = select(analysis, config)
    assert [item.name for item in selection.metrics] == ["train_acc", "test_acc", "loss"]


def test_a_saved_plan_gives_the_same_selection_again(analysis: Analysis) -> None:
    path = analysis.root / "deviate.toml"
    save(analysis, path)
    again, selection = select(analysis, load(path))
    assert again == analysis
    assert selection == select(analysis, Config())[1]
    assert load(path).is_for("train.py")
    assert not load(path).is_for("other.py")


def test_every_rejected_value_can_be_switched_on_by_taking_its_comment_signs_away(analysis: Analysis) -> None:
    text = plan_text(analysis)
    begin = text.index("[metrics.epoch]") - 2
    switched = text[:begin] + text[begin:].replace("# [", "[").replace("# where", "where").replace("# expr", "expr")
    added, selection = chosen(analysis, switched)
    assert selection.metrics[-1].name == "epoch"
    assert selection.metrics[-1].metric.site in {item.site for item in analysis.rejected}
    assert added.sites == analysis.sites


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
        ("[experiment]\nruns = 0\n", ["runs", "above 0"]),
        ("[experiment]\nvariants = 'algo'\n", ["variants", "list"]),
        ("[experiment]\nrun = 3\n", ["Did you mean runs?"]),
        ("[snapshot]\nfresh = [1]\n", ["fresh", "list"]),
        ("[metrics.loss\n", ["no valid TOML", "line 1"]),
        ("[metrics.los]\n", ["no metric of that name", "loss"]),
        ("[metrics.train_acc]\nprimary = true\n[metrics.loss]\nprimary = true\n", ["2 primary metrics"]),
        ("[metrics.a]\nwhere = 'train.py:4'\nexpression = 'acc'\n", ["several metrics", "train.py:9", "train.py:10"]),
        ("[metrics.a]\nwhere = 'train.py:4'\nexpression = 'acc'\npath = ['train.py:7']\n", ["train.py:9", "path"]),
        ("[metrics.a]\nwhere = 'train.py:11'\n", ["no metric was found at train.py:11", "expression"]),
        ("[metrics.a]\nwhere = 'train.py:11'\nexpression = 'b[1]'\n", ["b[0]"]),
        ("[metrics.a]\nwhere = 'train.py:2'\nexpression = 'b[0]'\n", ["It stands at train.py:11"]),
        ("[metrics.a]\nwhere = 'util.py:2'\nexpression = 'x'\n", ["util.py:2"]),
        ("[metrics.test_acc]\naggregate = 'best'\ndirection = 'none'\n", ["best", "direction"]),
        ("[metrics.loss]\n[metrics.b]\nwhere = 'train.py:8'\n", ["two sections"]),
    ],
)
def test_what_cannot_be_obeyed_is_answered_with_what_to_do(analysis: Analysis, text: str, words: list[str]) -> None:
    answer = refusal(analysis, text)
    for word in words:
        assert word in answer


def test_saving_leaves_what_the_user_wrote(analysis: Analysis) -> None:
    path = analysis.root / "deviate.toml"
    path.write_text('# mine\n[experiment]\nruns = 7\n\n[snapshot]\nfresh = ["out/"]\n', encoding="utf-8")
    save(analysis, path)
    assert path.read_text(encoding="utf-8").startswith("# mine\n[experiment]\nruns = 7\n")
    config = load(path)
    assert (config.runs, config.fresh) == (7, ("out/",))
    assert select(analysis, config)[1] == select(analysis, Config())[1]
    before = path.read_bytes()
    with pytest.raises(InputError, match="lists metrics already"):
        save(analysis, path)
    assert path.read_bytes() == before


def test_a_plan_for_another_script_is_not_added_to(analysis: Analysis) -> None:
    path = analysis.root / "deviate.toml"
    path.write_text('[experiment]\ntrain = "other.py"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"other\.py"):
        save(analysis, path)
