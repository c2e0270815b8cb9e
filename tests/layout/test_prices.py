"""Price lists of switches that are bought whole, against sums by hand; which list belongs to a rate."""

import csv
import json

import pytest

import topoloom
from topoloom import TopoloomError, network
from topoloom.layout.prices import largest_switch, price_list, price_lists, prices_of_rate, with_optics

MODERN = [own.name for own in price_lists() if own.get("switches")]

OWN = {
    "name": "mine",
    "source": "a quote",
    "switches": [{"model": "small", "ports": 4, "usd": 100, "w": 10}, {"ports": 8, "usd": 150, "w": 25}],
    "nic": {"usd": 5, "w": 2},
    "cables": [
        {"kind": "DAC", "copper": True, "lengths_m": [1, 2], "usd": 1},
        {"kind": "optics", "usd": 10, "usd_per_m": 1, "w": 3},
    ],
    "energy": {"usd_per_kwh": 0.1, "pue": 1.5, "years": 5},
    "figures": [
        {"of": "switch of 4 ports", "key": "usd", "date": "2024", "source": "a guess", "assumed": True},
        {"of": "switch of 8 ports", "key": "w", "date": "2024", "source": "a guess", "assumed": True},
        {"of": "DAC", "key": "usd", "date": "2024", "source": "a guess", "assumed": True},
        {"of": "nic", "key": "usd", "date": "2024-05", "source": "https://example.org"},
    ],
}


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(json.dumps(OWN))
    return str(path)


def test_switches_are_bought_whole(own, topoloom, tmp_path):
    """Three routers in a line with two terminals each: 3 and 4 ports are in use, of 4."""
    cost = network("mesh:3,p=2").layout("family", own).cost()
    # Six cables of terminals of 1 m, two of 3 m between routers.
    assert cost["router_cost_usd"] == 300
    assert cost["cable_cost_usd"] == 6 * 1 + 2 * 13
    assert cost["cost_usd"] == 300 + 32 + 6 * 5
    assert cost["power_w"] == 3 * 10 + 2 * 3 + 6 * 2
    energy = 48 / 1000 * 5 * 365.25 * 24 * 1.5 * 0.1
    assert cost["energy_cost_usd"] == pytest.approx(energy)
    assert cost["lifetime_cost_per_terminal_usd"] == pytest.approx((362 + energy) / 6)
    assert cost["prices_assumed"] == ["switch of 4 ports: usd", "DAC: usd"]
    larger = network("mesh:3,p=4").layout("family", own).cost()
    assert (larger["router_cost_usd"], larger["router_power_w"]) == (450, 75)
    assert larger["prices_assumed"] == ["switch of 8 ports: w", "DAC: usd"]
    topoloom("layout", "mesh:3,p=2", "--prices", own, "--bill", str(tmp_path / "bill.csv"))
    rows = list(csv.DictReader((tmp_path / "bill.csv").open()))
    assert rows[0]["item"] == "router with 4 ports in use: small of 4 ports"
    racks = network("mesh:3,p=2").layout(prices=own).cost()
    assert sum(float(row["cost_usd"] or 0) for row in rows) == pytest.approx(racks["cost_usd"])


def test_a_router_larger_than_all_switches_is_refused(own, topoloom):
    assert "no switch has 9 ports; the largest has 8" in topoloom("layout", "mesh:2,p=8", "--prices", own).err


def test_what_is_assumed_stands_beneath_the_table(own, topoloom):
    told = " ".join(topoloom("layout", "mesh:3,p=2", "mesh:3,p=4", "--prices", own, "--layout", "family").out.split())
    assert "assumed, without a public source: switch of 4 ports: usd; DAC: usd; switch of 8 ports: w" in told
    assert "Cost with electricity" in told
    assert "Electricity" not in topoloom("layout", "mesh:3").out


