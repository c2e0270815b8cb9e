"""Measured values beside predicted ones: errors, what is outside, and what the product says of them."""

import json
import re
from pathlib import Path

import pytest

import topoloom
from topoloom import TopoloomError
from topoloom.hardware.comparison import Compared, Comparison, compare, distribution
from topoloom.hardware.rows import Row, read_rows
from topoloom.papers.paper import Paper
from topoloom.workload.error_bars import error_bars

HARDWARE = Path(__file__).parents[2] / "papers/hardware"


def row(nodes, size, value=100.0, benchmark="bcast"):
    return Row("m", benchmark, "mpi", nodes, nodes, size, value, "us")


@pytest.fixture(scope="module")
def whole():
    others = {"first": "predictions-first.csv", "cycle": "predictions-cycle.csv"}
    return Comparison(HARDWARE, "measurements.csv", "predictions.csv", "reasons.toml", **others)


def test_errors_by_hand():
    points = compare([row(4, 8), row(8, 8), row(16, 8)], [row(4, 8, 90), row(8, 8, 150)])
    assert [point.error for point in points] == pytest.approx([-0.1, 0.5])
    count, median, ninetieth = distribution(points)
    assert (count, median, ninetieth) == (2, pytest.approx(0.3), pytest.approx(0.46))


def test_what_was_fitted_is_not_judged():
    judged = [Compared(own, 1.0).is_judged for own in (row(2, 8), row(3, 8), row(64, 8, benchmark="osu_mbw_mr"))]
    assert judged == [False, True, False]
    # Twice 60 % below 32 KiB, twice 35 % from there on.
    outside = [Compared(row(4, size), value).is_outside for size, value in ((32767, 219), (32767, 221), (32768, 171))]
    assert outside == [False, True, True]


def test_every_point_of_four_and_more_nodes_is_judged(whole):
    wanted = [own for own in whole.measured if own.nodes > 2 and own.benchmark in ("allreduce", "bcast")]
    assert [point.row for point in whole.judged] == wanted
    assert len(wanted) == whole.names()["points_short"] + whole.names()["points_long"]


def test_first_predictions_are_judged_beside_the_others(whole):
    """Both on the same points; errors of the first ones by a second way, from the files."""
    assert [point.row for point in whole.others["first"]] == [point.row for point in whole.judged]
    first = {row.key: row.value for row in read_rows(HARDWARE / "predictions-first.csv", "predicted")}
    errors = sorted(abs(first[own.row.key] / own.row.value - 1) for own in whole.judged if own.row.bytes >= 32768)
    assert whole.names()["first_median_long"] == pytest.approx((errors[131] + errors[132]) / 2)
    assert whole.names()["first_median_long"] > whole.names()["median_long"]
    alone = Comparison(HARDWARE, "measurements.csv", "predictions.csv", "reasons.toml")
    assert not any(name.startswith("first_") for name in alone.names())
    (item,) = [item for item in alone.errors() if item["id"] == "distribution"]
    assert len(item["table"][0]["columns"]) == 6


def test_predictions_with_the_cycle_engine_are_judged_on_the_same_points(whole):
    assert [point.row for point in whole.others["cycle"]] == [point.row for point in whole.judged]
    pairs = zip(whole.others["cycle"], whole.judged, strict=True)
    differ = sum(abs(cycle.predicted / flow.predicted - 1) > 0.01 for cycle, flow in pairs)
    assert differ == 16
    page = " ".join((HARDWARE.parents[1] / "docs/hardware.md").read_text().split())
    assert (
        f"in {len(whole.judged) - differ} of {len(whole.judged)} points their predictions differ by less than 1 %"
        in page
    )


def test_the_page_has_the_errors_that_come_out(whole):
    page = (HARDWARE.parents[1] / "docs/hardware.md").read_text()
    (item,) = [item for item in whole.errors() if item["id"] == "distribution"]
    other = []
    for row in item["table"][0]["row"]:
        over = row["over"]
        told = " | ".join(f"{a:.0f} %, {b:.0f} %" for a, b in (over[1:3], over[3:5], over[8:10], over[10:12]))
        assert f"| {row['label']} | {told} |" in page
        engines = " ".join(f"{a:.0f} % and {b:.0f} %" for a, b in (over[12:14], over[8:10]))
        if row["label"] == "all":
            for name, both in (("flow", (over[1:3], over[8:10])), ("cycle", (over[5:7], over[12:14]))):
                assert f"| {name} | {' | '.join(f'{a:.0f} %, {b:.0f} %' for a, b in both)} |" in page
        elif max(abs(cycle - flow) for cycle, flow in zip(over[12:14], over[8:10], strict=True)) > 1:
            other.append(row["label"])
            assert engines == "15 % and 41 % 11 % and 37 %"
            assert "has errors of 15 % and 41 % with the cycle engine, and of 11 % and 37 % with the other" in " ".join(
                page.split()
            )
    assert other == ["ABCI 2.0 A, allreduce, nccl"]


def test_points_outside_are_listed_with_their_reason(whole):
    outside = [point for point in whole.judged if point.is_outside]
    (item,) = [item for item in whole.errors() if item["id"] == "outside"]
    assert (
        len(item["table"][0]["row"])
        == len(outside)
        == sum(whole.names()[name] for name in ("outside_short", "outside_long"))
    )
    for reason in whole.reasons:
        assert any(reason.covers(point.row) for point in outside), reason.says


