"""Public names of TensorFlow functions, each of which exists in several modules."""

from __future__ import annotations

import sys

from ...annotations import Any

INTERNAL = "tensorflow.python."


class Names:
    """Modules from which scripts import functions, as currently loaded; modules loaded later import the replacement."""

    def __init__(self) -> None:
        self.places: dict[int, list[tuple[Any, str]]] = {}
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "tensorflow" and not name.startswith(INTERNAL):
                for attribute, value in list(getattr(module, "__dict__", {}).items()):
                    if callable(value):
                        self.places.setdefault(id(value), []).append((module, attribute))

    def replace(self, original: Any, new: Any) -> None:
        """Replace a function under all its public names."""
        library = sys.modules.get(original.__module__)
        places = list(self.places.get(id(original), ()))
        if getattr(library, original.__name__, None) in (original, new):
            places.append((library, original.__name__))
        for module, attribute in places:
            setattr(module, attribute, new)
