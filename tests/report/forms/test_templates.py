import shutil
from pathlib import Path

import jinja2
import pytest

import deviate
from deviate.errors import ToolError
from deviate.report.forms.html import PAGE, _folder, template

CHECKOUT = Path(deviate.__file__).parents[1]


def test_templates_beside_the_package_are_found_in_a_checkout(tmp_path: Path) -> None:
    (tmp_path / "deviate").mkdir()
    shutil.copytree(CHECKOUT / "templates", tmp_path / "templates")
    assert _folder(tmp_path / "deviate") == tmp_path / "templates"


def test_packaged_templates_go_before_those_beside_the_package(tmp_path: Path) -> None:
    for folder in (tmp_path / "templates", tmp_path / "deviate" / "templates"):
        shutil.copytree(CHECKOUT / "templates", folder)
    assert _folder(tmp_path / "deviate") == tmp_path / "deviate" / "templates"


def test_a_foreign_folder_named_templates_is_not_taken_for_ours(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    with pytest.raises(ToolError, match="templates are missing"):
        _folder(tmp_path / "deviate")


def test_a_template_fails_on_a_name_that_it_does_not_know() -> None:
    with pytest.raises(jinja2.UndefinedError):
        template(PAGE).render()


def test_no_template_computes_or_rounds() -> None:
    for path in (CHECKOUT / "templates").glob("*.j2"):
        text = path.read_text(encoding="utf-8")
        assert "|round" not in text.replace(" ", "")
        assert "|safe" not in text.replace(" ", "")
