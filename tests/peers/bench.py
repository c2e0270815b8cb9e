"""Speed beside other simulators: ``make bench-peers BOOKSIM=path/to/booksim CAMINOS=path/to/caminos``.

The engine and a peer simulate the same case alternately. A run's speed is the cycles that it simulates in a second of
processor time of its whole process, start included; each program has as many cycles to simulate as take it some
seconds. The ratio printed is the median over the pairs of runs, with its range. Both programs' latencies and accepted
loads stand beside it: a simulator that computes something else is no peer.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

WARMUP = 0.1
"""The share of a run's cycles that go before measuring."""

BOOKSIM_ROUTER = """
num_vcs = {vcs};
vc_buf_size = {buffer};
packet_size = 1;
injection_rate = {load};
traffic = uniform;
use_noc_latency = 0;
wait_for_tail_credit = 0;
vc_allocator = separable_input_first;
sw_allocator = separable_input_first;
alloc_iters = 1;
credit_delay = 2;
routing_delay = 0;
vc_alloc_delay = 1;
sw_alloc_delay = 1;
st_prepare_delay = 0;
st_final_delay = 1;
input_speedup = 1;
output_speedup = 1;
internal_speedup = 2.0;
sim_type = latency;
sim_count = 1;
warmup_periods = 1;
max_samples = {samples};
sample_period = {period};
stopping_thres = 0.0;
acc_stopping_thres = 0.0;
"""
"""The router that the engine is by default, as BookSim2's options; a run of a fixed length."""

CAMINOS_RUN = """
Configuration
{{
    random_seed: 1,
    warmup: {warmup},
    measured: {measured},
    topology: {topology},
    traffic: HomogeneousTraffic {{ pattern: Uniform, servers: {terminals}, load: {load}, message_size: 1 }},
    maximum_packet_size: 1,
    router: Basic
    {{
        virtual_channels: {vcs},
        virtual_channel_policies: [ {policies} ],
        delay: 0,
        buffer_size: {buffer},
        bubble: false,
        flit_size: 1,
        allow_request_busy_port: true,
        intransit_priority: false,
        output_prioritize_lowest_label: false,
        output_buffer_size: 32,
    }},
    routing: Shortest,
    link_classes: [ LinkClass {{ delay: 1 }}, LinkClass {{ delay: 1 }}, LinkClass {{ delay: 1 }} ],
}}
"""
"""CAMINOS by minimal paths through its simple router, without allocators or a pipeline: its latency is lower."""

LONG_LINKS = {"terminal": 1, "local": 10, "global": 100, "up": 1, "internal": 1}


@dataclass(frozen=True)
class Case:
    """A network under uniform traffic, and how each program is asked for it."""

    name: str
    spec: str
    routing: str
    load: float
    cycles: int
    """Cycles that the engine simulates."""
    vcs: int = 4
    buffer: int = 64
    links: dict[str, int] = field(default_factory=dict)
    booksim: str = ""
    booksim_cycles: int = 0
    booksim_warmup: int = 100
    """Cycles that BookSim2 goes before measuring, at the least: some latencies."""
    yardstick: str = ""
    caminos: str = ""
    """A topology of CAMINOS, its terminals, and how it takes VCs."""
    caminos_terminals: int = 0
    caminos_policies: str = "EnforceFlowControl, Random"
    caminos_cycles: int = 0


