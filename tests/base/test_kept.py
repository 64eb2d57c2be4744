from pathlib import Path

import pytest

from deviate.base.kept import cache_folder, code_state, keep, read_kept


def test_what_is_kept_is_read_back_and_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "new/kept.json"
    assert read_kept(file) == {}
    keep(file, {"a": [1, "ü", None]})
    keep(file, {"b": {"c": 0.1}})
    assert read_kept(file) == {"b": {"c": 0.1}}
    assert [path.name for path in file.parent.iterdir()] == ["kept.json"]


def test_the_folder_is_that_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "deviate"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, by the specification
    monkeypatch.setenv("HOME", "/home/turing")
    assert cache_folder() == Path("/home/turing/.cache/deviate")


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    keep(cache_folder() / "kept.json", {"a": 1})
    assert read_kept(cache_folder() / "kept.json") == {}


def test_the_state_of_the_code_changes_with_a_file_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deviate.base.kept.PACKAGE", str(tmp_path))
    (tmp_path / "room").mkdir()
    (tmp_path / "room/module.py").write_text("1")
    before = code_state()
    (tmp_path / "room/__pycache__").mkdir()
    (tmp_path / "room/__pycache__/module.py").write_text("")
    assert code_state() == before
    (tmp_path / "room/module.py").write_text("12")
    assert code_state() != before
