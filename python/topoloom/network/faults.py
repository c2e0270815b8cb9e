"""Random failures of links and routers: options and results of trials."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from topoloom import _core
from topoloom.network.results import Resilience
from topoloom.network.survival import Survival
from topoloom.simulation.loads import Loads, parse_fractions
from topoloom.simulation.option_types import U64, Options
from topoloom.simulation.options import checked, names_in

FRACTIONS = "0:0.9:0.05"
"""The failed fractions that are looked at unless others are asked for."""

BOUNDED_FRACTIONS = "0,0.01,0.02,0.05,0.1,0.2"
"""The same where throughput is bounded: what a machine may live with."""

BOUNDED_TRIALS = 20
"""Random orders of failure where throughput is bounded, unless others are asked for."""


class FaultOptions(Options):
    """What to try.

    Attributes:
        kind: What fails: links between routers, or routers with their links and terminals.
        fractions: The failed fractions to look at, from 0 to 1.
        trials: Random orders of failure.
        seed: Their seed.
        distances: Measure diameter and average distance, too, which takes longer.
        throughput: Traffic patterns under which the throughput that is left is bounded, which takes longer still.
    """

    kind: Literal["links", "routers"] = "links"
    fractions: tuple[float, ...]
    trials: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    seed: U64 = 1
    distances: bool = False
    throughput: tuple[str, ...] = ()


def make_fault_options(values: Mapping[str, Any]) -> FaultOptions:
    """Return checked options; keys that stand for None are left at their defaults.

    Args:
        values: Options by name, as :meth:`topoloom.Network.faults` takes them; texts are read.

    Raises:
        TopoloomError: An option that does not exist, or a value that it does not allow.

    >>> make_fault_options({"fractions": "0:0.2:0.1"}).fractions
    (0.0, 0.1, 0.2)
    """
    fractions: Loads | None = values.get("fractions")
    traffics = values.get("throughput")
    if isinstance(traffics, str):
        traffics = names_in("throughput", traffics)
    for name in traffics or ():
        _core.Name("traffic", name)
    usual, trials = (BOUNDED_FRACTIONS, {"trials": BOUNDED_TRIALS}) if traffics else (FRACTIONS, {})
    given = {key: value for key, value in values.items() if value is not None}
    parsed = parse_fractions(usual if fractions is None else fractions)
    return checked(FaultOptions, trials | given | {"fractions": parsed, "throughput": tuple(traffics or ())})


def try_faults(network: _core.Network, options: FaultOptions, intact: Mapping[str, float] | None = None) -> Resilience:
    """Return what is left of `network`, by the keys of ``topoloom faults --json``.

    Args:
        network: The engine's network, ``Network.core``.
        options: What fails, how often, and the traffic, of :func:`make_fault_options`.
        intact: What the network carries without failures by traffic, in flits per active terminal per cycle, where
            that is known.

    >>> import topoloom
    >>> options = make_fault_options({"fractions": [0.0, 0.5], "trials": 4})
    >>> try_faults(topoloom.network("torus:4x4").core, options)["kind"]
    'links'
    """
    left = network.resilience(options.kind, options.fractions, options.trials, options.seed, options.distances)
    draws = Survival(network, options.kind, options.trials, options.seed, options.throughput, intact)
    rows = [row for fraction in options.fractions for row in draws.at(fraction)] if options.throughput else []
    return Resilience({"version": _core.__version__} | left | {"throughput": rows})
