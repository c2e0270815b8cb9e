"""Predictions of every benchmark on every number of nodes, from fitted endpoints and the networks of machines."""

from collections.abc import Iterable, Mapping, Sequence

from topoloom.hardware import gpcnet
from topoloom.hardware.calibration import COLLECTIVES, POINT_KNOTS, Fits, predictor
from topoloom.hardware.curves import Curve
from topoloom.hardware.machines import Machine
from topoloom.hardware.rows import Row, fitted_rows

NODES = range(2, 65)
"""Numbers of nodes for which collectives are predicted."""

GPCNET_MACHINE = "Slingshot 64x8"
_OSU_RANKS = 2048
_OSU_PAIRS = 1024


def predictions(
    machines: Mapping[str, Machine], rows: Iterable[Row], fits: Fits, nodes: Sequence[int] = NODES
) -> list[Row]:
    """Return predictions of all benchmarks that were measured, in their order.

    Those of GPCNeT are of the flow engine's runs, and left out by machines of the other one.

    Args:
        machines: The machines by name.
        rows: Measurements: of them machine, benchmark, library and sizes on one and two nodes are used, and no value.
        fits: The endpoints.
        nodes: Numbers of nodes.

    Raises:
        TopoloomError: A network that cannot be built.

    >>> from topoloom.hardware.calibration import Estimate, Fit
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4,rate=400G", attach="block", hosts={"cpu": host})
    >>> row = Row("own", "pt2pt-latency", "mpi-cpu", 2, 2, 8, 2.1, "us")
    >>> fit = Fit("own", "mpi-cpu", "pt2pt-latency", 1, 0.0, {"ranks-2@8": Estimate(2.0, 1.0, 4.0)})
    >>> predictions({"own": own}, [row], {("own", "mpi-cpu", "pt2pt-latency"): fit})[0].value
    2.0
    """
    found = []
    for machine, library, benchmark in fits:
        seen = [
            row
            for row in fitted_rows(rows)
            if (row.machine, row.library, row.benchmark) == (machine, library, benchmark)
        ]
        found += _predicted(machines[machine], seen, fits, nodes)
    measured = any(machine == GPCNET_MACHINE for machine, _, _ in fits)
    if measured and machines[GPCNET_MACHINE].engine == "flow":
        found += _gpcnet(machines[GPCNET_MACHINE], fits)
    return found


def _predicted(machine: Machine, seen: Sequence[Row], fits: Fits, nodes: Sequence[int]) -> list[Row]:
    """Return the predictions of one benchmark under one library."""
    first = seen[0]
    fit = fits[machine.name, first.library, first.benchmark]
    predict = predictor(machine, first.library, first.benchmark, fits)
    if first.benchmark in COLLECTIVES:
        sizes = sorted({row.bytes for row in seen})
        wanted = [(count, count * machine.ranks, size) for count in nodes for size in sizes]
    else:
        wanted = sorted({(row.nodes, row.ranks, row.bytes) for row in seen})
    rows = []
    for count, ranks, size in wanted:
        asked = Row(machine.name, first.benchmark, first.library, count, ranks, size, 0.0, first.unit)
        value = predict(asked, fit.parameters)
        rows.append(Row(*asked.key, value, first.unit))
    return rows


def gpcnet_endpoints(machine: Machine, fits: Fits) -> gpcnet.Endpoints:
    """Return what messages between two nodes cost, from the runs between pairs of ranks.

    Args:
        machine: The machine.
        fits: The endpoints, with ``osu_multi_lat`` and ``osu_mbw_mr`` of 2048 ranks.

    Raises:
        KeyError: A fit that is missing.

    >>> from topoloom.hardware.calibration import Estimate, Fit
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4,rate=400G", attach="block", hosts={"cpu": host})
    >>> times = {"ranks-2048@1": Estimate(2.0, 1.0, 4.0), "ranks-2048@4194304": Estimate(4.0, 2.0, 8.0)}
    >>> kinds = [("own", "mpi-cpu", benchmark) for benchmark in ("osu_multi_lat", "osu_mbw_mr")]
    >>> ends = gpcnet_endpoints(own, {kind: Fit(*kind, 1, 0.0, times) for kind in kinds})
    >>> ends.latency(1), ends.gap(1)
    (2.0, 2048.0)
    """
    latency = fits[machine.name, "mpi-cpu", "osu_multi_lat"].parameters
    together = fits[machine.name, "mpi-cpu", "osu_mbw_mr"].parameters
    name = f"ranks-{_OSU_RANKS}"
    gaps = {key.replace(name, "gap"): value * _OSU_PAIRS for key, value in together.items()}
    job = machine.job("mpi-cpu", 2)
    ranks_an_interface = machine.ranks / len(job.host.interfaces)
    wire = gaps[f"gap@{max(POINT_KNOTS)}"] / max(POINT_KNOTS) / (job.idle() * ranks_an_interface)
    return gpcnet.Endpoints(Curve.of(latency, name), Curve.of(gaps, "gap"), wire)


def _gpcnet(machine: Machine, fits: Fits) -> list[Row]:
    job = machine.job("mpi-cpu", 64)
    return [
        Row(machine.name, benchmark, "mpi-cpu", nodes, nodes * machine.ranks, size, value, unit)
        for benchmark, nodes, size, value, unit in gpcnet.rows(job, gpcnet_endpoints(machine, fits))
    ]
