"""A report's page as a browser would see it: elements, text, headings, and what lies in scripts and templates."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Elements with their attributes, text, and what scripts hold.

    Attributes:
        elements: outside of templates, whose contents nobody sees without a script; those are `dormant`.
        headings: level and text of each, in the order of the page.
        captions: text of each caption of a table.
        blocks: what is not run, by id: findings and curves as JSON. script: what is run.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.dormant: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.captions: list[str] = []
        self.blocks: dict[str, str] = {}
        self.script = ""
        self._open: list[str] = []
        self._script = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        (self.dormant if "template" in self._open else self.elements).append((tag, dict(attrs)))
        is_data = tag == "script" and dict(attrs).get("type") == "application/json"
        self._script = str(dict(attrs)["id"]) if is_data else tag if tag == "script" else ""
        if tag in {"template", "h1", "h2", "h3", "h4", "caption"}:
            self._open.append(tag)
        if tag in {"h1", "h2", "h3", "h4"}:
            self.headings.append((int(tag[1]), ""))
        elif tag == "caption":
            self.captions.append("")

    def handle_endtag(self, tag: str) -> None:
        self._script = ""
        if tag in self._open:
            self._open.remove(tag)

    def handle_data(self, data: str) -> None:
        if self._script == "script":
            self.script += data
        elif self._script:
            self.blocks[self._script] = self.blocks.get(self._script, "") + data
        else:
            self.text.append(data)
            self._join(data)

    def _join(self, data: str) -> None:
        if "caption" in self._open:
            self.captions[-1] += data
        elif {"h1", "h2", "h3", "h4"} & set(self._open):
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)

    @property
    def data(self) -> str:
        return self.blocks["deviate-data"]

    def of(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        """Attributes of the elements of this name that have all of these."""
        return [it for name, it in self.elements if name == tag and attributes.items() <= it.items()]