@pytest.mark.parametrize("name", MODERN)
def test_a_list_prices_all_that_its_rate_needs(name):
    told = price_list(name)
    assert prices_of_rate(told.port_gbps) == name
    sizes = [own.ports for own in told.switches]
    assert sizes == sorted(sizes)
    assert largest_switch(name) == sizes[-1] >= 64
    assert [own.usd for own in told.switches] == sorted(own.usd for own in told.switches)
    cost = network("hyperx:6x6,p=6").layout(prices=name).cost()
    kinds = [kind["kind"] for kind in cost["cable_kinds"]]
    assert "DAC" in kinds
    assert cost["nic_cost_usd"] > 0 < cost["energy_cost_usd"]
    assert cost["prices_assumed"]


@pytest.mark.parametrize("name", MODERN)
def test_a_list_has_cables_for_the_largest_halls(name):
    """Terminals of large networks stand 126 m apart; what reaches that far is dear, and bought for nothing else."""
    optics = [own for own in price_list(name).cables if not own.copper]
    reach = [own.get("reach_m") or max(own.lengths_m) for own in optics]
    assert max(reach) >= 500
    farthest = optics[reach.index(max(reach))]
    for length in range(1, int(sorted(reach)[-2]) + 1):
        others = [own.usd + own.usd_per_m * length for own, most in zip(optics, reach, strict=True) if most >= length]
        assert farthest.usd + farthest.usd_per_m * length > min(others)


def test_figures_are_dated_and_honest():
    for name in MODERN:
        for figure in price_list(name).figures:
            assert figure.date[:4].isdigit()
            assert figure.assumed != ("://" in figure.source), (name, figure)


def test_copper_is_cheaper_than_optics_where_it_reaches():
    for name in MODERN:
        cables = {kind.kind: kind for kind in price_list(name).cables}
        optics = [own for own in cables.values() if not own.copper]
        for own in cables.values():
            for length in own.lengths_m if own.copper else ():
                assert own.usd + own.usd_per_m * length < min(far.usd + far.usd_per_m * length for far in optics), name


def test_rates_without_a_list_are_refused():
    with pytest.raises(
        TopoloomError, match=r"no price list has links of 50 Gb/s; there are lists of 25, 100, 200, 400, 800"
    ):
        prices_of_rate(50)


def test_optics_alone_change_their_price():
    usual, dear = price_list("400g"), price_list(with_optics("400g", 2))
    for one, other in zip(usual.cables, dear.cables, strict=True):
        assert other.usd == one.usd * (1 if one.copper else 2)
    assert dear.switches == usual.switches
    spec = network("hyperx:6x6,p=6")
    cheap, list_price, double = (
        spec.layout(prices=with_optics("400g", factor)).cost()["cable_cost_usd"] for factor in (0.5, 1, 2)
    )
    assert cheap < list_price == spec.layout(prices="400g").cost()["cable_cost_usd"] <= double


def test_names_of_lists_are_read_as_ports_are_called():
    assert topoloom.network("mesh:2").layout(prices="400G").cost()["prices"] == "400g"


def test_candidates_cost_what_the_list_says(topoloom):
    asked = ["candidates", "--terminals", "60", "--radix", "12", "--families", "hyperx", "--each", "1", "--exact"]
    (row,) = topoloom(*asked, "--prices", "100g", "--json").json()["shown"]
    assert row["prices"] == "100g"
    assert row["cost_usd"] == network(row["spec"]).layout(prices="100g").cost()["cost_usd"]
    outcome = topoloom(*asked, "--prices", "100g")
    assert f"{row['cost_usd'] / row['terminals']:,.0f}" in outcome.out
    assert "prices 100g (assumed" in outcome.out
    assert "unknown price list 'nix'" in topoloom(*asked, "--prices", "nix").err
    routers = topoloom(*asked[:-1], "--prices", "100g")
    assert "routers $/terminal" in routers.out
    (row,) = topoloom(*asked[:-1], "--prices", "100g", "--json").json()["shown"]
    assert f"{row['routers_usd_per_terminal']:,.0f}" in routers.out
    assert row["routers_usd_per_terminal"] * row["terminals"] == 9000 * row["routers"]
