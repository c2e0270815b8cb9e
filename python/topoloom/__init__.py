"""topoloom: design and evaluate the interconnection networks of supercomputers.

>>> import topoloom
>>> topoloom.network("torus:4x4").facts()["diameter"]
4
"""

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
