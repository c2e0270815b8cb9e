"""Results as Python has them, and what is generated of the engine."""

import copy
import json
import pickle
from typing import get_args

import pytest

import topoloom
from topoloom import TopoloomError, _core
from topoloom.engine import results
from topoloom.engine.records import Record
from topoloom.simulation.options import EngineOptions, make_options
from topoloom.simulation.points import Point
from topoloom.simulation.simulator import Simulator


@pytest.fixture(scope="module")
def network():
    return topoloom.network("hyperx:4x4,p=2")


def given(network):
    """Return a result of each kind that users meet."""
    return {
        "facts": network.facts(),
        "proof": network.verify("dor"),
        "bound": network.bound("dor"),
        "cost": network.layout().cost(),
        "resilience": network.faults(trials=3, fractions="0.1"),
        "route_lengths": network.route_lengths("dor"),
        "sizes": network.card_tables("dor")[1],
    }


@pytest.mark.parametrize("kind", ["facts", "proof", "bound", "cost", "resilience", "route_lengths", "sizes"])
def test_results_are_frozen_dictionaries_with_attributes(network, kind):
    result = given(network)[kind]
    assert set(result) <= set(result.fields), "every key is declared"
    for key, value in result.items():
        assert getattr(result, key) == value
    key = next(iter(result))
    for change in (
        lambda: result.__setitem__(key, 1),
        lambda: result.__delitem__(key),
        lambda: setattr(result, key, 1),
        lambda: result.update({key: 1}),
        lambda: result.pop(key),
        result.clear,
    ):
        with pytest.raises(TypeError, match="never changes"):
            change()
    merged = result
    merged |= {key: None}
    assert merged[key] is None
    assert result[key] is not None
    with pytest.raises(AttributeError, match="no_such_thing"):
        result.no_such_thing  # noqa: B018 - the access is the test
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert again == result == copy.deepcopy(result) == json.loads(json.dumps(result))
    assert f"<th style='text-align:left'>{key}</th>" in result._repr_html_()


def test_records_hold_records():
    cycle = topoloom.network("torus:5").verify("dor", vcs=1).cycle
    assert isinstance(cycle[0], results.CycleHop)
    assert (cycle[0].from_, cycle[0].to) == (cycle[0]["from"], cycle[0]["to"])
    assert isinstance(topoloom.network("mesh:3x3").faults(trials=2, fractions="0").survivable, results.Survivable)
    assert topoloom.network("mesh:3x3").facts().permutation is None


def test_points_declare_what_the_engine_says():
    own = {name: field.annotation for name, field in Point.model_fields.items()}
    engine = results.Point.fields
    for name, kind in own.items():
        wider = {int: float}
        kinds = {wider.get(part, part) for part in (get_args(engine[name]) or (engine[name],))}
        assert kinds == {wider.get(part, part) for part in (get_args(kind) or (kind,))}, name


def test_options_are_those_of_the_engine(network):
    routing, traffic = _core.Routing(network.core, "dor"), _core.Traffic(network.core, "uniform")
    filled = json.loads(_core.Simulation(routing, traffic, "{}").check(0.1))
    ours = json.loads(make_options({}).engine_json())
    assert ours.keys() == EngineOptions.model_fields.keys() - {"fail"} >= filled.keys()
    links = {key: ours["links"][key] for key in filled.pop("links")}
    assert set(links.values()) == {1}
    # What is None depends on other options, and is filled in.
    assert {key: value for key, value in filled.items() if ours[key] is not None} == {
        key: ours[key] for key in filled if ours[key] is not None
    }


def test_objects_of_different_networks_do_not_go_together(network):
    routing, other = _core.Routing(network.core, "dor"), _core.Network("mesh:3x3")
    traffic = _core.Traffic(other, "uniform")
    for ask in (lambda: _core.Simulation(routing, traffic, "{}"), lambda: routing.bound(traffic)):
        with pytest.raises(TopoloomError, match="the traffic uniform was built for mesh:3x3, the routing for hyperx"):
            ask()


def test_a_curve_builds_its_routing_and_its_traffic_once(network, monkeypatch):
    built = []

    def counted(kind):
        def build(*arguments):
            built.append(kind.__name__)
            return kind(*arguments)

        return build

    for kind in (_core.Routing, _core.Traffic):
        monkeypatch.setattr(_core, kind.__name__, counted(kind))
    simulator = Simulator(network.core, "dor", "uniform", make_options({}), searching=False)
    for load in (0.1, 0.2, 0.3):
        assert simulator.point(load, _core.CancelToken()) is not None
    assert sorted(built) == ["Routing", "Traffic"]


def test_tables_in_memory_belong_to_their_network():
    rows = [[-1, 1, 2], [2, -1, 1], [1, 2, -1]]
    ring, other = topoloom.network("torus:3"), topoloom.network("torus:3")
    name = ring.routing_from_tables(rows, destinations="routers")
    assert ring.verify(name).deadlock_free
    assert ring.simulate(name, load=0.1, warmup=10, measure=100, fail="links=0").points
    with pytest.raises(TopoloomError, match="stands for no table"):
        other.verify(name)


def test_the_base_class_says_what_it_is():
    assert Record({"a": 1}).a == 1
