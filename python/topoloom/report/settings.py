"""How the simulations were set up, in words."""

from collections.abc import Sequence
from typing import Any

from topoloom import _core
from topoloom.comparison import Comparison
from topoloom.options import EngineOptions


def settings(sets: Sequence[EngineOptions]) -> list[tuple[str, str]]:
    """Return the engine's configuration as (what, value with its unit); several values where curves differ in it."""
    rows: dict[str, dict[str, None]] = {}
    for options in sets:
        for what, value in _settings(options):
            rows.setdefault(what, {})[value] = None
    return [(what, "; ".join(values)) for what, values in rows.items()]


def _settings(options: EngineOptions) -> list[tuple[str, str]]:
    fixed = options.warmup is not None
    return [
        *(_card(options) if options.model == "extoll" else _router(options)),
        ("Credit processing", _count(options.credit_delay, "cycle")),
        ("Link latency", _links(options)),
        ("Packet", _packet(options.packet)),
        ("Injection", options.injection + (f", rates of {options.rates}" if options.rates else "")),
        ("Warm-up", _count(options.warmup, "cycle") if options.warmup is not None else "detected"),
        (
            "Measurement",
            _count(options.measure or 0, "cycle") if fixed else "until the 95 % interval is narrow enough",
        ),
        ("Seed", str(options.seed)),
        *([("Random failures", options.fail)] if options.fail is not None else []),
    ]


def _card(options: EngineOptions) -> list[tuple[str, str]]:
    """Return the parameters of a card, whose defaults are those of its model."""

    def given(value: int | None, usual: int) -> int:
        return usual if value is None else value

    tcs = given(options.tcs, 4)
    stages = [
        given(options.routing_delay, 1),
        given(options.buffer_delay, 1),
        options.sw_alloc_delay,
        given(options.crossbar_delay, 1),
    ]
    return [
        ("Router model", f"extoll: virtual output queues, whole packets, {options.buffers} buffers"),
        ("Buffer of a VC", _count(options.buffer, "cell")),
        ("Allocator", f"iSLIP, {_count(options.iterations, 'iteration')}"),
        ("Routing, storing, arbitration, crossbar", ", ".join(map(str, stages)) + " cycles"),
        (
            "Traffic classes",
            f"{tcs} of {given(options.tc_vcs, 2)} VCs, {given(options.adaptive_tcs, min(2, tcs))} with an adaptive VC; "
            f"used: {options.tc_use or 'all, or with adaptive routings those with an adaptive VC'}",
        ),
    ]


def _router(options: EngineOptions) -> list[tuple[str, str]]:
    return [
        (
            "Router model",
            f"{options.model}: input-queued, {options.flow} flow control, {options.buffers} buffers",
        ),
        ("Buffer of a VC", _count(options.buffer, "flit")),
        ("Internal speedup", f"{options.speedup:g} steps per cycle"),
        ("Allocator", f"{options.allocator}, {_count(options.iterations, 'iteration')}"),
        (
            "Route computation",
            _count(options.routing_delay or 0, "cycle") + ("" if options.routing_delay else " (lookahead)"),
        ),
        ("VC allocation", _count(options.vc_alloc_delay, "cycle")),
        ("Switch allocation", _count(options.sw_alloc_delay, "cycle")),
    ]


def safety(comparison: Comparison) -> list[tuple[str, str, int, str]]:
    """Return (network, routing, VCs a port as they ran, what is known of deadlock)."""
    known = {True: "proved free", False: "possible", None: "not proved"}
    rows = [
        (curve.spec, curve.routing, int(curve.config["vcs"]), known[curve.deadlock_free]) for curve in comparison.curves
    ]
    return list(dict.fromkeys(rows))


def origins(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what the numbers depend on besides the options, as (what, value): versions, store, seeds, files."""
    seeds = sorted({options.seed for options in comparison.options})
    files = {f"{curve.spec}, {kind}": digest for curve in comparison.curves for kind, digest in curve.source.items()}
    return [
        ("topoloom", _core.__version__),
        ("Version of the models", str(_core.MODEL_VERSION)),
        *([("Store", comparison.store)] if comparison.store else []),
        ("Seed" if len(seeds) == 1 else "Seeds", ", ".join(map(str, seeds))),
        *files.items(),
    ]


def active_terminals(comparison: Comparison) -> list[tuple[str, str, int, int]]:
    """Return (traffic, network, senders, terminals) where some terminals stay silent."""
    terminals = {facts["spec"]: int(facts["terminals"]) for facts in comparison.facts}
    rows = dict.fromkeys(
        (curve.traffic, curve.spec, point.active_terminals, terminals[curve.spec])
        for curve in comparison.curves
        for point in curve.sorted_points()[:1]
    )
    return [row for row in rows if row[2] < row[3]]


def _packet(packet: int | str) -> str:
    return _count(packet, "flit") if isinstance(packet, int) else f"{packet} flits"


def _links(options: EngineOptions) -> str:
    latencies: dict[str, Any] = options.links.model_dump(by_alias=True, exclude_none=True)
    cabinet = latencies.pop("cabinet", None)
    told = [f"{name} {_count(n, 'cycle')}" for name, n in latencies.items()]
    if options.links.inside is not None or options.links.between is not None:
        told.append(f"cabinets: {cabinet or 'own'}")
    return ", ".join(told)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
