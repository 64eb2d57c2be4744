"""Sinks: one file per way in which scripts report values. Each module registers itself when it is imported."""

from . import logging, print
from .registry import SINKS, Message, Sink, Template, find_sink, sink

__all__ = ["SINKS", "Message", "Sink", "Template", "find_sink", "logging", "print", "sink"]
