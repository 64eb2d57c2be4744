"""Answers from the network: responses of `http.client`, which urllib, urllib3 and requests use.

The content of an answer is compared once it was read to its end. What comes through other connections is not compared.
"""

from __future__ import annotations

from sys import _getframe
from zlib import crc32

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...stand_ins import replace
from .callers import InputObserver

MODULES = ("http.client",)
READERS = ("read", "readinto", "read1", "readline")


def install(module: Any, context: AdapterContext) -> None:
    network = context.part(Network)
    context.observe(module.HTTPConnection, "getresponse", after=network.begin, where="http.client")
    for name in READERS:
        network.patch_reader(module.HTTPResponse, name)


class HttpAnswer:
    """An answer that is being read."""

    def __init__(self, call: str, place: int) -> None:
        self.call = call
        self.place = place
        self.checksum = self.n_bytes = 0
        self.is_inside = False

    def add(self, data: Any) -> None:
        self.checksum = crc32(data, self.checksum)
        self.n_bytes += len(data)


class Network(InputObserver):
    """Records answers."""

    def begin(self, response: Any, connection: Any) -> None:
        if not self.inputs.is_active:
            return
        place = self.callers.place(_getframe(2))
        if place < 0:
            return
        call = "http.client: %s" % connection.host
        length = response.getheader("Content-Length", "unknown")
        self.inputs.record("network", call, "status %s, length %s" % (response.status, length), place)
        response._deviate_answer = HttpAnswer(call, place)

    def patch_reader(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def call(self_: Any, *args: Any, **kwargs: Any) -> Any:
            answer = self_.__dict__.get("_deviate_answer")
            if answer is None or answer.is_inside:  # readers call each other
                return original(self_, *args, **kwargs)
            answer.is_inside = True
            try:
                result = original(self_, *args, **kwargs)
            finally:
                answer.is_inside = False
            with self.recorder.guarded("http.client"):
                answer.add(memoryview(args[0])[:result] if name == "readinto" else result)
                if self_.isclosed():
                    del self_._deviate_answer
                    shown = "%d bytes, %08x" % (answer.n_bytes, answer.checksum)
                    self.inputs.record("network", answer.call, shown, answer.place)
            return result

        replace(owner, name, call)