CASES = (
    Case(
        "mesh",
        "mesh:8x8",
        "dor",
        0.3,
        400_000,
        booksim="topology = mesh; k = 8; n = 2; routing_function = dor;",
        booksim_cycles=10_000,
        yardstick="topo=mesh k=8 n=2",
    ),
    Case(
        "hyperx",
        "hyperx:10x10,p=10",
        "dor",
        0.5,
        30_000,
        booksim="topology = flatfly; k = 10; n = 2; c = 10; x = 10; y = 10; xr = 10; yr = 1; "
        "routing_function = ran_min;",
        booksim_cycles=400,
        yardstick="topo=hyperx k=10 n=2 c=10",
    ),
    Case(
        "fattree",
        "fattree:k=10,levels=3",
        "nca",
        0.5,
        20_000,
        booksim="topology = fattree; k = 10; n = 3; routing_function = nca;",
        booksim_cycles=300,
        yardstick="topo=fattree k=10 n=3 routing=nca",
    ),
    Case(
        "dragonfly",
        "dragonfly:a=8,h=4,p=4",
        "min",
        0.4,
        20_000,
        vcs=2,
        buffer=256,
        links=LONG_LINKS,
        booksim="topology = dragonflynew; k = 4; n = 1; routing_function = min;",
        booksim_cycles=1_500,
        booksim_warmup=500,
        yardstick="topo=dfly p=4 a=8 h=4",
    ),
    Case(
        "hyperx-8000",
        "hyperx:20x20,p=20",
        "dor",
        0.5,
        4_000,
        yardstick="topo=hyperx k=20 n=2 c=20",
    ),
    Case(
        "hyperx-valiant",
        "hyperx:10x10,p=10",
        "val",
        0.3,
        30_000,
        yardstick="topo=hyperx k=10 n=2 c=10 routing=val",
    ),
    Case(
        "hyperx-min",
        "hyperx:10x10,p=10",
        "min",
        0.5,
        30_000,
        vcs=2,
        caminos="Hamming { sides: [10, 10], servers_per_router: 10 }",
        caminos_terminals=1_000,
        caminos_policies="WideHops { width: 1 }, EnforceFlowControl, Random",
        caminos_cycles=2_000,
    ),
    Case(
        "dragonfly-min",
        "dragonfly:a=8,h=4,p=4",
        "min",
        0.4,
        30_000,
        vcs=2,
        caminos="Dragonfly { global_ports_per_router: 4, servers_per_router: 4, global_arrangement: Palmtree }",
        caminos_terminals=1_056,
        caminos_cycles=2_000,
    ),
)


@dataclass(frozen=True)
class Run:
    """What a run simulated, in how much processor time."""

    cycles: int
    cpu_s: float
    latency: float
    accepted: float

    @property
    def speed(self) -> float:
        """Cycles a second of processor time."""
        return self.cycles / self.cpu_s


class PeerError(Exception):
    """A program did not do what it was asked for."""


def timed(command: list[str]) -> tuple[str, float]:
    """Run a command; return what it prints and the processor time of its process, in seconds.

    Raises:
        PeerError: If it cannot be started, or prints nothing.
    """
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        raise PeerError(f"{command[0]} cannot be run: {error.strerror}") from error
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if not out:
        raise PeerError(f"{command[0]} printed nothing and ended with status {process.returncode}")
    return out, used.ru_utime + used.ru_stime


def last_number(text: str, label: str, program: str) -> float:
    """Return the number behind the last ``label`` of a program's output.

    Raises:
        PeerError: If there is none.
    """
    found = re.findall(rf"{label}\s*=?\s*([-+.\deE]+)", text)
    if not found:
        raise PeerError(f"{program} does not say '{label}'; the end of what it says: {text[-300:].strip()!r}")
    return float(found[-1])


class Engine:
    """The engine by itself, without Python: the crate's example ``point``."""

    def __init__(self, program: str, share: float) -> None:
        self.program, self.share = program, share

    def run(self, case: Case) -> Run:
        """Simulate a case."""
        cycles = int(case.cycles * self.share)
        warmup = int(cycles * WARMUP)
        config: dict[str, object] = {
            "vcs": case.vcs,
            "buffer": case.buffer,
            "warmup": warmup,
            "measure": cycles - warmup,
        }
        if case.links:
            config["links"] = case.links
        words = [self.program, case.spec, case.routing, "uniform", str(case.load), json.dumps(config)]
        out, cpu_s = timed(words)
        line = next((line for line in out.splitlines() if line.startswith("{")), None)
        if line is None:
            raise PeerError(f"{self.program}: {out.strip()}")
        point = json.loads(line)
        return Run(point["cycles"], cpu_s, point["latency_cycles"], point["accepted"])


