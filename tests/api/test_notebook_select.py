"""One experiment of a comparison keeps what was captured of it, and of no other."""

from stabilities import everything

from deviate.api import Results
from deviate.api.results import stability_of
from deviate.model.stability import StabilityFindings


def test_an_experiment_of_a_comparison_tells_of_its_own_stability() -> None:
    whole = everything()
    for place, (name, one) in enumerate(Results(whole).experiments.items()):
        found = one.findings.stability
        own = [it for it in whole.stability.sets if it.experiment == place]
        assert [(it.experiment, it.name, it.accuracies) for it in found.sets] == [
            (0, it.name, it.accuracies) for it in own
        ]
        assert len(found.sets) < len(whole.stability.sets)
        assert found.differences == ()
        assert name in repr(one)


def test_a_comparison_with_the_baseline_keeps_what_lies_between_them() -> None:
    whole = everything()
    (one,) = Results(whole).comparisons.values()
    assert one.findings.stability == whole.stability


def test_places_are_counted_anew() -> None:
    found = stability_of(everything().stability, (1, 0))
    assert {it.experiment for it in found.sets} == {0, 1}
    assert [it.experiment for it in found.weights] == [1 - it.experiment for it in everything().stability.weights]
    assert found.differences == ()
    assert stability_of(StabilityFindings(), (0,)) == StabilityFindings()
