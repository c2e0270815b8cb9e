"""What cycles and loads stand for where links have rates: GB/s of a terminal, nanoseconds."""

import pytest

from topoloom import Network

SPEC = "torus:4x4,p=2,rate=200G,rate.terminal=100G"
RUN = ("--load", "0.2", "--warmup", "200", "--measure", "500", "--json")


def test_points_tell_gigabytes_and_nanoseconds(topoloom):
    (point,) = topoloom("simulate", SPEC, *RUN).json()["points"]
    # Load 1 is 100 Gb/s of a terminal; a cycle is 64 bytes at 200 Gb/s.
    assert point["accepted_gb_s"] == pytest.approx(point["accepted"] * 12.5)
    assert point["latency_ns"] == pytest.approx(point["latency_cycles"] * 2.56)
    assert point["accepted_gb_s"] == pytest.approx(2.5, rel=0.1)


def test_without_rates_nothing_is_said(topoloom):
    (point,) = topoloom("simulate", "torus:4x4,p=2", *RUN).json()["points"]
    assert not {"accepted_gb_s", "latency_ns"} & point.keys()
    assert "GB/s" not in topoloom("simulate", "torus:4x4,p=2", *RUN[:-1]).out


def test_tables_have_columns_for_them(topoloom):
    text = topoloom("simulate", SPEC, *RUN[:-1]).out
    assert "loads in parts of 12.5 GB/s per terminal, latency in cycles of 2.56 ns" in text
    header = text.splitlines()[2]
    assert header.index("accepted") < header.index("in GB/s") < header.index("latency") < header.index("in ns")


def test_saturation_is_told_in_gigabytes(topoloom):
    found = topoloom("saturation", SPEC, "--json", "--warmup", "200", "--measure", "500").json()
    assert found["saturation_gb_s"] == pytest.approx(found["saturation_load"] * 12.5)
    assert found["accepted_max_gb_s"] == pytest.approx(found["accepted_max"] * 12.5)
    assert found["zero_load_latency_ns"] == pytest.approx(found["zero_load_latency_cycles"] * 2.56)


def test_frames_have_them_too():
    curve = Network(SPEC).simulate(load=0.2, warmup=200, measure=500)
    (row,) = curve.frame().to_dict("records")
    assert row["accepted_gb_s"] == pytest.approx(row["accepted"] * 12.5)
