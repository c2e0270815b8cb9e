"""The report of a study: what :mod:`topoloom.report` makes of a comparison, made of a store's results."""

import json
from collections.abc import Sequence
from typing import Any

from topoloom.comparison import Comparison
from topoloom.curves import Curve
from topoloom.networks import Network
from topoloom.options import make_options
from topoloom.report import render_report
from topoloom.studies.results import CURVES, Results
from topoloom.studies.study import Study
from topoloom.workers import interruptible


def study_report(study: Study, results: Results, command: Sequence[str] = (), *, finished: bool = True) -> str:
    """Return the report on a study's results as HTML.

    Networks stand in the order in which the study names them; the facts of one that the study does not ask for are
    found here.
    """
    return render_report(as_comparison(study, results, command, finished=finished))


def as_comparison(study: Study, results: Results, command: Sequence[str], *, finished: bool) -> Comparison:
    """Return the results of a study as a comparison of its networks."""
    curves = results.curves()
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
    return Comparison(
        facts=[known.get(spec) or interruptible(Network(spec).facts) for spec in specs],
        curves=curves,
        options=[make_options(own) for own in sets] or [make_options({})],
        traffics=list(dict.fromkeys(curve.traffic for curve in curves)),
        command=command,
        finished=finished,
        title=study.name,
        description=study.description,
    )


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
