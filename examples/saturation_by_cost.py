"""Which network carries the most traffic for its price? Prints a small table, best first."""

import topoloom

SPECS = ["mesh:4x4", "torus:4x4", "hyperx:4x4,p=2", "dragonfly:a=4,h=2,p=2"]


def dollars_per_load(spec: str) -> float:
    """Return the price of one flit per cycle that the network carries under uniform traffic."""
    network = topoloom.network(spec)
    load = network.saturation(routing="adaptive", traffic="uniform").saturation_load or 0.0
    return network.facts()["cost_usd"] / (load * network.num_terminals)


for price, spec in sorted((dollars_per_load(spec), spec) for spec in SPECS):
    print(f"{spec:<24}{price:>10,.0f} $ for a flit per cycle")
