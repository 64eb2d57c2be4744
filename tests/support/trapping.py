"""Scripts that hold the traps, written as people write them."""
# ruff: noqa: E501

PRINTING = """\
import io, sys, pprint
class Meter:
    def __init__(self): self.avg, self.seen = 0.0, 0
    @property
    def asked(self): self.seen += 1; return self.avg
meter, log = Meter(), open("log.txt", "w")
for epoch in range(3):
    acc = 0.25 * epoch
    loss = 1 / (epoch + 1)
    meter.avg = acc * 100
    stats = {"val_acc": acc, "val_loss": loss}
    values = [acc, loss]
    print(f"{acc=} {loss = :.4f} {acc + 1 = !r:>8}")
    print("test acc", acc, file=log)
    print("test loss", loss, file=sys.stderr)
    print(*values)
    print("accuracy", *values, sep=": ")
    print("acc %(val_acc).3f loss %(val_loss).3f" % stats)
    print("top1 {m.avg:.3f} {m.asked:.1f}".format(m=meter))
    print("val {0[val_acc]:.2f}, {d[val_loss]:>{w}}".format(stats, d=stats, w=9))
    print("local acc %(acc).2f" % locals())
    print("acc {acc:.2f}".format(**locals()))
    print("map loss {loss:.2f}".format_map(vars()))
    print(f"nested {f'{acc:.2f}' + '!'} {acc:{5}.{2}f} {'a' if acc > 0.3 else 'b'}")
    print("train loss: " + str(loss) + "; acc: " + "%.2f%%" % (100 * acc), end="|\\n")
    print("score", round(acc, 1), f"{loss:.2e}", str(acc), repr(loss))
    pprint.pprint(stats); print("val acc:", stats["val_acc"]); sys.stdout.write("epoch acc %g\\n" % acc)
    print((lambda v: f"lambda acc {v:.1f}")(acc))
    [print("comp acc", v) for v in values]
    print("walrus acc", (best := max(acc, 0.1)), best)
    print("multi acc %.3f loss %.3f"
          % (acc,  # the accuracy
             loss), \\
          end="\\n")
print("asked", meter.seen)
"""

LOOPS = """\
def batches(n):
    try:
        for i in range(n): yield i
    finally:
        print("closed", n)
def early():
    for batch in batches(5):
        if batch == 0: continue
        print(f"loss {batch / 2}")
        if batch == 2: return batch
def fail():
    for batch in batches(4):
        print(f"loss {batch / 4}")
        if batch == 1: raise ValueError(batch)
def recurse(depth):
    for side in "lr":
        if depth: recurse(depth - 1)
        print(f"depth loss {depth + 0.5:.2f}")
for epoch in range(2):
    print("early", early())
    try:
        fail()
    except ValueError as error:
        print("caught", error, error.__traceback__.tb_next.tb_lineno)
    else:
        print("never")
    finally:
        print(f"final loss {epoch * 10.0}")
    recurse(1)
    for a in range(2):
        for b in range(9):
            if b > a: break
            print(f"val acc {a + b / 10}")
        else:
            print("no break")
    else:
        print("else ran")
    k = epoch
    while True:
        k += 1
        if k > 3: break
        print(f"inner loss {k / 8}")
    else:
        print("never")
    n = 2
    while n:
        n -= 1
        if n == 1: continue
        print(f"n acc {n / 4}")
    else:
        print("while else")
    it = iter(range(4))
    for i in it:
        print(f"next loss {next(it, 9) / 2}")
    print(f"test acc {epoch / 100:.3f}")
"""

