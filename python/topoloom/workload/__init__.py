"""Applications on networks: how long they take.

The package is a function as well, :func:`topoloom.workload.jobs.workload`; see :mod:`topoloom.network` for why.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from topoloom.network.networks import Network
from topoloom.workload import jobs
from topoloom.workload.workloads import Workloads


class _CallablePackage(ModuleType):
    """This package, which can be called."""

    def __call__(
        self,
        networks: str | Network | Iterable[str | Network],
        apps: str | Sequence[str],
        *,
        routing: str = "minimal",
        mapping: str | Sequence[str] = "linear",
        baseline: str | None = None,
        timeline: str | Path | None = None,
        **options: Any,
    ) -> Workloads:
        """Run every application on every network by every mapping; see :func:`topoloom.workload.jobs.workload`."""
        return jobs.workload(
            networks, apps, routing=routing, mapping=mapping, baseline=baseline, timeline=timeline, **options
        )


sys.modules[__name__].__class__ = _CallablePackage
