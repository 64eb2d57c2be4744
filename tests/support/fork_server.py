"""Imports modules once, then forks a process for each script that is to run: most of a short script is its imports.

    python fork_server.py MODULE... [-LATE...]

Standard input is a socket. Each message on it asks for a process, and brings what becomes its standard streams and a
pipe for its exit code. The forked process is what an interpreter would be that had just begun: it has the asked
arguments, folder and variables, and runs `sitecustomize`, then the script.

The imported modules are not in `sys.modules` of that process. They wait on a shelf, and each is handed out by the
import that asks for it, together with what its body had imported in turn. So import hooks, those of the guest among
them, meet the modules one by one in the order of a first import, and what a script does not import is not there.

A package that is named with a dash is not imported here. Where the body of another module had asked for it, it is
imported in the forked process, when that module is handed out.
"""

import builtins
import sys

FROZEN = sys.modules["_frozen_importlib"]
BEFORE = frozenset(sys.modules)
"""What every interpreter has imported when it begins with a script."""


class Importing:
    """First on `sys.meta_path`, and `__import__`: notes which module asks for which, those that this file asks for too.

    Attributes:
        requests: by the module whose body runs, the names that it imports, in order; loaded before or not.
        lookups: names that the import system looked for. Others were put into `sys.modules` by a module.
    """

    def __init__(self) -> None:
        self.requests: dict[str, dict[str, None]] = {}
        self.lookups: set[str] = set()
        self.original = builtins.__import__
        builtins.__import__ = self
        sys.meta_path.insert(0, self)

    def __call__(self, name, globals=None, locals=None, fromlist=(), level=0):  # type: ignore[no-untyped-def]  # noqa: A002
        whole = FROZEN._resolve_name(name, FROZEN._calc___package__(globals), level) if level else name
        self._note(whole)
        module = self.original(name, globals, locals, fromlist, level)
        for inner in fromlist or ():
            if whole + "." + inner in sys.modules:
                self._note(whole + "." + inner)
        return module

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        self.lookups.add(name)
        self._note(name)

    def end(self) -> None:
        builtins.__import__ = self.original
        sys.meta_path.remove(self)

    def _note(self, name: str) -> None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and not (frame.f_code.co_name == "<module>" and "__name__" in frame.f_globals):
            frame = frame.f_back
        if frame is not None:
            self.requests.setdefault(frame.f_globals["__name__"], {})[name] = None


IMPORTING = Importing()
import atexit  # noqa: E402
import ctypes  # noqa: E402
import gc  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import site  # noqa: E402
import socket  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from contextlib import suppress  # noqa: E402
from importlib.machinery import ModuleSpec, PathFinder  # noqa: E402
from pathlib import Path  # noqa: E402
from types import FrameType, ModuleType  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

LONGEST = 1 << 20
"""Of a message, in bytes."""
ATTRIBUTES = ("__spec__", "__loader__", "__package__")
"""What an import writes into a module."""


class Traces(NamedTuple):
    """What an import leaves beside modules."""

    variables: dict[str, str]
    at_exit: list[tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]]


