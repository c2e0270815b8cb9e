"""The models of collectives against the flow engine's own run of the same messages, where endpoints cost alike."""

from pathlib import Path

import pytest

import topoloom
from topoloom.hardware.machines import read_machines
from topoloom.hardware.mpi import Costs, allreduce

HARDWARE = Path(__file__).parents[2] / "papers/hardware"
LATENCY_US = 5.0
KNOTS = [1 << power for power in range(2, 26)]


@pytest.fixture(scope="module")
def machine():
    """V nodes with a rank on each processor, as the engine has one task on a terminal."""
    whole = read_machines(HARDWARE)["ABCI 2.0 V"]
    two = whole.model_copy(update={"name": "two ranks a node", "ranks": 2})
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
