"""What Dask costs beside the points themselves, and what workers cost that are killed at random moments."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from topoloom.studies import Ledger, Progress, Study, Sweep, run_points
from topoloom.studies.clusters import DaskExecutor
from topoloom.studies.executor import LOST
from topoloom.studies.ledger import Outcome

pytestmark = pytest.mark.long

MOST_KILLED = 8
"""A worker takes seconds to come up again on a busy machine: so many killed ones are enough."""


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


@pytest.mark.parametrize("seed", range(3))
def test_workers_killed_at_random_moments(seed: int, tmp_path: Path) -> None:
    """Every point is done once and returned once, whichever worker is killed when."""
    draw = random.Random(seed)
    options = {"warmup": 500, "measure": 10_000}
    sweep = Sweep(networks=["torus:4x4", "hyperx:3x3,p=2"], loads=[0.1, 0.4], seeds="1:50", options=options)
    points = Study(name="killed", sweep=[sweep]).points()
    returned: Counter[tuple[str, str | None]] = Counter()
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Ledger(tmp_path / "store") as ledger,
    ):
        executor = DaskExecutor(cluster.scheduler_address)
        collect = executor.collect
        killed: list[float] = []
        until = time.monotonic() + draw.uniform(0.2, 2)

        def counted(timeout_s: float) -> list[Outcome]:
            outcomes = collect(timeout_s)
            # One that has lost several workers is reported as lost, and tried again.
            returned.update((outcome.key, outcome.error) for outcome in outcomes)
            return outcomes

        def kill(progress: Progress) -> None:
            nonlocal until
            # A worker that has not come up yet would take its place in the cluster with it. On a busy machine one may
            # never come up again, and a run without workers waits for one: the last is left alone.
            there = {worker.nanny for worker in cluster.scheduler.workers.values()}
            victims: list[Any] = [nanny for nanny in cluster.workers.values() if nanny.address in there and nanny.pid]
            if time.monotonic() < until or not progress.under_way or len(victims) < 2 or len(killed) == MOST_KILLED:
                return
            os.kill(draw.choice(victims).pid, signal.SIGKILL)
            killed.append(time.monotonic())
            until = time.monotonic() + draw.uniform(0.2, 2)

        executor.collect = counted  # type: ignore[method-assign]
        progress = run_points(points, ledger, executor, name="killed", on_progress=kill)
        keys = [row["key"] for row in ledger.rows()]
    lost = sum(count for (_, error), count in returned.items() if error == LOST)
    print(f"{len(points)} points, {len(killed)} workers killed, {lost} points lost")
    assert progress.finished
    assert not progress.failed
    assert sorted(keys) == sorted(point.key for point in points)
    assert sorted(key for key, error in returned.elements() if error != LOST) == sorted(keys)
    assert {error for _, error in returned} <= {None, LOST}
    assert killed
