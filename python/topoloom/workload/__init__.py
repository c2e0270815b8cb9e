"""Applications on networks: how long they take.

The package is a function as well, :func:`topoloom.workload.workloads.workload`; see :mod:`topoloom.network` for why.
"""

import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from topoloom.network.networks import Network
from topoloom.workload import workloads


class _CallablePackage(ModuleType):
    """This package, which can be called."""

    def __call__(
        self,
        networks: str | Network | Iterable[str | Network],
        apps: str | Sequence[str],
        *,
        routing: str = "minimal",
        baseline: str | None = None,
        **options: Any,
    ) -> workloads.Workloads:
        """Run every application on every network; see :func:`topoloom.workload.workloads.workload`."""
        return workloads.workload(networks, apps, routing=routing, baseline=baseline, **options)


sys.modules[__name__].__class__ = _CallablePackage
