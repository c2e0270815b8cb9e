"""The engine as tests call it: one network, one routing, one load."""

import json
from typing import Any

from topoloom import _core


def simulate(
    network: _core.Network | str, routing: str, traffic: str, load: float, options: dict[str, Any]
) -> dict[str, Any]:
    """Simulate one point with options of the engine, and return its result."""
    core = _core.Network(network) if isinstance(network, str) else network
    return json.loads(_core.simulate(core, routing, traffic, load, json.dumps(options), _core.CancelToken()))


def run(
    spec: str, routing: str, load: float, traffic: str = "uniform", measure: int = 0, **options: Any
) -> dict[str, Any]:
    """Simulate for so long that some 100,000 packets arrive."""
    network = _core.Network(spec)
    cycles = measure or int(100_000 / network.num_terminals / load)
    return simulate(network, routing, traffic, load, {"warmup": 500, "measure": cycles, **options})


def proof_of(spec: str, routing: str) -> dict[str, Any]:
    """Return the proof that a routing is free of deadlock on a network, or what it fails of."""
    return json.loads(_core.verify(_core.Network(spec), routing))
