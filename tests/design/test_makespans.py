"""Makespans of designs: which are estimated, and by what."""

from pathlib import Path

import pytest

import topoloom
from topoloom.design import funnel, makespans
from topoloom.design.criteria import Value
from topoloom.design.makespans import EVERYWHERE, FINALISTS, bytes_of_exchange, makespans_note, time_of_exchange
from topoloom.design.question import make_question
from topoloom.studies import Ledger


@pytest.mark.parametrize("tasks", [2, 316, 317, 707, 708, 10_000])
@pytest.mark.parametrize("most", [EVERYWHERE, FINALISTS])
@pytest.mark.parametrize("app", ["alltoall", "all-to-all:size=1KiB"])
def test_exchanges_of_more_messages_are_estimated(tasks: int, most: int, app: str) -> None:
    size = 1024 if "1KiB" in app else 65536
    expected = (tasks - 1) * size if tasks * (tasks - 1) > most else None
    assert bytes_of_exchange(app, tasks, most) == expected


@pytest.mark.parametrize("app", ["alltoall:algorithm=bruck", "alltoall:group=0-39", "halo:grid=10x10", "allreduce"])
def test_all_else_is_played(app: str) -> None:
    assert bytes_of_exchange(app, 100, 1) is None
    assert bytes_of_exchange("alltoall:algorithm=direct", 100, 1) == 99 * 65536


def test_an_exchange_takes_its_bytes_over_what_uniform_traffic_carries() -> None:
    """Of 400 Gb/s: 50 GB take 1 s alone."""
    measured = time_of_exchange(50e9, "400Gb/s", Value(0.5, 0.4, 0.625, "measured"))
    assert (measured.value, measured.low, measured.high, measured.known) == (2.0, 1.6, 2.5, "estimate")
    bound = time_of_exchange(50e9, "400Gb/s", Value(0.5, 0.0, 1.0, "bound"))
    assert (bound.low, bound.value, bound.high) == pytest.approx((2 / 1.1, 2, 2 / 0.9))
    assert time_of_exchange(50e9, "400Gb/s", Value(1.0, 0.0, 1.0, "bound")).low == 1.0, "no terminal sends faster"


def test_notes_name_what_is_estimated() -> None:
    def note(terminals: int) -> str:
        return makespans_note(make_question({"terminals": terminals, "radix": 64, "apps": ["alltoall", "allreduce"]}))

    estimated = "alltoall estimated by what uniform traffic carries"
    assert note(10_000) == f"{estimated}; allreduce with coalesce=0.01 of the flow engine"
    assert note(100_000) == f"{estimated}; allreduce with coalesce=0.05 of the flow engine"
    assert note(1000) == estimated
    assert note(600) == "alltoall estimated by what uniform traffic carries, but played on finalists"
    assert note(100) == ""


def test_a_design_estimates_everywhere_and_plays_on_finalists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An all-to-all of 56 messages and more counts as long here; the answer has both times, and says which is which."""
    monkeypatch.setattr(makespans, "EVERYWHERE", 55)
    monkeypatch.setattr(funnel, "EVERYWHERE", 55)
    question = {"terminals": 12, "radix": 6, "families": ["hyperx"], "finalists": 2, "apps": ["alltoall"]}
    found = topoloom.design(traffic=["worst-case"], store=tmp_path / "store", **question)
    for own in found.to_dict()["finalists"]:
        told = own["criteria"]["makespan.alltoall"]
        carried = own["criteria"]["saturation.uniform"]["value"]
        assert told["is"] == "estimate"
        assert told["value"] == pytest.approx(11 * 65536 / 50e9 / carried)
        assert own["details"]["makespan_s"]["alltoall"] >= 11 * 65536 / 50e9 * (1 - 1e-9)
    assert "estimated by what uniform traffic carries" in found.to_html()


def test_networks_that_no_window_admits_are_estimated_and_not_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With room for one network, only it and the finalists play; others have the time of a terminal's link at least."""
    monkeypatch.setattr(funnel, "places_of", lambda _: [1])
    monkeypatch.setattr(makespans, "COALESCED", ((10, 0.01),))
    app = "allreduce:size=64KiB"
    question = {"terminals": 12, "radix": 6, "families": ["hyperx", "dragonfly"], "finalists": 1, "apps": [app]}
    found = topoloom.design(traffic=["uniform"], store=tmp_path / "store", **question).to_dict()
    with Ledger(tmp_path / "store") as ledger:
        played = {row["spec"] for row in ledger.rows() if row["kind"] == "workload"}
    assert len(played) <= 2
    estimated = 0
    for own in found["front"]:
        told = own["criteria"][f"makespan.{app}"]
        assert (told["is"] == "measured") == (own["spec"] in played)
        if told["is"] == "estimate":
            low, high = told["interval"]
            messages = topoloom._core.Workload(f"{app},tasks=12", 12)
            assert low == pytest.approx(messages.total_bytes / 12 / 50e9)
            assert high is None
            assert told["value"] >= low
            estimated += 1
    assert estimated > 0
