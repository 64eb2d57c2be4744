from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze
from deviate.errors import InputError

LINE = "for epoch in range(3):\n    größe = train_step()\n    \n    print(f'größe loss {größe * 2:.3f}')\n"


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"x = 1\nprint 'loss'\n", "train.py:2:"),
        (b"x = (1,\n", "train.py:"),
        (b"x = '\xff'\n", "train.py:1"),
        (b"# -*- coding: nonsense -*-\n", "train.py:1"),
        (b"x = '\0'\n", "null bytes"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_python_is_refused_with_its_place_and_a_hint(tmp_path: Path, content: bytes, word: str) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(content)
    with pytest.raises(InputError) as caught:
        analyze(script, tmp_path)
    assert word in caught.value.message
    assert caught.value.hint


def test_missing_scripts_folders_notebooks_and_foreign_paths_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{}", encoding="utf-8")
    for name, word in [("none.py", "no such script"), ("", "is a folder"), ("a.ipynb", "notebook")]:
        with pytest.raises(InputError, match=word):
            analyze(tmp_path / name, tmp_path)
    with pytest.raises(InputError, match="outside the project"):
        analyze(tmp_path / "train.py", tmp_path / "other")


@pytest.mark.parametrize(
    "content",
    [
        LINE.encode(),
        b"\xef\xbb\xbf" + LINE.encode(),
        b"# -*- coding: latin-1 -*-\n" + LINE.encode("latin-1"),
        LINE.replace("\n", "\r\n").encode(),
    ],
)
def test_encodings_byte_order_marks_and_line_ends_do_not_move_spans(tmp_path: Path, content: bytes) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(content)
    analysis = analyze(script, tmp_path)
    (metric,) = analysis.metrics
    span = analysis.sites[metric.site or 0].span
    line = LINE.split("\n")[3]
    assert line[span.column : span.end_column] == "größe * 2"


@pytest.mark.parametrize(
    "text", ["type X = int\n", "try:\n    pass\nexcept* ValueError:\n    pass\n", 'print(f"{d["loss"]}")\n', ""]
)
def test_newer_syntax_and_empty_files_are_read(tmp_path: Path, text: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(text, encoding="utf-8")
    assert analyze(script, tmp_path).main_loop is None
