"""The design search against the networks themselves, and against a search by hand."""

import json
import random
import time

import networkx as nx
import pytest

from oracles.fields import prime_power
from topoloom import TopoloomError, candidates, network
from topoloom.design import SHAPES, prime_powers


def drawn(found, count):
    families = {each.family: [c for c in found if c.family == each.family] for each in found}
    dice = random.Random(1)
    return [c for some in families.values() for c in dice.sample(some, min(count, len(some)))]


SMALL = drawn(candidates(terminals=(60, 300), radix=12), 8)


@pytest.mark.parametrize("found", SMALL, ids=[c.spec for c in SMALL])
def test_what_is_told_is_what_is_built(found):
    facts = json.loads(found.network().core.facts_json())
    for key in ("terminals", "routers", "radix", "links"):
        assert getattr(found, key) == facts[key]
    assert found.ports == 2 * facts["links"] + facts["terminals"]
    if found.diameter_is == "exact":
        assert found.diameter == facts["diameter"]
    elif found.diameter_is == "upper-bound":
        assert found.diameter >= facts["diameter"]


def test_every_family_is_found():
    assert {c.family for c in SMALL} == set(SHAPES)


@pytest.mark.parametrize("family", ["slimfly", "hyperx", "flex", "fattree", "clos"])
def test_bisections_keep_their_promise(family):
    for found in drawn(candidates(terminals=(20, 80), radix=10, families=[family]), 3):
        facts = found.facts()
        if facts["bisection_is"] == "exact":
            ways = {"exact": (1, 1), "upper-bound": (1, 1e9), "lower-bound": (0, 1), "estimate": (0, 1e9)}
            least, most = ways[found.beta_is]
            assert least * facts["beta"] - 1e-9 <= found.beta <= most * facts["beta"] + 1e-9


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
    assert len(found.frame()) == len(found)
    assert [c.ports for c in found] == sorted(c.ports for c in found)
    some = candidates(terminals=3000, radix=36, min_beta=0.5, max_diameter=2)
    assert {c.spec for c in some} == {c.spec for c in found if c.beta >= 0.5 and c.diameter <= 2}
    assert {c.family for c in some.best()} == {c.family for c in some}


def test_prime_powers():
    assert prime_powers(200) == [n for n in range(3, 201) if prime_power(n)]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"terminals": 0, "radix": 8}, "they must ascend, from 1 to"),
        ({"terminals": (9, 3), "radix": 8}, "terminals are 9 to 3"),
        ({"terminals": 100, "radix": 1}, "radix is 1; it must be from 2 to 1024"),
        ({"terminals": 100, "radix": 8, "families": ["galaxifly"]}, "did you mean 'galaxyfly'"),
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
    assert "must be a number or a range" in topoloom("candidates", "--terminals", "a", "--radix", "12").err