class BookSim:
    """BookSim2."""

    name = "BookSim2"

    def __init__(self, program: str, share: float) -> None:
        self.program, self.share = program, share

    def offers(self, case: Case) -> bool:
        """Whether it has the case."""
        return case.booksim != ""

    def run(self, case: Case) -> Run:
        """Simulate a case."""
        cycles = int(case.booksim_cycles * self.share)
        # One period of warm-up, one or more of measuring: shorter ones would measure a network that still fills.
        period = max(int(cycles * WARMUP), case.booksim_warmup)
        router = BOOKSIM_ROUTER.format(
            vcs=case.vcs, buffer=case.buffer, load=case.load, period=period, samples=max(cycles // period, 2)
        )
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "config")
            config.write_text(case.booksim + router)
            out, cpu_s = timed([self.program, str(config)])
        numbers = [
            last_number(out, label, "BookSim2")
            for label in ("Time taken is", "Packet latency average", "Accepted flit rate average")
        ]
        return Run(int(numbers[0]), cpu_s, numbers[1], numbers[2])

    def built(self) -> str:
        """How it was built, as far as its folder says."""
        folder = Path(self.program).resolve().parent
        makefile, flatfly = folder / "Makefile", folder / "networks" / "flatfly_onchip.cpp"
        flags = re.findall(r"^CPPFLAGS \+= (-O.*|-g|.*NDEBUG.*)$", read(makefile), re.MULTILINE)
        asserts = re.findall(r"^\s*assert\(_(?:xcount|xrouter) == .*$", read(flatfly), re.MULTILINE)
        taken_out = {0: "asserts of flatfly_onchip.cpp about square concentrations taken out"}
        return ", ".join([f"flags {' '.join(flags) or 'unknown'}", taken_out.get(len(asserts), "source as it is")])


class Yardstick:
    """A bare engine with the same timing, and few features."""

    name = "yardstick"

    def __init__(self, program: str, share: float) -> None:
        self.program, self.share = program, share

    def offers(self, case: Case) -> bool:
        """Whether it has the case."""
        return case.yardstick != ""

    def run(self, case: Case) -> Run:
        """Simulate a case."""
        cycles = int(case.cycles * self.share)
        warmup = int(cycles * WARMUP)
        own = [
            f"rate={case.load}",
            f"vcs={case.vcs}",
            f"buf={case.buffer}",
            f"warm={warmup}",
            f"meas={cycles - warmup}",
        ]
        out, cpu_s = timed([self.program, *case.yardstick.split(), *own])
        numbers = [last_number(out, label, "the yardstick") for label in (" cycles", " lat", " acc")]
        return Run(int(numbers[0]), cpu_s, numbers[1], numbers[2])

    def built(self) -> str:
        """How it was built."""
        return "as its Cargo.toml says"


class Caminos:
    """CAMINOS, whose simple router does less than ours: the paths and the load are the same, the times are not."""

    name = "CAMINOS"

    def __init__(self, program: str, share: float) -> None:
        self.program, self.share = program, share

    def offers(self, case: Case) -> bool:
        """Whether it has the case."""
        return case.caminos != ""

    def run(self, case: Case) -> Run:
        """Simulate a case."""
        cycles = int(case.caminos_cycles * self.share)
        warmup = int(cycles * WARMUP)
        text = CAMINOS_RUN.format(
            warmup=warmup,
            measured=cycles - warmup,
            topology=case.caminos,
            terminals=case.caminos_terminals,
            load=case.load,
            vcs=case.vcs,
            buffer=case.buffer,
            policies=case.caminos_policies,
        )
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "run.cfg")
            config.write_text(text)
            out, cpu_s = timed([self.program, str(config)])
        numbers = [last_number(out, f"{label}:", "CAMINOS") for label in ("average_message_delay", "accepted_load")]
        return Run(cycles, cpu_s, *numbers)

    def built(self) -> str:
        """Which one it is."""
        out, _ = timed([self.program, "--help"])
        version = re.search(r"version_number=(\S+)", out)
        return f"version {version[1]}" if version else "version unknown"


