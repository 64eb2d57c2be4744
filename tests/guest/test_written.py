"""Rows of CSV files and objects written as JSON: numbers are recorded by the words beside them, each once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

from deviate.eventlog import number

CSV = "import csv, io, sys\nfile = open('log.csv', 'w', newline='')\n"


def named(result: Result) -> list[tuple[str, float]]:
    return [(event[0], number(event[4])) for event in result.of("named")]


@pytest.fixture
def told(tmp_path: Path) -> Callable[[str], list[tuple[str, float]]]:
    """What a script reports, after it was found to do what it does without the guest."""

    def run(text: str) -> list[tuple[str, float]]:
        child = Child(tmp_path, text)
        if "for epoch in range(3):" in text:
            child.loop("range(3)", text.count("\n") + 1)
        on = child.run()
        files = {path.name: path.read_bytes() for path in on.work.iterdir() if path.suffix in (".csv", ".json")}
        off = child.run(is_tapped=False, environment={"DEVIATE_RUN_DIR": None, "PYTHONPATH": None})
        assert (on.code, on.stdout, on.stderr, on.of("error")) == (off.code, off.stdout, off.stderr, [])
        assert files == {name: (on.work / name).read_bytes() for name in files}
        return named(on)

    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w = csv.writer(file)\nw.writerow(['epoch', 'acc'])\nprint(w.writerow([1, f'{0.5:.4f}']))", "epoch 1, acc .5"),
        ("w = csv.writer(file)\nw.writerows([('a', 'b'), (1, 2), (3, 4)])", "a 1, b 2, a 3, b 4"),
        ("w = csv.writer(file)\nw.writerow(x for x in ['a', 'b'])\nw.writerow(x for x in [1, 2])", "a 1, b 2"),
        ("w = csv.writer(file)\nw.writerow({'a': 1}.keys())\nw.writerow({'a': 1}.values())", "a 1"),
        ("w = csv.writer(file)\nw.writerow(['Results'])\nw.writerow(['', 'a'])\nw.writerow([1, 2])", "0 1, a 2"),
        ("w = csv.writer(file)\nw.writerow([.5, '7%'])", "0 .5, 1 7"),
        (
            "csv.writer(file).writerow(['a'])\nfile.close()\ncsv.writer(open('log.csv', 'a')).writerow([1])",
            "a 1",
        ),
        (
            """\
w = csv.DictWriter(file, ["name", "mae"])
w.writeheader()
print(w.writerow({"name": "base", "mae": .5}))
w.writerows([{"name": "last", "mae": "0.25"}, {"name": "none"}])""",
            "base mae .5, last mae .25",
        ),
        ("csv.DictWriter(file, {'a': 1}).writerow({'a': 1})", "a 1"),
        (
            "import json\nrows = [{'t': '2026-11-30T04:43:16.497', 'loss': .5}]\njson.dump(rows, open('a.json', 'w'))",
            "loss .5",
        ),
        ("csv.writer(file).writerows([i] for i in range(100))", ""),
        ("w = csv.writer(file)\nfor epoch in range(3):\n    w.writerow([epoch])", "epoch 0, epoch 1, epoch 2"),
        ("w = csv.writer(file)\na = .5\nw.writerow([f'{a:.4f}', round(a, 2), 7, a.real])", "a .5, a .5, 2 7, real .5"),
    ],
)
def test_numbers_of_rows_are_named_by_their_column(
    told: Callable[[str], list[tuple[str, float]]], text: str, expected: str
) -> None:
    pairs = [pair.rpartition(" ") for pair in expected.split(", ") if pair]
    assert told(CSV + text) == [(name, float(value)) for name, _, value in pairs]


@pytest.mark.parametrize(
    "statement",
    [
        "print(csv.writer(file, delimiter=';').dialect.delimiter, csv.writer(file).writerows([]))",
        "print(type(csv.writer(file)) is not None, isinstance(csv.writer(file), type(csv.writer(file))))",
        "csv.writer(file).writerow(5)",
        "csv.writer(file).writerows(5)",
        "csv.writer(file).writerows([1])",
        "csv.writer(5)",
        "csv.writer(file).dialect = 1",
        "csv.DictWriter(file, ['a']).writerow({'b': 1})",
        "csv.writer(file).writerow(1 / 0 for _ in 'a')",
        "import pickle; print(pickle.loads(pickle.dumps(csv.writer)) == csv.writer, csv.writer)",
        "class Table:\n    make = csv.writer\nTable().make(file).writerow('ab')",
    ],
)
def test_writers_are_what_they_were(told: Callable[[str], list[tuple[str, float]]], statement: str) -> None:
    assert told(CSV + statement) == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "pandas.DataFrame([{'epoch': 0, 'acc': .5}, {'epoch': 1, 'acc': .75}]).to_csv('a.csv')",
            "epoch 0, acc .5, epoch 1, acc .75",
        ),
        ("print(pandas.DataFrame({'mae': [1, 2]}, index=['base', 'last']).to_string())", "base mae 1, last mae 2"),
        ("pandas.DataFrame({'a': range(100)}).to_csv('a.csv')", ""),
        ("print(pandas.DataFrame({'a': [1]}), pandas.DataFrame.to_csv.__name__)", ""),
        (
            "t = pandas.DataFrame(columns=['f1'])\nfor i in range(2):\n    t.loc[i] = [i]\n    t.to_csv('a.csv')",
            "f1 0, f1 1",
        ),
    ],
)
def test_tables_of_pandas_are_read_when_they_are_written(
    told: Callable[[str], list[tuple[str, float]]],
    require,
    written: str,
    expected: str,  # type: ignore[no-untyped-def]
) -> None:
    require("pandas")
    pairs = [pair.rpartition(" ") for pair in expected.split(", ") if pair]
    assert told("import pandas\n" + written) == [(name, float(value)) for name, _, value in pairs]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{'test': {'acc': 0.5, 'deep': {'f1': 1}}, 'loss': '0.25'}", "test.acc .5, test.deep.f1 1, loss .25"),
        ("{'loss': [3, 2, 1], 'name': 'x', 'matrix': [[1, 2], [3, 4]]}", "loss 3, loss 2, loss 1"),
        ("[{'epoch': 0, 'acc': 0.5}, {'epoch': 1, 'acc': 0.75}]", "epoch 0, acc .5, epoch 1, acc .75"),
        (
            "{'models': [{'name': 'base', 'mae': 1}, {'name': 'last', 'mae': 2}]}",
            "base models.mae 1, last models.mae 2",
        ),
        ("{'predictions': list(range(100)), 'acc': 1}", "acc 1"),
        ("[0.5, 1]", ""),
        ("0.5", ""),
    ],
)
def test_numbers_in_json_are_named_by_their_keys(
    told: Callable[[str], list[tuple[str, float]]], written: str, expected: str
) -> None:
    text = f"import json\nwith open('log.json', 'w') as file:\n    print(json.dump({written}, file, indent=1))"
    pairs = [pair.rpartition(" ") for pair in expected.split(", ") if pair]
    assert told(text) == [(name, float(value)) for name, _, value in pairs]


def test_of_a_list_that_grows_only_what_is_new_is_recorded(told: Callable[[str], list[tuple[str, float]]]) -> None:
    text = "import json\nhistory = {'loss': []}\nfor epoch in range(3):\n    history['loss'].append(epoch)\n"
    text += "    json.dump(history, open('log.json', 'w'))"
    assert told(text) == [("loss", 0), ("loss", 1), ("loss", 2)]
