"""A device type `toy` as a plug-in of PyTorch registers one: tensors of the host stand behind, draws are its own."""

import weakref

import torch
from torch.utils import _pytree
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("toy")
STATES = [torch._C.Generator().manual_seed(0).get_state()]
TENSORS = {}


def to_host(value):
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return TENSORS[value.untyped_storage()._cdata] if isinstance(value, torch.Tensor) and value.is_toy else value


def to_device(value):
    if not isinstance(value, torch.Tensor):
        return value
    tensor = torch._C._acc.create_empty_tensor(value.shape, value.dtype)
    TENSORS[tensor.untyped_storage()._cdata] = value
    return tensor


def compute(operation, *args, **kwargs):
    before = torch.default_generator.get_state()
    torch.default_generator.set_state(STATES[0])
    result = operation(*_pytree.tree_map(to_host, args), **_pytree.tree_map(to_host, kwargs))
    STATES[0] = torch.default_generator.get_state()
    torch.default_generator.set_state(before)
    return args[0] if operation._schema.name.endswith("_") else _pytree.tree_map(to_device, result)


def copy(source, target, *_options):
    to_host(target).copy_(to_host(source))
    return target


LIBRARIES = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
LIBRARIES[0].fallback(compute, "PrivateUse1")
LIBRARIES[1].impl("_copy_from", copy, "PrivateUse1")
for finalizer in weakref.finalize._registry:
    if finalizer.peek()[0] in LIBRARIES:
        finalizer.atexit = False  # the weights are read when the script has ended
