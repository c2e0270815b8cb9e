"""How applications went on networks, beside each other: in a table, in a chart, on a page."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom.files import MAKESPANS, REPORT, Page, write_file
from topoloom.libraries import require
from topoloom.plotting import write_makespans
from topoloom.workload.gpcnet import Impact, impacts
from topoloom.workload.results import WorkloadResult
from topoloom.workload.timeline import Events

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


COLUMNS = (
    "app", "spec", "routing", "mapping", "engine", "state", "tasks", "flows", "bytes", "makespan_s", "relative",
    "ideal_s", "over_ideal", "algbw_gb_s", "busbw_gb_s", "message_mean_s", "message_p99_s", "mfu", "compute_s",
    "exposed_s", "bubble_s", "skew_s", "wall_s",
)  # fmt: skip
"""Of a table of results as CSV; the last but one are those of training steps."""


@dataclass(frozen=True)
class Workloads(Page):
    """How applications went on networks.

    Attributes:
        results: One for each application, network and mapping, application by application.
        baseline: The network that the others are compared with, by the first mapping.
        command: The command that repeats it.
        finished: False if Ctrl-C ended it early.
        events: What ranks of training steps did, by network, application and mapping.

    >>> import tempfile
    >>> import topoloom
    >>> found = topoloom.workload(["mesh:2x2", "torus:4x1"], "reduce:size=1KiB")
    >>> found.result("torus:4x1", "reduce:size=1KiB").tasks, found.relative("mesh:2x2", "reduce:size=1KiB")
    (4, 1.0)
    >>> len(found.to_dict()), len(found.frame()), len(found.plot().data), found.to_html()[:15]
    (2, 2, 2, '<!doctype html>')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found.write_plot(f"{folder}/makespans.svg")
    """

    results: list[WorkloadResult]
    baseline: str
    command: Sequence[str] = ()
    finished: bool = True
    events: Mapping[tuple[str, str, str], Events] = field(default_factory=dict)

    @cached_property
    def apps(self) -> list[str]:
        """The applications, in the order in which they were named."""
        return list(dict.fromkeys(result.app for result in self.results))

    @cached_property
    def specs(self) -> list[str]:
        """The networks, in the order in which they were named."""
        return list(dict.fromkeys(result.spec for result in self.results))

    @cached_property
    def mappings(self) -> list[str]:
        """The mappings, in the order in which they were named."""
        return list(dict.fromkeys(result.mapping for result in self.results))

    @cached_property
    def placements(self) -> list[tuple[str, str]]:
        """The pairs of a network and a mapping."""
        return [(spec, mapping) for spec in self.specs for mapping in self.mappings]

    def label(self, spec: str, mapping: str) -> str:
        """Return the name of a network and a mapping: that of the network unless there are several mappings.

        Args:
            spec: The network, unchecked.
            mapping: The mapping, unchecked.

        >>> import topoloom
        >>> topoloom.workload("mesh:4", "reduce", mapping=["linear", "random"]).label("mesh:4", "random")
        'mesh:4, random'
        """
        return spec if len(self.mappings) < 2 else f"{spec}, {mapping}"  # noqa: PLR2004

    @property
    def reference(self) -> str:
        """The name of what the others are compared with: the baseline, with the first mapping if there are several."""
        return self.label(self.baseline, next(iter(self.mappings), ""))

    def result(self, spec: str, app: str, mapping: str | None = None) -> WorkloadResult | None:
        """Return the result of an application on a network, if there is one.

        Args:
            spec: The network.
            app: The application.
            mapping: The mapping; the first if None.
        """
        wanted = next(iter(self.mappings), "") if mapping is None else mapping
        own = (result for result in self.results if (result.spec, result.app) == (spec, app))
        return next((result for result in own if result.mapping == wanted), None)

    def relative(self, spec: str, app: str, mapping: str | None = None) -> float | None:
        """Return the ratio of the makespan to that on the baseline by the first mapping; None if one is not known.

        Args:
            spec: The network.
            app: The application.
            mapping: The mapping; the first if None.
        """
        own, base = self.result(spec, app, mapping), self.result(self.baseline, app)
        if own is None or base is None or own.makespan_s is None or not base.makespan_s:
            return None
        return own.makespan_s / base.makespan_s

    @cached_property
    def assumptions(self) -> list[str]:
        """What the makespans rest on, a sentence each."""
        return self._said("assumptions")

    @cached_property
    def notes(self) -> list[str]:
        """What is worth knowing, a sentence each: tasks that a grid leaves over, a routing that did not run."""
        return self._said("notes")

    def _said(self, name: str) -> list[str]:
        return list(dict.fromkeys(text for own in self.results for text in (own.model_extra or {}).get(name, [])))

    @cached_property
    def impacts(self) -> list[Impact]:
        """How much longer the canaries of ``gpcnet`` take beside its congestors."""
        return impacts(self.results)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the output of ``workload --json``."""
        return [
            result.model_dump()
            | {
                "over_ideal": result.over_ideal,
                "algbw_gb_s": result.algbw_gb_s,
                "busbw_gb_s": result.busbw_gb_s,
                "baseline": self.baseline,
                "relative": self.relative(result.spec, result.app, result.mapping),
            }
            for result in self.results
        ]

    def frame(self) -> "pd.DataFrame":
        """Return a data frame, one row per result."""
        require("pandas")
        import pandas as pd  # noqa: PLC0415 - loads slowly

        return pd.DataFrame(self.to_dict())

    def write_table(self, path: str | Path, *, force: bool = False) -> None:
        """Write the results as CSV, one row for each application, network and mapping; times are in seconds.

        Args:
            path: The file, which ends in ``.csv``.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: A file of another kind exists, and `force` is not given; a study or a store's file; a place
                that cannot be written to.

        >>> import tempfile
        >>> import topoloom
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     topoloom.workload("mesh:4", "reduce").write_table(f"{folder}/reduce.csv")
        ...     print(Path(folder, "reduce.csv").read_text()[:40])
        app,spec,routing,mapping,engine,state,ta
        """
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(COLUMNS)
        for result, told in zip(self.results, self.to_dict(), strict=True):
            known = told | {"state": result.state} | (result.training or {})
            rows.writerow(["" if known.get(name) is None else known[name] for name in COLUMNS])
        write_file(path, text.getvalue(), MAKESPANS, force=force)

    def plot(self) -> "go.Figure":
        """Return a bar chart of all makespans, relative to the baseline."""
        require("plotly")
        import plotly.graph_objects as go  # noqa: PLC0415 - needed by those who draw only

        bars = [
            go.Bar(name=self.label(*own), x=self.apps, y=[self.relative(own[0], app, own[1]) for app in self.apps])
            for own in self.placements
        ]
        figure = go.Figure(bars)
        head = {"text": f"1 is the makespan on {self.reference}", "font": {"size": 13}}
        figure.update_layout(template="plotly_white", barmode="group", yaxis_title="relative makespan", title=head)
        return figure

    def write_plot(self, path: str | Path, *, force: bool = False) -> None:
        """Draw the bar chart of all makespans into an .svg or .png file; the same results give the same file.

        Args:
            path: The file, which ends in ``.svg`` or ``.png``.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: A file of another kind exists, and `force` is not given; a study or a store's file; a place
                that cannot be written to.
        """
        write_makespans(self, Path(path), force=force)

    def to_html(self) -> str:
        """Return the report as HTML."""
        require(*REPORT.needs)
        from topoloom.workload.page import render_workloads  # noqa: PLC0415 - the libraries of pages load slowly

        return render_workloads(self)

    def _repr_html_(self) -> str:
        columns = [
            "app", "spec", "routing", "mapping", "tasks", "makespan_s", "relative", "ideal_s", "over_ideal", "flows",
            "wall_s",
        ]  # fmt: skip
        table: str = self.frame()[columns].to_html(index=False, float_format="{:.4g}".format)
        return f"<b>{escape(', '.join(self.apps))}</b>{table}"
