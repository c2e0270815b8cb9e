"""topoloom: design and evaluate the interconnection networks of supercomputers.

>>> import topoloom
>>> topoloom.network("torus:4x4").facts()["diameter"]
4
"""

from topoloom._core import TopoloomError, __version__
from topoloom.comparison import Comparison, compare
from topoloom.curves import Curve, Point
from topoloom.families import Dragonfly, FatTree, FleX, HyperX, Mesh, SlimFly, Torus
from topoloom.layouts import Layout
from topoloom.networks import Network, network
from topoloom.plots import plot
from topoloom.studies import Results, Study, Sweep

__all__ = [
    "Comparison",
    "Curve",
    "Dragonfly",
    "FatTree",
    "FleX",
    "HyperX",
    "Layout",
    "Mesh",
    "Network",
    "Point",
    "Results",
    "SlimFly",
    "Study",
    "Sweep",
    "TopoloomError",
    "Torus",
    "__version__",
    "compare",
    "network",
    "plot",
]
