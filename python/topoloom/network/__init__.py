"""Networks: the graph, its facts, and what can be asked of it.

The package is a function as well: ``topoloom.network("torus:8x8")`` builds a network. A function of the same name in
:mod:`topoloom` would not do, as Python puts the package itself there as soon as any of its modules is imported: what
``topoloom.network`` is would depend on the order of imports.
"""

import sys
from types import ModuleType

from topoloom.network import networks


class _CallablePackage(ModuleType):
    """This package, which can be called."""

    def __call__(self, spec: str, **keys: str | float | bool) -> networks.Network:
        """Return the network that `spec` describes; `keys` are added to the spec.

        >>> import topoloom
        >>> topoloom.network("hyperx:3x3", p=2)
        Network('hyperx:3x3,p=2')
        """
        return networks.network(spec, **keys)


sys.modules[__name__].__class__ = _CallablePackage
