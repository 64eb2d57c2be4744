"""Notebooks for tests, as JSON of nbformat 4."""

import json


def notebook_text(*cells: str, **metadata: object) -> str:
    """A notebook of these cells; one whose first line is `# markdown` is a text cell."""
    entries: list[dict[str, object]] = []
    for cell in cells:
        entry: dict[str, object] = {"metadata": {}, "source": cell.splitlines(keepends=True)}
        is_text = cell.startswith("# markdown")
        entries.append(
            {**entry, "cell_type": "markdown"}
            if is_text
            else {**entry, "cell_type": "code", "execution_count": None, "outputs": []}
        )
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": entries})
