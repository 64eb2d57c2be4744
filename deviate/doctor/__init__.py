"""Asks the interpreter of the user what frameworks it has, tries what can be controlled with them, and judges."""

from deviate.doctor.document import to_document
from deviate.doctor.examine import TIMEOUT_S, examine

__all__ = ["TIMEOUT_S", "examine", "to_document"]
