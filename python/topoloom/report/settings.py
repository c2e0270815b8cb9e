"""How the simulations were set up, in words."""

from collections.abc import Sequence
from typing import Any

from topoloom import _core
from topoloom.report.comparison import Comparison
from topoloom.simulation.options import EngineOptions
from topoloom.wording import counted


def settings(sets: Sequence[EngineOptions]) -> list[tuple[str, str]]:
    """Return the engine's configuration as (what, value with its unit); several values where curves differ in it.

    Args:
        sets: The options of the curves.

    >>> dict(settings([EngineOptions(), EngineOptions(seed=2)]))["Seed"]
    '1; 2'
    """
    rows: dict[str, dict[str, None]] = {}
    for options in sets:
        for what, value in _settings(options):
            rows.setdefault(what, {})[value] = None
    return [(what, "; ".join(values)) for what, values in rows.items()]


def _settings(options: EngineOptions) -> list[tuple[str, str]]:
    fixed = options.warmup is not None
    return [
        *_core.router_settings(options.engine_json()),
        ("Link latency", _links(options)),
        ("Packet", _packet(options.packet)),
        ("Injection", options.injection + (f", rates of {options.rates}" if options.rates else "")),
        ("Warm-up", counted(options.warmup, "cycle") if options.warmup is not None else "detected"),
        (
            "Measurement",
            counted(options.measure or 0, "cycle") if fixed else "until the 95 % interval is narrow enough",
        ),
        ("Seed", str(options.seed)),
        *([("Random failures", options.fail)] if options.fail is not None else []),
    ]


def safety(comparison: Comparison) -> list[tuple[str, str, int, str]]:
    """Return (network, routing, VCs per port as they ran, what is known of deadlock) of each curve.

    Args:
        comparison: The comparison.

    >>> import topoloom
    >>> safety(topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1], warmup=10, measure=100, vcs=2))
    [('mesh:2x2', 'dor', 2, 'proved free')]
    """
    known = {True: "proved free", False: "possible", None: "not proved"}
    rows = [
        (curve.spec, curve.routing, int(curve.config["vcs"]), known[curve.deadlock_free]) for curve in comparison.curves
    ]
    return list(dict.fromkeys(rows))


def origins(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what the numbers depend on besides the options, as (what, value): versions, store, seeds, files.

    Args:
        comparison: The comparison.

    >>> made = Comparison([], [], [EngineOptions(seed=7)], [], [], finished=True, store="own.store")
    >>> origins(made)[2:]
    [('Store', 'own.store'), ('Seed', '7')]
    """
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
    """Return (traffic, network, senders, terminals) where some terminals never send.

    Args:
        comparison: The comparison.

    >>> import topoloom
    >>> quick = {"load": [0.1], "warmup": 10, "measure": 100}
    >>> active_terminals(topoloom.compare(["mesh:3x3"], ["minimal"], ["transpose:bits=2"], **quick))
    [('transpose:bits=2', 'mesh:3x3', 4, 9)]
    """
    terminals = {facts["spec"]: int(facts["terminals"]) for facts in comparison.facts}
    rows = dict.fromkeys(
        (curve.traffic, curve.spec, point.active_terminals, terminals[curve.spec])
        for curve in comparison.curves
        for point in curve.sorted_points()[:1]
    )
    return [row for row in rows if row[2] < row[3]]


def _packet(packet: int | str) -> str:
    return counted(packet, "flit") if isinstance(packet, int) else f"{packet} flits"


def _links(options: EngineOptions) -> str:
    latencies: dict[str, Any] = options.links.model_dump(by_alias=True, exclude_none=True)
    cabinet = latencies.pop("cabinet", None)
    told = [f"{name} {counted(n, 'cycle')}" for name, n in latencies.items()]
    if options.links.inside is not None or options.links.between is not None:
        told.append(f"cabinets: {cabinet or 'of the family'}")
    return ", ".join(told)