ITERABLES = """\
import sys, signal, gc, weakref, threading, io, contextlib, atexit, os
class Node: pass
for epoch in range(2):
    acc = epoch / 4
    print("acc", acc)
    for o in [Node() for _ in range(2)]: r = weakref.ref(o)
    del o; print("dead", r() is None, gc.collect() >= 0)
    class It:
        def __init__(self): self.i = 0
        def __iter__(self): return self
        def __next__(self):
            self.i += 1
            if self.i > 3: raise StopIteration
            return self.i
        def __len__(self): return 3
        def __length_hint__(self): print("never hint"); return 3
        def __del__(self): print("It gone", flush=True)
    for i in It(): print("loss", i / 2)
    d = {1: 2, 3: 4}
    try:
        for k in d: print("loss", k); d[k + 10] = 1
    except RuntimeError as e: print(e)
    l = [1, 2, 3]
    for x in l:
        print("loss", x / 2)
        if len(l) < 6: l.append(x)
    class G:
        def __getitem__(self, i):
            if i > 2: raise IndexError
            return i
    for x in G(): print("loss", x / 2)
    for x in zip(range(2), "ab"): print("loss", *x)
    for x in iter(lambda: next(c), 2) if (c := iter(range(5))) else (): print("loss", x)
    for line in io.StringIO("a\\nb"): print("loss", len(line) / 2)
    for x, in [(1,)]: print("loss", x)
    for sys.foo in range(2): print("loss", sys.foo / 2)
    for x in 1, 2: print("loss", x / 2)
    for x in *[1], 2: print("loss", x / 2)
    for x in (yield_ := [1, 2]): print("loss", x / 2)
    for x in lambda: 0, 1: print("loss", callable(x))
    for x in [1] if epoch else [2]: print("loss", x)
    for x in (1,): print("loss", x)
    for x in (i / 2 for i in range(2)): print("loss", x)
    for x in [
        1,  # one
        2]: print("loss", x)
    for _ in range(2):
        try: continue
        finally: print("fin loss", acc)
    with contextlib.suppress(StopIteration):
        for x in [1, 2]:
            with open(os.devnull) as f: print("loss", x); raise StopIteration
    while (line := "x" * (2 - len(str(acc)))) and True: print("loss", len(line)); break
    while not acc: acc += 1; print("loss", acc)
    while acc > 0 and acc < 9 or False: acc += 8; print("loss", acc)
    else: print("else loss", acc)
    def g():
        for i in range(3):
            x = yield i / 2
            print("sent loss", x)
        return "done"
    def h(): r = yield from g(); print("ret acc", len(r))
    for x in h(): print("loss", x)
    it = g(); next(it); it.close()
    try: it = g(); next(it); it.throw(ValueError("thrown"))
    except ValueError as e: print("thrown", e)
    for a in g():
        for b in g():
            print("loss", a + b)
            if b: break
    def rec(n):
        for i in range(n):
            yield from rec(i); yield i
    for x in rec(3): print("loss", x / 2)
    t = threading.Thread(target=lambda: [print("thread acc", k / 2) for k in range(2)]); t.start(); t.join()
    print("acc", acc, file=sys.__stdout__); sys.stdout.flush()
    with contextlib.redirect_stdout(io.StringIO()) as s: print("hidden acc", acc)
    print(len(s.getvalue()))
    old, sys.stdout = sys.stdout, io.StringIO(); print("swap acc", acc); old.write(sys.stdout.getvalue()); sys.stdout = old
    eval("print('eval acc', acc)"); exec("for q in range(2): print('exec acc', q)")
atexit.register(lambda: print("bye acc", acc))
signal.signal(signal.SIGALRM, lambda *a: print("alarm acc", acc)); signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
sys.settrace(lambda f, e, a: None); print("traced acc", acc); sys.settrace(None)
sys.stdout.flush(); os._exit(5)
"""

CONSTRUCTS = '''\
#!/usr/bin/env python
"""Docstring."""
from __future__ import annotations
import asyncio, contextlib, functools
def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        result = function(*args)
        print(f"{function.__name__} acc {result:.3f}")
        return result
    return wrapper
@logged
def evaluate(x): return x / 4
show = lambda name, acc: print(f"{name} acc {acc:.3f}")
class Trainer:
    start = 0.5; print(f"class acc {start}")
    for step in range(2): print(f"class loss {step / 2:.1f}")
    __loss = 0.25
    def __init__(self): self.__acc = 0.75
    def report(self): print(f"private acc {self.__acc} {Trainer.__loss}"); print("private loss", self.__loss)
    @property
    def acc(self): print(f"property acc {self.__acc}"); return self.__acc
class Child(Trainer):
    def report(self):
        super().report(); print(f"super acc {super().acc}")
async def stream(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i / 10
async def value(): return 0.5
async def task(k):
    for i in range(2):
        await asyncio.sleep(0); print(f"task acc {k + i / 10}")
async def train():
    async for a in stream(3): print(f"async acc {a}")
    async with contextlib.AsyncExitStack(): print(f"await acc {await value():.2f}")
    print("list acc", [x async for x in stream(2)][-1])
    await asyncio.gather(*(task(k) for k in range(2)))
def gen():
    got = yield 0.1
    print(f"sent acc {got}"); print("yielded acc", (yield 0.2))
for epoch in range(3):
    evaluate(epoch); show("lambda", epoch / 8); Child().report()
    match {"acc": epoch, "rest": [1, 2]}:
        case {"acc": 0}: print(f"match acc {epoch}")
        case {"acc": int(a), "rest": [*r]} if (b := a + len(r)) > 3: print(f"match acc {b / 10}"); print("match loss", a)
        case _: print("no match")
    if (n := epoch + 1) > 1: print(f"walrus acc {n / 10}, {(m := n * 2)} {m}")
    print("tern acc", 0.9 if epoch else 0.1, "and", epoch or 0.5, "not", not epoch)
    print(*[f"comp acc {k / 10}" for k in range(2)], {k: print("dict acc", k / 2) for k in range(2)}, sep="|")
    print(f"""triple acc {epoch
        / 10:.2f} {
        epoch = }
    end""")
    g = gen(); next(g); g.send(0.7)
    try: g.send(0.8)
    except StopIteration: pass
    x = epoch / 10; print("semi acc", x); x += 1; print("semi loss", x)
    print("back acc %s" \\
        % x, x, \\
        f"{x!r:>6}", end=\\
        "\\n")
    print ("space acc" , x , sep = " " , )
    print((("paren acc", x)), ("a", x), [x], {"v": x}, x if x else None, x[0] if isinstance(x, list) else x)
    print("acc", -x, x ** 2, x < 1 < 2, x if x else None)
    print(f"{{literal}} acc {x:{'>' + str(8)}.3f}}}", rf"\\d acc {x}", f"\\N{BULLET} acc {x}", f'{x:.1f}' f"{x:.2f}" "z")
    del x
asyncio.run(train())
count_acc = 1
def change():
    global count_acc
    count_acc += 1; print(f"global acc {count_acc}")
    def inner():
        cell_acc = 1
        def deeper():
            nonlocal cell_acc
            cell_acc += 1; print(f"nonlocal acc {cell_acc}", deeper.__code__.co_freevars)
        deeper()
    inner()
change()
'''

