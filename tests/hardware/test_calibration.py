"""Endpoints are fitted on one and two nodes alone, and predictions are what the command makes of the fits."""

import hashlib
import random
from dataclasses import replace
from math import exp, log, sqrt
from pathlib import Path
from statistics import mean, median, stdev

import pytest

from topoloom.hardware import gpcnet
from topoloom.hardware.calibration import Fits, _fitted, calibrate, fits_text, predictor, read_fits
from topoloom.hardware.machines import double_tree, read_machines
from topoloom.hardware.mpi import Broadcast, broadcast_choice
from topoloom.hardware.nccl import PROTOCOLS, Choice, Launch, choice, launch
from topoloom.hardware.predictions import gpcnet_endpoints, predictions
from topoloom.hardware.rows import POINT_TO_POINT, Row, fitted_rows, predictions_text, read_rows

HARDWARE = Path(__file__).parents[2] / "papers/hardware"
FIRST_PREDICTIONS = "f7434ccb2c7c524f87eb918d8729f5deb2e9c285a84a55ab88abf3d6f3c51737"
"""SHA-256 of the predictions of commit 9748405."""


@pytest.fixture(scope="module")
def machines():
    return read_machines(HARDWARE)


@pytest.fixture(scope="module")
def rows():
    return read_rows(HARDWARE / "measurements.csv")


def test_the_fit_does_not_see_what_it_is_judged_on(machines, rows):
    """Rows of four and more nodes are changed, and some left out: nothing of the fit changes."""
    kinds = {("mpi", "pt2pt-bandwidth"), ("nccl", "allreduce"), ("nccl", "bcast")}
    own = [row for row in rows if row.machine == "ABCI 2.0 V" and (row.library, row.benchmark) in kinds]
    judged = [row for row in own if row.nodes >= 4]
    assert len(judged) > 50
    draw = random.Random(7)
    changed = [replace(row, value=row.value * draw.uniform(0.1, 10)) if row.nodes >= 4 else row for row in own]
    fewer = [row for row in own if row.nodes < 4]
    texts = {fits_text(calibrate(machines, some)) for some in (own, changed, fewer)}
    assert len(texts) == 1
    # What is seen does count.
    seen = [replace(row, value=row.value * 2) if row.nodes == 2 else row for row in own]
    assert fits_text(calibrate(machines, seen)) not in texts


def assert_alike(again: Fits, kept: Fits) -> None:
    """Compare fits with those of the file, which are rounded."""
    for kind, fit in again.items():
        was = kept[kind]
        assert fit.rows == was.rows
        assert fit.median_error == pytest.approx(was.median_error, rel=1e-3), kind
        assert fit.estimates.keys() == was.estimates.keys()
        for name, own in fit.estimates.items():
            told = was.estimates[name]
            assert (own.value, own.low, own.high) == pytest.approx((told.value, told.low, told.high), rel=1e-3), name


def test_a_sample_of_the_calibration_comes_out_again(machines, rows):
    """The file is what the command makes of the measurements, whatever the order of the rows."""
    own = [row for row in rows if row.machine == "ABCI 2.0 V" and (row.benchmark != "bcast" or row.library == "nccl")]
    again = calibrate(machines, reversed(own))
    assert len(again) == 8
    assert_alike(again, read_fits(HARDWARE / "calibration.json"))


@pytest.mark.long
def test_the_calibration_comes_out_again(machines, rows):
    """All but the broadcasts of A on GPUs, whose fit stops a little earlier or later."""
    again = calibrate(machines, rows)
    del again["ABCI 2.0 A", "mpi", "bcast"]
    assert_alike(again, read_fits(HARDWARE / "calibration.json"))


