"""Endpoints of machines, fitted on point-to-point runs and on collectives of one and two nodes alone.

Every fit goes through :func:`topoloom.hardware.rows.fitted_rows`, so that no collective of more nodes is seen.
Parameters are positive and fitted by their logarithms: residuals are logarithms of predicted over measured values, with
a loss that grows linearly for outliers. A weak prior holds what the rows do not determine near its start, and of curves
their shape there. Intervals of 95 % come from the covariance at the solution.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import exp, log
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from topoloom._core import TopoloomError, unknown
from topoloom.files import read_text
from topoloom.hardware import mpi, nccl
from topoloom.hardware.curves import Curve, Parameters
from topoloom.hardware.machines import Machine
from topoloom.hardware.rows import POINT_TO_POINT, Row, fitted_rows

KIB = 1024
_SIZES = (1, 32, 128, 256, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB)
POINT_KNOTS = (*_SIZES, 512 * KIB, 1024 * KIB, 4096 * KIB)
EXCHANGE_KNOTS = (4, 64, 128, 512, 2 * KIB, 8 * KIB, 32 * KIB, 128 * KIB, 512 * KIB, 2048 * KIB, 4096 * KIB)
COPY_KNOTS = (4, KIB, 8 * KIB, 64 * KIB, 512 * KIB, 2048 * KIB, 4096 * KIB, 32768 * KIB)
SEGMENT_KNOTS = (1, 16, 64, 512, KIB, 8 * KIB, 16 * KIB, 64 * KIB, 128 * KIB)
HALF_KNOTS = (KIB, 8 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, 1024 * KIB)
NCCL_KNOTS = (
    4,
    KIB,
    8 * KIB,
    32 * KIB,
    64 * KIB,
    128 * KIB,
    512 * KIB,
    1024 * KIB,
    2048 * KIB,
    4096 * KIB,
    32768 * KIB,
)

COLLECTIVES = ("allreduce", "bcast")
LIBRARIES = ("mpi-cpu", "mpi", "nccl")
BENCHMARKS = (*sorted(POINT_TO_POINT), *COLLECTIVES)

_LOSS_SCALE = 0.1
"""Relative deviation from which on the loss grows linearly."""
_PRIOR = 0.02
"""Weight of the prior: a factor e away from the start counts as much as this residual."""
_FIRM_PRIORS = {"inside": 0.1, "between": 0.1, "halves": 0.3, "apart": 0.05}
"""Weights of the prior on factors near one, and on what only together with other parameters makes up a time."""
_NORMAL = 1.96
"""Half the width of an interval of 95 %, in standard deviations."""

Predictor = Callable[[Row, Parameters], float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A fitted parameter with its interval of 95 %; times in microseconds.

    Attributes:
        value: The estimate.
        low: The lower end of its interval.
        high: The upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Fit:
    """The endpoints of a machine under a library, for one benchmark.

    Attributes:
        machine: The machine.
        library: The library.
        benchmark: The benchmark.
        rows: How many rows it rests on.
        median_error: The median of predicted over measured minus one, without its sign, over these rows.
        estimates: The parameters.
    """

    machine: str
    library: str
    benchmark: str
    rows: int
    median_error: float
    estimates: Mapping[str, Estimate]

    @property
    def parameters(self) -> dict[str, float]:
        """The values of the parameters."""
        return {name: estimate.value for name, estimate in self.estimates.items()}


Fits = dict[tuple[str, str, str], Fit]
"""Fits by machine, library and benchmark."""


def calibrate(machines: Mapping[str, Machine], rows: Iterable[Row]) -> Fits:
    """Return the endpoints of all machines that were measured.

    The fit is least squares of the logarithms of predicted over measured values.

    Args:
        machines: The machines by name.
        rows: Measurements; those of collectives on more than two nodes are left out.

    Raises:
        TopoloomError: Unknown names, rows that are missing, or a network that cannot be built.

    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"cpu": host})
    >>> row = Row("own", "pt2pt-latency", "mpi-cpu", 2, 2, 1, 2.1, "us")
    >>> fit = calibrate({"own": own}, [row])["own", "mpi-cpu", "pt2pt-latency"]
    >>> round(fit.parameters["ranks-2@1"], 1), fit.rows
    (2.1, 1)
    """
    seen = fitted_rows(rows)
    _check(machines, seen)
    fits: Fits = {}
    for name, machine in machines.items():
        own = [row for row in seen if row.machine == name]
        for library, benchmark in _order({(row.library, row.benchmark) for row in own}):
            chosen = [row for row in own if (row.library, row.benchmark) == (library, benchmark)]
            fits[name, library, benchmark] = _fitted(machine, chosen, fits)
    return fits


def _check(machines: Mapping[str, Machine], rows: Sequence[Row]) -> None:
    """Check that all names are known, and that all is there that fits rest on.

    Raises:
        TopoloomError: The first mistake.
    """
    kinds = {(row.machine, row.library, row.benchmark) for row in rows}
    for machine, library, benchmark in sorted(kinds):
        named = (("machine", machine, machines), ("library", library, LIBRARIES), ("benchmark", benchmark, BENCHMARKS))
        for what, name, known in named:
            if name not in known:
                raise TopoloomError(unknown(what, name, list(known)))
        if benchmark not in COLLECTIVES:
            continue
        for needed in _needed(library, benchmark):
            if (machine, *needed) not in kinds:
                raise TopoloomError(
                    f"{machine}: {benchmark} under {library} rests on {needed[1]} under {needed[0]}, which is missing"
                )
        if library == "nccl" and machines[machine].nccl is None:
            raise TopoloomError(f"{machine}: what NCCL finds of a node is missing; give nccl in machines.toml")


def _needed(library: str, benchmark: str) -> list[tuple[str, str]]:
    """Return libraries and benchmarks that the fit of a collective rests on."""
    if library == "nccl":
        return [("mpi", "pt2pt-bandwidth")] if benchmark == "allreduce" else []
    source = "mpi-cpu" if benchmark == "allreduce" else library
    own = [(source, "pt2pt-latency"), (source, "pt2pt-bandwidth")]
    return own + ([("mpi-cpu", "allreduce")] if (library, benchmark) == ("mpi", "allreduce") else [])


def fits_text(fits: Fits) -> str:
    """Return fits as JSON, times in microseconds, with six significant digits.

    Args:
        fits: The fits.

    >>> fit = Fit("own", "mpi", "bcast", 1, 0.0, {"call": Estimate(2.0, 1.0, 4.0)})
    >>> '"value": 2.0' in fits_text({("own", "mpi", "bcast"): fit})
    True
    """
    told = [
        asdict(fit) | {"estimates": {name: _rounded(one) for name, one in fit.estimates.items()}}
        for fit in fits.values()
    ]
    for fit in told:
        fit["median_error"] = float(f"{fit['median_error']:.4g}")
    return json.dumps({"topoloom_calibration": 1, "fits": told}, indent=1) + "\n"


def _rounded(estimate: Estimate) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in asdict(estimate).items()}


def read_fits(path: Path) -> Fits:
    """Return the fits of a file that :func:`fits_text` made.

    Args:
        path: The file.

    Raises:
        TopoloomError: It does not read, or holds no fits.

    >>> import tempfile
    >>> fits = {("own", "mpi", "bcast"): Fit("own", "mpi", "bcast", 1, 0.0, {"call": Estimate(2.0, 1.0, 4.0)})}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "fits.json").write_text(fits_text(fits))
    ...     read_fits(Path(folder, "fits.json")) == fits
    True
    """
    try:
        told = json.loads(read_text(path))["fits"]
        fits = [
            Fit(**one | {"estimates": {name: Estimate(**own) for name, own in one["estimates"].items()}})
            for one in told
        ]
    except (KeyError, TypeError, ValueError):
        raise TopoloomError(f"{path} holds no calibration; topoloom calibrate writes one") from None
    return {(fit.machine, fit.library, fit.benchmark): fit for fit in fits}


def _order(kinds: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return libraries and benchmarks with those first that others rest on: pairs of ranks, then processors."""
    return sorted(kinds, key=lambda kind: (kind[1] in COLLECTIVES, kind[0] != "mpi-cpu", kind))


