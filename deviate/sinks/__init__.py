"""Sinks: one file per way in which scripts report values. Each registers itself when it is imported."""

from .kinds import FormatTemplate as FormatTemplate
from .kinds import Message as Message
from .kinds import Record as Record
from .kinds import Row as Row
from .kinds import Scalar as Scalar
from .kinds import Summary as Summary
from .kinds import Table as Table
from .kinds import Template as Template
from .registry import SINKS as SINKS
from .registry import Carried as Carried
from .registry import Sink as Sink
from .registry import by_keyword as by_keyword
from .registry import find_by_key as find_by_key
from .registry import find_sink as find_sink
from .registry import given as given
from .registry import methods as methods
from .registry import sink as sink
