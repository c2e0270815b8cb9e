"""Stored results hold as long as the version of the models: what changes one of these numbers raises the version.

Runs of all allocators, priorities, buffers, delays, sizes and injection processes. The numbers are those of one
platform, since the logarithms of another may differ in their last bit.
"""

import platform
import sys

import pytest

from topoloom import network

ON_OFF = "on-off:alpha=0.4,beta=0.3"
PINNED = [
    ("mesh:4x4,p=2 dor uniform", 0.3, {"injection": ON_OFF}, (532, 3301, 17204, 44203, 231)),
    ("mesh:4x4,p=2 dor uniform", 0.6, {}, (700, 6654, 42560, 458639, 350)),
    ("mesh:4x4,p=2 dor uniform", 0.9, {"vcs": 2, "buffer": 4, "packet": "2"}, (700, 2299, 30722, 582199, 329)),
    (
        "mesh:4x4,p=2 dor uniform",
        0.4,
        {"allocator": "islip", "iterations": 2, "vcs": 3, "packet": "3"},
        (564, 1502, 24812, 33463, 313),
    ),
    ("mesh:4x4,p=2 dor bit-complement", 0.9, {"allocator": "islip", "vcs": 4}, (700, 582, 29080, 265406, 350)),
    (
        "mesh:4x4,p=2 dor uniform",
        0.7,
        {"allocator": "wavefront", "vcs": 3, "packet": "2"},
        (700, 3614, 45284, 407213, 350),
    ),
    (
        "hyperx:3x3,p=3 min uniform",
        0.9,
        {"allocator": "wavefront", "vcs": 2, "speedup": 2.0},
        (564, 8477, 31498, 149860, 348),
    ),
    (
        "hyperx:3x3,p=3 min uniform",
        0.9,
        {"vcs": 4, "speedup": 1.5, "iterations": 2, "packet": "4"},
        (628, 2170, 34358, 121507, 350),
    ),
    (
        "torus:4x4,p=2 dor tornado",
        0.8,
        {"flow": "vct", "buffer": 8, "vcs": 4, "packet": "4"},
        (700, 1767, 33268, 328416, 350),
    ),
    (
        "torus:4x4,p=2 dor uniform",
        0.5,
        {"buffers": "shared:2", "buffer": 8, "vcs": 4, "packet": "1-4", "injection": ON_OFF},
        (564, 2271, 26564, 38245, 228),
    ),
    (
        "torus:4x4,p=2 dor uniform",
        0.6,
        {"buffers": "shared:4", "flow": "vct", "buffer": 8, "vcs": 4, "packet": "1-4"},
        (564, 2766, 32999, 55735, 300),
    ),
    ("dragonfly:a=4,h=2,p=2 ugal-l uniform", 0.6, {"priority": "age"}, (532, 15079, 76086, 208750, 232)),
    (
        "dragonfly:a=4,h=2,p=2 ugal-l next-group",
        0.5,
        {"priority": "transit", "buffer": 16, "packet": "2"},
        (662, 6310, 121087, 422878, 350),
    ),
    (
        "dragonfly:a=4,h=2,p=2 par worst-case",
        0.4,
        {"allocator": "islip", "iterations": 2, "priority": "age"},
        (564, 10158, 88073, 274334, 350),
    ),
    (
        "slimfly:q=3,p=2 val uniform",
        0.4,
        {"routing_delay": 2, "vc_alloc_delay": 2, "sw_alloc_delay": 3, "credit_delay": 4, "packet": "2"},
        (564, 2547, 32479, 98868, 268),
    ),
    ("slimfly:q=3,p=2 ugal-l uniform", 0.8, {}, (532, 10075, 42183, 132105, 251)),
    (
        "torus:4x4,p=2 dor uniform",
        0.95,
        {"flow": "vct", "buffer": 6, "vcs": 2, "packet": "1-5"},
        (700, 989, 22011, 273625, 171),
    ),
    (
        "torus:4x4,p=2 dor:bubble=on uniform",
        0.6,
        {"flow": "vct", "buffer": 10, "vcs": 2, "packet": "1-4"},
        (700, 2447, 30446, 289487, 218),
    ),
    ("hyperx:3x3,p=3 dimwar uniform", 0.4, {"model": "vct", "packet": "2-4"}, (700, 456, 9185, 122130, 125)),
    (
        "mesh:4x4 dor uniform",
        0.002,
        {"injection": "on-off:alpha=0.0002,beta=0.02", "warmup": 20000},
        (20350, 10, 2502, 128, 6),
    ),
    ("fattree:k=3,levels=2 anca uniform", 0.9, {"vcs": 1, "buffer": 3}, (700, 988, 5123, 331613, 94)),
    ("mesh:4x4,p=2 dor uniform", 0.5, {"model": "extoll", "packet": "2"}, (700, 2782, 35612, 186257, 325)),
]
"""Network, routing and traffic, load, options, and cycles, packets, hops of flits, sum of latencies, busiest link."""


@pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="numbers of another platform")
@pytest.mark.parametrize(("run", "load", "options", "pinned"), PINNED)
def test_results_are_those_of_this_version_of_the_models(run, load, options, pinned):
    spec, routing, traffic = run.split()
    window = {"warmup": 150, "measure": 350, "drain": 200}
    curve = network(spec).simulate(routing=routing, traffic=traffic, load=[load], **window | options)
    [point] = curve.sorted_points()
    busiest = round(point.link_utilisation_max * 350)
    found = (point.cycles, point.packets, point.flit_hops, round((point.latency_cycles or 0) * point.packets), busiest)
    assert found == pinned
