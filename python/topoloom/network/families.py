"""The families of networks by name: ``topoloom.FleX(6, 6, 3, p=10)`` is ``topoloom.network("flex:6x6x3,p=10")``."""

from functools import cache
from typing import Any

from topoloom import _core
from topoloom.engine.results import FamilyDescription
from topoloom.network.networks import Network, with_keys


@cache
def descriptions() -> dict[str, FamilyDescription]:
    """Return what the engine knows of each family, by its name in specs.

    >>> [key.name for key in descriptions()["hypercube"].keys_][:2]
    ['p', 'rate']
    """
    return {family.name: family for family in _core.families()}


class Family:
    """A family of networks. Called with sizes and keys, as in specs, it builds one.

    Args:
        name: Its name in specs.

    >>> Family("hyperx")(3, 3, p=2)
    Network('hyperx:3x3,p=2')
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *sizes: int | str, **keys: Any) -> Network:
        """Build the network with these sizes, and keys such as ``p=10``.

        Raises:
            TopoloomError: Sizes or keys that the family does not have or allow.
        """
        spec = f"{self.name}:{'x'.join(map(str, sizes))}" if sizes else self.name
        return Network(with_keys(spec, keys))

    def __repr__(self) -> str:
        return f"<family {self.name}: {descriptions()[self.name].summary}>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What it is, its keys, an example, and its source."""
        about = descriptions()[self.name]
        keys = "\n".join(f"    {key.name}: {key.doc}" for key in about.keys_)
        return f"{about.summary}.\n\nKeys:\n{keys}\n\nExample: {about.example}\n\nSource: {about.source}"


Mesh = Family("mesh")
Torus = Family("torus")
TwinTorus = Family("twin-torus")
TwistedTorus = Family("twisted-torus")
Cayley = Family("cayley")
Hypercube = Family("hypercube")
FoldedHypercube = Family("folded-hypercube")
HyperX = Family("hyperx")
FatTree = Family("fattree")
Clos = Family("clos")
Xgft = Family("xgft")
Dragonfly = Family("dragonfly")
Cascade = Family("cascade")
DragonflyPlus = Family("dragonfly-plus")
SlimFly = Family("slimfly")
FleX = Family("flex")
Galaxyfly = Family("galaxyfly")
Ring = Family("ring")
RandomRegular = Family("random-regular")
Myriclos = Family("myriclos")
NestGhc = Family("nestghc")
NestTree = Family("nesttree")
RackTree = Family("rack-tree")
Rails = Family("rails")
Cluster = Family("cluster")
Machine = Family("machine")
Permuted = Family("permuted")
Faulty = Family("faulty")
