"""The page on algorithmic and implementation factors: Zhuang et al. (2022), in small."""

from cells import is_number, measured, number, small, spread, table

SUMMARY = """How much of the spread comes from seeds and how much from kernels, what does batch norm change, who
bears it, and what does determinism cost? The published study is Zhuang, Zhang, Song, Hooker (2021): a small CNN and
ResNets on CIFAR-10, CIFAR-100, CelebA and ImageNet, 10 runs of each (ImageNet 5), on several GPUs and a TPU. In
small: the same small CNN on 1,000 made images of ten kinds of texture, 1,000 for testing; made portraits of which
the composition is that of CelebA; a medium CNN of six convolutions, narrower and on smaller images."""

FOUR = ("algo+impl", "algo", "impl", "control")
NORMS = {"none": "without batch norm", "batch": "with batch norm"}
TABLE_2 = [
    ["P100", "62.28 ± 0.83", "61.44 ± 0.41", "61.61 ± 0.31"],
    ["RTX5000", "62.24 ± 0.64", "62.13 ± 0.85", "62.36 ± 0.16"],
    ["V100", "62.03 ± 0.91", "62.35 ± 0.61", "61.69 ± 0.31"],
]
TABLE_5 = {
    "All": (".045", ".077", ".537"),
    "Male": (".049 (1.07)", ".039 (0.50)", "2.475 (4.60)"),
    "Female": (".062 (1.36)", ".133 (1.71)", ".527 (0.98)"),
    "Young": (".050 (1.10)", ".077 (1.00)", ".585 (1.08)"),
    "Old": (".151 (3.31)", ".122 (1.57)", ".815 (1.51)"),
}
RATES = ("accuracy", "false_positive_rate", "false_negative_rate")


def page(study):
    return (
        study.head("Study: algorithmic and implementation factors", SUMMARY)
        + "## Four variants, with and without batch norm\n\n" + _variants(study)
        + "\nPublished, Table 2, the small CNN on CIFAR-10 without batch norm, test accuracy in %, mean ± SD (ddof "
        "0), "
        "n = 10:\n\n" + table(["device", "algo+impl", "algo", "impl"], TABLE_2)
        + "\nPublished on batch norm: it takes the SD of the small CNN from 0.86 to 0.30 (0.91 in Table 2 for the "
        "set without: the paper disagrees with itself).\n\n"
        + study.figure("norm-none", "estimation", "test_accuracy")
        + study.figure("norm-batch", "estimation", "test_accuracy")
        + "\n## Sub-groups\n\n" + _groups(study)
        + "\n## The order of the examples alone\n\n" + _order(study)
        + "\n## What determinism costs\n\n" + _overhead(study)
        + "\n## What appears, and what does not\n\n" + _findings(study)
    )  # fmt: skip


def _variants(study):
    rows = []
    for norm, words in NORMS.items():
        for variant in FOUR:
            metric = study.metric(f"norm-{norm}", variant, "test_accuracy")
            found, weights = study.captured(f"norm-{norm}", variant), study.weights(f"norm-{norm}", variant)
            widest = max((it["ratio"] for it in found["classes"] if is_number(it["ratio"])), default=None)
            rows.append([
                f"{words}: {variant}", spread(metric), _measure(found, "churn", 1, 100),
                measured(weights["distance"]["value"], weights["distance"]["interval"], 3), number(widest, 1),
                metric["n"],
            ])  # fmt: skip
    note = (
        "Mean ± SD of test accuracy (ddof 1) [95% interval, chi-square]; churn and L2 of normalised weights, means "
        "over pairs [95% interval, jackknife over runs]; the largest SD of a class over that of the accuracy.\n\n"
    )
    return note + table(["network: variant", "test accuracy, %", "churn, %", "L2", "class SD ratio", "n"], rows)


def _measure(found, name, digits, scale):
    it = next((it for it in found["measures"] if it["name"] == name), None) if found else None
    return measured(it["value"], it["interval"], digits, scale) if it else "–"


def _group_rows(study):
    found = study.captured("groups", "algo+impl")
    return found["groups"] if found else []


def _groups(study):
    rows, composition = [], []
    for it in _group_rows(study):
        cells = []
        for rate in RATES:
            own = it[rate]
            ratio = f" ({number(own['ratio'])})" if "ratio" in own else ""
            cells.append(f"{number(own.get('sd'), 3, 100)}{ratio}")
        rows.append([it["value"], *cells, *(TABLE_5.get(it["value"], ("–",) * 3))])
        composition.append([it["value"], it["n_positive"], it["n_negative"], number(it["share"], 1, 100)])
    if not rows:
        return "No sub-groups were found on record.\n"
    heads = ["group", "accuracy", "FPR", "FNR", "published accuracy", "published FPR", "published FNR"]
    n = study.metric("groups", "algo+impl", "test_accuracy")["n"]
    return (
        f"Default runs, n = {n}: SD over runs in points (ddof 1) and its ratio to that of all examples. Published: "
        "Table 5, ALGO+IMPL, n = 10, SDs with ddof 0, ratios as printed.\n\n"
        + table(heads, rows)
        + "\nComposition of our test set; published, training set: positive are 0.8% men, 14.1% women.\n\n"
        + table(["group", "positive", "negative", "% of examples"], composition)
    )


