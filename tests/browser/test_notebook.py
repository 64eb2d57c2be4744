"""A notebook that a kernel executes, and the page that it becomes: what results are shown as, light and dark."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from browsing import Look, visit
from playwright.sync_api import Browser

CELLS = (
    """
import deviate
old, new = [93.1, 93.4, 93.2, 93.6, 93.3, 93.5], [94.0, 94.3, 94.1, 94.5, 93.9, 94.4]
results = deviate.compare(old, new, names=('<b>', 'new'), direction='max')
results""",
    "deviate.describe(old)",
    """
with open('old.csv', 'w') as file:
    print('acc', *old, sep='\\n', file=file)
deviate.read('old.csv')""",
    "results.findings.experiments[0].experiment",
    "results.findings.pairs[0].comparisons[0]",
)
CONTRAST = """element => {
    const light = colour => {
        const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const sides = [getComputedStyle(element).color, getComputedStyle(document.body).backgroundColor].map(light);
    return (Math.max(...sides) + 0.05) / (Math.min(...sides) + 0.05);
}"""
"""The ratio by which text stands out from the page. Source: WCAG 2.2, contrast ratio."""


@pytest.mark.slow
@pytest.mark.requires("nbclient", "ipykernel", "nbconvert")
@pytest.mark.filterwarnings("ignore")
def test_results_are_shown_in_a_notebook_light_and_dark(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    file = tmp_path / "study.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS]), file)
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown: list[Mapping[str, str]] = [cell["outputs"][0]["data"] for cell in notebook["cells"]]
    compared, described, read, experiment, comparison = shown
    assert compared.keys() == described.keys() == {"text/plain", "text/html", "text/latex"}
    assert "<strong>Verdict: better</strong>" in compared["text/html"]
    assert compared["text/plain"].startswith("Verdict: better   new is better than <b>: score +0.850")
    assert r"\begin{tabular}" in compared["text/latex"]
    assert "<strong>score (mean ± SD) 93.350" in described["text/html"]
    assert "\nResult: acc (mean ± SD)  93.350" in read["text/plain"]
    assert "<svg" in experiment["text/html"]
    assert "Result: score (mean ± SD)  93.350" in experiment["text/plain"]
    assert "Verdict: better</strong> score: difference +0.85" in comparison["text/html"]
    assert comparison["text/plain"].startswith("Verdict: better   score: difference +0.85")
    assert "&lt;b&gt;" in compared["text/html"]
    for output in shown:
        assert not [tag for tag in ("<style", "<script", "<link") if tag in output.get("text/html", "")]
        assert sum(map(len, output.values())) < 30_000

    for theme in ("light", "dark"):
        page = tmp_path / f"{theme}.html"
        page.write_text(HTMLExporter(theme=theme).from_notebook_node(notebook)[0], encoding="utf-8")
        with visit(browser, page.as_uri(), Look(theme, 390)) as visited:
            verdict = visited.page.get_by_text("Verdict: better", exact=True).first
            assert verdict.evaluate(CONTRAST) > 7
            figure = visited.page.locator("svg[role=img]").first
            box, window = figure.bounding_box(), visited.page.viewport_size
            assert box is not None
            assert window is not None
            assert box["height"] > 100
            assert box["x"] + box["width"] <= window["width"]
