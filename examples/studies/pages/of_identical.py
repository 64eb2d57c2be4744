"""The page on identical training runs: Pham et al. (2020), in small."""

from cells import is_number, measured, number, spread, table

SUMMARY = """How far apart do runs of one program end, on one machine? Default runs vary every seed and leave the
kernels as they come; fixed-seed runs hold every seed. The published study is Pham et al. (ASE 2020): three data
sets, six networks, TensorFlow, CNTK and Theano with several versions of cuDNN. In small: one network on digits, 718
for training, 269 for validation, 810 for testing, in PyTorch on two threads.

On a CPU most programs repeat themselves bit by bit at a fixed number of threads. This network looks its 17 grey
levels up in a table of learned vectors, `levels[pixels]`, and the gradient of that table adds up one row per pixel:
with two threads in no fixed order. It was chosen to show what implementation noise looks like, where there is no
GPU."""

LABELS = {"algo+impl": "default (`algo+impl`)", "impl": "fixed seed (`impl`)"}


def page(study):
    return (
        study.head("Study: identical training runs", SUMMARY)
        + "## Accuracy\n\nMean ± SD over runs (ddof 1) [95% interval of the SD, chi-square].\n\n"
        + table(["runs", "test accuracy, %", "range, points", "n"], [_accuracy(study, it) for it in LABELS])
        + "\n"
        + _weak(study)
        + study.figure("lookup", "estimation", "test_accuracy")
        + "\n## Classes\n\nShare of the test examples of a class that a run gets right: the class with the widest "
        "range.\n\n"
        + table(
            ["runs", "widest class", "of so many examples", "range, points", "SD [95% interval]", ("expected of "
            "the widest")],
            [_classes(study, it) for it in LABELS],
        )
        + "\nThe last column is the largest range that ten classes of these sizes would show if all had the same "
        "spread.\n\n"
        + table(["runs", "churn, % of examples", "L2 of weights"], [_pairs(study, it) for it in LABELS])
        + "\nMeans over pairs of runs [95% interval, jackknife over runs].\n\n"
        + study.figure("lookup", "classes-of-test-algo", "test_accuracy")
        + study.figure("lookup", "classes-of-test-impl", "test_accuracy")
        + "\n## Time and epochs to convergence\n\n" + _convergence(study)
        + "\n## Beside the published numbers\n\n" + _published(study)
        + "\n## What appears, and what does not\n\n" + _findings(study)
    )  # fmt: skip


def _accuracy(study, variant):
    metric = study.metric("lookup", variant, "test_accuracy")
    return [LABELS[variant], spread(metric), number(metric["range"]), metric["n"]]


def _weak(study):
    lines = []
    for it in study.reports["lookup"]["stability"]["weak"]:
        name = study.reports["lookup"]["experiments"][it["experiment"]]["variant"]
        lines.append(
            f"- {LABELS.get(name, name)}, {it['rule']}: {len(it['excluded'])} runs excluded; range "
            f"{number(it['range_all'])} points with them and {number(it['range_kept'])} without, SD "
            f"{number(it['sd_all'])} and {number(it['sd_kept'])}."
        )
    return (
        "Weak models, by a rule that was chosen after a few pilot runs and before these "
        "(`--weak-below test_accuracy=60`):\n\n" + ("\n".join(lines) + "\n\n" if lines else "none was excluded.\n\n")
    )


def _widest(study, variant):
    found = study.captured("lookup", variant)
    return (found, max(found["classes"], key=lambda it: it["range"])) if found and found["classes"] else (None, None)


def _classes(study, variant):
    found, widest = _widest(study, variant)
    if widest is None:
        return [LABELS[variant], *["–"] * 5]
    return [
        LABELS[variant], f"digit {widest['label']}", widest["n_examples"], number(widest["range"], 1, 100),
        measured(widest["sd"], widest["sd_interval"], 1, 100), number(found["expected_largest_range"], 1, 100),
    ]  # fmt: skip


def _pairs(study, variant):
    found, weights = study.captured("lookup", variant), study.weights("lookup", variant)
    churn = next((it for it in found["measures"] if it["name"] == "churn"), None) if found else None
    return [
        LABELS[variant],
        measured(churn["value"], churn["interval"], 2, 100) if churn else "–",
        measured(weights["distance"]["value"], weights["distance"]["interval"], 3) if weights else "–",
    ]


