"""Facts and curves of several networks: what the report shows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from topoloom import _core
from topoloom.engine.results import PriceList
from topoloom.files import REPORT, Page
from topoloom.layout.prices import price_list
from topoloom.libraries import require
from topoloom.network.networks import Network
from topoloom.report.throughput import Shortfall, shortfalls
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import EngineOptions

PROVED_ROUTERS = 1024
"""Routers of the largest network whose routings are proved free of deadlock before they are simulated."""


@dataclass(frozen=True)
class ResultTable:
    """Results of one kind that are no curves.

    Attributes:
        kind: What was asked for, such as ``workload``.
        summary: What that measures, for people.
        columns: The names of the columns.
        rows: The cells of each row.
        left_out: The number of rows for which there is no room.
    """

    kind: str
    summary: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int = 0


@dataclass(frozen=True)
class Comparison(Page):
    """Facts and curves of several networks.

    Attributes:
        facts: The facts of each network, in the order in which they were named.
        curves: One curve for each network, routing and traffic.
        options: The engine's options; where curves have options of their own, one entry for each different set.
        traffics: The traffic patterns, in the order in which they were named.
        command: The command that repeats the comparison.
        finished: False if Ctrl-C ended it early.
        layout: The layout, as it was asked for; nothing for the default.
        prices: The price list, as it was asked for; nothing for that of each network's rate.
        title: What the report is called; the number of networks unless given.
        description: What it is for.
        networks: The networks themselves, where the report is to draw them.
        study: The text of the study that asked for it, if one did.
        store: The name of the store that holds the results, if one does.
        tables: Results that are no curves, a table for each kind.

    >>> import topoloom
    >>> found = topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> len(found.to_dict()["networks"]), found.to_html()[:15]
    (1, '<!doctype html>')
    """

    facts: Sequence[Mapping[str, Any]]
    curves: list[Curve]
    options: Sequence[EngineOptions]
    traffics: list[str]
    command: Sequence[str]
    finished: bool
    layout: str = ""
    prices: str = ""
    title: str = ""
    description: str = ""
    networks: Sequence[Network] = ()
    study: str = ""
    store: str = ""
    tables: Sequence[ResultTable] = ()

    @cached_property
    def shortfalls(self) -> list[Shortfall]:
        """Where minimal routing or Valiant's carries more than the adaptive one, or may."""
        return shortfalls(self.curves, self.networks)

    @cached_property
    def price_lists(self) -> list[PriceList]:
        """The price lists that cost and power of the networks follow."""
        if self.prices:
            return [price_list(self.prices)]
        return [price_list(name) for name in dict.fromkeys(own["prices"] for own in self.facts if "prices" in own)]

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``compare --json``."""
        return {
            "version": _core.__version__,
            "command": list(self.command),
            "seed": self.options[0].seed,
            "interrupted": not self.finished,
            "networks": self.facts,
            "curves": [{"deadlock_free": curve.deadlock_free} | curve.saturation_dict() for curve in self.curves],
            "carried_more": [asdict(short) | {"sentence": short.sentence()} for short in self.shortfalls],
        }

    def to_html(self) -> str:
        """Return the report as HTML."""
        require(*REPORT.needs)
        from topoloom.report.rendering import render_report  # noqa: PLC0415 - the libraries of pages load slowly

        return render_report(self)
