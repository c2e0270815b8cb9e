"""Links of different rates in the cycle engine: long-run rates, and zero-load latency by a closed formula."""

import math
import random

import pytest

from topoloom import Network, workload

random.seed(23)
PAIRS = [(50, 900), (400, 800), (106.25, 400), (399, 400)] + [
    (p, q) for p, q in ((random.randint(1, 400), random.randint(401, 900)) for _ in range(16))
]


def point(spec: str, load: float, cycles: int = 20_000, **options: object):
    return Network(spec).simulate(load=load, warmup=2_000, measure=cycles, **options).points[load]


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_a_link_carries_its_part_of_the_fastest_rate(p, q):
    """Both terminals send to each other at full rate; all waits for the one link between them."""
    cycles = int(max(20_000, 3_000 * q / p))
    slow = point(f"mesh:2,rate={q}G,rate.local={p}G,rate.terminal={q}G", 1.0, cycles, traffic="bit-complement")
    assert slow.accepted == pytest.approx(p / q, rel=1e-3)
    assert slow.link_utilisation_max == pytest.approx(1.0, rel=1e-3)
    # Load 1 is what a terminal's link carries: a slow link there holds nothing up.
    ends = point(f"mesh:2,rate={q}G,rate.terminal={p}G", 0.9, cycles, traffic="bit-complement")
    assert ends.accepted == pytest.approx(0.9, rel=5 / math.sqrt(2 * cycles * 0.9 * p / q))


def cycles_of(gbps: float, fastest: float) -> int:
    return math.ceil(round(fastest * 1e6) / round(gbps * 1e6))


@pytest.mark.parametrize(("terminal", "link"), [(400, 400), (400, 100), (200, 400), (106.25, 50), (400, 399)])
def test_zero_load_latency_is_that_of_equal_rates_and_of_slow_flits(terminal, link):
    """A flit on a slow link takes ceil(q / p) - 1 cycles more; a terminal's link is crossed twice, the other once."""
    spec, fastest = "mesh:2,rate=400G", max(terminal, link)
    options = {"traffic": "bit-complement", "cycles": 100_000}
    plain = point(f"{spec},rate.terminal=400G", 0.0005, **options)
    paced = point(f"mesh:2,rate.local={link}G,rate.terminal={terminal}G", 0.0005, **options)
    more = 2 * (cycles_of(terminal, fastest) - 1) + cycles_of(link, fastest) - 1
    assert paced.p50 == plain.p50 + more


def test_delays_are_cycles_of_64_bytes_at_the_fastest_rate():
    near = point("mesh:2,rate=64G,rate.terminal=64G", 0.0005, traffic="bit-complement", cycles=50_000)
    far = point("mesh:2,rate=64G,rate.terminal=64G,delay.local=100ns", 0.0005, traffic="bit-complement", cycles=50_000)
    # 64 bytes at 64 Gb/s take 8 ns: 13 cycles, where the default is 1.
    assert far.p50 - near.p50 == 13 - 1


def test_tapered_links_saturate_where_their_bound_says(topoloom):
    spec = "clos:radix=8,levels=2,rate=400G,rate.up=200G"
    bound = topoloom("bound", spec, "--routing", "nca", "--traffic", "uniform", "--json").json()
    bound = (bound[0] if isinstance(bound, list) else bound)["saturation_bound"]
    found = point(spec, 1.0, routing="nca", traffic="uniform", cycles=6_000)
    assert bound == pytest.approx(0.5 * 32 / 28, rel=1e-6)
    assert 0.85 * bound < found.accepted <= bound * 1.01
    below = point(spec, 0.4, routing="nca", traffic="uniform", cycles=6_000)
    assert below.accepted == pytest.approx(0.4, rel=0.03)
    assert below.link_utilisation_mean == pytest.approx(0.4 * 28 / 32 * 2, rel=0.05)


