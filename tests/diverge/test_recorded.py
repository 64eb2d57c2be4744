"""Two runs on record: which of their traces can be laid side by side."""

from dataclasses import replace

from traced import a_trace, steps

from deviate.diverge.recorded import comparable

ONE = a_trace(steps(2))


def test_traces_are_compared_where_both_runs_were_looked_at_in_the_same_way() -> None:
    other = a_trace(steps(3))
    assert comparable([ONE], [other]) == ([ONE], [other])


def test_what_was_not_looked_at_is_no_difference() -> None:
    closer, elsewhere = replace(ONE, level=ONE.level + 1), replace(ONE, first=1)
    for other in ([], [closer], [elsewhere]):
        assert comparable([ONE], other) == comparable(other, [ONE]) == ((), ())
