"""topoloom: design and evaluate the interconnection networks of supercomputers.

>>> import topoloom
>>> topoloom.network("torus:4x4").facts()["diameter"]
4
"""

from topoloom._core import TopoloomError, __version__
from topoloom.comparison import Comparison, compare
from topoloom.curves import Curve, Point
from topoloom.layouts import Layout
from topoloom.networks import Network, network

__all__ = ["Comparison", "Curve", "Layout", "Network", "Point", "TopoloomError", "__version__", "compare", "network"]
