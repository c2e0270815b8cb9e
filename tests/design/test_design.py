"""The design search against the networks themselves, and against a search by hand."""

import itertools
import operator
import random
import time

import networkx as nx
import numpy as np
import pytest

from oracles.fields import prime_power
from topoloom import TopoloomError, candidates, network
from topoloom.design import bisections
from topoloom.design.candidates import count_or_range, terminal_range
from topoloom.design.hosting import SELF_HOSTED, Hosting
from topoloom.design.ranking import column, unbeaten
from topoloom.design.shape import prime_powers
from topoloom.design.shapes import OTHERS, SHAPES
from topoloom.network.families import descriptions


def drawn(found, count):
    families = {}
    for each in found:
        families.setdefault(each.family, []).append(each)
    dice = random.Random(1)
    return [c for some in families.values() for c in dice.sample(some, min(count, len(some)))]


ESTIMATED = {
    "galaxyfly": (0.8, 1.8, 3.0), "dragonfly": (0.8, 1.9, 2.5), "random-regular": (0.8, 1.3, 1.7),
    "ring": (0.8, 1.3, 1.7), "cascade": (0.95, 2.1, 3.0),
}  # fmt: skip
"""Families whose bisection is estimated, and the estimate over what is found: least, of nine in ten, largest."""

LOOSE = {"cayley": 1.6, "twisted-torus": 1.5, "twin-torus": 1.6, "nestghc": 1.3, "nesttree": 1.3}
"""How far the upper bounds of other families than trees may be above the bisection of small networks."""

SMALL = drawn(candidates(terminals=(60, 300), radix=16), 8)


@pytest.mark.parametrize("found", SMALL, ids=[c.spec for c in SMALL])
def test_what_is_told_is_what_is_built(found):
    facts = found.network().core.facts()
    for key in ("terminals", "routers", "radix", "links"):
        assert getattr(found, key) == facts[key]
    assert found.ports == 2 * facts["links"] + facts["terminals"]
    if found.diameter_is == "exact":
        assert found.diameter == facts["diameter"]
    elif found.diameter_is == "upper-bound":
        assert found.diameter >= facts["diameter"]


def test_every_family_is_found():
    assert {c.family for c in SMALL} == set(SHAPES)


def test_every_family_is_searched_or_it_is_told_why_not():
    assert set(SHAPES) | set(OTHERS) == {
        name for name, told in descriptions().items() if told["keys"] or name in SHAPES
    }
    assert not set(SHAPES) & set(OTHERS)
    for name in OTHERS:
        with pytest.raises(TopoloomError, match=f"the family {name} is not searched: it "):
            candidates(terminals=64, radix=16, families=name)


GRIDS = (
    "mesh",
    "torus",
    "twisted-torus",
    "twin-torus",
    "hypercube",
    "folded-hypercube",
    "cayley",
    "nesttree",
    "nestghc",
)
"""Families whose closed forms are those of coordinates: diameters depend on sides that are even or odd."""


@pytest.mark.parametrize("family", GRIDS)
def test_coordinates_of_all_kinds(family):
    """Distances by a search that knows nothing of families."""
    for found in drawn(candidates(terminals=(8, 120), radix=14, families=family), 25):
        graph = nx.MultiGraph([(a, b) for a, _, b, _, _ in found.network().core.edges()])
        assert (len(graph), graph.number_of_edges()) == (found.routers, found.links), found.spec
        most = nx.diameter(graph)
        assert most <= found.diameter if found.diameter_is == "upper-bound" else most == found.diameter, found.spec


def test_what_nothing_beats_is_that_of_a_search_by_hand():
    dice = random.Random(5)
    rows = np.array([[dice.randint(0, 30) for _ in range(3)] for _ in range(3000)], dtype=float)

    def beats(one, other):
        return (one <= other).all() and (one < other).any()

    kept = [place for place, row in enumerate(rows) if not any(beats(other, row) for other in rows)]
    assert 5 < len(kept) < 1000
    assert unbeaten(rows) == kept


