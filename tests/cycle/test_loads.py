"""Loads as users write them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom import TopoloomError, _core
from topoloom.simulation.loads import offered_loads, parse_fractions, parse_loads


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("0.1:0.9:0.1", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
        ("1", [1.0]),
        ("0", [0.0]),
        ("0:1:1", [0.0, 1.0]),
        ("0.5:0.5:0.1", [0.5]),
        ("0.1:0.9:0.3", [0.1, 0.4, 0.7, 0.9]),
        ("0.9, 0.1:0.3:0.1 ,0.2", [0.1, 0.2, 0.3, 0.9]),
        ("1e-3", [0.001]),
        ("1e-300", [1e-300]),
        (1, [1.0]),
        (0.25, [0.25]),
        ([1, 0.5], [0.5, 1.0]),
    ],
)
def test_loads(text, loads):
    assert parse_loads(text) == loads


def test_fractions():
    assert parse_fractions("0:0.1:0.05,1") == parse_fractions([1, 0.1, 0.05, 0]) == [0.0, 0.05, 0.1, 1.0]
    assert parse_fractions("none") == parse_fractions([]) == []


hundredths = st.integers(0, 100)


@given(hundredths, hundredths, st.integers(1, 100))
def test_a_range_has_both_ends_even_steps_and_no_drift(one, other, step):
    first, last = sorted((one, other))
    loads = parse_loads(f"{first / 100}:{last / 100}:{step / 100}")
    assert loads[0] == first / 100
    assert loads[-1] == last / 100
    assert loads == sorted(set(loads))
    assert all((Decimal(str(load)) * 100 - first) % step == 0 for load in loads[:-1])
    assert all(load == round(load, 2) for load in loads)


@given(st.text("0123456789.:,-e+nif ", max_size=12))
def test_any_text_is_loads_within_bounds_or_a_mistake(text):
    try:
        loads = parse_loads(text)
    except TopoloomError:
        return
    assert loads
    assert all(0 <= load <= 1 for load in loads)


@pytest.mark.parametrize(
    "loads", [[], True, "inf", [2], [float("nan")], "0.1;0.2", "0.1:0.9:0", "0:1:0.0001", "1e-301", "0.2:0.1:0.1"]
)
def test_what_is_no_load(loads):
    with pytest.raises(TopoloomError):
        parse_loads(loads)


def test_a_trace_has_a_load_of_its_own(tmp_path):
    trace = f"trace:{tmp_path / 'packets.csv'}"
    (tmp_path / "packets.csv").write_text("time,source,destination,flits\n0,0,1,1\n1,0,1,1\n")
    network = _core.Network("mesh:2")
    assert offered_loads(network, trace, None) == [1.0]
    with pytest.raises(TopoloomError, match="leave the load out"):
        offered_loads(network, trace, "0.1")


@pytest.mark.parametrize(
    ("loads", "beginning"),
    [
        ("0.1,x,0.3", "load 'x' in '0.1,x,0.3' is not a number"),
        ("0.1:1e-999:0.1", "load '1e-999' in '0.1:1e-999:0.1' is out of all range"),
        ([0.1, float("nan")], "load 'nan' is not a number"),
    ],
)
def test_a_wrong_load_is_quoted_with_the_text_that_it_is_part_of(loads, beginning):
    with pytest.raises(TopoloomError) as mistake:
        parse_loads(loads)
    assert str(mistake.value).startswith(beginning)
