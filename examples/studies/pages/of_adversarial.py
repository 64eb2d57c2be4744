"""The page on adversarial training: DEVIATE (Pham et al. 2021), Table I, in small."""

from cells import number, spread, table

import deviate

PUBLISHED = [
    ["ResNet32, FGSM", "5.1 / 1.7 / 93.6", "2.0 / 0.7 / 87.8", "below 0.1"],
    ["WRN32-10, FGSM", "1.1 / 0.4 / 96.2", "1.1 / 0.3 / 91.4", "below 0.1"],
]
SUMMARY = """Does a small or a wide network defend itself better, and could one run of each have told? Two residual
networks are trained on attacked digits, by FGSM or by PGD, and tested on natural images and under both attacks. The
published study is Pham, Kim, Tan, Yu, Nagappan (ASE 2021), Table I: {ResNet32, WRN32-10} × {FGSM, PGD} on CIFAR-10,
8 fixed-seed runs each. In small: two residual networks of other widths, 1,347 digits for training and 450 for
testing."""


def page(study):
    free = dict.fromkeys(("small-fgsm", "wide-fgsm", "small-pgd", "wide-pgd"), "algo+impl")
    rows = [_row(study, name, variant) for name, variant in free.items()]
    fixed = [_row(study, name, "impl") for name in ("small-fgsm", "wide-fgsm")]
    heads = ["network, attack in training", "under FGSM, %", "natural, %", "under PGD, %", "n"]
    return (
        study.head("Study: adversarial training", SUMMARY)
        + "## Test accuracy over default runs\n\nMean ± SD over runs (ddof 1) [95% interval of the SD, chi-square]; "
        "all seeds vary.\n\n" + table(heads, rows)
        + "\n## Over fixed-seed runs\n\nThe setting that was published: all seeds held, kernels as they come "
        "(`impl`).\n\n"
        + table(heads, fixed)
        + "\n## Published, DEVIATE Table I\n\nRange / SD / mean over 8 fixed-seed runs, in %, of test accuracy (SDs "
        "with "
        "ddof 1).\n\n" + table(["network, attack in training", "under FGSM", "natural", "under PGD"], PUBLISHED)
        + "\n" + study.figure("small-fgsm", "estimation", "test_under_pgd")
        + "\n## Small against wide\n\n" + _comparison(study)
        + "\n## What appears, and what does not\n\n" + _findings(study)
    )  # fmt: skip


def _row(study, name, variant):
    metrics = [study.metric(name, variant, f"test_{it}") for it in ("under_fgsm", "natural_accuracy", "under_pgd")]
    return [name.replace("-", ", ").replace("fgsm", "FGSM").replace("pgd", "PGD"),
            *(spread(it) for it in metrics), metrics[0]["n"]]  # fmt: skip


def _comparison(study):
    """What deviate says of the two networks, and how often a single run of each would have said otherwise."""
    names = [f"{study.prefix}-{it}" for it in ("small-fgsm", "wide-fgsm")]
    results = deviate.compare(*names, metric="test_under_fgsm", direction="max")
    small, wide = (_scores(study, it, "test_under_fgsm") for it in ("small-fgsm", "wide-fgsm"))
    n_wide = sum(b > a for a in small for b in wide)
    return (
        f"> {results.sentence}\n\nOf the {len(small) * len(wide)} pairs of one default run of each, the wide "
        f"network has "
        f'the higher accuracy under FGSM in {n_wide}. Published, of rows 1 and 3: p < 0.05, d "3"; from the '
        f"printed "
        "means and SDs d is 2.11 (unweighted pool), and the best run of the one is below the worst of the other.\n"
    )


def _findings(study):
    by_fgsm = study.metric("small-fgsm", "algo+impl", "test_under_fgsm")
    lines = []
    for name in ("small-fgsm", "wide-fgsm"):
        natural, fgsm, pgd = (
            _scores(study, name, f"test_{it}") for it in ("natural_accuracy", "under_fgsm", "under_pgd")
        )
        n = len(pgd)
        leaking = sum(a > b for a, b in zip(fgsm, natural))
        fallen = sum(a < 10 <= b for a, b in zip(pgd, fgsm))
        lines.append(
            f"- **Catastrophic overfitting**, {name}: in {fallen} of {n} runs accuracy under PGD is below 10%, what "
            f"guessing gives, while under FGSM it is not (lowest under PGD {number(min(pgd))}%, highest "
            f"{number(max(pgd))}%). Published: below 0.1% for both networks."
        )
        lines.append(
            f"- **Label leaking**, {name}: in {leaking} of {n} runs accuracy under FGSM is above that on natural "
            "images. Published: 93.6% above 87.8%, and 96.2% above 91.4%."
        )
    for name in ("small-pgd", "wide-pgd"):
        pgd, fgsm = _scores(study, name, "test_under_pgd"), _scores(study, name, "test_under_fgsm")
        lines.append(
            f"- **Training on PGD**, {name}: under PGD {number(min(pgd))} to {number(max(pgd))}%, under FGSM "
            f"{number(min(fgsm))} to {number(max(fgsm))}%. The attack that the network was not trained on tells "
            "whether it is robust."
        )
    lines += [
        (
            "- **Spread of the robust accuracy**: over default runs the range of accuracy under FGSM is "
            f"{number(by_fgsm['range'])} points for the small network; published over fixed-seed runs 5.1 points. "
            "They are not the same quantity: ours vary seeds, and fewer test images (450) alone make a step of 0.22 "
            "points."
        ),
        f"- **Fixed seeds**: {study.bitwise('small-fgsm', 'impl')} (small), {study.bitwise('wide-fgsm', 'impl')} "
        "(wide). "
        + (
            "The published spread over fixed-seed runs comes from kernels of a GPU that add up in no fixed order. "
            "On a CPU with a fixed number of threads these programs have no such kernels, so there is no "
            "implementation noise and no small SD either: the runs are the same run."
            if "equal" in study.bitwise("small-fgsm", "impl")
            else "Kernels that add up in no fixed order make them differ."
        ),
    ]
    return "\n".join(lines) + "\n"


def _scores(study, name, metric):
    return [it["score"] for it in study.metric(name, "algo+impl", metric)["scores"] if "score" in it]