def _order(study):
    rows = []
    for row in study.reports["order"]["rows"]:
        by_name = {(it["set_name"], it["measure"]["name"]): it["measure"] for it in row["measures"]}
        churn, distance = by_name.get(("test", "churn")), by_name.get(("", "weight-distance"))
        rows.append([
            row["value"], f"{number(row['mean'])} ± {measured(row['sd'], row['sd_interval'])}",
            measured(churn["value"], churn["interval"], 2, 100) if churn else "–",
            small(distance["value"]) if distance else "–", len(row["scores"]),
        ])  # fmt: skip
    note = (
        "All is held but the order (`shuffle`), network with batch norm. The last size is the whole training set: "
        "every order then adds up the same numbers, in another order. Fewer steps are taken with larger batches.\n\n"
    )
    return note + table(["batch size", "test accuracy, %", "churn, %", "L2 of weights", "n"], rows)


def _overhead(study):
    published = {"1": "284 / 129 / 117", "7": "746 / 241 / 196"}
    rows = []
    for kernel in ("1", "3", "5", "7"):
        report = study.reports[f"kernel-{kernel}"]
        by_name = {it["quantity"]: it for it in report["factors"]}
        cells = [
            measured(by_name[it]["factor"], by_name[it]["interval"], 0, 100) if it in by_name else "–"
            for it in ("run", "step", "kernels")
        ]
        rows.append([f"{kernel} × {kernel}", *cells, report["n_held"], published.get(kernel, "between")])
    note = (
        "Time with deterministic kernels over time with default ones, in %: 100 is free of charge [95% interval, "
        "Fieller or bootstrap, as the report says]. Published: kernel time of 100 steps on P100 / V100 / T4, ranges "
        "over sizes 1 to 7; that the ends belong to sizes 1 and 7 is our reading.\n\n"
    )
    return note + table(["kernels", "whole run", "epoch", "operators", "n of each", "published"], rows)


def _findings(study):
    lines = [
        (
            f"- **CONTROL**: {study.bitwise('norm-none', 'control')} without and "
            f"{study.bitwise('norm-batch', 'control')} with batch norm: SD, churn and L2 are 0, as they must be (the "
            "paper does not show it)."
        ),
        f"- **IMPL**: {study.bitwise('norm-none', 'impl')} without and {study.bitwise('norm-batch', 'impl')} with "
        "batch norm. "
        + (
            "The published effect, IMPL as noisy as ALGO, does not appear: on a CPU with a fixed number of threads "
            "these networks have no kernel that adds up in no fixed order. It is no small SD, it is the same run. "
            "The study of identical runs shows implementation noise on a CPU, with a network that was chosen for it."
            if "equal" in study.bitwise("norm-none", "impl")
            else "The published effect appears."
        ),
    ]
    plain, normed = (study.metric(f"norm-{it}", "algo+impl", "test_accuracy") for it in NORMS)
    if is_number(plain["sd"]) and is_number(normed["sd"]) and normed["sd"]:
        is_apart = plain["sd_interval"].get("low", 0) > normed["sd_interval"].get("high", 0)
        lines.append(
            f"- **Batch norm**: SD of the default runs {number(plain['sd'])} without and {number(normed['sd'])} "
            f"with it, "
            f"ratio {number(plain['sd'] / normed['sd'])}; published .86 to .30, ratio 2.9. "
            + (
                "The effect appears: the intervals of the SDs lie apart"
                if is_apart
                else "The intervals of the SDs overlap"
            )
            + "; the accuracies differ too, and with them the room for spread."
        )
    missed = next((it["false_negative_rate"] for it in _group_rows(study) if it["value"] == "Male"), {})
    if is_number(missed.get("ratio")):
        low = missed["ratio_interval"].get("low", 0)
        lines.append(
            f"- **Rare positives**: the SD of the FNR among men is "
            f"{measured(missed['ratio'], missed['ratio_interval'])} times "
            f"that of all (95% interval, bootstrap over runs); published 4.60. The effect "
            f"{'appears' if low > 1 else 'is not told from none by these runs'}: with a handful of positive men "
            f"each is a "
            "large step of the rate."
        )
    order = study.reports["order"]["rows"]
    if order:
        churn = [
            next((it["measure"]["value"] for it in row["measures"] if it["measure"]["name"] == "churn"), None)
            for row in (order[0], order[-1])
        ]
        lines.append(
            f"- **Order alone**: churn {number(churn[0], 2, 100)}% at batch size {order[0]['value']} and "
            f"{number(churn[1], 2, 100)}% at {order[-1]['value']}, the whole set, where models should agree "
            "mathematically. "
            + ("They agree on every test example" if churn[1] == 0 else "Rounding alone makes them differ")
            + "; the distance of their weights is what rounding leaves."
        )
    lines.append(
        "- **Overhead**: published factors are those of GPU kernels. On a CPU most operators have one version, so a "
        "factor near 100% says that there was nothing to switch; what is above comes from filling new memory, which "
        "PyTorch does in its deterministic mode, and from the load of the machine."
    )
    return "\n".join(lines) + "\n"
