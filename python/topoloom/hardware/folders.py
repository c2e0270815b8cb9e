"""A folder of machines and measurements, calibrated."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.hardware.rows import Row, predictions_text, read_rows
from topoloom.libraries import require

if TYPE_CHECKING:
    from topoloom.hardware.calibration import Fits
    from topoloom.hardware.machines import Machine
    from topoloom.workload.options import Engine

MEASUREMENTS = "measurements.csv"


@dataclass(frozen=True)
class Calibrated:
    """The machines of a folder with their fitted endpoints.

    Attributes:
        machines: The machines by name.
        rows: The measurements.
        fits: The endpoints.
        text: These as JSON.

    >>> from topoloom.hardware.calibration import Estimate, Fit
    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"cpu": host})
    >>> row = Row("own", "pt2pt-latency", "mpi-cpu", 2, 2, 8, 2.1, "us")
    >>> fit = Fit("own", "mpi-cpu", "pt2pt-latency", 1, 0.0, {"ranks-2@8": Estimate(2.0, 1.0, 4.0)})
    >>> found = Calibrated({"own": own}, [row], {("own", "mpi-cpu", "pt2pt-latency"): fit}, "")
    >>> found.table()
    [['own', 'mpi-cpu', 'pt2pt-latency', '1', '1', '0.0%']]
    >>> found.predictions()[1].splitlines()[1]
    'own,pt2pt-latency,mpi-cpu,2,2,8,2,us'
    """

    machines: dict[str, "Machine"]
    rows: list[Row]
    fits: "Fits"
    text: str

    def table(self) -> list[list[str]]:
        """Return a row for each fit: machine, library, benchmark, rows, parameters, median error."""
        return [
            [fit.machine, fit.library, fit.benchmark, str(fit.rows), str(len(fit.estimates)), f"{fit.median_error:.1%}"]
            for fit in self.fits.values()
        ]

    def predictions(self, nodes: Sequence[int] | None = None) -> tuple[int, str]:
        """Return the number of predictions, and these as CSV.

        Args:
            nodes: Numbers of nodes; 2 to 64 unless given.
        """
        from topoloom.hardware.predictions import NODES, predictions  # noqa: PLC0415 - NumPy loads slowly

        found = predictions(self.machines, self.rows, self.fits, NODES if nodes is None else nodes)
        return len(found), predictions_text(found)


def calibrate_folder(folder: Path, engine: "Engine" = "flow") -> Calibrated:
    """Return the machines of a folder with endpoints fitted on its measurements of one and two nodes.

    Args:
        folder: The folder, with ``machines.toml`` and ``measurements.csv``.
        engine: What finds the rates of networks: flow, or cycle, flit by flit.

    Raises:
        TopoloomError: A file that is missing or does not read, or a network that cannot be built.

    >>> calibrate_folder(Path("none"))
    Traceback (most recent call last):
    topoloom.TopoloomError: none/machines.toml cannot be read: No such file or directory
    """
    require("scipy")
    from topoloom.hardware.calibration import calibrate, fits_text  # noqa: PLC0415 - SciPy loads slowly
    from topoloom.hardware.machines import read_machines  # noqa: PLC0415 - NumPy loads slowly

    machines, rows = read_machines(folder, engine), read_rows(folder / MEASUREMENTS)
    fits = calibrate(machines, rows)
    return Calibrated(machines, rows, fits, fits_text(fits))
