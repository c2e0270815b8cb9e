"""What is found of a network: records of the engine, with what Python adds to them."""

from typing import Any

from topoloom.engine import results


class Facts(results.Facts, results.PathDiversity, results.Bisection):
    """The facts of a network, as :meth:`topoloom.Network.facts` returns them.

    Attributes:
        cost_usd: As all that follows from a layout: of the layout and the price list that were asked for.
    """


class Proof(results.Proof):
    """A proof that a routing cannot deadlock, or a cycle, as :meth:`topoloom.Network.verify` returns it.

    Attributes:
        source_sha256: The hash of the file or graph that the network comes from, if it comes from one.
    """

    source_sha256: str | None


class Bound(results.SaturationBound):
    """The load that a routing cannot carry more than, as :meth:`topoloom.Network.bound` returns it.

    Attributes:
        spec: The network.
        routing: The routing.
        traffic: The traffic pattern.
        optimal_bound: What the best possible routing carries, if that was asked for.
        optimal_channel_load: The load of the busiest channel under that routing, if every active terminal offers a flit
            a cycle.
    """

    spec: str
    routing: str
    traffic: str
    optimal_bound: float | None
    optimal_channel_load: float | None


class Resilience(results.Resilience):
    """What random failures leave of a network, as :meth:`topoloom.Network.faults` returns it.

    Attributes:
        version: The version of topoloom.
        throughput: What is left of the throughput, a row a fraction and traffic; see
            :meth:`topoloom.network.survival.Survival.at`. Empty unless it was asked for.
    """

    version: str
    throughput: list[dict[str, Any]]
