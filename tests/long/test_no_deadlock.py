"""A million cycles at full load in small buffers: nothing ever gets stuck."""

import json

import pytest

from harness.engine import measured
from topoloom import _core

CYCLES = 1_000_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("twin-torus:4x4x2x2x2", "ts-dor"),
        ("twin-torus:4x4x2x2x2", "duato"),
        ("twin-torus:3x4x5", "ts-dor"),
        ("torus:4x4x4", "dor:vc=upper-lower"),
        ("torus:4x4x4", "duato"),
    ],
)
def test_no_deadlock_at_full_load_in_a_million_cycles(spec, routing):
    options = {"model": "extoll", "packet": "1-32", "buffer": 32, "warmup": 1000, "measure": CYCLES}
    token = _core.CancelToken()
    point = measured(spec, routing, "uniform", 1.0, json.dumps(options), token)
    assert not point["deadlocked"]
    assert point["cycles"] > CYCLES
    assert point["accepted"] > 0.3
