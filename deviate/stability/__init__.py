"""An optional package: computes measures of how similar runs are from captured outputs."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.stability.captures import captured_of as captured_of
    from deviate.stability.captures import stability as stability

load_on_first_use(__name__)
