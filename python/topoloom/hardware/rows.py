"""Measurements and predictions as rows of a CSV file."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from topoloom._core import TopoloomError
from topoloom.files import read_text

POINT_TO_POINT = frozenset({"pt2pt-latency", "pt2pt-bandwidth", "osu_mbw_mr", "osu_multi_lat"})
"""Benchmarks between pairs of ranks, whatever the number of nodes."""

FITTED_NODES = 2
"""The largest number of nodes of a collective that a fit may look at."""

COLUMNS = ("machine", "benchmark", "library", "nodes", "ranks", "bytes", "predicted", "unit")


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement, or a prediction of one.

    Attributes:
        machine: The machine.
        benchmark: What was run.
        library: ``nccl``, ``mpi`` (buffers on GPUs) or ``mpi-cpu``.
        nodes: Nodes.
        ranks: Ranks on all nodes.
        bytes: The buffer of a rank as the benchmark defines it.
        value: The average that the benchmark prints, or is predicted to print.
        unit: ``us``, ``MB/s`` or ``MiB/s/rank``.
    """

    machine: str
    benchmark: str
    library: str
    nodes: int
    ranks: int
    bytes: int
    value: float
    unit: str

    @property
    def key(self) -> tuple[str, str, str, int, int, int]:
        """What distinguishes the row from others."""
        return self.machine, self.benchmark, self.library, self.nodes, self.ranks, self.bytes


def read_rows(path: Path, value: str = "value") -> list[Row]:
    """Return the rows of a CSV file.

    Args:
        path: The file.
        value: The column of the values.

    Raises:
        TopoloomError: The file does not read, lacks a column, or holds something that is no number.

    >>> import tempfile
    >>> row = Row("own", "bcast", "mpi", 2, 8, 64, 2.5, "us")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "own.csv").write_text(predictions_text([row]))
    ...     read_rows(Path(folder, "own.csv"), "predicted") == [row]
    True
    """
    lines = csv.DictReader(read_text(path).splitlines())
    rows = []
    for line in lines:
        try:
            nodes, ranks, size = (int(line[name]) for name in ("nodes", "ranks", "bytes"))
            about = (line["machine"], line["benchmark"], line["library"])
            row = Row(*about, nodes, ranks, size, float(line[value]), line["unit"])
        except KeyError as missing:
            raise TopoloomError(f"{path}: there is no column {missing}") from None
        except (TypeError, ValueError):
            raise TopoloomError(f"{path}, line {lines.line_num}: a number is missing, or is none") from None
        if not (0 < row.value < inf and row.nodes > 0 and row.ranks >= row.nodes and row.bytes >= 0):
            raise TopoloomError(
                f"{path}, line {lines.line_num}: {value}, nodes and ranks must be above 0, and ranks at least nodes"
            )
        rows.append(row)
    return rows


def fitted_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that a fit may use: point to point, and collectives on one and two nodes.

    Args:
        rows: The measurements.

    >>> [row.nodes for row in fitted_rows([Row("m", "bcast", "mpi", n, n, 8, 1.0, "us") for n in (1, 2, 4)])]
    [1, 2]
    """
    return [row for row in rows if row.nodes <= FITTED_NODES or row.benchmark in POINT_TO_POINT]


def predictions_text(rows: Sequence[Row]) -> str:
    """Return predictions as a CSV file, with six significant digits.

    Args:
        rows: The predictions.

    >>> print(predictions_text([Row("own", "bcast", "mpi", 2, 8, 64, 2.5, "us")]), end="")
    machine,benchmark,library,nodes,ranks,bytes,predicted,unit
    own,bcast,mpi,2,8,64,2.5,us
    """
    lines = [",".join(COLUMNS)]
    lines += [",".join([*map(str, row.key), f"{row.value:.6g}", row.unit]) for row in rows]
    return "\n".join(lines) + "\n"
