"""What the report shows of the code: the commit, what was not committed, what was injected."""

import dataclasses

from experiments import scored

from deviate.model.records import Experiment, InjectedCode, Revision
from deviate.report.document import Changes
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.parts.changes import LONGEST_LINE, N_FILES, N_LINES, changes_section, commit_text
from deviate.stats.judge import judge

DIFF = ("@@ 61 @@", "-print(acc)", "+print(__deviate_log__(0, (acc)))")


def code(name: str = "train.py", diff: tuple[str, ...] = DIFF, *, is_cut: bool = False) -> InjectedCode:
    return InjectedCode(name, len(diff) // 3, diff, is_cut, f"snapshot/originals/{name}", f"snapshot/tree/{name}")


def with_code(name: str = "a", *injected: InjectedCode, revision: Revision | None = None) -> Experiment:
    return dataclasses.replace(scored(name, [1.0, 2.0, 4.0]), injected=injected or (code(),), revision=revision)


def page(*experiments: Experiment) -> str:
    return render(build_report(judge(experiments)), "html", is_full=True)


def test_the_page_shows_changed_lines_and_escapes_them() -> None:
    text = page(with_code("a", code(diff=("@@ 1 @@", "-<b>", "+tap(<b>)"))))
    assert '<span class="add">+tap(&lt;b&gt;)</span>' in text
    assert "+tap(<b>)" not in text


def test_the_commit_is_told_with_what_was_not_in_it() -> None:
    revision = Revision("c0ffee", "main", is_dirty=True, n_untracked=2, diff="-a\n+b\n", untracked=("a.txt", "b.py"))
    experiment = with_code(revision=revision)
    assert commit_text(experiment) == (
        "c0ffee on branch main; with changes that were not committed; 2 untracked files: a.txt, b.py"
    )
    view = changes_section(experiment, [], [])
    *_, uncommitted = view.of(Changes)
    assert uncommitted.lines == ("-a", "+b")
    assert uncommitted.kinds == ("remove", "add")
    assert "c0ffee on branch main" in page(experiment)


def test_a_clean_commit_says_so() -> None:
    view = changes_section(with_code(revision=Revision("c0ffee", None, is_dirty=False, n_untracked=0)), [], [])
    assert [changes.name for changes in view.of(Changes)] == ["train.py"]
    assert view.reasons[-1] == "No uncommitted changes."


def test_without_a_repository_the_hash_stands_for_it() -> None:
    experiment = with_code()
    assert commit_text(experiment) == ""
    assert "the sources have a hash" in changes_section(experiment, [], []).reasons[-1]


def test_a_long_change_is_cut_and_says_where_the_whole_is() -> None:
    long = tuple(f"+{index}" for index in range(N_LINES + 10))
    (shown,) = changes_section(with_code("a", code(diff=long)), [], []).of(Changes)
    assert len(shown.lines) == N_LINES
    assert "/project/.deviate/experiments/a/snapshot/originals/train.py" in shown.rest
    (wide,) = changes_section(with_code("a", code(diff=("+" + "x" * 5000,))), [], []).of(Changes)
    assert len(wide.lines[0]) == LONGEST_LINE
    assert wide.rest


def test_further_files_are_named() -> None:
    view = changes_section(with_code("a", *(code(f"m{i}.py") for i in range(N_FILES + 2))), [], [])
    assert len(view.of(Changes)) == N_FILES
    assert view.reasons[0] == f"Further files with taps: m{N_FILES}.py, m{N_FILES + 1}.py."


def test_the_same_code_is_shown_once() -> None:
    one, other = with_code("a"), with_code("b")
    view = changes_section(other, [one], ["a", "b"])
    assert view.of(Changes) == ()
    assert view.reasons == ("The same code as a.",)
    text = page(one, other)
    assert text.count("__deviate_log__") == 1


def test_imported_runs_have_no_code() -> None:
    imported = dataclasses.replace(scored("a", [1.0, 2.0]), imported=("a.csv",))
    assert changes_section(imported, [], []).reasons[0] == "Imported: no code was inserted."
