"""Sinks: one file per way in which scripts report values. Each registers itself when it is imported."""

from .kinds import FormatTemplate, Message, Record, Row, Scalar, Summary, Table, Template
from .registry import SINKS, Carried, Sink, by_keyword, find_by_key, find_sink, given, methods, sink

__all__ = [
    "SINKS",
    "Carried",
    "FormatTemplate",
    "Message",
    "Record",
    "Row",
    "Scalar",
    "Sink",
    "Summary",
    "Table",
    "Template",
    "by_keyword",
    "find_by_key",
    "find_sink",
    "given",
    "methods",
    "sink",
]