class Shelf:
    """Modules that are imported early; on `sys.meta_path`, it hands them out when they are asked for.

    Attributes:
        modules: what nobody has asked for yet, by name.
        order: all modules, in the order in which their imports ended.
        inner: what the body of a module asked for, in order.
    """

    def __init__(self) -> None:
        self.modules: dict[str, Any] = {}
        self.inner: dict[str, list[str]] = {}
        self.traces: dict[str, Traces] = {}
        self.order: dict[str, Any] = {}
        self.newest: tuple[str, dict[str, Any]] | None = None
        self.late: frozenset[str] = frozenset()
        self.is_filling = False

    def fill(self, names: Sequence[str], late: Sequence[str]) -> None:
        """Import modules, and hide them and all that they imported; none of the packages that are to be late."""
        self.is_filling, self.late = True, frozenset(late)
        sys.meta_path.insert(1, self)  # type: ignore[arg-type]
        register = atexit.register
        atexit.register = self._noting(register)  # type: ignore[assignment]
        for name in names:
            before = dict(os.environ)
            importlib.import_module(name)
            changed = {key: value for key, value in os.environ.items() if before.get(key) != value}
            self._traces(name).variables.update(changed)
        atexit.register = register
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        IMPORTING.end()
        self.is_filling = False
        self._hide()

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if self.is_filling and name in self.late:
            spec = PathFinder.find_spec(name)  # some ask whether and where it is before they import it
            if spec is not None:
                spec.loader = Missing()
            return spec
        if name not in self.modules:
            return None
        self._renew_copies()
        original = getattr(self.modules[name], "__spec__", None)
        spec = ModuleSpec(name, Loader(self), origin=getattr(original, "origin", None))
        spec.submodule_search_locations = getattr(original, "submodule_search_locations", None)
        return spec

    def hand_out_inner(self, name: str) -> None:
        """Import again what a module imported, and do again what its import did beside that."""
        for inner in self.inner.get(name, ()):
            if inner not in sys.modules and inner in self.modules:
                self._hand_out(inner)
            elif inner.partition(".")[0] in self.late:
                with suppress(ImportError):
                    importlib.import_module(inner)
        if name in self.traces:
            os.environ.update(self.traces[name].variables)
            for function, arguments, named in self.traces[name].at_exit:
                atexit.register(function, *arguments, **named)

    def _hand_out(self, name: str) -> None:
        if name not in IMPORTING.lookups:  # no import made it: another module put it into `sys.modules`
            sys.modules[name] = self.modules.pop(name)
            return
        package, _, child = name.rpartition(".")
        if package in self.modules:
            self._hand_out(package)
        shadow = vars(sys.modules[package]).get(child) if package in sys.modules else None
        importlib.import_module(name)
        if shadow is not None:  # `from .name import name` had put a function where the import puts the module
            setattr(sys.modules[package], child, shadow)

    def _hide(self) -> None:
        """Take modules from `sys.modules`, which has them in the order in which their imports ended."""
        ended = [name for name in sys.modules if name not in BEFORE]
        self.inner = {name: list(names) for name, names in IMPORTING.requests.items()}
        manual: list[str] = []
        for name in ended:
            if name not in IMPORTING.lookups:
                manual.append(name)
            else:
                self.inner.setdefault(name, []).extend(manual)
                manual = []
        for name in ended:
            self.modules[name] = module = sys.modules.pop(name)
            if isinstance(module, ModuleType):
                self.order[name] = module
        for name, module in self.modules.items():
            package, _, child = name.rpartition(".")
            parent = self.modules.get(package) or sys.modules.get(package)
            if name in IMPORTING.lookups and parent is not None and vars(parent).get(child) is module:
                vars(parent).pop(child)

    def watch(self, name: str, module: ModuleType) -> None:
        """A module is as its import had left it: what an import hook changes from here on is for others to copy."""
        self._renew_copies()
        self.newest = name, dict(vars(module))

    def _renew_copies(self) -> None:
        """Give what a hook has put into the last module to those that had copied from it when they were imported."""
        if self.newest is None:
            return
        source, before = self.newest
        self.newest = None
        now = vars(sys.modules[source]) if source in sys.modules else before
        changed = [key for key in before if key in now and now[key] is not before[key] and callable(before[key])]
        new = {id(before[key]): now[key] for key in changed}
        if not new:
            return
        sources = {source}
        names = iter(self.order)
        for name in names:
            if name == source:
                break
        for name in names:  # those whose imports ended later
            if not sources.isdisjoint(self.inner.get(name, ())):
                namespace = vars(self.order[name])
                copies = {key: new[id(value)] for key, value in namespace.items() if id(value) in new}
                if copies:
                    namespace.update(copies)
                    sources.add(name)

    def _traces(self, name: str) -> Traces:
        return self.traces.setdefault(name, Traces({}, []))

    def _noting(self, register: Callable[..., Any]) -> Callable[..., Any]:
        """`atexit.register` as long as modules are imported: what they register waits for whoever asks for them."""

        def note(function: Callable[..., object], *arguments: object, **named: object) -> Callable[..., object]:
            name = sys._getframe(1).f_globals.get("__name__", "")
            if not self.is_filling or name in BEFORE:
                return register(function, *arguments, **named)  # type: ignore[no-any-return]
            self._traces(name).at_exit.append((function, arguments, named))
            return function

        return note