def _fitted(machine: Machine, rows: Sequence[Row], fits: Fits) -> Fit:
    library, benchmark = rows[0].library, rows[0].benchmark
    # MPI's costs within a node depend on how many ranks share its memory: those of full nodes are wanted.
    own = [row for row in rows if library == "nccl" or row.nodes > 1 or row.ranks == machine.ranks]
    start = _start(own)
    predict = predictor(machine, library, benchmark, fits)
    found = min((_least_squares(own, one, predict) for one in _starts(start)), key=lambda fit: fit[0])[1]
    values = {name: estimate.value for name, estimate in found.items()}
    errors = [abs(predict(row, values) / row.value - 1) for row in own]
    return Fit(machine.name, library, benchmark, len(own), float(np.median(errors)), found)


def predictor(machine: Machine, library: str, benchmark: str, fits: Fits) -> Predictor:
    """Return the function that predicts a row of a benchmark from parameters.

    Args:
        machine: The machine.
        library: A name of :data:`LIBRARIES`, unchecked.
        benchmark: A name of :data:`BENCHMARKS`, unchecked.
        fits: The fits of the benchmarks that this one rests on.

    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"cpu": host})
    >>> row = Row("own", "pt2pt-latency", "mpi-cpu", 2, 2, 8, 2.1, "us")
    >>> round(predictor(own, "mpi-cpu", "pt2pt-latency", {})(row, {"ranks-2@1": 2.0}), 9)
    16.0
    """
    if benchmark not in COLLECTIVES:
        return _point_to_point
    if library == "nccl":
        way = nccl.allreduce if benchmark == "allreduce" else nccl.broadcast
        wire = {"wire": _wire(machine, fits)} if benchmark == "allreduce" else {}
        return lambda row, parameters: way(
            row.bytes, {**wire, **parameters}, machine.job(library, row.nodes, row.ranks)
        )
    rested = _rested_on(machine, library, benchmark, fits)
    on_hosts = mpi.broadcast
    if benchmark == "allreduce":
        on_hosts = mpi.allreduce_on_gpus if library == "mpi" else mpi.allreduce
    # What GPUs' buffers are reduced by is the processors: their costs, and their network.
    job_library = "mpi-cpu" if benchmark == "allreduce" else library
    return lambda row, parameters: on_hosts(
        row.bytes, mpi.Costs({**rested, **parameters}, machine.job(job_library, row.nodes))
    )


