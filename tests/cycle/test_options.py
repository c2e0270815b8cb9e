"""The options of the engine, from the command line and from Python."""

import json

import pytest

import topoloom
from topoloom import TopoloomError, _core
from topoloom.cli.parameters import split_names
from topoloom.simulation.options import CYCLE_NS, ROUTER_KEYS, EngineOptions, make_options, parse_pairs


def test_the_defaults_are_the_documented_ones():
    text = (
        "vcs=4,buffer=64,speedup=2,routing-delay=0,vc-alloc-delay=1,sw-alloc-delay=1,credit-delay=2,"
        "allocator=separable-input-first,iterations=1,buffers=private,flow=wormhole"
    )
    assert make_options(parse_pairs("--router", text, ROUTER_KEYS)) == EngineOptions(vcs=4, routing_delay=0, buffer=64)


def test_the_engine_says_what_goes_with_a_model():
    options = make_options({"model": "vct", "buffer": 9})
    assert (options.vcs, options.buffer, options.flow, options.speedup, options.routing_delay) == (4, 9, "vct", 1.0, 36)
    assert (options.links.local, options.packet) == (7, 33)
    assert CYCLE_NS == {"vct": 256 / 96}
    models = [model.name for model in _core.router_models()]
    assert models == ["iq", "vct", "extoll"]
    assert all(EngineOptions(model=model) != EngineOptions() for model in models[1:])


def test_reports_say_what_a_router_is_set_up_like():
    rows = dict(_core.router_settings(make_options({"speedup": 1.5, "buffer": 2000}).engine_json()))
    assert (rows["Internal speedup"], rows["Buffer of a VC"]) == ("1.5 steps per cycle", "2,000 flits")
    cards = dict(_core.router_settings(make_options({"model": "extoll", "tcs": 1}).engine_json()))
    assert cards["Traffic classes"].startswith("1 of 2 VCs, 1 with an adaptive VC; used: all, or")


def test_an_integer_will_do_for_a_real_and_an_integral_real_for_an_integer():
    assert make_options({"speedup": "2", "vcs": "4.0", "seed": 7.0}) == EngineOptions(speedup=2.0, vcs=4, seed=7)


@pytest.mark.parametrize("name", ["vcs", "speedup", "seed", "threads"])
def test_truth_is_no_number(name):
    with pytest.raises(TopoloomError, match=f"{name} is True; it must be a number"):
        make_options({name: True})


def test_a_name_that_is_missing_is_a_mistake():
    with pytest.raises(TopoloomError, match="throughput is 'uniform,'; it must be names with commas between them"):
        topoloom.network("hyperx:3x3").faults(throughput="uniform,")


def test_the_engine_reads_its_own_names():
    options = make_options({"links": {"global": 100}, "unsafe": True})
    read = json.loads(options.engine_json())
    assert read["links"] == {
        "terminal": 1,
        "local": 1,
        "global": 100,
        "up": 1,
        "internal": 1,
        "nic": 1,
    } | dict.fromkeys(("inside", "between", "cabinet"))
    assert read["unsafe"] is True
    assert (read["buffers"], read["flow"]) == ("private", "wormhole")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"bufer": 3}, "did you mean 'buffer'"),
        ({"links": {"globl": 3}}, "did you mean 'global'"),
        ({"links": {"global": "far"}}, "links global is 'far'"),
        ({"packet": []}, "packet is \\[\\]; it must be flits"),
        ({"unsafe": "perhaps"}, "unsafe is 'perhaps'"),
    ],
)
def test_a_mistake_names_the_option(values, told):
    with pytest.raises(TopoloomError, match=told):
        make_options(values)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("uniform", ["uniform"]),
        ("uniform, transpose,uniform", ["uniform", "transpose"]),
        ("transpose:bits=4,bit-complement:bits=3", ["transpose:bits=4", "bit-complement:bits=3"]),
        ("hotspot:nodes=1,share=2,uniform", ["hotspot:nodes=1,share=2", "uniform"]),
    ],
)
def test_names_between_commas(text, names):
    assert split_names("--traffic", text) == names


def test_a_search_with_rates_ends_and_has_no_bound(tmp_path):
    """The channels' bound is of equal terminals; here half of them send three times as much as the others."""
    file = tmp_path / "rates.csv"
    file.write_text("".join(f"{terminal},{1 + 2 * (terminal % 2)}\n" for terminal in range(16)))
    network = topoloom.network("mesh:4x4")
    curve = network.saturation(routing="dor", traffic="uniform", rates=str(file), vcs=2, buffer=8)
    assert curve.bound is None
    # From load 2/3 on those send a flit every cycle, the others half the load: 98 % of it up to 1 + L/2 = 1.96 L.
    assert 0.4 < curve.saturation_load <= 1 / 1.46
