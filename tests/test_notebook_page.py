"""What `docs/how-to/notebook.md` shows is what its code prints; run as a program, this file writes it there."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs/how-to/notebook.md"
BLOCKS = re.compile(r"(```python\n(.*?)```\n\n```\w+\n)(.*?)```\n", re.DOTALL)


def _as_printed(page: str) -> str:
    """The page with what its code prints, one block after the other in the same session."""
    names: dict[str, object] = {}

    def printed(found: re.Match[str]) -> str:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(found[2], names)
        # No editor keeps spaces at the end of a line.
        lines = (f"{line.rstrip()}\n" for line in shown.getvalue().splitlines())
        return f"{found[1]}{''.join(lines)}```\n"

    return BLOCKS.sub(printed, page)


def test_the_code_of_the_page_prints_what_the_page_shows(project: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCKS.findall(page)) == page.count("```python") > 5
    assert _as_printed(page) == page


if __name__ == "__main__":
    PAGE.write_text(_as_printed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