TRAIN = "for epoch in range(3):\n    acc = epoch / 4\n    print('acc', acc)\n"

LAYOUTS = {
    "tabs": b"if True:\n\tfor epoch in range(3):\n\t\tacc = epoch / 4\n\t\tprint(f'acc {acc}');\tprint('\t', acc)\n",
    "CRLF": b"for epoch in range(3):\r\n    acc = epoch / 4\r\n    print('acc %s' %\r\n          acc)\r\n"
    b"    print(f'''acc {acc}\r\nx''')\r\n",
    "CR": TRAIN.replace("\n", "\r").encode(),
    "mixed line ends": TRAIN.replace("\n", "\r\n", 2).encode(),
    "byte-order mark": b"\xef\xbb\xbf# caf\xc3\xa9\n" + TRAIN.replace("'acc'", "'acc é'").encode(),
    "byte-order mark and CRLF": b"\xef\xbb\xbf" + TRAIN.replace("\n", "\r\n").replace("'acc'", "'acc é'").encode(),
    "latin-1": ("# -*- coding: latin-1 -*-\nname = 'café'\n" + TRAIN.replace("acc)", "name, acc)")).encode("latin-1"),
    "coding in the second line": (
        "#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n" + TRAIN.replace("'acc'", "'€ acc'")
    ).encode("iso-8859-15"),
    "form feeds before code": (
        "\x0cimport sys\ndef show(acc):\n\x0c    print(f'acc {acc}')\n    print('loss', acc)\n"
        "\x0c" + TRAIN + "\x0cprint('acc', acc); show(acc)\n"
    ).encode(),
    "form feeds": b"import sys\n\x0c\n# \x0c\n" + TRAIN.replace("'acc'", "'a\x0cb acc'").encode(),
    "separators": TRAIN.replace("'acc'", "'\u2028 \x1d acc'").replace("4\n", "4 # \u2028 \x85 \x1c\n").encode(),
    "wide characters": (
        TRAIN
        + "    print('\U0001f600 中 acc', acc, f'\U0001f600{acc}中{acc=}'); größe_acc = acc; print(f'{größe_acc}')\n"
    ).encode(),
    "very long lines": (
        "for epoch in range(3):\n    acc = epoch / 4; x = [" + "1, " * 4_000 + "]; print('acc', acc); y = '"
        f"{'z' * 100_000}'\n    print('loss', len(y), acc)\n"
    ).encode(),
    "no last line end": TRAIN.rstrip().encode(),
    "one line": b"for epoch in range(3): acc = epoch / 4; print('acc', acc)",
    "future": b"'''doc'''\nfrom __future__ import annotations; import sys\nfor epoch in range(3):\n"
    b"    acc = epoch / 4; print('acc', acc, __doc__, annotations.mandatory)\n",
    "docstring and more": b"'doc'; import sys\n" + TRAIN.replace("acc)", "acc, __doc__)").encode(),
    "escapes that are none": TRAIN.replace("'acc'", "'acc \\d'").encode(),
    "main guard": b"def main():\n    for epoch in range(3):\n        acc = epoch / 4\n        print('acc', acc)\n    return 3\n"
    b"if __name__ == '__main__':\n    import sys\n    sys.exit(main())\n",
}

