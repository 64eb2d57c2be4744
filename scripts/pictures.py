"""Writes the pictures of reports in README and manual: `python -m scripts.pictures`, from the root; needs Chromium.

They show the first screen of the reports that tests look at, in a window of 1280 by 800 pixels, light.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs/images"
KINDS = {
    "two_with_a_verdict": "report-two-experiments",
    "single_experiment": "report-one-experiment",
    "many_candidates": "report-many-candidates",
    "tasks": "report-tasks",
    "noise_study": "report-noise-study",
    "failures": "report-failures",
}
"""Names of pictures by kind of report, as `tests/support/kinds.py` has them."""
WIDTH, HEIGHT, SCALE = 1280, 800, 1.5
COLOURS = 256
"""A picture of so many takes half of one of all."""


def main() -> None:
    sys.path.insert(0, str(ROOT / "tests/support"))
    from kinds import KINDS as FINDINGS  # type: ignore[import-not-found, unused-ignore]

    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
        for kind, name in KINDS.items():
            page.set_content(render(build_report(FINDINGS[kind]()), "html"))
            picture = Image.open(io.BytesIO(page.screenshot()))
            few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            few.save(FOLDER / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
