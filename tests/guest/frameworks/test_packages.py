"""The table of adapters: each is found by every package whose modules it waits for."""

import importlib
from pathlib import Path

from deviate.guest import frameworks
from deviate.guest.frameworks import INPUTS, PACKAGES

FOLDER = Path(frameworks.__file__).parent


def test_every_adapter_is_listed_under_each_package_of_its_modules() -> None:
    adapters = {
        own: importlib.import_module(f"{frameworks.__name__}.{own}")
        for path in FOLDER.rglob("*.py")
        if "\nMODULES = " in path.read_text()
        for own in [".".join(path.relative_to(FOLDER).with_suffix("").parts).removesuffix(".__init__")]
    }
    needed = {(name.partition(".")[0], own) for own, adapter in adapters.items() for name in adapter.MODULES}
    tables = (PACKAGES, INPUTS)
    assert {(package, own) for table in tables for package, those in table.items() for own in those} == needed
