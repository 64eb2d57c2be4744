"""The page on single sources of randomness, and on ensembles of one run: Summers & Dinneen (2021), in small."""

from cells import is_number, measured, number, small, table

SUMMARY = """Which source of randomness makes runs differ, and does it matter which? One source varies at a time,
all others are held; at last one bit of one weight. Then two ways to less variability that cost no further training:
averaging the outputs of one run's snapshots at the ends of cosine cycles, and of augmented copies of the test
images. The published study is Summers & Dinneen (ICML 2021), ResNet-14 on CIFAR-10 with 100 runs of each; its
numbers are quoted here from the ML Reproducibility Challenge 2021 (MLRC), which ran it again. In small: a residual
network with three blocks on 600 made images of ten kinds of texture, 1,000 for testing."""

ROWS = {
    "init": ".22 / .0073 / 10.7 / .873 / 1.86",
    "shuffle": ".25 / .0083 / 10.7 / .871 / 1.86",
    "augment": ".22 / .0069 / 10.7 / .872 / 1.87",
    "dropout": "not studied",
    "one-bit": ".21 / .0067 / 10.6 / .874 / 1.82",
    "algo+impl": ".26 / .0080 / 10.7 / .871 / 1.84",
    "control": "0 / 0 / 0 / 1 / 0",
}
REDUCED = {
    "snapshots": ("AccEns, 5 cycles", "48", "40"),
    "flip": ("Flip", "21", "20"),
    "crop25": ("Crop25", "16", "17"),
    "flip_crop25": ("FlipCrop25", "33", "28"),
}
MEASURES = ("accuracy-sd", "cross-entropy-sd", "churn", "pearson", "ensemble-accuracy")
SHOWN = {
    "accuracy-sd": (2, 100),
    "cross-entropy-sd": (4, 1),
    "churn": (1, 100),
    "pearson": (3, 1),
    "ensemble-accuracy": (2, 100),
}
HEADS = ["SD acc, points", "SD CE", "disagreement, %", "correlation", "ensemble delta, points"]


def page(study):
    names = [it["variant"] for it in study.reports["one"]["experiments"]]
    rows = [[it, *_measures(study.captured("one", it)), study.metric("one", it, "test_accuracy")["n"]] for it in names]
    published = [[it, ROWS[it]] for it in names if it in ROWS]
    return (
        study.head("Study: one source at a time", SUMMARY)
        + "## One source at a time\n\nOn the test set after the last epoch. SDs with ddof 1 [95% interval, "
        "chi-square], of cross-entropy and of accuracy; the others are means over pairs of runs [95% interval, "
        "jackknife over runs].\n\n"
        + table(["varied", *HEADS, "n"], rows)
        + "\nPublished, MLRC's run of Table 1, n = 100, SDs with ddof 0, in the same order:\n\n"
        + table(["varied", "SD acc / SD CE / disagreement / correlation / delta"], published)
        + "\n" + study.figure("one", "forest", "test_accuracy")
        + study.figure("one", "churn-by-step", "test_accuracy")
        + "\n## One bit\n\n" + _bits(study, names)
        + "\n## Less variability from one run\n\n" + _reductions(study)
        + "\n## What appears, and what does not\n\n" + _findings(study, names)
    )  # fmt: skip


def _measures(found):
    by_name = {it["name"]: it for it in found["measures"]} if found else {}
    return [
        measured(by_name[it]["value"], by_name[it]["interval"], *SHOWN[it]) if it in by_name else "–" for it in MEASURES
    ]


def _value(study, variant, name):
    found = study.captured("one", variant)
    value = next((it["value"] for it in found["measures"] if it["name"] == name), None) if found else None
    return value if isinstance(value, float | int) else None


def _bits(study, names):
    noise = study.reports["one"]["noise"]
    lines = [
        f"- {it['variant']}: one bit was flipped in {it['n_flipped']} runs, and in {len(it['absorbed'])} of them the "
        "final weights are those of an unflipped run."
        for it in noise["absorption"]
    ]
    weights = {it: study.weights("one", it) for it in names}
    rows = [[it, small(found["distance"]["value"])] for it, found in weights.items() if found]
    return (
        "\n".join(lines)
        + "\n\nDistance of final weights, L2 after normalising to length 1, mean over pairs:\n\n"
        + table(["varied", "distance"], rows)
    )


def _found(study):
    """Reductions of the runs with cycles and, but for snapshots, of those without: experiment, name and figures."""
    for experiment in ("cycles", "one"):
        own = study.captured(experiment, "algo+impl")
        for it in own["reductions"] if own else []:
            if experiment == "cycles" or not it["name"].startswith("snapshots"):
                yield experiment, it["name"], it


def _reductions(study):
    rows = []
    for experiment, name, it in _found(study):
        by_name = {own["name"]: own for own in it["measures"]}
        published = REDUCED.get(name, ("–", "–", "–"))
        rows.append([
            f"{experiment}: {name}", it["n_members"] or "–",
            *(number(by_name[own]["value"], *SHOWN[own]) if own in by_name else "–" for own in MEASURES),
            measured(it["reduction"], it["reduction_interval"], 0, 100), " / ".join(published[1:]),
        ])  # fmt: skip
    if not rows:
        return "None was found.\n"
    note = (
        "Runs with all seeds free. Reduction: mean of the five relative reductions against the same run's single "
        "output [95% interval over runs]; published: original / MLRC, of the row of that name, with 25 crops where "
        "ours has 9.\n\n"
    )
    return note + table(["experiment: averaged", "outputs", *HEADS, "reduction, %", "published, %"], rows)


def _findings(study, names):
    churn = {it: _value(study, it, "churn") for it in names}
    single = {it: value for it, value in churn.items() if it in {"init", "shuffle", "augment", "dropout", "one-bit"}}
    told = ", ".join(f"{it} {number(value, 1, 100)}" for it, value in churn.items())
    lines = [f"- **Disagreement by source**, % of test examples: {told}."]
    whole = churn.get("algo+impl")
    if whole:
        close = [it for it, value in single.items() if value is not None and value > 0.8 * whole]
        short = [it for it in single if it not in close]
        lines.append(
            "- **One source is as much as all** (published: 10.6 to 10.7% for each): here within a fifth of what "
            f"all sources give, or above: {', '.join(close) or 'none'}; below: {', '.join(short) or 'none'}."
        )
        if short and study.size == "small":
            lines.append(
                "- **Where a source falls short**: a difference has 192 steps to grow here, and 49,000 in the "
                "published runs. The churn by epoch above shows whether it still grows at the end."
            )
    lines.append(
        f"- **Control**: {study.bitwise('one', 'control')}. Published: deterministic runs are identical. cuDNN alone "
        "(published row) is not here: there is no implementation noise on this CPU, so `algo+impl` is `algo`."
    )
    for experiment, name, it in _found(study):
        value, bounds = it["reduction"], it["reduction_interval"]
        if is_number(value):
            is_clear = isinstance(bounds, dict) and bounds.get("low", 0) > 0
            told = "the effect appears" if is_clear else "these runs do not tell it from none"
            lines.append(
                f"- **{name}** ({experiment}): variability less by {measured(value, bounds, 0, 100)}%; {told}."
            )
    return "\n".join(lines) + "\n"
