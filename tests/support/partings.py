"""Findings of each kind that `deviate diverge` can come to, made of numbers."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

from deviate.diverge.findings import (
    Cause,
    CodeLine,
    Confirmation,
    Difference,
    DivergenceFindings,
    Growth,
    InputDifference,
    RungFindings,
    Ulps,
)

SOURCE = """\
for epoch in range(12):
    for images, labels in loader:
        features = torch.zeros(n_words, 16)
        features.index_put_((words,), images, accumulate=True)
        y = table[index]
        loss = criterion(y, labels)
        loss.backward()
        optimizer.step()
    print("val_acc", evaluate(model))
""".splitlines()
FIRST_LINE = 37


def place(line: int, file: str = "train.py") -> CodeLine:
    """A line of the program above."""
    return CodeLine(file, line, SOURCE[line - FIRST_LINE].strip(), tuple(SOURCE), FIRST_LINE)


LINE, BACKWARD = place(41), place(43)
ONE_ULP = Ulps(1, 12, 2048, 1.1920929e-07, 1.2e-07, "float32[2048]")
INDEX_PUT = Cause(
    "index-put",
    "index_put adds up in the order in which threads arrive",
    "the first operation that differs is aten.index_put.default with accumulate=True, on 2 threads",
    "ask for deterministic algorithms\ntorch.use_deterministic_algorithms(True)",
    places=(LINE,),
    source="https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html",
    certainty="suspected",
)
THREADS = dataclasses.replace(
    INDEX_PUT, id="threads", title="sums depend on the number of threads", certainty="suspected", places=()
)


def growing(begin: int = 3, n: int = 120, *, name: str = "loss") -> Growth:
    """A loss that is equal up to a step, then apart by one ulp and by more with each step."""
    steps = tuple(range(n))
    first = tuple(2.3 * math.exp(-step / 60) for step in steps)
    apart = tuple(0.0 if step < begin else 1.2e-07 * math.exp((step - begin) / 9.5) for step in steps)
    second = tuple(value + difference for value, difference in zip(first, apart, strict=True))
    return Growth(name, "update", steps, tuple(map(abs, apart)), first, second)


def rungs(difference: Difference, *, n: int = 4) -> tuple[RungFindings, ...]:
    """The first rungs of the ladder, each with the same difference as far as it shows it."""
    there = (
        RungFindings("metrics", 2, 120, 156, 0, None, 31.4),
        RungFindings("steps", 2, 14, 1210, 0, 14, 6.2),
        RungFindings("modules", 2, 4, 3018, 2, 4, 4.1),
        RungFindings("operations", 2, 4, 9034, 2, 4, 4.4),
    )
    return tuple(dataclasses.replace(it, difference=dataclasses.replace(difference, rung=it.rung)) for it in there[:n])


def operation(**changes: object) -> Difference:
    """The backward pass of an indexing, in a module."""
    plain = Difference(
        "operations", "backward", 3, 0, "operation", "aten.index_put.default", 0, 0, "embed", "float32[2048]", LINE,
        ulps=ONE_ULP, n_equal=9022, more={"backward": True, "called": BACKWARD},
    )  # fmt: skip
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def findings(**changes: object) -> DivergenceFindings:
    """Two runs that are equal."""
    plain = DivergenceFindings(
        name="train-diverge",
        command=("/usr/bin/python3", "train.py", "--epochs", "12"),
        variant="control",
        runs=("run 1", "run 2"),
        is_equal=True,
        what="metrics, losses, weights",
        n_steps=120,
        n_metrics=3,
        n_values=36,
        weights="equal",
        rungs=(RungFindings("metrics", 2, 120, 156, 0, None, 31.4),),
        growth=(growing(begin=120),),
        facts=(("python", "3.11.9"), ("torch", "2.13.0"), ("device", "cpu"), ("threads", "2")),
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def parted(difference: Difference | None = None, n_rungs: int = 4, **changes: object) -> DivergenceFindings:
    """Two runs that part, by default in the backward pass of an indexing."""
    found = difference or operation()
    own = {
        "is_equal": False,
        "weights": "differ",
        "rungs": rungs(found, n=n_rungs),
        "growth": (growing(),),
        "causes": (INDEX_PUT, THREADS),
    }
    return findings(**{**own, **changes})


def equal() -> DivergenceFindings:
    return findings()


def within_tolerance() -> DivergenceFindings:
    return findings(tolerance_ulps=4, runs=("python3.11", "/opt/py312/bin/python"), what="metrics, losses")


def backward() -> DivergenceFindings:
    """With a cause, and what trying its switch showed."""
    tried = Confirmation(
        "with deterministic kernels",
        is_equal=True,
        n_steps=120,
        what="equal over 120 updates: metrics, losses, weights",
    )
    proved = dataclasses.replace(INDEX_PUT, certainty="proved")
    return parted(variant="impl", causes=(proved, THREADS), confirmations=(tried,))


def inputs() -> DivergenceFindings:
    """A listing in another order, what follows from it, and readings of the clock; the cures were tried together."""
    listing = InputDifference(
        "listing", "os.listdir('data')", place(37), 0, None, ("3 names: a, b, c", "3 names: c, a, b"), is_upstream=True
    )
    found = (
        listing,
        InputDifference("clock", "time.time()", place(38), 0, None, ("1.5", "9.5"), is_upstream=True),
        InputDifference("environment", "os.environ['SCALE']", place(39), 0, 0, ("not set", "2"), is_upstream=True),
        InputDifference("file", "open('c.npy')", place(40), 0, 0, ("", "8 bytes"), only_in=2, is_upstream=True),
        InputDifference("completion", "as_completed", place(41), 3, 1, ("order 0, 1", "order 1, 0")),
    )
    cause = Cause(
        "file-order", "files in the order of the file system", "os.listdir('data') gave 3: a, b, c in run 1",
        "sort the file names\nsorted(os.listdir('data'))", (listing.place,), "", "proved",
    )  # fmt: skip
    tried = (
        Confirmation(
            "with sorted listings",
            is_equal=False,
            n_steps=12,
            what="loss still differs; os.environ['SCALE'] differs",
        ),
        Confirmation(
            "with sorted listings and the same numbers at train.py:39",
            is_equal=True,
            n_steps=120,
            what="equal",
        ),
    )
    return parted(order().first, 2, inputs=found, causes=(cause, THREADS), confirmations=tried)


def metrics_alone() -> DivergenceFindings:
    value = Difference(
        "metrics", "metric", 30, 3, "metric", "val_acc", values=(0.9375, 0.9376), n_equal=3,
        ulps=Ulps(450359962737, 1, 1, 1e-4, 1.1e-4, "float64"),
    )  # fmt: skip
    again = RungFindings("steps", 6, 120, 9000, 0, None, 44.0, why_not="the difference of the level "
                         "before did not appear again in 3 further pairs: the noise is intermittent")  # fmt: skip
    return parted(value, 1, rungs=(*rungs(value, n=1), again), growth=(), causes=())


def final_weights() -> DivergenceFindings:
    end = Difference("metrics", "update", None, None, "weights", "final weights")
    return parted(end, 1, growth=(growing(begin=120),), causes=())


def initial_weights() -> DivergenceFindings:
    it = Difference(
        "steps", "initial", 0, None, "weights", "embed.weight", form="float32[100,16]",
        ulps=Ulps(None, 1600, 1600, 3.1, 2.0, "float32[100,16]"),
    )  # fmt: skip
    seed = Cause("unseeded", "the script draws weights before it seeds", "no seed is set before the first weights "
                 "are drawn", "seed first\ntorch.manual_seed(0)", certainty="suspected")  # fmt: skip
    return parted(it, 2, variant="as-is", causes=(seed,))


def random_state() -> DivergenceFindings:
    it = Difference("steps", "random", 5, 1, "state", "numpy", n_equal=60)
    time_seed = Cause("time-seed", "a seed from the clock", "train.py:37 seeds numpy with the time",
                      "take a fixed number", places=(place(37),), certainty="suspected")  # fmt: skip
    return parted(it, 2, causes=(time_seed,))


def order() -> DivergenceFindings:
    it = Difference("steps", "order", 3, 0, "batch", "input", form="float32[32,64]", place=place(38), n_equal=41)
    return parted(it, 2, causes=())


def data() -> DivergenceFindings:
    it = Difference("steps", "data", 3, 0, "batch", "input.image", form="float32[32,64]", ulps=ONE_ULP, n_equal=41)
    return parted(it, 2, causes=())


def module() -> DivergenceFindings:
    """The ladder ends early, with a reason."""
    it = Difference("modules", "forward", 3, 0, "module", "layers.0.conv", 1, module="layers.0.conv",
                    form="float32[32,8,6,6]", place=place(42), ulps=dataclasses.replace(ONE_ULP, most=37),
                    n_equal=322)  # fmt: skip
    ended = RungFindings("operations", why_not="the model is compiled, which hides its operations")
    return parted(it, 3, rungs=(*rungs(it, n=3), ended), causes=())


def forward_operation() -> DivergenceFindings:
    it = operation(phase="forward", name="aten.add.Tensor", place=place(39), ordinal=2,
                   more={"reads": "partly uninitialised"}, module="")  # fmt: skip
    return parted(it, causes=(THREADS,))


def update() -> DivergenceFindings:
    it = Difference("steps", "update", 3, 0, "update", "fc.weight", form="float32[10,64]", ulps=ONE_ULP, n_equal=77)
    return parted(it, 2, causes=())


def another_way() -> DivergenceFindings:
    it = operation(phase="program", name="aten.mul.Tensor", place=place(39), only_in=2, ulps=None, module="",
                   instead="operation aten.addmm.default", more={"during": "forward"})  # fmt: skip
    return parted(it, causes=())


def ranks() -> DivergenceFindings:
    first = Difference("steps", "forward", 3, 0, "forward", "output", rank=1, form="float32[8,2]", ulps=ONE_ULP,
                       n_equal=33)  # fmt: skip
    zero = dataclasses.replace(first, rank=0, phase="backward", kind="gradient", name="module.fc.weight")
    climbed = [dataclasses.replace(it, by_rank=(zero, first)) for it in rungs(first, n=2)]
    return parted(first, rungs=tuple(climbed), ranks=4, causes=(),
                  command=("torchrun", "--nproc-per-node", "4", "train.py"))  # fmt: skip


def recorded() -> DivergenceFindings:
    loss = Difference("metrics", "loss", 3, 0, "loss", "loss", values=(2.1878, 2.1879), n_equal=3)
    climbed = dataclasses.replace(rungs(loss, n=1)[0], n_runs=0, wall_time_s=0.0)
    ended = RungFindings("steps", why_not="recorded runs keep no traces; deviate diverge train.py makes runs that do")
    return parted(loss, rungs=(climbed, ended), causes=(), name="train", runs=("train:0", "train:4"),
                  notes=("run train:4 crashed: exit code 1; compared up to that point",))  # fmt: skip


def crashed() -> DivergenceFindings:
    note = "run 2 crashed: exit code 1: ValueError: loss is NaN; compared up to that point"
    return findings(is_equal=None, n_steps=3, n_values=2, weights="not reached", notes=(note,))


def nothing() -> DivergenceFindings:
    why = (
        "nothing could be compared: the runs recorded no reported value, loss or weights; "
        "print a result, or name one in deviate.toml"
    )
    return findings(is_equal=None, what="", n_steps=0, n_metrics=0, n_values=0, weights="not reached", rungs=(),
                    growth=(), notes=(why,))  # fmt: skip


CASES: dict[str, Callable[[], DivergenceFindings]] = {
    it.__name__: it
    for it in (
        equal, within_tolerance, backward, metrics_alone, final_weights, initial_weights, random_state, order, data,
        module, forward_operation, update, another_way, ranks, recorded, crashed, nothing, inputs,
    )
}  # fmt: skip


def spoken(texts: Sequence[str]) -> DivergenceFindings:
    """Texts in turn wherever a script, its files or its runs can put one."""
    say = itertools.cycle(texts).__next__
    at = CodeLine(say(), 3, say(), (say(), say(), say()), 2)
    difference = Difference(
        "operations", "program", 3, 1, "operation", say(), 1, 1, say(), say(), at, (1.0, 2.0), 1, say(), ONE_ULP, 4,
        {"reads": say(), "called": dataclasses.replace(at, line=2, text=say()), "during": say()},
    )  # fmt: skip
    cause = Cause("x", say(), say(), f"{say()}\n{say()}", (at,), say())
    entered = InputDifference("listing", say(), at, 0, 0, (say(), say()), is_upstream=True)
    rungs = tuple(
        dataclasses.replace(it, difference=difference, by_rank=(difference, dataclasses.replace(difference, rank=0)))
        for it in backward().rungs[:3]
    )
    ended = dataclasses.replace(module().rungs[-1], why_not=f"x {say()}")
    return findings(
        name=say(), command=("x", say(), say()), variant=say(), runs=(say(), say()), is_equal=False, what=say(),
        rungs=(*rungs, ended), growth=(dataclasses.replace(growing(0, 4), name=say()),), ranks=2,
        causes=(cause, dataclasses.replace(cause, title=say())),
        confirmations=(Confirmation(say(), is_equal=False, n_steps=1, what=say()),),
        notes=(say(), say(), say()), facts=((say(), say()),), inputs=(entered, dataclasses.replace(entered, only_in=1)),
    )  # fmt: skip
