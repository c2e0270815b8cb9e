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
    from topoloom.comparison import Comparison, compare
    from topoloom.curves import Curve, Point
    from topoloom.design import Candidate, Candidates, candidates
    from topoloom.families import (
        Clos,
        Dragonfly,
        DragonflyPlus,
        FatTree,
        FleX,
        FoldedHypercube,
        Galaxyfly,
        Hypercube,
        HyperX,
        Mesh,
        Myriclos,
        NestGhc,
        NestTree,
        Permuted,
        RandomRegular,
        Ring,
        SlimFly,
        Torus,
        TwinTorus,
        Xgft,
    )
    from topoloom.layouts import Layout
    from topoloom.networks import Network, network
    from topoloom.plots import plot
    from topoloom.studies import Results, Study, Sweep
    from topoloom.workloads import Application, WorkloadResult, Workloads, workload

__all__ = [
    "Application",
    "Candidate",
    "Candidates",
    "Clos",
    "Comparison",
    "Curve",
    "Dragonfly",
    "DragonflyPlus",
    "FatTree",
    "FleX",
    "FoldedHypercube",
    "Galaxyfly",
    "HyperX",
    "Hypercube",
    "Layout",
    "Mesh",
    "Myriclos",
    "NestGhc",
    "NestTree",
    "Network",
    "Permuted",
    "Point",
    "RandomRegular",
    "Results",
    "Ring",
    "SlimFly",
    "Study",
    "Sweep",
    "TopoloomError",
    "Torus",
    "TwinTorus",
    "WorkloadResult",
    "Workloads",
    "Xgft",
    "__version__",
    "candidates",
    "compare",
    "network",
    "plot",
    "workload",
]

_HOMES = {
    "topoloom._core": ("TopoloomError", "__version__"),
    "topoloom.comparison": ("Comparison", "compare"),
    "topoloom.curves": ("Curve", "Point"),
    "topoloom.design": ("Candidate", "Candidates", "candidates"),
    "topoloom.families": (
        "Clos",
        "Dragonfly",
        "DragonflyPlus",
        "FatTree",
        "FleX",
        "FoldedHypercube",
        "Galaxyfly",
        "Hypercube",
        "HyperX",
        "Mesh",
        "Myriclos",
        "NestGhc",
        "NestTree",
        "Permuted",
        "RandomRegular",
        "Ring",
        "SlimFly",
        "Torus",
        "TwinTorus",
        "Xgft",
    ),
    "topoloom.layouts": ("Layout",),
    "topoloom.networks": ("Network", "network"),
    "topoloom.plots": ("plot",),
    "topoloom.studies": ("Results", "Study", "Sweep"),
    "topoloom.workloads": ("Application", "WorkloadResult", "Workloads", "workload"),
}
"""The modules of the names in ``__all__``. Each is loaded when it is asked for: all together take half a second."""


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(module), name)
            globals()[name] = value
            return value
    if not name.startswith("__") and find_spec(f"topoloom.{name}") is not None:
        return import_module(f"topoloom.{name}")
    raise AttributeError(f"module 'topoloom' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
