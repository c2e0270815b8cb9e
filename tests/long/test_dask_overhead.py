"""What Dask costs beside the points themselves."""

import time
from pathlib import Path

import pytest
from distributed import LocalCluster

from topoloom.studies import Ledger, Study, Sweep, run_points
from topoloom.studies.clusters import DaskExecutor

pytestmark = pytest.mark.long


def test_dask_costs_less_than_20_ms_a_point(tmp_path: Path) -> None:
    options = {"warmup": 10, "measure": 20}
    points = Study(
        name="tiny", sweep=[Sweep(networks=["mesh:2x2"], loads=0.1, seeds="1:1000", options=options)]
    ).points()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Ledger(tmp_path / "store") as ledger,
    ):
        began = time.perf_counter()
        assert run_points(points, ledger, DaskExecutor(cluster.scheduler_address), name="tiny").finished
        spent = time.perf_counter() - began
        work = sum(row["wall_s"] for row in ledger.rows())
    overhead = (spent - work / 2) / len(points)
    print(f"Dask's overhead: {1e3 * overhead:.1f} ms a point")
    assert overhead < 0.020
