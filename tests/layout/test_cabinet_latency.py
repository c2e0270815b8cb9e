"""Links whose latency goes by the cabinets of their ends."""

import csv

import pytest

from harness.engine import measured, repeatable
from topoloom import TopoloomError, network
from topoloom.layout import layouts
from topoloom.simulation.options import make_options

RUN = {"warmup": 200, "measure": 600}


def simulate(spec, routing, load=0.2, **options):
    options = make_options({**RUN, **options}).engine_json()
    point = measured(network(spec).core, routing, "uniform", load, options)
    return repeatable(point)


def latencies(spec, links, folder):
    """The latency of each link as a writer puts it down, by its two routers."""
    network(spec).write(folder / "links.csv", "csv", links)
    with (folder / "links.csv").open(encoding="utf-8") as file:
        return {(int(row["router_a"]), int(row["router_b"])): int(row["latency"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("spec", "cabinet"),
    [
        ("galaxyfly:n=4,q=13,a=2,p=8", None),
        ("galaxyfly:n=4,q=13,a=2,p=8", "own"),
        ("galaxyfly:n=81,q=1,a=10,p=4", 90),
        ("slimfly:q=5", None),
        ("slimfly:q=5", "own"),
        ("slimfly:q=5", 7),
        ("mesh:4x4", "2x2"),
        ("dragonfly:a=8,h=4,p=4", None),
        ("fattree:k=2,levels=3", "own"),
    ],
)
def test_links_within_and_between_the_cabinets_of_the_layout(spec, cabinet, tmp_path):
    links = {"inside": 50, "between": 100} | ({} if cabinet is None else {"cabinet": cabinet})
    rules = {None: "", "own": "family"}.get(cabinet, f"cabinet={cabinet}")
    layout = layouts.Layout(network(spec), rules)
    ends = {(c.near.router, c.far.router): (c.near.cabinet, c.far.cabinet) for c in layout.cables() if c.far}
    found = latencies(spec, links, tmp_path)
    assert found == {pair: 50 if here == there else 100 for pair, (here, there) in ends.items()}
    assert len(set(found.values())) == 2


def test_one_of_the_two_leaves_the_others_to_their_classes(tmp_path):
    spec = "dragonfly:a=2,h=1"
    assert set(latencies(spec, {"local": 3, "global": 7, "between": 100, "cabinet": 4}, tmp_path).values()) == {
        3,
        7,
        100,
    }
    assert set(latencies(spec, {"local": 3, "global": 7, "inside": 2, "cabinet": 4}, tmp_path).values()) == {2, 7}


@pytest.mark.parametrize(("spec", "routing"), [("dragonfly:a=4,h=2,p=2", "min"), ("galaxyfly:n=2,q=5,a=2", "nag")])
def test_groups_in_cabinets_are_local_and_global_links(spec, routing):
    """A group a cabinet: latency by cabinet is latency by class, flit for flit."""
    cabinet = 4 if spec.startswith("dragonfly") else 2
    by_class = simulate(spec, routing, links={"local": 20, "global": 45})
    by_cabinet = simulate(spec, routing, links={"inside": 20, "between": 45, "cabinet": cabinet})
    assert by_cabinet == by_class
    assert by_class["latency_cycles"] != simulate(spec, routing)["latency_cycles"]


def test_the_same_as_a_file_that_bears_the_latencies(tmp_path):
    """Cabinets that are no groups, on several threads, against links with latencies of their own."""
    spec, links = "mesh:4x4", {"inside": 3, "between": 9, "cabinet": "2x4", "terminal": 2}
    latencies(spec, links, tmp_path)
    by_file = simulate(f"file:{tmp_path}/links.csv", "min", links={"terminal": 2})
    for threads in (1, 2):
        assert simulate(spec, "min", links=links, threads=threads) == by_file


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ({"cabinet": 29}, "cabinet=29 changes nothing without inside or between"),
        ({"inside": 0}, "latency of links inside cabinets is 0; it must be from 1 to 10000"),
        ({"between": 20_000}, "links between cabinets is 20000"),
        ({"inside": 5, "cabinet": "x"}, "links: cabinet is x; it must be a whole number"),
        ({"inside": 5, "cabinet": "2x2"}, "links: .*blocks"),
        ({"inside": 5, "cabinet": "metis:4"}, "write its cabinets to a file"),
        ({"insid": 5}, "did you mean 'inside'"),
    ],
)
def test_mistakes_are_sentences(links, words):
    with pytest.raises(TopoloomError, match=words):
        simulate("slimfly:q=5", "min", links=links)


def test_latencies_of_a_file_stay(tmp_path):
    latencies("mesh:4x4", {"local": 5}, tmp_path)
    with pytest.raises(TopoloomError, match="latencies of their own, which inside=3 would not change"):
        simulate(f"file:{tmp_path}/links.csv", "min", links={"inside": 3, "between": 9})