@pytest.mark.parametrize(("p", "q", "delay_ns"), [(400, 400, 1000), (50, 900, 500), (200, 800, 2000)])
def test_one_vc_keeps_a_long_link_busy_unless_buffers_are_given(p, q, delay_ns):
    """One VC between two routers: without buffers of a credit loop it carries its 64 flits a loop."""
    spec = f"mesh:2,rate={q}G,rate.local={p}G,delay.local={delay_ns}ns,rate.terminal={q}G"
    latency = math.ceil(delay_ns * q / 512)
    options = {"traffic": "bit-complement", "vcs": 1, "cycles": 200 * latency + 20_000}
    assert point(spec, 1.0, **options).accepted == pytest.approx(p / q, rel=1e-2)
    small = point(spec, 1.0, buffer=64, **options)
    assert small.accepted == pytest.approx(64 / (2 * latency), rel=0.05)


def test_runs_wait_for_packets_that_take_thousands_of_cycles():
    """Without lengths of their own: nothing is called saturated before the first packets can be there."""
    spec = "cluster:hosts=8,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G,delay=250ns),attach=block"
    run = Network(spec).simulate(load="0.23,0.8", precision=0.1)
    assert list(run.points) == [0.23, 0.8]
    for load, found in run.points.items():
        assert found.offered == load
        assert found.latency_cycles > 5_000
        assert found.converged
        assert not found.saturated
        assert found.accepted == pytest.approx(load, rel=0.02)


def test_a_cluster_runs_flit_by_flit(topoloom):
    spec = "cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=4,levels=2,rate=400G)"
    half = point(spec, 0.4, traffic="uniform", cycles=8_000)
    assert half.accepted == pytest.approx(0.4, rel=0.05)
    run = topoloom(
        "workload", spec, "--app", "allreduce:algorithm=ring,size=64KiB", "--engine", "cycle", "--json"
    ).json()
    least = 2 * 31 * 2048 / 50e9
    assert least <= run[0]["makespan_s"] <= 2 * least


@pytest.mark.parametrize("host", ["mi300x", "cray-ex", "v100-4", "hgx-h100", "abci-a", "two-interfaces"])
def test_an_accelerator_sends_over_all_its_links_at_once(host, tmp_path):
    """As by fair shares of links: it once sent no more than its fastest link carries, a seventh on a full mesh."""
    if host == "two-interfaces":
        host = tmp_path / "own.toml"
        host.write_text('summary = "own"\nsource = "own"\naccelerators = 1\n[[nic]]\nat = [0, 0]\ngbps = 200\n')
        spec, app = f"cluster:hosts=2,host={host},fabric=(hyperx:2,p=2,rate=200G)", "alltoall:size=256KiB"
    else:
        spec, app = f"cluster:hosts=1,host={host},fabric=(hyperx:2,p=8,rate=400G)", "alltoall:size=64KiB"
    fair = workload(spec, app, flow_engine="paths=256").results[0].makespan_s
    flits = workload(spec, app, engine="cycle").results[0].makespan_s
    assert flits == pytest.approx(fair, rel=0.05)


def test_threads_do_not_matter():
    spec = "dragonfly:a=4,h=2,p=2,rate=400G,rate.global=150G,rate.terminal=200G"
    one, two = (point(spec, 0.5, cycles=2_000, threads=threads).model_dump() for threads in (1, 2))
    times = {"wall_s", "cpu_s", "peak_rss_bytes"}
    assert {k: v for k, v in one.items() if k not in times} == {k: v for k, v in two.items() if k not in times}


def test_mistakes(topoloom):
    failed = topoloom("simulate", "mesh:4x4,delay=100ns", "--load", "0.1")
    assert failed.status == 2
    assert "delays in nanoseconds but no rates" in failed.err
    failed = topoloom("simulate", "mesh:4x4,rate=400G,delay=1ms", "--load", "0.1")
    assert failed.status == 2
    assert "it must be from 1 to 10000" in failed.err
    failed = topoloom("simulate", "mesh:4x4,rate=400G,delay.local=10ns", "--links", "local=5", "--load", "0.1")
    assert failed.status == 2
    assert "leave the delays out" in failed.err
