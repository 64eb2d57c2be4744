"""`docs/how-to/paper.md` names files and commands that there are."""

import re
from pathlib import Path

from experiments import scored
from stabilities import stability, with_stability

from deviate.report.forms.latex import MOST_ROWS
from deviate.report.medium import COLUMN_IN
from deviate.report.paper.files import paper_files
from deviate.report.parts.build import build_report

PAGE = (Path(__file__).parents[1] / "docs/how-to/paper.md").read_text(encoding="utf-8")


def test_files_and_commands_of_the_page_are_those_of_the_folder() -> None:
    sides = [scored("base", [93.1, 93.4, 93.9, 93.2, 93.6]), scored("new", [94.1, 94.4, 94.9, 94.2, 94.5])]
    files = dict(
        paper_files(with_stability(sides, stability(sides)), build_report(with_stability(sides, stability(sides))))
    )
    names = [re.sub(r"/.*\.", "/*.", name) for name in files]
    commands = files["macros.tex"].decode()
    assert set(re.findall(r"`([\w/*]+\.(?:tex|bib|md|pdf|svg))`", PAGE)) == set(names)
    told = set(re.findall(r"\\(deviate\w+)", PAGE))
    assert len(told) > 5
    assert told <= set(re.findall(r"^\\deviatefigure\{\\(\w+)\}", commands, re.MULTILINE))


def test_limits_of_the_page_are_those_of_the_code() -> None:
    assert f"More than {MOST_ROWS} rows" in PAGE
    assert f"figures are {COLUMN_IN} inches wide" in PAGE