Peer = BookSim | Yardstick | Caminos


def read(path: Path) -> str:
    """Return the text of a file, or nothing."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def compared(case: Case, engine: Engine, peer: Peer, runs: int) -> str:
    """Simulate a case with both alternately; return a line of the table."""
    pairs = [(engine.run(case), peer.run(case)) for _ in range(runs)]
    ratios = sorted(ours.speed / theirs.speed for ours, theirs in pairs)
    ours, theirs = (
        Run(
            0,
            0,
            median(pair[who].latency for pair in pairs),
            median(pair[who].accepted for pair in pairs),
        )
        for who in (0, 1)
    )
    speeds = [median(pair[who].speed for pair in pairs) for who in (0, 1)]
    return (
        f"{case.name:<15} {peer.name:<10} {speeds[0]:>10,.0f} {speeds[1]:>10,.0f}  "
        f"{median(ratios):>6.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})  "
        f"{ours.latency:>8.2f} {theirs.latency:>8.2f} {ours.latency / theirs.latency - 1:>+7.1%}  "
        f"{ours.accepted:.4f} {theirs.accepted:.4f}"
    )


def table(cases: list[Case], engine: Engine, peers: list[Peer], runs: int) -> Iterator[str]:
    """The lines of the whole report, each as soon as it is known."""
    processors = os.cpu_count() or 1
    load = os.getloadavg()[0]
    yield f"{time.strftime('%Y-%m-%d')}: {processors} processors, load average {load:.1f}; {runs} pairs of runs a case"
    if load > 0.5 * processors:
        yield "The machine is busy: processor time grows where caches are shared. Look at the ranges."
    for peer in peers:
        yield f"{peer.name}: {peer.program}, {peer.built()}"
    yield (
        f"{'case':<15} {'peer':<10} {'cycles/s':>10} {'peer':>10}  {'ratio (range)':<22}  "
        f"{'latency':>8} {'peer':>8} {'':>7}  {'accepted':<6} {'peer'}"
    )
    for case in cases:
        for peer in peers:
            if peer.offers(case):
                yield compared(case, engine, peer, runs)


def main(words: list[str]) -> int:
    """Print the table; return 2 for a mistake."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--engine", required=True, help="the crate's example point, built in release mode")
    parser.add_argument("--booksim", default="", help="BookSim2's program, src/booksim")
    parser.add_argument("--caminos", default="", help="CAMINOS's program: cargo install --locked caminos")
    parser.add_argument("--yardstick", default="", help="a bare engine's program")
    parser.add_argument("--runs", type=int, default=3, help="pairs of runs a case (default 3)")
    parser.add_argument("--share", type=float, default=1.0, help="of each run's cycles, for a quick look (default 1)")
    parser.add_argument("--case", action="append", choices=names, help="these cases alone")
    options = parser.parse_args(words)
    peers: list[Peer] = []
    if options.booksim:
        peers.append(BookSim(options.booksim, options.share))
    if options.caminos:
        peers.append(Caminos(options.caminos, options.share))
    if options.yardstick:
        peers.append(Yardstick(options.yardstick, options.share))
    if not peers:
        parser.error("no peer; give BOOKSIM=path/to/booksim, CAMINOS=path/to/caminos or YARDSTICK=path/to/yardstick")
    if options.runs < 1 or options.share <= 0:
        parser.error("--runs and --share must be more than 0")
    cases = [case for case in CASES if options.case is None or case.name in options.case]
    try:
        for line in table(cases, Engine(options.engine, options.share), peers, options.runs):
            print(line, flush=True)
    except PeerError as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
