"""The models of collectives against the flow engine's own run of the same messages, where endpoints cost alike."""

from pathlib import Path

import pytest

import topoloom
from oracles.broadcasts import Rings, chain
from topoloom.hardware import nccl
from topoloom.hardware.machines import Machine, read_machines
from topoloom.hardware.mpi import Broadcast, Costs, allreduce, broadcast, broadcast_choice

HARDWARE = Path(__file__).parents[2] / "papers/hardware"
LATENCY_US = 5.0
KNOTS = [1 << power for power in range(2, 26)]


@pytest.fixture(scope="module")
def machine():
    """V nodes with a rank on each processor, as the engine has one task on a terminal."""
    whole = read_machines(HARDWARE)["ABCI 2.0 V"]
    two = whole.model_copy(update={"name": "two ranks per node", "ranks": 2})
    two._folder = whole._folder
    return two


def modelled(machine, nodes, size):
    """The time of an allreduce whose messages cost a latency and what the links need, nothing else."""
    job = machine.job("mpi-cpu", nodes)
    inside = job.slowest([0], [1])
    parameters = {"call": 1e-9, "ring": 1.0, "exchange.away": 1.0, "exchange.more": 1e-9}
    parameters |= {f"exchange@{knot}": LATENCY_US + knot * inside for knot in KNOTS}
    parameters |= {f"point-to-point@{knot}": LATENCY_US + knot * job.idle() for knot in KNOTS}
    return allreduce(size, Costs(parameters, job))


def run(machine, nodes, size, algorithm):
    (result,) = topoloom.workload(
        machine.spec("mpi-cpu", nodes),
        f"allreduce:size={size},algorithm={algorithm}",
        endpoint=f"latency={LATENCY_US}us",
        flow_engine="paths=16",
    ).results
    return result.makespan_s * 1e6


@pytest.mark.parametrize(("nodes", "size"), [(2, 4096), (4, 8192), (8, 64), (16, 8192), (64, 8192)])
def test_recursive_doubling_takes_what_the_engine_says(machine, nodes, size):
    assert modelled(machine, nodes, size) == pytest.approx(run(machine, nodes, size, "recursive-doubling"), rel=0.02)


@pytest.mark.parametrize(("nodes", "size"), [(2, 65536), (4, 1 << 20), (8, 4 << 20), (16, 8 << 20)])
def test_rings_take_what_the_engine_says(machine, nodes, size):
    """Here, as on no machine, links between nodes are the slower ones: there messages also wait for each other."""
    assert modelled(machine, nodes, size) == pytest.approx(run(machine, nodes, size, "ring"), rel=0.08)


@pytest.mark.parametrize("name", ["ABCI 2.0 V", "ABCI 2.0 A", "Slingshot 64x8"])
@pytest.mark.parametrize("library", ["mpi-cpu", "mpi"])
def test_both_engines_find_the_same_rates_of_lone_rings(name, library):
    """Neighbours that each send to the next: nothing crosses, and fair shares are what flits find."""
    flow, cycle = (read_machines(HARDWARE, engine)[name].job(library, 4).ring() for engine in ("flow", "cycle"))
    assert cycle == pytest.approx(flow, rel=0.05)


V_RINGS = [[0, 3, 2, 1], [2, 1, 0, 3]]
A_RINGS = [[0, 7, 6, 5, 4, 3, 2, 1], [2, 1, 0, 7, 6, 5, 4, 3], [4, 3, 2, 1, 0, 7, 6, 5], [6, 5, 4, 3, 2, 1, 0, 7]]


@pytest.mark.parametrize(
    ("name", "orders", "nodes", "size", "chunks"),
    [
        ("ABCI 2.0 V", V_RINGS, 2, 2 << 20, 1),
        ("ABCI 2.0 V", V_RINGS, 4, 8 << 20, 4),
        ("ABCI 2.0 V", V_RINGS, 8, 16 << 20, 8),
        ("ABCI 2.0 A", A_RINGS, 2, 8 * 576_000, 1),
        ("ABCI 2.0 A", A_RINGS, 4, 4 * 8 * 576_000, 4),
        ("ABCI 2.0 V", V_RINGS[:1], 8, 32 * 1024, 1),
    ],
)
def test_broadcasts_on_rings_take_what_chunk_by_chunk_comes_out(name, orders, nodes, size, chunks):
    """Rings that enter a node at different GPUs wait for each other; a single one has the pace of its slowest hop.

    Simple hands on whole chunks within a node, LL128 lines, so that its hops there are short. With two rings the model
    is exact; with four, the rounds leave out a few hops within nodes.
    """
    job = read_machines(HARDWARE)[name].job("nccl", nodes)
    way = nccl.choice("bcast", size, job)
    protocol = nccl.PROTOCOLS[way.protocol]
    inside, net = (0.2 if protocol == "LL128" else 2.0), 10.0
    cut = size / nccl.launch(way, size, job).channels / chunks
    parameters = {"call": 1e-9, "stage": 1e-9, "loop": 1e-9, f"node.{protocol}": (job.per_node - 1) * inside}
    shared = nccl.launch(way, size, job).channels // len(orders)
    parameters[f"wire.{protocol}"] = net / cut / shared
    expected = Rings(orders, nodes, chunks, net, inside).period()
    assert nccl.broadcast(size, parameters, job) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("outside", [1.0, 4.0])
def test_a_chain_takes_what_segment_by_segment_comes_out(outside):
    job = read_machines(HARDWARE)["ABCI 2.0 V"].job("mpi-cpu", 16)
    size, inside = 4 << 20, 3.0
    assert broadcast_choice(size, job.ranks) == Broadcast("pipeline", 8192)
    parameters = {"call": 1e-9, "segment.away": 1.0} | {f"segment@{knot}": inside for knot in KNOTS}
    parameters |= {f"point-to-point@{knot}": outside for knot in KNOTS}
    segments = size // 8192
    expected = chain(16, 4, segments, inside, outside) - chain(16, 4, segments // 2, inside, outside)
    own = broadcast(size, Costs(parameters, job)) - broadcast(size // 2, Costs(parameters, job))
    assert own == pytest.approx(expected, rel=0.01)


LARGEST = 1 << 40
ALIKE = {"segment": 3.0, "halves": 2.0, "exchange": 2.0, "point-to-point": 4.0}
"""Microseconds of messages of any size, by what they are for."""


@pytest.mark.parametrize(
    ("collective", "ranks", "size", "microseconds"),
    [
        (allreduce, 4, 10 << 20, 3 * 3 * 3.0 + 3 * 3.0),  # three phases of reduce-scatter, one allgather
        (allreduce, 4, 4 << 20, 2 * 3 * 3.0),  # one segment a rank: reduce-scatter and allgather alike
        (broadcast, 8, 8192, 4 * 2 * 3.0 + 2 * 3.0 + 2.0),  # four segments to two children, two levels, halves
        (broadcast, 16, 1 << 20, 128 * 3.0 + 15 * 3.0 / 2),  # 128 segments down a chain of 16, the mean rank half way
    ],
)
def test_messages_of_equal_cost_add_up_on_one_node(collective, ranks, size, microseconds):
    host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    own = Machine(name="own", ranks=ranks, fabric="hyperx:2,p=4,rate=400G", attach="block", hosts={"cpu": host})
    curves = {f"{name}@{knot}": cost for name, cost in ALIKE.items() for knot in (1, LARGEST)}
    costs = Costs({"call": 0.5, "ring": 1.5, **curves}, own.job("mpi-cpu", 1))
    assert collective(size, costs) == pytest.approx(0.5 + microseconds)