def _rested_on(machine: Machine, library: str, benchmark: str, fits: Fits) -> dict[str, float]:
    """Return the parameters of other benchmarks that a collective of MPI rests on."""
    source = "mpi-cpu" if benchmark == "allreduce" else library
    rested = {
        name.replace("ranks-2", own): value
        for own, pairs in (("point-to-point", "pt2pt-latency"), ("gap", "pt2pt-bandwidth"))
        for name, value in fits[machine.name, source, pairs].parameters.items()
        if name.startswith("ranks-2@")
    }
    if (library, benchmark) == ("mpi", "allreduce"):
        rested |= fits[machine.name, "mpi-cpu", "allreduce"].parameters
    return rested


def _wire(machine: Machine, fits: Fits) -> float:
    """Return how much longer bytes of GPUs' buffers take on the interfaces than their links state.

    That is what many pairs of MPI's ranks between two nodes reach of what the flow engine finds for all interfaces.
    """
    curves = fits[machine.name, "mpi", "pt2pt-bandwidth"].parameters
    most = max(int(name.removeprefix("ranks-").partition("@")[0]) for name in curves)
    large = max(POINT_KNOTS)
    return Curve.of(curves, f"ranks-{most}")(large) / large / machine.job("mpi", 2).interface_ring()


def _point_to_point(row: Row, parameters: Parameters) -> float:
    """Return latency in microseconds, or bandwidth from the microseconds that a byte of all pairs takes."""
    cost = Curve.of(parameters, f"ranks-{row.ranks}")(row.bytes)
    return cost if row.unit == "us" else row.bytes / cost


def _start(rows: Sequence[Row]) -> dict[str, float]:
    """Return the parameters of a benchmark as a fit begins with them."""
    library, benchmark = rows[0].library, rows[0].benchmark
    on_gpus = library != "mpi-cpu"
    if benchmark not in COLLECTIVES:
        largest = max(row.bytes for row in rows)
        ranks = sorted({row.ranks for row in rows})
        return {
            key: value
            for count in ranks
            for key, value in _knots(f"ranks-{count}", [size for size in POINT_KNOTS if size <= largest], 1, 1e-4)
        }
    if library == "nccl":
        return _nccl_start() if benchmark == "allreduce" else _nccl_broadcast_start()
    if benchmark == "bcast":
        return {
            "call": 0.3,
            "segment.next": 0.3,
            "segment.more": 0.2,
            "segment.away": 1.5,
            **_segments("segment", SEGMENT_KNOTS, on_gpus),
            **_segments("halves", HALF_KNOTS, on_gpus),
            **dict(_knots("apart", HALF_KNOTS, 0.5, 1e-5)),
        }
    if library == "mpi":
        return dict(_knots("copies", COPY_KNOTS, 25, 7e-4))
    inside = dict(_knots("exchange", EXCHANGE_KNOTS, 0.5, 3e-4))
    return {"call": 0.3, "ring": 1.0, "exchange.away": 1.0, "exchange.more": 0.2, **inside}


