"""Executor `here`: that of this machine, which says so."""

import sys

from deviate.model import Settings
from deviate.replay import Executor, LocalExecutor, executor


@executor("here")
def make(settings: Settings) -> Executor:
    sys.stderr.write(f"here with {dict(settings.options)}\n")
    return LocalExecutor(settings)