ENDINGS = {
    "exit with a text": "import sys\nsys.exit('stopped at %s' % acc)",
    "assert in a tap": "assert print('acc', acc) or acc > 1, f'acc {acc}'",
    "an error between taps": "def f(x):\n    print('é acc', 'é', acc, 1 / (x - x), 'loss', f'{acc:.2f} {acc[9]=}')\nf(1)",
    "an error in an error": "try:\n    print('acc', acc, acc['x'])\nfinally:\n    print('loss', undefined, acc)",
    "a format that fails": "print(f'acc {acc:zz}')",
    "a field that is missing": "print('acc {a.avg} {a.real}'.format(a=acc))",
    "a misspelled name": "accuracy = acc\nprint('acc', acc, acuracy)",
    "a misspelled attribute": "print('acc', acc, acc.rael)",
    "a condition that fails": "class B:\n    def __bool__(self): raise ValueError(1)\nwhile B(): print('acc', acc)",
    "unpacking that fails": "for a, b in [(1, 2), 3]: print('acc', a / 4)",
    "an iterable that fails": "def g():\n    yield 1\n    raise KeyError('x')\nfor a in g(): print('loss', a / 4)",
    "an exception group": "try: 1 / 0\nexcept ZeroDivisionError as e: raise ExceptionGroup('g', [e, ValueError(acc)]) from e",
    "recursion without end": "def f(n):\n    print('loss', acc) if n < 2 else None\n    for i in range(2): f(n + 1)\nf(0)",
    "a syntax warning": "print('acc', acc) if acc is 3 else print('acc', acc)",
}

LOOKING = """\
import inspect, linecache, logging, sys, traceback, warnings
class Data:
    def __iter__(self):
        warnings.warn("of the loop", stacklevel=2)
        return iter([1, 2])
    @property
    def bad(self): raise ValueError("bad")
logging.basicConfig(format="%(lineno)d %(funcName)s %(filename)s %(message)s", stream=sys.stderr, level=0)
log = logging.getLogger()
def step(acc):
    warnings.warn(f"acc {acc}"); log.info("acc %.3f", acc); log.info(f"acc {acc}", stack_info=True)
    print(f"step acc {acc}", sys._getframe().f_lineno, inspect.currentframe().f_code.co_name, inspect.stack()[0].code_context)
for epoch in range(2):
    acc = epoch / 4
    step(acc); print("acc", acc, step(acc))
    for x in Data(): print("loss", x / 2)
    try: print("bad acc {d.bad}".format(d=Data()))
    except ValueError: log.exception("acc %s", acc); traceback.print_exc()
    try: print("bad acc", 1 / epoch, acc)
    except ZeroDivisionError: log.exception("acc %s", acc); print(traceback.format_exc())
    try: assert acc > 1, f"acc {acc}"
    except AssertionError as error: print("assert acc", error, acc); sys.excepthook(*sys.exc_info())
linecache.clearcache()
print(inspect.getsource(step), inspect.getsource(sys.modules["__main__"]) == inspect.getsource(Data) or "all")
print(inspect.getsourcelines(Data)[1], inspect.signature(step), step.__code__.co_varnames, step.__code__.co_names[:2])
"""

NAMES = """\
import sys
for epoch in range(3):
    acc = epoch / 4
    print('acc', acc)
lr = 0.1; name = 'x'
config_keys = [k for k, v in globals().items() if not k.startswith('_') and isinstance(v, (int, float, bool, str))]
exec(open('configurator.py').read())
config = {k: globals()[k] for k in config_keys}
print(config, list(globals()), dir(), list(vars()))
def step():
    acc = 0.5; print("local acc %(acc).2f" % locals(), sorted(locals())); print(f"acc {acc}")
step()
class Config: acc = 0.75; print(f"class acc {acc}")
print([key for key in vars(Config)], "deviate" in str(sys.path))
"""