def _rows(study, variant):
    place = study.variant("lookup", variant)[0]
    found = [it for it in study.reports["lookup"]["stability"]["convergence"] if it["experiment"] == place]
    return found[0]["rows"] if found else []


def _convergence(study):
    rows = []
    for variant, label in LABELS.items():
        for row in _rows(study, variant):
            steps = [it for it in row["steps"] if it is not None]
            rows.append([
                f"{label}: {row['criterion']}", f"{len(steps)} of {len(row['steps'])}",
                f"{min(steps)} … {max(steps)}" if steps else "–", number(row["steps_relative_range"], 1, 100),
                f"{number(row['seconds_mean'], 2)} ± {number(row['seconds_sd'], 2)}",
                number(row["seconds_relative_range"], 1, 100),
            ])  # fmt: skip
    heads = ["runs: criterion", "got there", "epochs", "difference, %", "seconds ± SD", "difference, %"]
    note = "Difference: 100 (max − min) / min. Seconds since the start of the run, imports included.\n\n"
    return note + table(heads, rows)


def _published(study):
    def most(variant, key):
        values = [row[key] for row in _rows(study, variant) if is_number(row[key])]
        return number(max(values), 1, 100) if values else "–"

    accuracy = {it: number(study.metric("lookup", it, "test_accuracy")["range"]) for it in LABELS}
    classes = {it: number((_widest(study, it)[1] or {}).get("range"), 1, 100) for it in LABELS}
    seconds = most("impl", "seconds_relative_range") if study.is_quiet else "not told, see below"
    rows = [
        ["accuracy, default, all models", accuracy["algo+impl"], "–"],
        ["accuracy, default, without weak models", _kept(study), "10.8"],
        ["accuracy, fixed seed", accuracy["impl"], "2.9"],
        ["accuracy of a class, default", classes["algo+impl"], "–"],
        ["accuracy of a class, fixed seed", classes["impl"], "52.4"],
        ["time to convergence, fixed seed, %", seconds, "145.3"],
        ["epochs to convergence, fixed seed, %", most("impl", "steps_relative_range"), "–"],
    ]
    return (
        "Largest differences between two runs, in points unless it says else; published: the largest over all "
        "networks, data sets and libraries (the formula behind 145.3% is not published; ours is above), ours: of "
        "one "
        "program.\n\n" + table(["largest difference", "ours", "published"], rows)
    )


def _kept(study):
    report = study.reports["lookup"]
    found = [
        it for it in report["stability"]["weak"] if report["experiments"][it["experiment"]]["variant"] == "algo+impl"
    ]
    return number(found[0]["range_kept"]) if found else "–"


def _findings(study):
    fixed, widest = study.metric("lookup", "impl", "test_accuracy"), _widest(study, "impl")[1]
    ratio = widest["range"] * 100 / fixed["range"] if widest and fixed["range"] else None
    lines = [
        f"- **Fixed-seed runs**: {study.bitwise('lookup', 'impl')}; test accuracy spans {number(fixed['range'])} "
        "points. "
        + (
            "The published effect appears, and the lookup is its one cause here: see the next line."
            if fixed["range"]
            else "The published effect does not appear here."
        ),
        (
            "- **The same network without the lookup** (`--input scale`): fixed seed, "
            f"{study.bitwise('scale', 'impl')}; control, {study.bitwise('scale', 'control')}. On a CPU there is then "
            "no implementation noise: not a small SD, but the same bits."
        ),
    ]
    if ratio:
        lines.append(
            f"- **Classes differ more than the whole**: the widest class spans {number(ratio, 1)} times the range of "
            "the accuracy over all classes. Published: 52.4 against 2.9 points. The largest of ten ranges is biased "
            "upward; the column beside says by how much."
        )
    if study.is_quiet:
        lines.append(
            "- **Time**: differs with the machine and with the epoch at which a criterion holds. Published times are "
            "those of GPUs."
        )
    else:
        lines.append(
            f"- **Time**: other work ran beside these runs (load {study.load} before the first), so the seconds above "
            "are those of a busy machine and say nothing about the program; epochs are not touched by it."
        )
    lines.append(
        "- **Not covered**: other libraries and versions (`--python` compares them), more than one network. The "
        "columns of the published artifact are an export: `deviate report NAME --dl-variance FOLDER`."
    )
    return "\n".join(lines) + "\n"