def _segments(name: str, sizes: Sequence[int], on_gpus: bool) -> dict[str, float]:
    """Return costs of messages within a node: those of more than 8 KiB are announced first, and then copied once."""
    short = [size for size in sizes if size <= mpi.EAGER]
    eager, announced = ((4, 2e-3), (13, 2e-5)) if on_gpus else ((0.5, 1.2e-4), (4, 2e-4))
    return dict(_knots(name, short, *eager) + _knots(name, sizes[len(short) :], *announced))


def _nccl_start() -> dict[str, float]:
    start = {"call": 6.0, "power.LL": 0.5}
    for protocol, per_byte in zip(nccl.PROTOCOLS, (0.05, 2e-5, 2e-5), strict=True):
        start |= {f"inside.{protocol}": 1.0, f"between.{protocol}": 1.0}
        start[f"bytes.alone.{protocol}"] = per_byte
        if protocol != "LL":
            start[f"bytes.joined.{protocol}"] = per_byte
    return start | {"loop": 0.5, "byte": 2e-4, "host.LL": 2e-4}


def _nccl_broadcast_start() -> dict[str, float]:
    joined = {"call": 6.0, "stage": 4.0, "loop": 0.5}
    for protocol, node, per_byte in zip(nccl.PROTOCOLS, (20.0, 40.0, 150.0), (2e-4, 1e-4, 1e-4), strict=True):
        joined |= {f"node.{protocol}": node, f"wire.{protocol}": per_byte}
    return {**dict(_knots("alone", NCCL_KNOTS, 6, 1e-5)), **joined}


def _starts(start: Mapping[str, float]) -> list[dict[str, float]]:
    """Return where fits begin: also with a slow exchange of halves between nodes, as of some buffers on GPUs."""
    slow = {name: value * (1000 if name.startswith("apart") else 1) for name, value in start.items()}
    return [dict(start), slow] if slow != start else [dict(start)]


def _knots(name: str, sizes: Iterable[int], fixed: float, per_byte: float) -> list[tuple[str, float]]:
    return [(f"{name}@{size}", fixed + per_byte * size) for size in sizes]


def _prior(names: Sequence[str]) -> np.ndarray:
    """Return what the prior looks at: parameters, and of a curve the first knot and each knot's distance from the last.

    >>> _prior(["call", "line@1", "line@8"]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    """
    looked = np.eye(len(names))
    for place, (before, name) in enumerate(pairwise(names), start=1):
        if "@" in name and before.partition("@")[0] == name.partition("@")[0]:
            looked[place, place - 1] = -1.0
    return looked


def _least_squares(
    rows: Sequence[Row], start: Mapping[str, float], predict: Predictor
) -> tuple[float, dict[str, Estimate]]:
    """Return how badly the best parameters fit the rows, and these with their intervals."""
    names = list(start)
    begin = np.log(list(start.values()))
    weights = np.array([_FIRM_PRIORS.get(re.split("[.@]", name)[0], _PRIOR) for name in names])
    prior = weights[:, None] * _prior(names)
    wanted = [row for row in rows if row.bytes > 0]

    def residuals(logs: np.ndarray) -> np.ndarray:
        values = dict(zip(names, np.exp(logs), strict=True))
        deviations = [log(predict(row, values) / row.value) for row in wanted]
        return np.concatenate([deviations, prior @ (logs - begin)])

    found = least_squares(residuals, begin, loss="soft_l1", f_scale=_LOSS_SCALE, max_nfev=200)
    curvature = found.jac.T @ found.jac
    spread = float(np.sum(residuals(found.x)[: len(wanted)] ** 2)) / max(1, len(wanted) - len(names))
    deviation = np.sqrt(np.maximum(np.diag(np.linalg.inv(curvature)) * spread, 0))
    estimates = {
        name: Estimate(exp(at), exp(at - _NORMAL * sigma), exp(at + _NORMAL * sigma))
        for name, at, sigma in zip(names, found.x, np.minimum(deviation, 5.0), strict=True)
    }
    return float(found.cost), estimates
