"""`deviate.toml` is brought up to date with the script, and nothing that the user wrote is lost."""

import re
import stat
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.errors import InputError
from deviate.model.analysis import Analysis
from deviate.project.config import load
from deviate.project.saving import SavedChanges, save, write_text
from deviate.project.selection import match, select_metrics

SCRIPT = """\
def evaluate(model, loader):
    acc = accuracy(model, loader)
    return acc
for epoch in range(3):
    loss = criterion(model(x), "it's \\\\n")
    loss.backward()
    print(f"train acc {evaluate(model, train_loader):.4f}")
    print(f"test acc {evaluate(model, test_loader):.4f}")
    print(epoch, "loss", criterion(model(x), "it's \\\\n"))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path / "deviate.toml"


def analysed(path: Path) -> Analysis:
    return analyze(path.parent / "train.py", path.parent)


def saved(path: Path) -> SavedChanges:
    config = load(path)
    analysis, matches = match(analysed(path), config)
    return save(analysis, config, matches, path)


def selected(path: Path) -> dict[str, tuple[int, str]]:
    config = load(path)
    analysis, matches = match(analysed(path), config)
    selection = select_metrics(analysis, None if config.metrics is None else matches)
    return {item.name: (item.metric.line, item.metric.expression) for item in selection.metrics}


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_saved_plan_gives_the_same_selection_again(path: Path) -> None:
    before = analysed(path)
    assert saved(path) == SavedChanges()
    config = load(path)
    analysis, matches = match(before, config)
    assert analysis == before
    assert select_metrics(analysis, matches).metrics == select_metrics(before, None).metrics
    assert config.is_for("train.py")
    assert not config.is_for("other.py")


def test_every_rejected_value_can_be_switched_on_by_taking_its_comment_signs_away(path: Path) -> None:
    saved(path)
    head, header, rest = path.read_text().partition("# [metrics.epoch]\n")
    section, blank, rest = rest.partition("\n\n")
    path.write_text(head + (header + section).replace("# ", "", 1).replace("\n# ", "\n") + blank + rest)
    assert selected(path)["epoch"] == (9, "epoch")


def test_saving_twice_changes_nothing(path: Path) -> None:
    saved(path)
    before = path.read_bytes()
    assert saved(path) == SavedChanges()
    assert path.read_bytes() == before


def test_saving_adds_to_what_the_user_wrote(path: Path) -> None:
    path.write_text('# mine\n[experiment]\nruns = 7\n\n[snapshot]\nfresh = ["out/"]\n', encoding="utf-8")
    saved(path)
    assert path.read_text().startswith('# mine\n[experiment]\nruns = 7\ntrain = "train.py"\n\n[snapshot]\nfresh = ')
    assert (load(path).runs, load(path).fresh) == (7, ("out/",))
    assert list(selected(path)) == ["train_acc", "test_acc", "loss"]


def test_a_metric_that_is_new_in_the_script_is_added_and_one_that_was_left_out_is_not(path: Path) -> None:
    saved(path)
    text = path.read_text()
    start = text.index("[metrics.train_acc]")
    path.write_text(text[:start] + text[text.index("[metrics.test_acc]") :])
    change(path.parent / "train.py", '    print(f"train', "    print('f1', f1(x))\n    print(f\"train")
    told = saved(path)
    assert told == SavedChanges(added=("f1",), moved=("test_acc", "loss"), left=("train_acc",))
    assert str(told) == "added: f1; moved with the script: test_acc, loss; still excluded: train_acc"
    assert list(selected(path)) == ["test_acc", "loss", "f1"]
    change(
        path.parent / "train.py",
        '    print(f"test',
        '    print("val acc", evaluate(model, val_loader))\n    print(f"test',
    )
    assert saved(path).added == ("val_acc",)


def test_what_moved_is_followed_and_names_and_comments_stay(path: Path) -> None:
    saved(path)
    change(path, "[metrics.loss]\n", "[metrics.cost]  # mine\nunit = 'nats'  # natural\n")
    change(path.parent / "train.py", "def evaluate", "import os\n\ndef evaluate")
    before = path.read_text()
    assert selected(path)["cost"][0] == 11
    assert saved(path).moved == ("train_acc", "test_acc", "cost")
    after = path.read_text()
    assert "[metrics.cost]  # mine\nunit = 'nats'  # natural\n" in after
    for old, new in ((9, 11), (8, 10), (7, 9), (4, 6)):
        before = re.sub(rf'^([^#].*"train\.py|"train\.py):{old}"', rf'\g<1>:{new}"', before, flags=re.MULTILINE)
    assert after == before


def test_what_is_gone_is_commented_out_and_told(path: Path) -> None:
    saved(path)
    change(path.parent / "train.py", '    print(epoch, "loss", criterion(model(x), "it\'s \\\\n"))\n', "")
    with pytest.raises(InputError, match=r"train\.py has changed") as caught:
        selected(path)
    assert "former statement: print(epoch, 'loss'" in caught.value.message
    told = saved(path)
    assert (told.gone, told.moved) == (("loss",), ())
    assert "# Commented out by deviate, because the script no longer has it:\n# [metrics.loss]\n" in path.read_text()
    assert list(selected(path)) == ["train_acc", "test_acc"]


def test_a_listing_by_hand_is_offered_more_but_not_added_to(path: Path) -> None:
    path.write_text("[metrics.test_acc] # only this\n")
    assert saved(path) == SavedChanges(offered=("train_acc", "loss"))
    assert "# [metrics.loss]\n" in path.read_text()
    assert list(selected(path)) == ["test_acc"]
    assert saved(path) == SavedChanges(left=("train_acc", "loss"))


def test_a_metric_that_became_several_is_not_taken_for_gone(path: Path) -> None:
    saved(path)
    before = re.sub(r"\[metrics\.test_acc\](.*\n.*\n.*)\n.*", r"[metrics.mine]\1", path.read_text())
    assert 'where = "train.py:8"\ndirection' in before
    path.write_text(before)
    change(path.parent / "train.py", "test acc {", "test f1 {f1(x):.4f} acc {")
    with pytest.raises(InputError, match="matches several metrics"):
        saved(path)
    assert path.read_text() == before


def test_an_empty_metrics_part_is_filled(path: Path) -> None:
    path.write_text("# mine\n[metrics]\n")
    assert saved(path) == SavedChanges()
    assert path.read_text().startswith("# mine\n[metrics]\n\n[experiment]")
    assert list(selected(path)) == ["train_acc", "test_acc", "loss"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[experiment]\ntrain = "other.py"\n', "other.py"),
        ('[metrics.a]\nwhere = "train.py:3"\nexpression = "accc"\n', "no expression accc"),
    ],
)
def test_what_the_user_must_correct_is_not_written_over(path: Path, text: str, told: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        saved(path)
    assert path.read_text() == text


def test_a_plan_of_nothing_is_refused(path: Path) -> None:
    saved(path)
    before = path.read_text()
    (path.parent / "train.py").write_text("for epoch in range(3):\n    loss.backward()\n")
    with pytest.raises(InputError, match="would be recorded"):
        saved(path)
    assert path.read_text() == before


def test_mark_mode_and_link_of_the_file_are_kept(path: Path) -> None:
    real = path.parent / "real.toml"
    real.write_bytes(b"\xef\xbb\xbf# mine\r\n")
    real.chmod(0o640)
    path.symlink_to(real)
    saved(path)
    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    content = real.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf# mine\r\n")
    assert content.count(b"\n") == content.count(b"\r\n") > 10
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["deviate.toml", "real.toml", "train.py"]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_text(tmp_path / "no" / "deviate.toml", "x")


@pytest.mark.parametrize("has_metrics", [False, True])
def test_variants_of_the_users_own_stay_when_the_file_is_saved(path: Path, has_metrics: bool) -> None:  # noqa: FBT001
    if has_metrics:
        saved(path)
    mine = '[variants.mine]  # cheap\nvary = ["init"]\nset = {threads = 1}\n'
    path.write_text(f"{mine}\n{path.read_text() if has_metrics else ''}")
    before = load(path).definitions
    saved(path)
    assert path.read_text().startswith(mine)
    assert load(path).definitions == before
    assert set(selected(path)) == {"loss", "train_acc", "test_acc"}