VALUES = """\
import enum, fractions, math
import numpy as np
class Spoken(float):
    def __format__(self, spec): print("asked"); return float.__format__(self, spec)
class Level(enum.IntEnum): A = 3
class Silent:
    def __float__(self): print("never"); return 1.0
    def __getattr__(self, name): print("never", name); raise AttributeError(name)
    def __str__(self): return "silent"
def shown(form, *values): return form % values
masked = np.ma.array([1.0, 2.0], mask=[True, False])
for epoch in range(1):
    fraction_acc = fractions.Fraction(1, 4); print("acc", fraction_acc)
    nan_acc, inf_loss = math.nan, -math.inf; print(f"nan acc {nan_acc} inf loss {inf_loss:.2f}")
    zero_acc, one_acc, two_acc = np.array(0.5), np.array([[0.75]]), np.array([1.0, 2.0]); print("acc", zero_acc, one_acc, two_acc)
    single_acc, long_acc = np.float32(0.1), np.longdouble("0.5"); print("acc", single_acc, long_acc)
    object_acc, objects_acc = np.array(0.5, dtype=object), np.array([1, None]); print("acc", object_acc, objects_acc)
    mean_acc, gap_acc, both_acc = masked.mean(), masked[0], masked; print("acc", mean_acc, gap_acc, both_acc)
    left_acc, none_acc = np.ma.array(0.5), np.ma.masked; print("acc", left_acc, none_acc)
    spoken_acc, level_acc, silent_acc = Spoken(0.5), Level.A, Silent(); print(f"acc {spoken_acc:.1f}", level_acc, silent_acc)
    big_acc, over_acc, complex_acc = 2 ** 70, 1e400, 5j; print("acc", big_acc, over_acc, complex_acc)
    date_acc, word_acc, bit_acc = np.datetime64("2020"), np.str_(shown("0.5")), np.bool_(True); print("acc", date_acc, word_acc, bit_acc)
    part_acc = np.float64(0.25); part_acc += 1; print(f"np acc {part_acc:.2f} {part_acc=}"); del part_acc
"""

GIT = """\
import subprocess
for words in ("rev-parse HEAD", "status --porcelain", "diff", "log --oneline", "ls-files", "describe --always --dirty",
              "rev-parse --show-toplevel --abbrev-ref HEAD", "show HEAD:train.py"):
    done = subprocess.run(["git", *words.split()], capture_output=True, text=True)
    print(words, done.returncode, done.stdout, done.stderr)
"""

WRITING = """\
import os, pathlib, sys, tempfile
here = pathlib.Path(__file__).resolve().parent
print(here, __file__, sys.argv, os.getcwd(), sys.path[0], open("../data/x.txt").read())
(here / "out").mkdir(exist_ok=True); (here / "out" / "result.txt").write_text(str(acc))
os.mkdir(f"runs/exp{len([name for name in os.listdir('runs') if name.startswith('exp')])}"); print(os.listdir("runs"))
os.chdir("runs"); print(open("../../data/x.txt").read(), os.path.exists(__file__)); open("log.txt", "a").write("x")
with open(ORIGINAL, "a") as file: file.write("y")
with tempfile.TemporaryFile() as file: file.write(b"x")
1 / (acc - acc)
"""

PROCESSES = """\
import marshal, multiprocessing, pickle, subprocess, sys, types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
class Meter:
    def __init__(self): self.acc = 0.25
    def show(self): print(f"meter acc {self.acc}"); return self.acc
def work(k):
    for i in range(2): print(f"worker acc {k / 2}", flush=True)
    return k
def by_value(code, k): return types.FunctionType(marshal.loads(code), {"__builtins__": __builtins__})(k)
if __name__ == "__main__":
    for epoch in range(2):
        acc = epoch / 4
        with multiprocessing.get_context(["spawn", "fork"][epoch]).Pool(1) as pool:
            print("acc", acc, pool.map(work, [1, 2]), pool.apply(by_value, (marshal.dumps(work.__code__), 3)), flush=True)
    print(pickle.loads(pickle.dumps(Meter())).show(), pickle.dumps(work), pickle.dumps(Meter), flush=True)
    with ProcessPoolExecutor(1) as workers: print(list(workers.map(work, [5])))
    with ThreadPoolExecutor(1) as workers: print(list(workers.map(work, [6])))
    code = "import sys; sys.path.insert(0, '.'); import train; train.work(7)"
    for flags in (["-c"], ["-I", "-c"]):
        print(subprocess.run([sys.executable, *flags, code], capture_output=True, text=True))
"""

DOCTEST = """\
'''
>>> show(0.5)
acc 0.5
'''
import doctest, sys
def show(acc): print("acc", acc)
for epoch in range(3): show(epoch / 4)
print(doctest.testmod()); sys.exit(7)
"""

FINDER = """\
import sys
from importlib.util import spec_from_file_location
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return spec_from_file_location(name, FLAT) if name == "flat" else None
sys.meta_path.append(Finder)
"""
