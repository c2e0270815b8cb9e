"""Runs SimGrid (Debian's python3-simgrid) beside the flow engine: python3 flow_simgrid.py torus|fattree|fattree-16384 [FLOWS].

Flows of unequal sizes begin together: a random permutation, or this many random ones a host. Bandwidth model CM02 without
cross-traffic and TCP's window, links of 1.25 GB/s in each direction.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

import simgrid

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="world" routing="Full">
<cluster id="c" prefix="n" radical="0-{last}" suffix="" speed="1Gf" bw="1.25GBps" lat="1ns" sharing_policy="SPLITDUPLEX"
 topology="{topology}" topo_parameters="{parameters}"/></zone></platform>
"""

NETWORKS = {
    "torus": (4096, "TORUS", "16,16,16"),
    "fattree": (1024, "FAT_TREE", "3;16,8,8;1,16,8;1,1,1"),
    "fattree-16384": (16384, "FAT_TREE", "3;32,32,16;1,32,32;1,1,1"),
}
OPTIONS = ["network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0"]


def main() -> None:
    hosts, topology, parameters = NETWORKS[sys.argv[1]]
    flows = int(sys.argv[2]) if len(sys.argv) > 2 else 1  # noqa: PLR2004 - the second argument
    platform = Path(tempfile.mkdtemp()) / "platform.xml"
    platform.write_text(PLATFORM.format(last=hosts - 1, topology=topology, parameters=parameters))
    engine = simgrid.Engine(["bench", *(f"--cfg={option}" for option in OPTIONS)])
    engine.load_platform(str(platform))
    at = {host.name: host for host in engine.all_hosts}
    rng = random.Random(1)  # noqa: S311 - no secret
    sources = [host for host in range(hosts) for _ in range(flows)]
    targets = rng.sample(range(hosts), hosts) if flows == 1 else [rng.randrange(hosts) for _ in sources]
    sizes = [rng.randrange(1_000_000, 100_000_000) for _ in sources]

    def send() -> None:
        ends = zip(sources, targets, sizes, strict=True)
        under_way = [simgrid.Comm.sendto_async(at[f"n{a}"], at[f"n{b}"], size) for a, b, size in ends if a != b]
        for flow in under_way:
            flow.wait()

    simgrid.Actor.create("sender", engine.all_hosts[0], send)
    began = time.process_time()
    engine.run()
    print(f"{sys.argv[1]}, {flows} a host: {time.process_time() - began:.1f} CPU s, makespan {engine.clock:.4f} s")


main()