def test_results_that_are_kept_are_those_that_come_out(topoloom, tmp_path):
    told = topoloom("reproduce", "hardware", "--out", str(tmp_path / "out"), "--json").json()
    for claim in told["claims"]:
        del claim["evidence"]
    kept = json.loads((HARDWARE / "results.json").read_text())
    assert told.pop("seconds") > 0 < kept.pop("seconds")
    assert kept.pop("parts"), "what --keep adds: the runs that the claims come from"
    for claim, own in zip(told["claims"], kept["claims"], strict=True):
        assert (own.pop("model_version"), own.pop("quick")) == (told["model_version"], False)
        assert claim.pop("measured") == pytest.approx(own.pop("measured"))
    assert told == kept
    page = (tmp_path / "out/hardware.html").read_text()
    assert "ABCI 2.0 A, allreduce, nccl" in page
    assert "Predicted, and beneath it what was measured." in page
    assert "what the paper prints" not in page
    assert "congested-allreduce" in page
    assert "◇ measured" in page
    assert page.index('id="distribution"') < page.index('id="perlmutter"') < page.index('id="abci-2-0-v-bcast-nccl"')


def test_the_terminal_shows_errors_and_one_benchmark(topoloom, tmp_path):
    out = topoloom("reproduce", "hardware", "--out", str(tmp_path / "out")).out
    assert "90th percentile %" in out
    assert "ABCI 2.0 V, bcast, nccl" in out
    one = topoloom("reproduce", "hardware", "--out", str(tmp_path / "out"), "--only", "abci-2-0-v-bcast-nccl").out
    assert "16 nodes, 64 ranks" in one
    assert "33,554,432" in one
    assert "90th percentile %" not in one


def test_reports_of_workloads_say_how_far_off_such_times_were():
    """Those without endpoint costs are not what was compared with ABCI: the network alone is a fraction of a time."""
    alone = topoloom.workload("mesh:4", "allreduce:size=1KiB")
    assert error_bars("flow", alone.assumptions) in alone.to_html()
    assert "the network alone took 5 to 42 % of the time" in error_bars("flow", alone.assumptions)
    said = {}
    for engine in ("flow", "cycle"):
        found = topoloom.workload("mesh:4", "allreduce:size=1KiB", engine=engine, endpoint="latency=1us")
        said[engine] = error_bars(engine, found.assumptions)
        assert said[engine] in found.to_html()
        assert "by 10% and 55% from 32 KiB on, 7% and 25% below before anything was compared" in said[engine]
    assert "off by 8% and 29% from 32 KiB on, 6% and 19% below (median and 90th percentile)" in said["flow"]
    assert (
        "off by 8% and 30% from 32 KiB on, 6% and 19% below (median and 90th percentile; in nearly all" in said["cycle"]
    )


def test_the_network_alone_takes_a_part_of_what_was_measured():
    """5 to 42 %, by the tables of two machines."""
    claims = {claim["id"]: claim for claim in json.loads((HARDWARE / "results.json").read_text())["claims"]}
    paper = Paper.named("hardware")
    alltoalls = [(name, it[1]) for item in paper.item for name, _, it in paper.claims(item) if "-alltoall-" in name]
    shares = [claims[name]["measured"] / measured for name, measured in alltoalls]
    slimfly = claims["slim-fly-network-is-a-lower-bound"]
    measured = [float(time) for time in re.findall(r"[0-9.]+", slimfly["published"])]
    shares += [alone / time for alone, time in zip(slimfly["measured"], measured, strict=True)]
    assert len(shares) == 11
    assert (f"{min(shares):.0%}", f"{max(shares):.0%}") == ("5%", "42%")


def test_mistakes_in_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("machine,benchmark,library,nodes,ranks,bytes,value,unit\nm,b,l,two,2,8,1.0,us\n")
    with pytest.raises(TopoloomError, match="line 2: a number is missing, or is none"):
        read_rows(path)
    path.write_text("machine,benchmark,library,nodes,ranks,bytes,value\nm,b,l,2,2,8,1.0\n")
    with pytest.raises(TopoloomError, match="there is no column 'unit'"):
        read_rows(path)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("ABCI 2.0 X,bcast,nccl,2,8,8,1,us", "unknown machine 'ABCI 2.0 X' (did you mean"),
        ("ABCI 2.0 V,bcst,nccl,2,8,8,1,us", "did you mean 'bcast'"),
        ("ABCI 2.0 V,bcast,ncl,2,8,8,1,us", "did you mean 'nccl'"),
        ("ABCI 2.0 V,allreduce,mpi,2,8,8,1,us", "rests on pt2pt-latency under mpi-cpu, which is missing"),
        ("ABCI 2.0 V,allreduce,nccl,2,8,8,1,us", "rests on pt2pt-bandwidth under mpi, which is missing"),
        ("ABCI 2.0 V,bcast,nccl,2,8,8,0,us", "line 2: value, nodes and ranks must be above 0"),
        ("ABCI 2.0 V,bcast,nccl,2,1,8,1,us", "line 2: value, nodes and ranks must be above 0"),
    ],
)
def test_mistakes_in_measurements(topoloom, tmp_path, rows, sentence):
    (tmp_path / "machines.toml").write_bytes((HARDWARE / "machines.toml").read_bytes())
    head = "machine,benchmark,library,nodes,ranks,bytes,value,unit\n"
    (tmp_path / "measurements.csv").write_text(f"{head}{rows}\n")
    wrong = topoloom("calibrate", str(tmp_path))
    assert (wrong.status, len(wrong.err.splitlines())) == (2, 1)
    assert sentence in wrong.err


def test_mistakes_on_the_command_line(topoloom, tmp_path):
    gone = topoloom("calibrate", str(tmp_path))
    assert gone.status == 2
    assert "machines.toml" in gone.err
    (tmp_path / "machines.toml").write_text('[[machine]]\nname = "one"\nrank = 4\n')
    wrong = topoloom("calibrate", str(tmp_path))
    assert wrong.status == 2
    assert len(wrong.err.splitlines()) == 1