@pytest.mark.parametrize("deviations", [(-0.004, 0.004), (-0.01, -0.002, 0.001, 0.002, 0.009)])
def test_an_interval_is_that_of_a_mean(machines, deviations):
    """One size: the estimate is the geometric mean, its interval 1.96 standard errors to each side."""
    logs = [log(2) + deviation for deviation in deviations]
    some = [Row("ABCI 2.0 V", "pt2pt-latency", "mpi", 2, 2, 1, exp(own), "us") for own in logs]
    (fit,) = calibrate(machines, some).values()
    (one,) = fit.estimates.values()
    assert one.value == pytest.approx(exp(mean(logs)), rel=1e-3)
    half = 1.96 * stdev(logs) / sqrt(len(logs))
    assert [log(one.value / one.low), log(one.high / one.value)] == pytest.approx([half, half], rel=0.01)
    assert fit.median_error == pytest.approx(median(abs(one.value / row.value - 1) for row in some))


@pytest.mark.parametrize(("library", "most"), [("mpi-cpu", 0.05), ("mpi", 0.2)])
def test_broadcasts_of_known_costs_are_found(machines, rows, library, most):
    """Halves between GPUs are exchanged 10,000 times slower than where fits begin: from there a row is 84 % off."""
    kept = read_fits(HARDWARE / "calibration.json")
    v = machines["ABCI 2.0 V"]
    costs, predict = kept[v.name, library, "bcast"].parameters, predictor(v, library, "bcast", kept)
    own = [row for row in fitted_rows(rows) if (row.machine, row.library, row.benchmark) == (v.name, library, "bcast")]
    some = [replace(row, value=predict(row, costs)) for row in own[::3]]
    found = _fitted(v, some, kept)
    assert found.median_error < 0.01
    assert max(abs(predict(row, found.parameters) / row.value - 1) for row in some) < most


def test_ranks_on_a_part_of_a_node_are_left_out(machines):
    """They share the memory of a node with fewer than those of full nodes, which are wanted; NCCL's do not."""
    v = machines["ABCI 2.0 V"]
    two, full, half = (Row(v.name, "pt2pt-latency", "mpi", *own, 1, 2.0, "us") for own in ((2, 2), (1, 4), (1, 2)))
    (fit,) = calibrate(machines, [two, full, half]).values()
    assert fit.rows == 2
    assert fit.estimates.keys() == {"ranks-2@1", "ranks-4@1"}
    both = [Row(v.name, "bcast", "nccl", 1, ranks, 1024, 20.0, "us") for ranks in (2, 4)]
    (fit,) = calibrate(machines, both).values()
    assert fit.rows == 2


def test_messages_without_bytes_do_not_move_a_fit(machines):
    """Their cost is that of the first knot: a message of one byte decides it."""
    one, none = (
        Row("ABCI 2.0 V", "pt2pt-latency", "mpi", 2, 2, size, cost, "us") for size, cost in ((1, 2.0), (0, 9.0))
    )
    told = [next(iter(calibrate(machines, some).values())) for some in ([one], [one, none])]
    assert told[0].parameters == told[1].parameters
    assert [fit.rows for fit in told] == [1, 2]


def test_only_pairs_and_two_nodes_are_seen(rows):
    seen = fitted_rows(rows)
    assert {row.nodes for row in seen if row.benchmark not in POINT_TO_POINT} == {1, 2}
    assert len(seen) < len(rows)


def test_a_sample_of_predictions_comes_out_again(machines, rows):
    """The file is what the command makes of the parameters that stand beside it, which are rounded."""
    kept = {row.key: row for row in read_rows(HARDWARE / "predictions.csv", "predicted")}
    fits = read_fits(HARDWARE / "calibration.json")
    again = predictions(machines, rows, fits, nodes=[2, 7, 16, 64])
    assert len(again) > 1000
    for row in again:
        assert kept[row.key].unit == row.unit
        assert kept[row.key].value == pytest.approx(row.value, rel=1e-3), row.key


