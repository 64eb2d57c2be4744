"""Loads the guest into a Python process that a run started, then the user's own sitecustomize.

Any interpreter may find this file on PYTHONPATH, even Python 2: it is silent, and does nothing where it is not
supported.
"""

# Python 2 knows no annotations, and what is imported here exists in the user's process alone.
# mypy: ignore-errors

import os
import sys


def _read_cut_bytecode_from_source(root):
    """Ignore truncated bytecode, which a full disk leaves behind and which would make every later import fail.

    Source: CPython issue 126606, importlib writes incomplete pyc files.
    """
    external = sys.modules["_frozen_importlib_external"]

    class Loader(external.SourceFileLoader):
        def get_code(self, fullname):
            try:
                return super().get_code(fullname)
            except Exception:
                return self.source_to_code(self.get_data(self.path), self.path)

    for folder, inner, _ in os.walk(root):
        inner[:] = [name for name in inner if name != "__pycache__"]
        sys.path_importer_cache[folder] = external.FileFinder(folder, (Loader, [".py"]))


def _start():
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.version_info >= (3, 8) and os.environ.get("DEVIATE_RUN_DIR"):
        writes_none = sys.dont_write_bytecode
        try:
            sys.dont_write_bytecode = writes_none and sys.pycache_prefix is not None  # this folder is ours
            _read_cut_bytecode_from_source(folder)
            import _deviate_guest.runtime

            sys.dont_write_bytecode = writes_none
            _deviate_guest.runtime.start()
        except Exception:  # the user's program must run even if the guest cannot
            pass
        sys.dont_write_bytecode = writes_none
    # Children find the folder through PYTHONPATH; in this process the path is to be what it was without the guest.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  the user's own, now that this folder is off the path
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", mine)


_start()
