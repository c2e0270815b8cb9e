"""Every usable point of BookSim2's curves below 90 % of saturation, over ten times its own window."""

import pytest

from harness.booksim import disagreements
from oracles import booksim


@pytest.mark.long
@pytest.mark.parametrize("point", [p for case in booksim.cases() for p in booksim.below_the_knee(case)], ids=str)
def test_every_point(point):
    assert list(disagreements(point, seeds=10)) == []
