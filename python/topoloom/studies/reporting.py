"""The report of a study: what :mod:`topoloom.report` makes of a comparison, made of a store's results."""

import json
from collections.abc import Sequence
from typing import Any

from topoloom.network.networks import Network
from topoloom.report.comparison import Comparison
from topoloom.simulation.curves import Curve
from topoloom.simulation.loads import is_trace
from topoloom.simulation.options import make_options
from topoloom.simulation.plans import Plan, fixed_plan
from topoloom.simulation.runs import run_plans
from topoloom.simulation.simulator import Simulator
from topoloom.studies.results import CURVES, Results
from topoloom.studies.study import Study
from topoloom.studies.tables import result_tables
from topoloom.workers import interruptible

MOST_FLIT_HOPS = 100_000_000
"""Flits through routers that a report re-simulates, seconds of work: channel loads are not stored."""

MOST_ROWS = 1000
"""Rows of a table."""


def study_report(
    study: Study, results: Results, command: Sequence[str] = (), *, finished: bool = True, store: str = ""
) -> str:
    """Return the report on a study's results as HTML.

    Networks are in the order in which the study names them; the facts of one that the study does not ask for are
    computed here. So are the loads of channels, by simulating the highest load below saturation again, for as many
    curves as :data:`MOST_FLIT_HOPS` allow.

    Args:
        study: The study.
        results: Its results.
        command: The command that repeats it, word by word.
        finished: Whether all points are done; otherwise no channel loads are computed.
        store: The name of the store, for the page.

    Raises:
        TopoloomError: The extra with the report's libraries is missing, or a network cannot be built.

    >>> from topoloom import Sweep
    >>> study = Study(name="small", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])])
    >>> study_report(study, Results([])).startswith("<!doctype html>")
    True
    """
    return as_comparison(study, results, command, finished=finished, store=store).to_html()


def as_comparison(
    study: Study, results: Results, command: Sequence[str], *, finished: bool, store: str = ""
) -> Comparison:
    """Return the results of a study as a comparison of its networks.

    Arguments and errors are those of :func:`study_report`.

    >>> from topoloom import Sweep
    >>> study = Study(name="small", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])])
    >>> as_comparison(study, Results([]), ["topoloom", "run"], finished=True).title
    'small'
    """
    told = results.curves_with_options()
    curves = [curve for curve, _ in told]
    sets = _option_sets(results)
    _name_roles(curves, sets)
    known = {row["spec"]: json.loads(row["result"]) for row in results.rows if row["kind"] == "facts"}
    specs = dict.fromkeys(row["spec"] for row in results.rows)
    proofs = {
        (row["spec"], row["routing"]): json.loads(row["result"]) for row in results.rows if row["kind"] == "verify"
    }
    for curve in curves:
        if proof := proofs.get((curve.spec, curve.routing)):
            curve.deadlock_free = proof["deadlock_free"] and curve.config["vcs"] >= proof["vcs_needed"]
    networks = {spec: Network(spec) for spec in specs}
    if finished:
        _load_channels(told, networks)
    return Comparison(
        facts=[known.get(spec) or interruptible(network.facts) for spec, network in networks.items()],
        curves=curves,
        options=[make_options(own) for own in sets] or [make_options({})],
        traffics=list(dict.fromkeys(curve.traffic for curve in curves)),
        command=command,
        finished=finished,
        title=study.name,
        description=study.description,
        networks=list(networks.values()),
        study=study.text,
        store=store,
        tables=result_tables(results, MOST_ROWS, ("facts", *CURVES)),
    )


def _load_channels(curves: Sequence[tuple[Curve, dict[str, Any]]], networks: dict[str, Network]) -> None:
    """Record in curves how busy channels are at their largest stable load, by simulating it with their first seed."""
    plans: list[tuple[Simulator, Plan]] = []
    mapped: list[Curve] = []
    work = 0
    for curve, options in curves:
        load = curve.most_stable
        # A network with failures is another one than that of the drawing.
        if load is None or is_trace(curve.traffic) or options.get("fail") is not None:
            continue
        work += curve.points[load].flit_hops
        if work > MOST_FLIT_HOPS:
            break
        core = networks[curve.spec].core
        simulator = Simulator(
            core, curve.routing, curve.traffic, make_options(options), most_load=load, searching=False, channels=True
        )
        plans.append((simulator, fixed_plan([load])))
        mapped.append(curve)
    run_plans(plans)
    for curve, (simulator, _) in zip(mapped, plans, strict=True):
        curve.channels = simulator.curve.channels


def _option_sets(results: Results) -> list[dict[str, Any]]:
    """Return the sets of options that the curves have, with the first of their seeds."""
    sets: dict[str, dict[str, Any]] = {}
    for row in results.rows:
        if row["kind"] in CURVES:
            options = json.loads(row["options"])
            sets.setdefault(json.dumps({n: v for n, v in options.items() if n != "seed"}, sort_keys=True), options)
    return list(sets.values())


def _name_roles(curves: Sequence[Curve], sets: Sequence[dict[str, Any]]) -> None:
    """Let the role of each curve also name the options in which curves differ."""
    names = sorted({name for own in sets for name in own if name != "seed"})
    differing = [name for name in names if len({json.dumps(own.get(name), sort_keys=True) for own in sets}) > 1]
    for curve in curves:
        told = ", ".join(f"{name} {curve.config[name]}" for name in differing if name in curve.config)
        curve.role = f"{curve.role}, {told}" if told else curve.role
