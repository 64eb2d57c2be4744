"""PyTorch: profiles a window of steps: kernels of an accelerator, or operators on the CPU."""

from __future__ import annotations

import sys

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from ...profiling import ProfiledWindow

FRAMEWORK = "torch"
ON_DEVICE = "self time of kernels on the device, copies and fills of memory left out"
ON_CPU = "self time of operators on the CPU, each on the thread that called it"
MEMORY = ("Memcpy", "Memset", "[memory]")
"""How the names of what moves or fills memory begin. Source: names that Kineto gives to activities of CUPTI."""
NO_OPERATORS = ("ProfilerStep", "[memory]", "[pytorch")
MICROSECONDS = 1e6


def install_profile(torch: Any, context: AdapterContext) -> None:
    """Profile the window that the run requests."""
    profiler = Profiler(torch)
    window = ProfiledWindow(context, FRAMEWORK, profiler.begin, profiler.end)
    profiler.give_way(window, context)
    window.patch()
    sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(lambda *_: window.update())


class Profiler:
    """The PyTorch profiler, from the start to the end of a window."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.running: Any = None
        self.has_device = False

    def begin(self) -> None:
        """Start profiling; the device is included if the script has used it, as asking for it would initialise it."""
        module, activity = self.torch.profiler, self.torch.profiler.ProfilerActivity
        self.has_device = bool(self.torch.cuda.is_initialized())
        activities = [activity.CPU, activity.CUDA] if self.has_device else [activity.CPU]
        self.running = module.profile(activities=activities)
        self.running.start()

    def end(self) -> dict[str, Any]:
        running, self.running = self.running, None
        running.stop()
        seen = running.key_averages()
        of_device = list(self._kernels(seen)) if self.has_device else []
        if of_device:
            return {"device": "cuda", "measure": ON_DEVICE, "kernels": of_device}
        return {"device": "cpu", "measure": ON_CPU, "kernels": list(_operators(seen))}

    def give_way(self, window: ProfiledWindow, context: AdapterContext) -> None:
        """End profiling when the script starts a profiler itself."""

        def prepare(profile: Any, *args: Any, **kwargs: Any) -> None:
            if self.running is not None and profile is not getattr(self.running, "profiler", profile):
                window.close()

        context.observe(self.torch.autograd.profiler.profile, "_prepare_trace", before=prepare)

    def _kernels(self, seen: Any) -> Iterator[tuple[str, int, float]]:
        """Kernels that ran on the device, without ranges that the program named, which are on the same time line."""
        on_cpu = {event.key for event in seen if _is_on_cpu(event)}
        for event in seen:
            if _is_on_cpu(event) or event.key in on_cpu or _is_named_range(event) or event.key.startswith(MEMORY):
                continue
            time = getattr(event, "self_device_time_total", None)  # PyTorch 2.4
            yield event.key, event.count, (event.self_cuda_time_total if time is None else time) / MICROSECONDS


def _operators(seen: Any) -> Iterator[tuple[str, int, float]]:
    for event in seen:
        if _is_on_cpu(event) and not _is_named_range(event) and not event.key.startswith(NO_OPERATORS):
            yield event.key, event.count, event.self_cpu_time_total / MICROSECONDS


def _is_on_cpu(event: Any) -> bool:
    return str(event.device_type).endswith("CPU")


def _is_named_range(event: Any) -> bool:
    """Whether an event is a named range, which older versions do not state; PyTorch's own ranges have known names."""
    return bool(getattr(event, "is_user_annotation", False)) or "#" in event.key
