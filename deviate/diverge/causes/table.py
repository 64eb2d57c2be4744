"""All known causes, in the order in which equally likely ones are listed."""

from deviate.diverge.causes.draws import DRAWS
from deviate.diverge.causes.kernels import KERNELS
from deviate.diverge.causes.known_causes import KnownCause
from deviate.diverge.causes.machine import MACHINE
from deviate.diverge.causes.order import ORDER
from deviate.diverge.causes.state import STATE

KNOWN_CAUSES: tuple[KnownCause, ...] = (*MACHINE, *DRAWS, *ORDER, *KERNELS, *STATE)