def test_sorted_and_unbeaten():
    found = candidates(terminals=(200, 220), radix=16, families=["hyperx", "torus", "slimfly"])
    assert [own.beta for own in found.sorted_by("beta")] == sorted((own.beta for own in found), reverse=True)
    cable = [own.cable_per_terminal_m() for own in found.sorted_by("cable")]
    assert cable == sorted(cable)
    kept = found.pareto(["ports", "beta"])
    most = 0.0
    for own in sorted(kept, key=lambda own: (own.ports / own.terminals, -own.beta)):
        assert own.beta >= most
        most = own.beta
    assert column(found, "cost", "", "400g")[0] * found[0].terminals == found[0].routers * 24_000
    with pytest.raises(TopoloomError, match=r"unknown key to sort by 'bta' .did you mean 'beta'"):
        found.sorted_by("bta")
    with pytest.raises(TopoloomError, match="pareto needs a key at least"):
        found.pareto([])
    with pytest.raises(TopoloomError, match="cable is estimated in the layout rack only"):
        found.sorted_by("cable", "family")


@pytest.mark.parametrize("family", [family for family in SHAPES if family not in ESTIMATED])
def test_bisections_keep_their_promise(family):
    """What is found is an upper bound of the bisection; of these small networks it is the bisection, nearly always."""
    for found in drawn(candidates(terminals=(20, 300), radix=10, families=family), 6):
        beta = found.facts()["beta"]
        upper = (1, LOOSE.get(family, 1.2))
        # Halves of an odd number of nodes divide one: a few links are estimated there.
        kinds = {"exact": (1, 1), "upper-bound": upper, "estimate": upper, "lower-bound": (0.6, 1)}
        least, most = kinds[found.beta_is]
        assert least * beta - 1e-9 <= found.beta <= most * beta + 1e-9, found.spec