def test_every_number_of_nodes_and_size_is_predicted(rows):
    kept = read_rows(HARDWARE / "predictions.csv", "predicted")
    assert len({row.key for row in kept}) == len(kept)
    for row in rows:
        if row.nodes > 2:
            assert any(own.key == row.key for own in kept if own.bytes == row.bytes), row.key
    assert {row.nodes for row in kept if row.benchmark == "bcast" and row.library == "nccl"} == set(range(2, 65))
    assert sum(row.benchmark.startswith(("rr-", "natural", "multiple", "congested")) for row in kept) == 8
    assert predictions_text(kept).startswith("machine,benchmark,library,nodes,ranks,bytes,predicted,unit\n")


def test_open_mpi_chooses_broadcasts_by_size_and_ranks():
    KIB = 1024  # noqa: N806
    assert broadcast_choice(2047, 64) == Broadcast("binomial")
    assert broadcast_choice(2048, 64) == Broadcast("split", KIB)
    assert broadcast_choice(1 << 20, 8) == Broadcast("split", 8 * KIB)
    assert broadcast_choice(4 << 20, 8) == Broadcast("pipeline", 128 * KIB)
    assert [broadcast_choice(16 << 20, ranks).segment // KIB for ranks in (16, 32, 62, 64)] == [128, 64, 16, 8]


def test_nccl_changes_its_protocol_where_measured_times_jump(machines):
    """Two nodes: times of broadcasts jump to Simple at 2 MiB (V), and grow by LL128's chunks from 1 MiB on (A)."""
    for name, jump, protocol in (("ABCI 2.0 V", 1 << 21, "Simple"), ("ABCI 2.0 A", 1 << 20, "LL128")):
        job = machines[name].job("nccl", 2)
        protocols = [PROTOCOLS[choice("bcast", 1 << power, job).protocol] for power in range(2, 26)]
        assert protocols == ["LL" if 1 << power < jump else protocol for power in range(2, 26)]
    assert choice("allreduce", 4, machines["ABCI 2.0 V"].job("nccl", 8)) == Choice("tree", 0)


def test_nccl_takes_a_second_ring_where_measured_times_jump(machines):
    """Two nodes: times of broadcasts jump at 64 KiB with 8 ranks, at 128 KiB with 16; by hand from NCCL's rule."""
    ring_of_ll = Choice("ring", 0)
    for name, size in (("ABCI 2.0 V", 1 << 16), ("ABCI 2.0 A", 1 << 17)):
        job = machines[name].job("nccl", 2)
        assert [launch(ring_of_ll, own, job) for own in (size - 1, size)] == [Launch(1, 512), Launch(2, 512)]
    v = machines["ABCI 2.0 V"]
    # 64 ranks: 512 bytes a thread.
    assert launch(ring_of_ll, 1 << 16, v.job("nccl", 16)) == Launch(1, 128)
    assert launch(ring_of_ll, 1 << 20, v.job("nccl", 16)) == Launch(4, 512)
    assert launch(ring_of_ll, 4, v.job("nccl", 16)) == Launch(1, 64)
    assert launch(Choice("tree", 0), 1 << 14, v.job("nccl", 16)) == Launch(4, 512)
    assert launch(Choice("ring", 2), 1 << 16, v.job("nccl", 16)) == Launch(2, 512)


def test_the_first_predictions_are_those_of_before_the_comparison():
    """They were committed before anything was compared, and stay as they were."""
    text = (HARDWARE / "predictions-first.csv").read_bytes()
    assert hashlib.sha256(text).hexdigest() == FIRST_PREDICTIONS


@pytest.mark.parametrize("nodes", [2, 3, 4, 7, 16, 33])
def test_two_trees_reach_all_nodes_and_share_the_inner_ones(nodes):
    edges = double_tree(nodes)
    for tree in (edges[: nodes - 1], edges[nodes - 1 :]):
        parents = dict(tree)
        assert len(parents) == nodes - 1
        at = set(parents)
        for _ in range(nodes):
            at = {parents[node] for node in at if node in parents}
        assert not at, "every way up ends"
    inner = [{parent for _, parent in tree} for tree in (edges[: nodes - 1], edges[nodes - 1 :])]
    assert len(inner[0] & inner[1]) <= 1 + nodes % 2


def test_congested_rates_depend_on_control_of_injection(machines):
    fits = read_fits(HARDWARE / "calibration.json")
    slingshot = machines["Slingshot 64x8"]
    told = {
        control: {row[0]: row[3] for row in gpcnet.rows(slingshot.job("mpi-cpu", 64), ends, control)}
        for ends in [gpcnet_endpoints(slingshot, fits)]
        for control in gpcnet.CONTROLS
    }
    alone, beside = (
        [told[control][benchmark] for control in ("flow", "none")]
        for benchmark in ("rr-two-sided-bandwidth", "congested-rr-bandwidth-sync")
    )
    # Rings alone lose little of what flows cannot use, rings beside congestors much.
    assert 0.94 * alone[0] < alone[1] < alone[0]
    assert beside[1] < 0.9 * beside[0]
    assert beside[0] < alone[0]
    page = _words_of_the_page()
    assert "{:,.0f} MiB/s per rank with it and {:,.0f} without".format(*beside) in page


def test_where_nodes_are_matters_to_short_allreduces_alone(machines, rows):
    """Which racks ABCI's jobs were in is not known: the page has the range."""
    fits = read_fits(HARDWARE / "calibration.json")
    v = {"ABCI 2.0 V": machines["ABCI 2.0 V"]}
    own = {kind: fit for kind, fit in fits.items() if kind[0] in v}
    near = predictions(v, rows, own, nodes=[16, 64])
    far = {row.key: row.value for row in predictions({n: m.taken_apart() for n, m in v.items()}, rows, own, [16, 64])}
    changes = {row.key: far[row.key] / row.value - 1 for row in near}
    moved = {key: change for key, change in changes.items() if abs(change) > 0.005}
    assert {key[1:3] for key in moved} <= {("allreduce", "mpi-cpu"), ("allreduce", "mpi"), ("bcast", "mpi-cpu")}
    assert max(key[5] for key in moved) <= 8192
    most = max(map(abs, moved.values()))
    assert f"by at most {most:.0%}".replace("%", " %") in _words_of_the_page()


def test_the_catalogue_has_the_same_racks(machines, rows):
    """Its rack tree has each link of a trunk by itself: predictions differ by what routes that are drawn collide."""
    fits = read_fits(HARDWARE / "calibration.json")
    v = machines["ABCI 2.0 V"]
    fabric = "rack-tree:racks=2,leaf=4,p=17,upper=3,trunk=6,top=2,links=4,rate=100G"
    tree = v.model_copy(update={"fabric": fabric, "attach": "block,leaves=4"})
    tree._folder = v._folder
    own = {kind: fit for kind, fit in fits.items() if kind[0] == v.name}
    most = {}
    for nodes in (32, 48):
        other = {row.key: row.value for row in predictions({v.name: tree}, rows, own, [nodes])}
        near = predictions({v.name: v}, rows, own, [nodes])
        most[nodes] = max(abs(other[row.key] / row.value - 1) for row in near if row.nodes == nodes)
    page = _words_of_the_page()
    assert f"by at most {100 * most[32]:.0f} % on 32 nodes and {100 * most[48]:.0f} % on 48" in page


def test_shared_trunks_slow_exchanges_between_racks(machines):
    """34 nodes of V fill a rack: exchanges of all nodes with those of the next rack are slower."""
    job = machines["ABCI 2.0 V"].job("mpi-cpu", 64)
    assert job.exchanged(4 * 32) > 2 * job.exchanged(4)
    assert job.exchanged(4) == pytest.approx(2 * job.idle(), rel=0.3)


def _words_of_the_page() -> str:
    """Return the page on hardware with a blank for every line break."""
    return " ".join((HARDWARE.parents[1] / "docs/hardware.md").read_text().split())
