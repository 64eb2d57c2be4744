"""Publications behind the figures of a report, as BibTeX has them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """One publication; `place` is journal, proceedings or publisher, and `why` what of it a report uses."""

    key: str
    kind: str
    author: str
    title: str
    year: int
    place: tuple[tuple[str, str], ...]
    why: str


def _article(key: str, author: str, title: str, journal: str, volume: str, pages: str, year: int, why: str) -> Work:
    return Work(key, "article", author, title, year, (("journal", journal), ("volume", volume), ("pages", pages)), why)


def _book(key: str, author: str, title: str, publisher: str, year: int, why: str) -> Work:
    return Work(key, "book", author, title, year, (("publisher", publisher),), why)


def _talk(key: str, author: str, title: str, booktitle: str, year: int, why: str, **more: str) -> Work:
    return Work(key, "inproceedings", author, title, year, (("booktitle", booktitle), *more.items()), why)


ASSOCIATION = "Journal of the American Statistical Association"
ASE = "Proceedings of the {th} IEEE/ACM International Conference on Automated Software Engineering"
PHAM = (
    "Pham, Hung Viet and Qian, Shangshu and Wang, Jiannan and Lutellier, Thibaud and Rosenthal, Jonathan and Tan, Lin"
)

WORKS = (
    _talk(
        "deviate2021", "Pham, Hung Viet and Kim, Mijung and Tan, Lin and Yu, Yaoliang and Nagappan, Nachiappan",
        "{DEVIATE}: A Deep Learning Variance Testing Framework", ASE.replace("{th}", "36th"), 2021,
        "the question whether a difference exceeds the variance of training; intervals of an SD by chi-square",
        doi="10.1109/ASE51524.2021.9678540",
    ),
    _talk(
        "pham2020", f"{PHAM} and Yu, Yaoliang and Nagappan, Nachiappan",
        "Problems and Opportunities in Training Deep Learning Software Systems: An Analysis of Variance",
        ASE.replace("{th}", "35th"), 2020,
        "runs with all seeds fixed, spread per class, time to convergence",
        doi="10.1145/3324884.3416545",
    ),
    _talk(
        "zhuang2022", "Zhuang, Donglin and Zhang, Xingyao and Song, Shuaiwen Leon and Hooker, Sara",
        "Randomness in Neural Network Training: Characterizing the Impact of Tooling",
        "Proceedings of Machine Learning and Systems", 2022,
        "variants that separate algorithmic from implementation noise, distance of weights, sub-groups",
        volume="4", note="{arXiv}:2106.11872",
    ),
    _talk(
        "summers2021", "Summers, Cecilia and Dinneen, Michael J.",
        "Nondeterminism and Instability in Neural Network Optimization",
        "Proceedings of the 38th International Conference on Machine Learning", 2021,
        "single sources of nondeterminism, one-bit changes, gain of averaged outputs",
        series="Proceedings of Machine Learning Research", volume="139", pages="9913--9922",
    ),
    _talk(
        "milanifard2016", "Milani Fard, Mahdi and Cormier, Quentin and Canini, Kevin and Gupta, Maya",
        "Launch and Iterate: Reducing Prediction Churn",
        "Advances in Neural Information Processing Systems", 2016,
        "share of examples on which two runs disagree", volume="29",
    ),
    _talk(
        "kornblith2019", "Kornblith, Simon and Norouzi, Mohammad and Lee, Honglak and Hinton, Geoffrey",
        "Similarity of Neural Network Representations Revisited",
        "Proceedings of the 36th International Conference on Machine Learning", 2019,
        "similarity of outputs (linear CKA)",
        series="Proceedings of Machine Learning Research", volume="97", pages="3519--3529",
    ),
    _talk(
        "guo2017", "Guo, Chuan and Pleiss, Geoff and Sun, Yu and Weinberger, Kilian Q.",
        "On Calibration of Modern Neural Networks",
        "Proceedings of the 34th International Conference on Machine Learning", 2017,
        "expected calibration error",
        series="Proceedings of Machine Learning Research", volume="70", pages="1321--1330",
    ),
    _article(
        "tukey1958", "Tukey, John W.", "Bias and Confidence in Not-Quite Large Samples (Abstract)",
        "The Annals of Mathematical Statistics", "29", "614", 1958,
        "intervals of means over pairs, runs left out one by one",
    ),
    _talk(
        "agarwal2021",
        "Agarwal, Rishabh and Schwarzer, Max and Castro, Pablo Samuel and Courville, Aaron C. and Bellemare, Marc G.",
        "Deep Reinforcement Learning at the Edge of the Statistical Precipice",
        "Advances in Neural Information Processing Systems", 2021,
        "interquartile means over tasks, stratified bootstrap", volume="34",
    ),
    _article(
        "student1908", "{Student}", "The Probable Error of a Mean", "Biometrika", "6", "1--25", 1908,
        "t intervals of means, paired t",
    ),
    _article(
        "welch1947", "Welch, Bernard L.",
        "The Generalization of `Student's' Problem when Several Different Population Variances are Involved",
        "Biometrika", "34", "28--35", 1947, "differences of means without assuming equal spread",
    ),
    _article(
        "welch1951", "Welch, Bernard L.", "On the Comparison of Several Mean Values: An Alternative Approach",
        "Biometrika", "38", "330--336", 1951, "whether several means differ",
    ),
    _book(
        "fisher1925", "Fisher, Ronald A.", "Statistical Methods for Research Workers", "Oliver and Boyd", 1925,
        "analysis of variance",
    ),
    _article(
        "kruskal1952", "Kruskal, William H. and Wallis, W. Allen",
        "Use of Ranks in One-Criterion Variance Analysis", ASSOCIATION, "47", "583--621", 1952,
        "whether several samples differ in rank",
    ),
    _article(
        "mann1947", "Mann, Henry B. and Whitney, Donald R.",
        "On a Test of Whether One of Two Random Variables is Stochastically Larger than the Other",
        "The Annals of Mathematical Statistics", "18", "50--60", 1947, "the rank test U",
    ),
    _article(
        "wilcoxon1945", "Wilcoxon, Frank", "Individual Comparisons by Ranking Methods", "Biometrics Bulletin", "1",
        "80--83", 1945, "the signed rank test of pairs",
    ),
    _article(
        "vargha2000", "Vargha, Andr{\\'a}s and Delaney, Harold D.",
        "A Critique and Improvement of the {CL} Common Language Effect Size Statistics of {McGraw} and {Wong}",
        "Journal of Educational and Behavioral Statistics", "25", "101--132", 2000,
        "the probability that a run of the candidate is above one of the baseline",
    ),
    _article(
        "brunner2000", "Brunner, Edgar and Munzel, Ullrich",
        "The Nonparametric {Behrens-Fisher} Problem: Asymptotic Theory and a Small-Sample Approximation",
        "Biometrical Journal", "42", "17--25", 2000, "the interval of that probability",
    ),
    _article(
        "cliff1993", "Cliff, Norman", "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions",
        "Psychological Bulletin", "114", "494--509", 1993, "the effect size delta of ranks",
    ),
    Work(
        "smirnov1939", "article", "Smirnov, Nikolai V.",
        "On the Estimation of the Discrepancy Between Empirical Curves of Distribution for Two Independent Samples",
        1939, (("journal", "Bulletin Math{\\'e}matique de l'Universit{\\'e} de Moscou"), ("volume", "2")),
        "whether distributions differ",
    ),
    _book(
        "fisher1935", "Fisher, Ronald A.", "The Design of Experiments", "Oliver and Boyd", 1935,
        "the sign flips of pairs",
    ),
    _article(
        "janssen1997", "Janssen, Arnold",
        "Studentized Permutation Tests for Non-i.i.d. Hypotheses and the Generalized {Behrens-Fisher} Problem",
        "Statistics \\& Probability Letters", "36", "9--21", 1997, "the studentized permutation test",
    ),
    _article(
        "chung2013", "Chung, EunYi and Romano, Joseph P.",
        "Exact and Asymptotically Robust Permutation Tests",
        "The Annals of Statistics", "41", "484--507", 2013, "the studentized permutation test",
    ),
    _article(
        "hedges1981", "Hedges, Larry V.",
        "Distribution Theory for {Glass's} Estimator of Effect Size and Related Estimators",
        "Journal of Educational Statistics", "6", "107--128", 1981, "the effect size g",
    ),
    _article(
        "glass1976", "Glass, Gene V.", "Primary, Secondary, and Meta-Analysis of Research", "Educational Researcher",
        "5", "3--8", 1976, "the effect size delta in SDs of the baseline",
    ),
    _article(
        "holm1979", "Holm, Sture", "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics", "6", "65--70", 1979, "adjusted p-values",
    ),
    _article(
        "dunnett1955", "Dunnett, Charles W.",
        "A Multiple Comparison Procedure for Comparing Several Treatments with a Control", ASSOCIATION, "50",
        "1096--1121", 1955, "several candidates against one baseline",
    ),
    _article(
        "schuirmann1987", "Schuirmann, Donald J.",
        "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of "
        "Average Bioavailability",
        "Journal of Pharmacokinetics and Biopharmaceutics", "15", "657--680", 1987, "equivalence within a margin",
    ),
    _article(
        "efron1987", "Efron, Bradley", "Better Bootstrap Confidence Intervals", ASSOCIATION, "82", "171--185", 1987,
        "intervals by resampling runs, as cross-checks",
    ),
    _article(
        "efron1979", "Efron, Bradley", "Bootstrap Methods: Another Look at the Jackknife", "The Annals of Statistics",
        "7", "1--26", 1979, "intervals between percentiles of resampled runs, as cross-checks",
    ),
    _article(
        "hesterberg2015", "Hesterberg, Tim C.",
        "What Teachers Should Know About the Bootstrap: Resampling in the Undergraduate Statistics Curriculum",
        "The American Statistician", "69", "371--386", 2015, "bootstrap intervals widened for few runs",
    ),
    _article(
        "brown1974", "Brown, Morton B. and Forsythe, Alan B.", "Robust Tests for the Equality of Variances",
        ASSOCIATION, "69", "364--367", 1974, "whether spreads differ",
    ),
    Work(
        "levene1960", "incollection", "Levene, Howard", "Robust Tests for Equality of Variances", 1960,
        (
            ("booktitle", "Contributions to Probability and Statistics: Essays in Honor of {Harold Hotelling}"),
            ("publisher", "Stanford University Press"), ("pages", "278--292"),
        ),
        "whether spreads differ, with distances from the mean",
    ),
    _article(
        "ting1990",
        "Ting, Naitee and Burdick, Richard K. and Graybill, Franklin A. and Jeyaratnam, S. and Lu, Tai-Fang C.",
        "Confidence Intervals on Linear Combinations of Variance Components that are Unrestricted in Sign",
        "Journal of Statistical Computation and Simulation", "35", "135--143", 1990,
        "the variance left when parts are taken from the whole",
    ),
    _article(
        "fieller1954", "Fieller, Edgar C.", "Some Problems in Interval Estimation",
        "Journal of the Royal Statistical Society, Series B", "16", "175--185", 1954, "what determinism costs",
    ),
    _article(
        "clopper1934", "Clopper, C. J. and Pearson, Egon S.",
        "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial", "Biometrika", "26",
        "404--413", 1934, "intervals of completion rates",
    ),
    _article(
        "boschloo1970", "Boschloo, R. D.",
        "Raised Conditional Level of Significance for the $2 \\times 2$-Table when Testing the Equality of Two "
        "Probabilities",
        "Statistica Neerlandica", "24", "1--9", 1970, "whether completion rates differ",
    ),
    _article(
        "lachin1999", "Lachin, John M.",
        "Worst-Rank Score Analysis with Informatively Missing Observations in Clinical Trials",
        "Controlled Clinical Trials", "20", "408--422", 1999, "failed runs ranked below every score",
    ),
    _article(
        "kaplan1958", "Kaplan, Edward L. and Meier, Paul", "Nonparametric Estimation from Incomplete Observations",
        ASSOCIATION, "53", "457--481", 1958, "times to a target that not every run reached",
    ),
    _article(
        "brookmeyer1982", "Brookmeyer, Ron and Crowley, John", "A Confidence Interval for the Median Survival Time",
        "Biometrics", "38", "29--41", 1982, "intervals of the median time to a target",
    ),
    _article(
        "mantel1966", "Mantel, Nathan",
        "Evaluation of Survival Data and Two New Rank Order Statistics Arising in its Consideration",
        "Cancer Chemotherapy Reports", "50", "163--170", 1966, "whether times to a target differ",
    ),
    _book(
        "westfall1993", "Westfall, Peter H. and Young, S. Stanley",
        "Resampling-Based Multiple Testing: Examples and Methods for p-Value Adjustment", "Wiley", 1993,
        "bands of curves that hold at all steps at once",
    ),
    _article(
        "demsar2006", "Dem{\\v{s}}ar, Janez", "Statistical Comparisons of Classifiers over Multiple Data Sets",
        "Journal of Machine Learning Research", "7", "1--30", 2006, "mean ranks over tasks, critical difference",
    ),
    _article(
        "friedman1937", "Friedman, Milton",
        "The Use of Ranks to Avoid the Assumption of Normality Implicit in the Analysis of Variance", ASSOCIATION,
        "32", "675--701", 1937, "whether mean ranks differ",
    ),
    _article(
        "obrien1979", "O'Brien, Peter C. and Fleming, Thomas R.", "A Multiple Testing Procedure for Clinical Trials",
        "Biometrics", "35", "549--556", 1979, "looks that were declared before",
    ),
    _article(
        "pocock1977", "Pocock, Stuart J.", "Group Sequential Methods in the Design and Analysis of Clinical Trials",
        "Biometrika", "64", "191--199", 1977, "looks that were declared before",
    ),
    _article(
        "lan1983", "Lan, K. K. Gordon and DeMets, David L.", "Discrete Sequential Boundaries for Clinical Trials",
        "Biometrika", "70", "659--663", 1983, "how looks share the error",
    ),
    _article(
        "jennison1984", "Jennison, Christopher and Turnbull, Bruce W.",
        "Repeated Confidence Intervals for Group Sequential Clinical Trials", "Controlled Clinical Trials", "5",
        "33--45", 1984, "intervals at looks",
    ),
)  # fmt: skip
