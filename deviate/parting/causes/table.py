"""All known causes, in the order in which they are told among equals."""

from deviate.parting.causes.draws import DRAWS
from deviate.parting.causes.kernels import KERNELS
from deviate.parting.causes.known import Known
from deviate.parting.causes.machine import MACHINE
from deviate.parting.causes.order import ORDER
from deviate.parting.causes.state import STATE

KNOWN: tuple[Known, ...] = (*MACHINE, *DRAWS, *ORDER, *KERNELS, *STATE)
