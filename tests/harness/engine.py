"""The engine as tests call it: one network, one routing, one load."""

import json
import math
from typing import Any

from topoloom import _core

TIMES = frozenset({"wall_s", "cpu_s", "peak_rss_bytes"})
"""Fields of a result that differ from run to run."""
LINKS = {"terminal": 1, "local": 1, "global": 1, "up": 1, "internal": 1}
"""Links of every class take one cycle."""


def simulate(network: _core.Network | str, routing: str, traffic: str, load: float, **options: Any) -> dict[str, Any]:
    """Simulate one point with options of the engine, and return its result."""
    return measured(network, routing, traffic, load, json.dumps(options))


def measured(
    network: _core.Network | str,
    routing: str,
    traffic: str,
    load: float,
    config_json: str,
    cancel: _core.CancelToken | None = None,
) -> dict[str, Any]:
    """Simulate one point with options as the engine reads them, and return its result."""
    core = _network(network)
    simulation = _core.Simulation(_core.Routing(core, routing), _core.Traffic(core, traffic), config_json)
    return simulation.point(load, cancel or _core.CancelToken())


def run(
    spec: str, routing: str, load: float, traffic: str = "uniform", measure: int = 0, **options: Any
) -> dict[str, Any]:
    """Simulate for so long that some 100,000 packets arrive."""
    network = _core.Network(spec)
    cycles = measure or int(100_000 / network.num_terminals / load)
    return simulate(network, routing, traffic, load, **{"warmup": 500, "measure": cycles, **options})


def repeatable(result: dict[str, Any]) -> dict[str, Any]:
    """Return what is the same in every run of one point."""
    return {key: value for key, value in result.items() if key not in TIMES}


def proof_of(network: _core.Network | str, routing: str, vcs: int | None = None) -> dict[str, Any]:
    """Return the proof that a routing is free of deadlock on a network, or why there is none."""
    return _core.Routing(_network(network), routing).verify(vcs)


def bound_of(network: _core.Network | str, routing: str, traffic: str) -> dict[str, Any]:
    """Return the load that a routing cannot carry more than under a traffic."""
    core = _network(network)
    return _core.Routing(core, routing).bound(_core.Traffic(core, traffic))


def channel_loads(network: _core.Network | str, routing: str, traffic: str) -> list[tuple[int, int, float]]:
    """Return (router, port, expected load) of each channel between routers."""
    core = _network(network)
    return _core.Routing(core, routing).channel_loads(_core.Traffic(core, traffic))


def _network(network: _core.Network | str) -> _core.Network:
    return _core.Network(network) if isinstance(network, str) else network


def stages(speedup: float, routing_delay: int, vc_alloc_delay: int = 1, sw_alloc_delay: int = 1) -> int:
    """Cycles between a head's arrival at a router and its leaving: the pipeline's steps, and whole cycles beyond."""
    unit = 3 + (routing_delay > 0)
    return math.floor((unit - 1) / speedup) + max(routing_delay - 1, 0) + vc_alloc_delay - 1 + sw_alloc_delay - 1
