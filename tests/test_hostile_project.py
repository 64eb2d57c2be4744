"""A project whose names and output are made to steer what shows them: it is run, compared, shown and tidied up."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile import controls
from schemas import schema_flaws

NAMES = (
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "\x1b[31mred\x1b[0m",
    "{{7*7}}{% raw %}",
    "\u202egnp.exe",
    "_%&#$\\input{/etc/passwd}",
    "a\nb\r\tc",
    "::error::x",
    "L" * 4000,
)
FOLDER = "we <b>ird\"'>$(id) {{7*7}} %& \u202egnp \x1b[31m é"
SCRIPT = "träin <i>.py"
NAME = "train__i_"
EPILOGUE = r"""
    print("\x1b[2J\x1b]0;title\x07<script>alert(2)</script>", end="")
    sys.stderr.write("\x1b[31m<script>alert(3)</script> \\input{x} \u202e\x07\n")
if os.environ["DEVIATE_REPLICATE"] == "1":
    raise ValueError("<img src=x onerror=alert(4)> \x1b[2J =cmd|' /C calc'!A0\r\nsecond \u202e line \udcff")
"""
OURS = {"<script>", *(f'<script type="application/json" id="deviate-{it}">' for it in ("data", "curves"))}
FORMS = ("html", "latex", "markdown", "json", "csv")
Deviate = Callable[..., Any]


def _write(root: Path) -> None:
    lines, told = ["import os, random, sys", "for epoch in range(3):"], []
    for index, name in enumerate(NAMES):
        lines.append(f"    value{index} = 0.5 + epoch / 10 + random.random() / 10")
        lines.append(f"    print(f'acc{index}: {{value{index}:.4f}}')")
        told += [f"[metrics.{json.dumps(name)}]", f'where = "{SCRIPT}:{len(lines)}"', f'expression = "value{index}"']
        told += ['direction = "max"', f"unit = {json.dumps(NAMES[index - 1])}", f"primary = {json.dumps(index == 0)}"]
    (root / SCRIPT).write_text("\n".join(lines) + EPILOGUE, encoding="utf-8")
    (root / "deviate.toml").write_text("\n".join(told), encoding="utf-8")
    with (root / "=evil <b>.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["seed", *NAMES])
        rows.writerows([index, *(0.7 + index / 50 + at / 10 for at in range(len(NAMES)))] for index in range(6))


@pytest.fixture(scope="module")
def deviate(tmp_path_factory: pytest.TempPathFactory, deviate_in: Callable[[Path], Deviate]) -> Deviate:
    """The command line in the project, after two runs of which one crashed."""
    root = tmp_path_factory.mktemp("hostile") / FOLDER
    root.mkdir()
    _write(root)
    command = deviate_in(root)
    done = command("run", SCRIPT, "--runs", "2")
    assert done.code == 3, done.both
    assert "1/2 completed, 1 crashed" in done.out
    assert controls(done.both) == set()

    def run(*arguments: str) -> Any:
        answer = command(*arguments)
        assert controls(answer.both) == set(), arguments
        assert answer.code in {0, 3}, answer.both
        answer.__dict__["root"] = root
        return answer

    return run


@pytest.mark.parametrize("verb", [("report", NAME), ("compare", NAME, "=evil <b>.csv"), ("report", "=evil <b>.csv")])
def test_no_form_of_its_report_is_steered_by_what_it_names(verb: tuple[str, ...], deviate: Deviate) -> None:
    files = {form: f"{'-'.join(verb[:1])}.{form}" for form in FORMS}
    done = deviate(*verb, *(word for form, file in files.items() for word in (f"--{form}", file)))
    texts = {form: (done.root / file).read_text(encoding="utf-8") for form, file in files.items()}
    assert all(controls(text) == set() for form, text in texts.items())
    assert "<script>alert" not in texts["html"] + texts["markdown"]
    assert set(re.findall(r"<script\b[^>]*>", texts["html"])) <= OURS
    assert not re.search(r"<img|<[^>]*\son\w+\s*=", texts["html"])
    assert not re.search(r"\\input(?![^%]*for )|(?<!\\)\$\\input", re.sub("(?m)^%.*", "", texts["latex"]))
    assert list(schema_flaws(texts["json"])) == []
    rows = list(csv.reader(texts["csv"].splitlines(), strict=True))
    assert not [cell for row in rows for cell in row if cell.lstrip().startswith(("=", "@", "+"))]


def test_the_json_has_the_names_as_they_are(deviate: Deviate) -> None:
    document = json.loads(deviate("report", NAME, "--json", "-").out)
    assert {it["metric"] for it in document["experiments"][0]["metrics"]} == set(NAMES)


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("show", NAME),
        ("show", f"{NAME}:algo+impl"),
        ("analyze", SCRIPT),
        ("clean", "--dry-run"),
    ],
    ids=" ".join,
)
def test_what_is_on_record_is_shown_without_a_code(command: tuple[str, ...], deviate: Deviate) -> None:
    done = deviate(*command)
    assert done.err == ""
    assert "L" * 100 not in done.out


@pytest.mark.parametrize("command", [("list",), ("show", NAME), ("analyze", SCRIPT)], ids=" ".join)
def test_programs_get_it_as_strict_json(command: tuple[str, ...], deviate: Deviate) -> None:
    told = json.dumps(json.loads(deviate(*command, "--format", "json").out), ensure_ascii=False)
    assert (SCRIPT if command[0] == "analyze" else NAMES[0]) in told


def test_its_work_copies_are_removed_and_its_figures_stay(deviate: Deviate) -> None:
    before = json.loads(deviate("report", NAME, "--json", "-").out)
    assert "freed" in deviate("clean").out
    assert json.loads(deviate("report", NAME, "--json", "-").out) == before
