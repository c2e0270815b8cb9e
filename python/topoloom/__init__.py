"""topoloom: design and evaluate the interconnection networks of supercomputers.

>>> import topoloom
>>> topoloom.network("torus:4x4").facts()["diameter"]
4
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom._core import TopoloomError, __version__
    from topoloom.design.candidates import Candidate, Candidates, candidates
    from topoloom.design.synthesis import synthesise
    from topoloom.layout.layouts import Layout
    from topoloom.network.families import (
        Cascade,
        Cayley,
        Clos,
        Cluster,
        Dragonfly,
        DragonflyPlus,
        FatTree,
        Faulty,
        FleX,
        FoldedHypercube,
        Galaxyfly,
        Hypercube,
        HyperX,
        Machine,
        Mesh,
        Myriclos,
        NestGhc,
        NestTree,
        Permuted,
        RackTree,
        Rails,
        RandomRegular,
        Ring,
        SlimFly,
        Torus,
        TwinTorus,
        TwistedTorus,
        Xgft,
    )
    from topoloom.network.networks import Network, network
    from topoloom.plotting.curves import plot
    from topoloom.report.comparison import Comparison
    from topoloom.simulation.curves import Curve
    from topoloom.simulation.points import Point
    from topoloom.studies import Results, Study, Sweep
    from topoloom.studies.comparison import compare
    from topoloom.workload import flows as flows
    from topoloom.workload.applications import Application
    from topoloom.workload.jobs import workload
    from topoloom.workload.results import WorkloadResult
    from topoloom.workload.workloads import Workloads

__all__ = [
    "Application",
    "Candidate",
    "Candidates",
    "Cascade",
    "Cayley",
    "Clos",
    "Cluster",
    "Comparison",
    "Curve",
    "Dragonfly",
    "DragonflyPlus",
    "FatTree",
    "Faulty",
    "FleX",
    "FoldedHypercube",
    "Galaxyfly",
    "HyperX",
    "Hypercube",
    "Layout",
    "Machine",
    "Mesh",
    "Myriclos",
    "NestGhc",
    "NestTree",
    "Network",
    "Permuted",
    "Point",
    "RackTree",
    "Rails",
    "RandomRegular",
    "Results",
    "Ring",
    "SlimFly",
    "Study",
    "Sweep",
    "TopoloomError",
    "Torus",
    "TwinTorus",
    "TwistedTorus",
    "WorkloadResult",
    "Workloads",
    "Xgft",
    "__version__",
    "candidates",
    "compare",
    "network",
    "plot",
    "synthesise",
    "workload",
]

_HOMES = {
    "topoloom._core": ("TopoloomError", "__version__"),
    "topoloom.design.candidates": ("Candidate", "Candidates", "candidates"),
    "topoloom.design.synthesis": ("synthesise",),
    "topoloom.layout.layouts": ("Layout",),
    "topoloom.network.families": (
        "Cascade",
        "Cayley",
        "Clos",
        "Cluster",
        "Dragonfly",
        "DragonflyPlus",
        "FatTree",
        "Faulty",
        "FleX",
        "FoldedHypercube",
        "Galaxyfly",
        "Hypercube",
        "HyperX",
        "Machine",
        "Mesh",
        "Myriclos",
        "NestGhc",
        "NestTree",
        "Permuted",
        "RackTree",
        "Rails",
        "RandomRegular",
        "Ring",
        "SlimFly",
        "Torus",
        "TwinTorus",
        "TwistedTorus",
        "Xgft",
    ),
    "topoloom.network.networks": ("Network",),
    "topoloom.plotting.curves": ("plot",),
    "topoloom.report.comparison": ("Comparison",),
    "topoloom.simulation.curves": ("Curve",),
    "topoloom.simulation.points": ("Point",),
    "topoloom.studies": ("Results", "Study", "Sweep"),
    "topoloom.studies.comparison": ("compare",),
    "topoloom.workload.applications": ("Application",),
    "topoloom.workload.results": ("WorkloadResult",),
    "topoloom.workload.workloads": ("Workloads",),
}
"""The modules of the names in ``__all__``. Each is loaded when it is asked for: all together take half a second.

``network``, ``design`` and ``workload`` are packages that can be called; see :mod:`topoloom.network` for why.
"""

_MODULES = {"flows": "topoloom.workload.flows"}
"""Modules that users find here, and that stand elsewhere."""


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(module), name)
            globals()[name] = value
            return value
    if name in _MODULES:
        return import_module(_MODULES[name])
    if not name.startswith("__") and find_spec(f"topoloom.{name}") is not None:
        return import_module(f"topoloom.{name}")
    raise AttributeError(f"module 'topoloom' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
