"""Why a check came out as it did, in a sentence: the words for each rule, from the figures of the check."""

from deviate.model.check import CheckGround, CompletionCheck, ControlCheck, MetricCheck
from deviate.model.estimates import VERDICT_RUNS, Test, Unavailable, level_text
from deviate.model.phrases import Reason
from deviate.model.texts import count
from deviate.report.verdicts import NEAR, constant_difference, no_failure, verdict_reason
from deviate.series.repeatability import equal_words, where
from deviate.stats.estimates.sample import too_few


def metric_reason(check: MetricCheck) -> str:
    level = level_text(check.bound_confidence)
    worse = "beyond the margin" if check.margin else "on the worse side of 0"
    match check.ground:
        case CheckGround.UNTESTED if isinstance(check.bound, Unavailable):
            return _untested(check, check.bound)
        case CheckGround.UNFAIR:
            return check.unfair.reason
        case CheckGround.BEYOND:
            return f"the whole {level} interval of the difference lies {worse}"
        case CheckGround.NEAR:
            return f"the interval lies {worse}, but {NEAR}"
        case CheckGround.FAMILY:
            questions = count(check.n_family, "question")
            return f"the interval lies {worse}, but p adjusted for {questions} is not below alpha"
        case CheckGround.OPEN if check.margin:
            return "shown neither to be worse by more than the margin nor to be within it"
        case CheckGround.OPEN:
            return "not shown to be worse; without a margin, only a better candidate passes"
        case CheckGround.CONSTANT:
            within = "not worse by more than the margin" if check.margin else "on the better side of 0"
            reason = f"{constant_difference(check.comparison)}: {worse if check.outcome == 'worse' else within}"
        case _ if check.margin:
            reason = f"not worse by more than the margin: the one-sided {level} bound is within it"
        case _:
            reason = f"better: the one-sided {level} bound is on the better side of 0"
    return "; ".join((reason, *(no_failure(check.comparison.candidate) if check.outcome == "passed" else ())))


def _untested(check: MetricCheck, reason: Unavailable) -> str:
    if reason.kind is Reason.UNCHANGED:
        n_runs = check.comparison.baseline.n
        return f"{reason.reason}: all {n_runs} runs have the scores of those with the same seeds"
    return verdict_reason(check.comparison) if reason.kind is Reason.IDENTICAL else reason.reason


def completion_reason(check: CompletionCheck) -> str:
    completion = check.completion
    if isinstance(completion, Unavailable):
        return completion.reason
    if isinstance(completion.difference, Unavailable):
        return completion.difference.reason
    if check.outcome == "passed":
        return "at least as large a share of its runs completed"
    if few := too_few(VERDICT_RUNS, completion.baseline.n_runs, completion.candidate.n_runs):
        return few.reason
    if check.outcome == "worse" and isinstance(completion.test, Test):
        return f"fewer of its runs completed ({completion.test.name}'s exact test)"
    return "fewer of its runs completed; with these numbers of runs, this may be chance"


def control_reason(check: ControlCheck) -> str:
    proof = check.repeatability
    if proof is None:
        return "there is no control variant: add control to --variants"
    if check.outcome == "intact":
        return f"identical, {equal_words(proof)}"
    if check.outcome == "broken":
        return f"{where(proof)}, although everything was held"
    if proof.n > 1:
        return f"its {proof.n} runs reported no quality metric and no weights"
    return f"needs 2 completed runs, has {proof.n}"
