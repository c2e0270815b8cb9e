"""Which network wins on what, by values that are compared by hand."""

from types import SimpleNamespace

import pytest

from topoloom.report.overview import Contest, Entry, contests, headline, join_words, saturation_entries, verdict


def contest(better, *values, decimals=1) -> Contest:
    return Contest("Own", "the best", "m", decimals, better, tuple(Entry(f"net{i}", v) for i, v in enumerate(values)))


@pytest.mark.parametrize(
    ("better", "values", "ranking", "winners"),
    [
        ("low", (3, 1, 2), "1 2 0", "1"),
        ("high", (3, 1, 2), "0 2 1", "0"),
        ("low", (2, 1.04, 1.01), "2 1 0", "2 1"),  # both are written 1.0
        ("high", (2, 2, 2), "0 1 2", ""),
        ("high", (2, 2.04), "1 0", ""),
        ("low", (5,), "0", ""),
    ],
)
def test_those_that_are_written_alike_tie_and_none_wins_where_all_do(better, values, ranking, winners):
    own = contest(better, *values)
    assert [entry.spec for entry in own.ranking] == [f"net{place}" for place in ranking.split()]
    assert [entry.spec for entry in own.winners] == [f"net{place}" for place in winners.split()]


@pytest.mark.parametrize(
    ("better", "values", "margins", "shares"),
    [
        ("low", (100, 150, 200), ("+0 %", "+50 %", "+100 %"), (0.5, 0.75, 1.0)),
        ("high", (100, 150, 200), ("−50 %", "−25 %", "+0 %"), (0.5, 0.75, 1.0)),
        ("low", (0, 5), ("", ""), (0.0, 1.0)),
        ("low", (0, 0), ("", ""), (0.0, 0.0)),
        ("high", (0.5, 0.25), ("+0 %", "−50 %"), (1.0, 0.5)),
    ],
)
def test_margins_are_parts_of_the_best_and_bars_parts_of_the_largest(better, values, margins, shares):
    own = contest(better, *values)
    assert tuple(own.margin(entry) for entry in own.entries) == margins
    assert tuple(own.share(entry) for entry in own.entries) == shares


def curve(spec, traffic, routing, latency, load, accepted=None, error=None) -> SimpleNamespace:
    return SimpleNamespace(
        spec=spec, traffic=traffic, routing=routing, zero_load_latency=latency, saturation_load=load,
        accepted_at_1=accepted, zero_load_ci95=error,
    )  # fmt: skip


def priced(spec, dollars, watts) -> dict:
    return {"spec": spec, "terminals": 10, "cost_usd": dollars, "power_w": watts, "prices": "400g"}


@pytest.fixture
def compared() -> SimpleNamespace:
    return SimpleNamespace(
        title="",
        traffics=["uniform", "tornado"],
        facts=[priced("a", 1000, 50), priced("b", 2000, None), priced("c", 500, 60)],
        curves=[
            curve("a", "uniform", "min", 20.0, 0.5, 0.45, 0.125),
            curve("a", "uniform", "val", 40.0, 0.7, 0.75),
            curve("a", "tornado", "min", 9.0, 0.2),
            curve("a", "tornado", "val", 9.0, 0.4),
            curve("b", "uniform", "min", 10.0, 0.7),
            curve("b", "tornado", "min", 9.0, None),
            curve("c", "uniform", "min", None, None),
        ],
    )


def test_a_network_takes_part_with_the_best_of_its_routings(compared):
    found = {own.title: own for own in contests(compared)}
    assert list(found) == [
        "Zero-load latency, uniform", "Saturation load, uniform", "Saturation load, tornado",
        "Cost per terminal", "Power per terminal",
    ]  # fmt: skip
    latency, uniform, tornado, cost, power = found.values()
    assert latency.entries == (Entry("a", 20.0, "min", "± 0.12"), Entry("b", 10.0, "min", ""))
    assert uniform.entries == (Entry("a", 0.7, "val", "accepts 0.75 at load 1"), Entry("b", 0.7, "min", ""))
    assert uniform.entries == saturation_entries(compared, "uniform")
    assert tornado.entries == (Entry("a", 0.4, "val", ""),)
    assert cost.entries == (Entry("a", 100.0), Entry("b", 200.0), Entry("c", 50.0))
    assert power.entries == (Entry("a", 5.0), Entry("c", 6.0))
    assert [own.better for own in found.values()] == ["low", "high", "high", "low", "low"]
    assert [own.text(own.entries[0].value) for own in found.values()] == ["20.0", "0.70", "0.40", "100", "5.0"]
    assert [uniform.entry(spec) for spec in "abc"] == [*uniform.entries, None]


def test_the_network_with_the_most_wins_stands_first(compared):
    """All alike or alone, as under these traffics, is no win."""
    assert verdict(compared) == [
        ("b", "the lowest zero-load latency"),
        ("c", "the lowest cost per terminal"),
        ("a", "the lowest power per terminal"),
    ]
    compared.curves += [curve("c", "uniform", "val", 10.04, 0.1), curve("c", "tornado", "val", 30.0, 0.9)]
    tied = "the lowest zero-load latency (tied)"
    uniform, tornado = (f"the highest saturation load under {traffic} traffic" for traffic in ("uniform", "tornado"))
    assert verdict(compared) == [
        ("c", f"{tied}, {tornado} and the lowest cost per terminal"),
        ("b", f"{tied} and {uniform} (tied)"),
        ("a", f"{uniform} (tied) and the lowest power per terminal"),
    ]


@pytest.mark.parametrize(
    ("count", "title", "line"),
    [
        (1, "", "One network"),
        (2, "", "Two networks, side by side"),
        (10, "", "Ten networks, side by side"),
        (11, "", "11 networks, side by side"),
        (2, "Ours", "Ours"),
    ],
)
def test_a_report_is_headed_by_its_title_or_the_number_of_networks(count, title, line):
    assert headline(SimpleNamespace(title=title, facts=[{}] * count)) == line


def test_words_are_joined_as_in_a_sentence():
    assert [join_words(list("abc")[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert join_words(["hosts, routers"]) == "hosts, routers"
