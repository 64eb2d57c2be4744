"""The public names of TensorFlow: one function has several, in modules that exist two or three times."""

from __future__ import annotations

import sys

from ...annotations import Any

INTERNAL = "tensorflow.python."


class Names:
    """The modules from which scripts take functions, as they are loaded now; later ones take it from the library."""

    def __init__(self) -> None:
        self.places: dict[int, list[tuple[Any, str]]] = {}
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "tensorflow" and not name.startswith(INTERNAL):
                for attribute, value in list(getattr(module, "__dict__", {}).items()):
                    if callable(value):
                        self.places.setdefault(id(value), []).append((module, attribute))

    def replace(self, original: Any, new: Any) -> None:
        """Put a function in place of another one, under all names."""
        library = sys.modules.get(original.__module__)
        places = list(self.places.get(id(original), ()))
        if getattr(library, original.__name__, None) in (original, new):
            places.append((library, original.__name__))
        for module, attribute in places:
            setattr(module, attribute, new)
