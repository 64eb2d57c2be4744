"""An executor whose library is missing."""

import no_such_library  # type: ignore[import-not-found]  # noqa: F401
