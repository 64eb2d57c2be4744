"""The long description of a distribution: README.md, whose links lead to the repository.

Hatchling imports this file by its path when it builds, so it imports nothing of this folder.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^]]*)\]\((?P<target>(?![a-z]+:|#)[^)]+)\)")


class Description(MetadataHookInterface):
    """Writes the field `readme` of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        content = tomllib.loads(Path(self.root, "pyproject.toml").read_text(encoding="utf-8"))
        address = content["tool"]["deviate"]["release"]["repository"]
        if address:
            text = absolute_links(text, f"{address}/blob/v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute_links(text: str, address: str) -> str:
    """A page for readers who do not have the files beside it."""

    def replace(match: re.Match[str]) -> str:
        raw = "?raw=true" if match["picture"] else ""
        return f"{match['picture']}[{match['words']}]({address}/{match['target']}{raw})"

    return RELATIVE_LINK.sub(replace, text)
