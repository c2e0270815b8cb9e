"""Cables in bins: round and narrow ones, which count every cable once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.plotting.histogram import bin_width, histogram

ROUND = [factor * 10.0**power for power in range(-4, 6) for factor in (1.0, 2.0, 5.0)]
CABLES = [{"class": "local", "kind": None, "length_m": metres + 0.5, "cables": metres + 1} for metres in range(30)]


@given(st.floats(0.1, 1e4), st.integers(2, 40))
def test_bins_are_the_narrowest_round_ones_that_hold_all_lengths(longest, most):
    assert bin_width(longest, most) == pytest.approx(min(width for width in ROUND if longest // width < most))


def test_every_cable_is_in_the_bin_of_its_length():
    bins, sorts = histogram(CABLES, 10)
    assert sorts == ["local"]
    assert bins == [
        (f"{low} to {low + 5}", {"local": sum(metres + 1 for metres in range(low, low + 5))}) for low in range(0, 30, 5)
    ]


def test_few_lengths_are_bins_of_their_own():
    assert histogram(CABLES[:10], 10)[0] == [(f"{metres + 0.5:g}", {"local": metres + 1}) for metres in range(10)]
    assert [label for label, _ in histogram(CABLES[:11], 10)[0]] == [
        "0 to 2",
        "2 to 4",
        "4 to 6",
        "6 to 8",
        "8 to 10",
        "10 to 12",
    ]