class Missing:
    """Fails to load a module."""

    def create_module(self, spec: ModuleSpec) -> None:
        raise ModuleNotFoundError(f"No module named {spec.name!r}", name=spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


class Loader:
    """Hands out one module, as its import had left it."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self.name = spec.name
        module: ModuleType = self.shelf.modules.pop(spec.name)
        self.attributes = {name: vars(module)[name] for name in ATTRIBUTES if name in vars(module)}
        return module

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.attributes)  # not by `setattr`: some modules refuse attributes that they do not know
        self.shelf.hand_out_inner(self.name)
        self.shelf.watch(self.name, module)


class Server:
    """Answers requests until nobody can ask any more, and leaves no process behind."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.socket = socket.socket(fileno=os.dup(0))
        self.running: dict[int, tuple[int, int]] = {}
        """Process and pipe for its exit code, by the descriptor that tells that the process has ended."""

    def serve(self) -> dict[str, Any]:
        """Return in each forked process, with what was asked for."""
        while True:
            ready, _, _ = select.select([self.socket, *self.running], [], [])
            for process in [source for source in ready if source is not self.socket]:
                self._report(process)
            if self.socket in ready:
                message, files, _, _ = socket.recv_fds(self.socket, LONGEST, 4)
                if not message:
                    self._end()
                if self._begin(files):
                    return json.loads(message)  # type: ignore[no-any-return]

    def _begin(self, files: list[int]) -> bool:
        """Whether this is the new process."""
        *streams, answer = files
        process = os.fork()
        if process:
            for file in streams:
                os.close(file)
            self.running[os.pidfd_open(process)] = process, answer
            return False
        for number, file in enumerate(streams):
            os.dup2(file, number)
        for file in [*files, *self.running, *(pipe for _, pipe in self.running.values())]:
            os.close(file)
        self.socket.close()
        return True

    def _report(self, descriptor: int) -> None:
        process, answer = self.running.pop(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with suppress(BrokenPipeError):  # who asked may have been killed
            os.write(answer, b"%d" % code)
        os.close(answer)
        os.close(descriptor)

    def _end(self) -> None:
        for process, _ in self.running.values():
            os.kill(process, signal.SIGKILL)
        os._exit(0)


def become(request: dict[str, Any], shelf: Shelf, path: list[str]) -> None:
    """Be what an interpreter is before it reads the script."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = request["words"][1:]
    sys.orig_argv[:] = request["words"]
    search = [entry for entry in request["environment"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [*search, *(entry for entry in path if entry not in search)]
    sys.meta_path.insert(0, shelf)  # type: ignore[arg-type]
    draw_anew(shelf.modules)
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main)["__builtins__"] = sys.modules["builtins"]
    vars(main)["__annotations__"] = {}
    sys.modules.pop("sitecustomize", None)
    site.execsitecustomize()
    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))


def draw_anew(modules: dict[str, Any]) -> None:
    """Generators that were seeded by chance at their import are to be no twins in the forked processes.

    That of `random` seeds itself after a fork.
    """
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "torch" in modules:
        modules["torch"].default_generator.seed()


def run_script() -> int:
    """Run a script as the interpreter itself does; its errors have been printed when this returns.

    No frame of Python but that of this module's body lies below the script's, and none is in the text of an error.
    """
    path = f"{os.getcwd()}/{sys.argv[0]}"  # noqa: PTH109  (not normalised: the interpreter does the same)
    library = ctypes.CDLL(None)
    library.fopen.restype = ctypes.c_void_p
    file = library.fopen(os.fsencode(path), b"rb")
    run = ctypes.pythonapi.PyRun_AnyFileExFlags
    run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    return run(file, os.fsencode(path), 1, None)  # type: ignore[no-any-return]


def end(code: int) -> None:
    """End as an interpreter does, but take apart no module save the script: those of a framework take 0.3 s."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None and not stream.closed:
            stream.flush()
    sys.modules["__main__"].__dict__.clear()  # what it has made is told that it goes
    gc.collect()
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is not None and not stream.closed:
            stream.flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(code)


def begin() -> Server:
    """Import what was asked for, and say how many threads a forked process would miss."""
    modules, path = sys.argv[1:], sys.path[1:]
    sys.path[:] = path  # the folder of this file has modules of its own
    server = Server(Shelf())
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.close(nothing)
    late = [name[1:] for name in modules if name.startswith("-")]
    server.shelf.fill([name for name in modules if not name.startswith("-")], late)
    gc.collect()
    gc.freeze()  # what all have in common is not copied to be looked through
    process = os.fork()  # libraries such as OpenBLAS end their threads before a fork, and begin them when needed
    if not process:
        os._exit(0)
    os.waitpid(process, 0)
    n_threads = len([*Path("/proc/self/task").iterdir()])
    names = sorted({name.partition(".")[0] for name in server.shelf.modules})
    server.socket.sendall(json.dumps({"threads": n_threads, "names": names}).encode() + b"\n")
    return server


if __name__ == "__main__":
    PATH = sys.path[1:]
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)  # those who ask are interrupted, and close the socket
    server = begin()
    request = server.serve()
    signal.signal(signal.SIGINT, interrupt)
    become(request, server.shelf, PATH)
    code = run_script()
    if not code or getattr(sys, "last_type", None) is not KeyboardInterrupt:
        end(int(code != 0))  # an interrupted interpreter ends itself by the signal