@pytest.mark.parametrize("family", ESTIMATED)
def test_estimates_of_bisections_are_as_near_as_the_docs_say(family):
    least, usual, most = ESTIMATED[family]
    some = drawn(candidates(terminals=(60, 250), radix=14, families=family), 30)
    ratios = sorted(found.beta / found.facts()["beta"] for found in some)
    assert least <= ratios[0], some
    assert ratios[-1] <= most
    assert ratios[len(ratios) * 9 // 10] <= usual


@pytest.mark.parametrize("family", SHAPES)
def test_estimates_of_cable_are_as_near_as_the_docs_say(family):
    for layout in ("rack", "rack:units=24,kw=9,node-units=0.5"):
        for found in drawn(candidates(terminals=(150, 900), radix=20, families=family), 6):
            measured = found.network().layout(layout).cost()["cable_per_terminal_m"]
            assert 0.8 * measured <= found.cable_per_terminal_m(layout) <= 1.7 * measured, (found.spec, layout)


FULL = [
    ("hyperx:8,p=41", 48, "rack:rows=1", 0),
    ("hyperx:8,p=41", 48, "rack:rows=1,terminal=none", 0),
    ("hyperx:8,p=41", 48, "rack:rows=2", 0.02),
    ("hyperx:4x4,p=41", 60, "rack:rows=1", 0),
    ("hyperx:4x4,p=41", 60, "rack:rows=2", 0.001),
    ("hyperx:4x4,p=41", 60, "rack", 0.001),
    ("dragonfly:a=6,h=1,p=6", 12, "rack:rows=1", 0),
    ("dragonfly:a=6,h=1,p=6", 12, "rack:rows=2", 0.01),
    ("dragonfly:a=6,h=1,p=2", 12, "rack:rows=1", 0),
    ("dragonfly:a=6,h=1,p=2", 12, "rack:rows=1,units=20,kw=300", 0),
    ("dragonfly-plus:leaf=4,spine=4,h=4,p=4", 14, "rack:rows=1", 0),
    ("dragonfly-plus:leaf=4,spine=4,h=4,p=4", 14, "rack:rows=1,units=24,kw=300", 0),
    ("slimfly:q=4,p=4", 14, "rack:rows=1", 0),
]
"""Networks that fill their racks evenly, the radix to search for them, layouts, and the largest relative error."""


@pytest.mark.parametrize(("spec", "radix", "layout", "error"), FULL)
def test_estimates_of_cable_are_exact_where_racks_are_full_and_in_one_row(spec, radix, layout, error):
    built = network(spec)
    asked = candidates(terminals=(built.num_terminals,) * 2, radix=radix, families=spec.partition(":")[0])
    (found,) = (own for own in asked if own.spec == spec)
    measured = built.layout(layout).cost()["cable_per_terminal_m"]
    assert found.cable_per_terminal_m(layout) == pytest.approx(measured, rel=error or 1e-9)


def test_cable_follows_the_layout_that_is_named(topoloom):
    asked = ["candidates", "--terminals", "300", "--radix", "12", "--each", "1", "--families", "hyperx", "--json"]
    told = topoloom(*asked).json()
    small, family = (topoloom(*asked, "--layout", layout).json() for layout in ("rack:units=8", "family"))
    (row,), (less,), (none,) = told["shown"], small["shown"], family["shown"]
    assert (row["layout"], less["layout"], none["layout"]) == ("rack", "rack:units=8", "family")
    assert "racks of 42 U" in told["layout_assumptions"]
    assert "racks of 8 U" in small["layout_assumptions"]
    assert row["cable_is"] == "estimate"
    assert row["cable_per_terminal_m"] < less["cable_per_terminal_m"], "smaller racks, longer cables"
    assert (none["cable_per_terminal_m"], none["cable_is"]) == (None, None)
    assert "--exact measures it in family" in topoloom(*asked[:-1], "--layout", "family").err
    for layout in ("rack", "family"):
        (exact,) = topoloom(*asked, "--exact", "--layout", layout).json()["shown"]
        cost = network(exact["spec"]).layout(layout).cost()
        assert {key: exact[key] for key in ("cost_usd", "cable_per_terminal_m", "layout", "layout_assumptions")} == {
            key: cost[key] for key in ("cost_usd", "cable_per_terminal_m", "layout", "layout_assumptions")
        }
    assert "unknown preset 'rak'" in topoloom(*asked, "--layout", "rak").err


def test_estimates_of_the_diameters_of_random_graphs():
    found = candidates(terminals=(100, 400), radix=30, families="random-regular")
    some = drawn([each for each in found if each.routers >= 20], 50)
    off = [each.diameter - each.network().core.facts()["diameter"] for each in some]
    assert set(off) <= {-1, 0, 1}
    assert off.count(0) >= 0.8 * len(off)


@pytest.mark.parametrize(
    ("n", "q", "a", "halved"),
    [(6, 32, 2, lambda _, r: r == 1), (25, 17, 2, lambda c, r: (r == 1) != (c < 8))],
)
def test_cuts_of_galaxyflies_that_are_counted_by_hand(n, q, a, halved):
    """Partitions that METIS does not find; the estimate is what they cut."""
    spec = f"galaxyfly:n={n},q={q},a={a}"
    graph = network(spec).to_networkx()
    side = [halved(router // a // q, router % a) for router in range(n * q * a)]
    assert 2 * sum(side) == n * q * a
    cut = sum(side[u] != side[v] for u, v in graph.edges())
    (found,) = (c for c in candidates(terminals=n * q * a, radix=64, families="galaxyfly") if c.spec == f"{spec},p=1")
    assert found.beta * found.terminals / 2 == cut


def test_the_least_cut_of_a_hyperx_by_trying_all():
    for sides in [(3, 3), (5, 2), (3, 3, 2), (4, 3), (5, 3), (2, 2, 2, 2), (7, 2)]:
        routers = list(itertools.product(*map(range, sides)))
        links = [(u, v) for u, v in itertools.combinations(routers, 2) if sum(map(operator.ne, u, v)) == 1]
        least = min(
            sum((u in half) != (v in half) for u, v in links)
            for half in map(set, itertools.combinations(routers, len(routers) // 2))
        )
        assert bisections.hyperx(sides) == least


def test_bisections_of_odd_sizes():
    """Halves differ by one router: whole dimensions, groups and levels do not come out even."""
    betas = {
        c.spec: c.beta for c in candidates(terminals=(125, 504), radix=30, families=["hyperx", "fattree", "dragonfly"])
    }
    assert betas["hyperx:12x3x3,p=2"] == pytest.approx(1.22, abs=0.005)
    assert betas["hyperx:10x5x3,p=1"] == pytest.approx(2.47, abs=0.005)
    assert betas["hyperx:9x8x7,p=1"] == pytest.approx(4.0)
    assert betas["fattree:k=5,levels=3"] == pytest.approx(0.96)
    assert betas["dragonfly:a=4,h=1,p=7"] == pytest.approx(0.114, abs=0.001)


def test_galaxyflies_by_hand():
    """All of them, by trying every n, q, a, p."""
    low, high, radix = 90, 100, 9
    wanted = set()
    for q in range(1, high + 1):
        if q in (2,) or (q > 1 and prime_power(q) is None):
            continue
        inside = {1: q - 1, 3: q + 1}.get(q % 4, q) // 2
        for n in range(1, high // q + 1):
            for a in range(1, high // (n * q) + 1):
                for p in range(1, high // (n * q * a) + 1):
                    degree = n - 1 + inside
                    fits = p + a - 1 + -(-degree // a) <= radix and low <= n * q * a * p
                    if fits and n * q * a > 1:
                        wanted.add(f"galaxyfly:n={n},q={q},a={a},p={p}")
    found = candidates(terminals=(low, high), radix=radix, families=["galaxyfly"])
    assert {c.spec for c in found} == wanted


def test_complete_graphs_are_galaxyflies_too():
    found = candidates(terminals=(2, 40), radix=9, families="galaxyfly")
    assert {"galaxyfly:n=1,q=1,a=9,p=1", "galaxyfly:n=1,q=1,a=5,p=5"} <= {c.spec for c in found}


def test_dragonflies_by_hand():
    low, high, radix = 90, 100, 9
    wanted = set()
    for a, h, p in itertools.product(range(1, radix), repeat=3):
        for g in range(2, a * h + 2):
            if p + a - 1 + h <= radix and low <= a * g * p <= high:
                wanted.add(f"dragonfly:a={a},h={h}" + (f",g={g}" if g <= a * h else "") + f",p={p}")
    assert {c.spec for c in candidates(terminals=(low, high), radix=radix, families=["dragonfly"])} == wanted


def test_a_fat_tree_as_it_is_bought():
    """320 leaves, 320 routers above them and 160 at the top, all of 64 ports, have 10,240 terminals."""
    found = {c.spec: c for c in candidates(terminals=10_000, radix=64, families="xgft")}
    bought = found["xgft:down=32x32x10,up=32x5,trunk=1x6"]
    assert (bought.terminals, bought.routers, bought.radix) == (10_240, 800, 64)
    assert bought.beta == pytest.approx(30 / 32)
    assert max(c.radix for c in found.values()) == 64
    full = [c for c in candidates(terminals=10_000, radix=64, families=["fattree", "clos"]) if c.beta >= 0.9]
    assert bought.routers < min(c.routers for c in full)


def test_random_graphs_of_few_routers():
    """As many routers as the least number of terminals takes, whatever the largest."""
    found = candidates(terminals=(3000, 6000), radix=30, families="random-regular")
    assert min(c.routers for c in found) == 112
    for c in found:
        p = c.terminals // c.routers
        fewer = c.routers - (2 if (c.radix - p) % 2 else 1)
        assert fewer * p < 3000 <= c.terminals


def test_the_published_least_radix_for_100_thousand_terminals():
    """Section 3.1 of the Galaxyfly paper: 20 ports, and no fewer."""
    found = candidates(terminals=100_000, radix=20, families=["galaxyfly"])
    assert "galaxyfly:n=35,q=73,a=10,p=4" in {c.spec for c in found}
    assert not candidates(terminals=(100_000, 200_000), radix=19, families=["galaxyfly"])


def test_thousands_in_seconds():
    begin = time.process_time()
    found = candidates(terminals=3000, radix=36)
    assert len(found) > 5000
    assert time.process_time() - begin < 5
    assert [c.ports for c in found] == sorted(c.ports for c in found)
    some = candidates(terminals=3000, radix=36, min_beta=0.5, max_diameter=2)
    assert {c.spec for c in some} == {c.spec for c in found if c.beta >= 0.5 and c.diameter <= 2}
    assert {c.family for c in some.best()} == {c.family for c in some}
    assert list(some.frame()["spec"]) == [c.spec for c in some]


def test_prime_powers():
    assert prime_powers(200) == [n for n in range(3, 201) if prime_power(n)]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"terminals": 0, "radix": 8}, "terminals is 0; it must be a whole number from 1 to"),
        ({"terminals": (9, 3), "radix": 8}, "terminals are 9 to 3"),
        ({"terminals": 100, "radix": 1}, "radix is 1; it must be a whole number from 2 to 1024"),
        ({"terminals": 100, "radix": 8, "families": ["galaxifly"]}, "did you mean 'galaxyfly'"),
        ({"terminals": 100, "radix": 8, "families": "galaxifly"}, "no family 'galaxifly' to search"),
        ({"terminals": 100, "radix": 8, "families": [3]}, "no family '3' to search"),
        ({"terminals": 100, "radix": 8, "families": 3}, "families is 3"),
        ({"terminals": 100, "radix": 8, "families": []}, "families is empty"),
        ({"terminals": 100.5, "radix": 8}, "terminals is 100.5; it must be a whole number or a pair"),
        ({"terminals": "100", "radix": 8}, "terminals is '100'; it must be a whole number or a pair"),
        ({"terminals": (100,), "radix": 8}, "it must be a whole number or a pair"),
        ({"terminals": (100, "200"), "radix": 8}, "terminals is '200'; it must be a whole number from 1"),
        ({"terminals": 100, "radix": 8.5}, "radix is 8.5; it must be a whole number from 2"),
        ({"terminals": 100, "radix": 8, "min_beta": "x"}, "min_beta is 'x'; it must be a number from 0"),
        ({"terminals": 100, "radix": 8, "min_beta": float("nan")}, "min_beta is nan; it must be a number from 0"),
        ({"terminals": 100, "radix": 8, "min_beta": -1}, "min_beta is -1; it must be a number from 0"),
        ({"terminals": 100, "radix": 8, "max_diameter": -1}, "max_diameter is -1; it must be a whole number from 1"),
        ({"terminals": 100, "radix": 8, "max_diameter": 2.5}, "max_diameter is 2.5; it must be a whole number"),
    ],
)
def test_searches_that_cannot_be(asked, words):
    with pytest.raises(TopoloomError, match=words):
        candidates(**asked)


def test_the_command(topoloom):
    done = topoloom("candidates", "--terminals", "300", "--radix", "12", "--each", "2", "--exact", "--json").json()
    assert done["candidates"] == len(candidates(terminals=300, radix=12))
    spec = done["shown"][0]["spec"]
    assert done["shown"][0]["diameter"] == nx.diameter(nx.Graph(network(spec).to_networkx()))
    for text in ("a", "3:", "3:b", "3:4:5", "-3:5"):
        told = topoloom("candidates", "--terminals", text, "--radix", "12").err
        assert f"--terminals is '{text}'; it must be a number or a range, such as 3000:3300" in told


def test_a_range_is_read_in_one_place():
    for text in ("50:60", " 50 : 60 "):
        assert terminal_range(text) == count_or_range("--terminals", text) == (50, 60)


def test_a_network_whose_routers_no_switch_replaces_has_no_cost(topoloom):
    """Switches of the list have 128 ports at most: such a network comes last by cost, and never costs nothing."""
    found = candidates(terminals=1000, radix=200, families="hyperx").sorted_by("cost", prices="400g")
    costs = found.router_costs("400g")
    assert all((usd == np.inf) == (own.radix > 128) for usd, own in zip(costs, found, strict=True))
    assert costs == sorted(costs)
    assert 0 < costs[0] < np.inf
    large = ("candidates", "--terminals", "1000", "--radix", "200", "--families", "hyperx", "--prices", "400g")
    told = topoloom(*large, "--each", "1", "--json").json()["shown"][0]
    assert (told["radix"] > 128, told["routers_usd_per_terminal"]) == (True, None)
    assert topoloom(*large, "--each", "1").out.splitlines()[2].endswith(" –")


def test_an_order_by_cost_names_its_prices(topoloom):
    asked = ("candidates", "--terminals", "256", "--radix", "16", "--families", "xgft", "--each", "2")
    for order in (("--sort", "cost"), ("--pareto", "cost,beta")):
        told = topoloom(*asked, *order).out
        assert "routers $/terminal" in told
        assert "Cost: prices edr-flex, of routers alone" in told
        assert topoloom(*asked, *order, "--json").json()["prices"] == "edr-flex"
    assert "Order by cost: prices edr-flex, of routers alone" in topoloom(*asked, "--sort", "cost", "--exact").out
    assert "Cost" not in topoloom(*asked).out


def test_what_falls_short_when_built_is_dropped(topoloom):
    """A Galaxyfly whose estimate is more than what is found."""
    asked = ("candidates", "--terminals", "300", "--radix", "12", "--families", "galaxyfly", "--each", "12")
    found = candidates(terminals=300, radix=12, families="galaxyfly")[:12]
    betas = [(c.beta, c.facts()["beta"], c.spec) for c in found]
    estimate, true, spec = max(betas, key=lambda each: each[0] / each[1])
    assert estimate > 1.2 * true
    between = ("--min-beta", f"{(estimate + true) / 2}")
    assert spec in {row["spec"] for row in topoloom(*asked, *between, "--json").json()["shown"]}
    exact = topoloom(*asked, *between, "--exact", "--json")
    assert all(row["beta"] >= (estimate + true) / 2 for row in exact.json()["shown"])
    assert spec not in {row["spec"] for row in exact.json()["shown"]}
    assert "fall short of what is asked" in exact.err


@pytest.mark.parametrize(
    ("host", "accelerators", "interfaces"), [("hgx-h100", 8, 8), ("abci-a", 8, 4), ("plain", 1, 1)]
)
def test_networks_have_a_port_for_each_interface(host, accelerators, interfaces):
    hosting = Hosting.read(host)
    assert (hosting.accelerators, hosting.interfaces) == (accelerators, interfaces)
    found = candidates(terminals=(256, 300), radix=16, families=["hyperx", "dragonfly"], hosts=host)
    for each in drawn(found, 3):
        built = network(hosting.cluster(each.spec, each.terminals, "400Gb/s"))
        # What is left of the ports is less than a host.
        assert 256 <= built.num_terminals <= 300 + accelerators
        assert built.num_terminals // accelerators == each.terminals // interfaces


def test_hosts_without_a_place(topoloom):
    asked = ["candidates", "--terminals", "300", "--radix", "16", "--hosts", "hgx-h100"]
    told = topoloom(*asked, "--families", "nesttree")
    assert told.status == 2
    assert "the family nesttree cannot take hosts hgx-h100: its routers are endpoints" in told.err
    assert {row["family"] for row in topoloom(*asked, "--json").json()["shown"]}.isdisjoint(SELF_HOSTED)
    assert "8 accelerators and 8 interfaces" in topoloom(*asked).out
    wrong = topoloom(*asked[:-1], "hgx-h10")
    assert wrong.status == 2
    assert "unknown host 'hgx-h10' (did you mean 'hgx-h100'?)" in wrong.err
