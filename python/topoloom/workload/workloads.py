"""Applications on networks: how long they take, by the flow engine or by the cycle engine."""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.files import REPORT, write_file
from topoloom.network.graphs import source
from topoloom.network.networks import Network, as_networks
from topoloom.simulation.options import EngineOptions, checked, threads_given
from topoloom.simulation.roles import flow_routing, resolve_routing
from topoloom.workers import Workers, cpu_count, interruptible
from topoloom.workload.gpcnet import Impact, expanded, impacts

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go

LARGE = 16_384
"""Networks of so many terminals and more are run one at a time: each needs much memory."""


IDEAL = (
    "ideal: a lower bound for any network: every message alone on its path, terminals busy at their own rate, "
    "routers without delay"
)
ONE_PATH = (
    "paths=1: a message takes one path, drawn where its routing has several, as ECMP does for each flow; "
    "--flow-engine paths=16 spreads it"
)
SEVERAL_PATHS = "paths={paths}: a message is split evenly over so many paths, each drawn by its routing"
"""What makespans rest on."""


class Application:
    """An application: tasks, their messages, and what each does in which order.

    Args:
        spec: ``name:key=value,…`` such as ``allreduce:size=64KiB``; ``topoloom list apps`` shows what there is.
        tasks: The tasks that there is room for: as many as it has unless its spec says otherwise.

    Raises:
        TopoloomError: An application or a key that does not exist, a schedule that cannot be read, messages that do not
            fit into memory.

    >>> Application("reduce", tasks=16).num_messages
    15
    """

    def __init__(self, spec: str, tasks: int) -> None:
        self.core = _core.Workload(spec, tasks)

    def __repr__(self) -> str:
        return f"Application({self.core.spec!r}, tasks={self.core.tasks})"

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return self.core.tasks

    @property
    def num_messages(self) -> int:
        """The number of messages."""
        return self.core.num_messages

    @property
    def total_bytes(self) -> int:
        """The sum of the sizes of all messages."""
        return self.core.total_bytes

    @property
    def notes(self) -> list[str]:
        """What is worth knowing, a sentence each: tasks that a grid leaves over."""
        return self.core.notes

    def messages(self) -> "np.ndarray[Any, Any]":
        """Return the messages, a structured array with the fields ``source``, ``target`` and ``bytes``."""
        import numpy as np  # noqa: PLC0415 - needed by those who look at messages only

        table = np.empty(self.num_messages, [("source", np.uint32), ("target", np.uint32), ("bytes", np.uint64)])
        table["source"], table["target"], table["bytes"] = self.core.messages()
        return table

    def program(self, task: int) -> list[tuple[str, float]]:
        """Return what a task does: ``("send", message)``, ``("receive", message)``, ``("compute", seconds)``."""
        if not 0 <= task < self.tasks:
            raise TopoloomError(f"task is {task}; {self.core.spec} has tasks 0 to {self.tasks - 1}")
        return [(what, value if what == "compute" else int(value)) for what, value in self.core.program(task)]


class WorkloadOptions(EngineOptions):
    """How an application is run; the other options are those of :class:`topoloom.simulation.options.EngineOptions`.

    Attributes:
        engine: The engine: flow, with fair shares of links, or cycle, flit by flit.
        mapping: Which terminal runs which task: linear, random, blocks or tiles.
        rate: Bits or bytes a second of a link, as in 10Gb/s.
        flit: Bytes of a flit, of the cycle engine.
        flow_engine: Options of the flow engine, such as ``model=share,injection=1``.
    """

    engine: Literal["flow", "cycle"] = "flow"
    mapping: str = "linear"
    rate: str = "10Gb/s"
    flit: str = "64B"
    flow_engine: str = ""

    @model_validator(mode="after")
    def _belong_to_the_engine(self) -> "WorkloadOptions":
        cycle = {*EngineOptions.model_fields, "flit"} - {"seed", "fail"}
        other = {"flow": cycle, "cycle": {"flow_engine"}}[self.engine]
        default = type(self).model_fields
        for name in sorted(other):
            if getattr(self, name) != default[name].get_default():
                wrong, owner = name.rstrip("_").replace("_", "-"), "cycle" if self.engine == "flow" else "flow"
                raise ValueError(f"{wrong} is an option of the {owner} engine, but engine is {self.engine}")
        return self


class WorkloadResult(BaseModel):
    """How an application went on a network. Values that could not be measured are None.

    Attributes:
        spec: The network.
        app: The application.
        engine: The engine.
        routing: The routing that ran, resolved from its role.
        role: Its role, or its name if it was asked for by that: ``minimal`` where an adaptive one was asked for, which
            the flow engine does not model.
        mapping: Which terminal ran which task.
        paths: Paths of a message in the flow engine, each drawn for it: 1, as with ECMP by flow, unless given.
        makespan_s: Seconds from the start to the end of the last task.
        ideal_s: A lower bound of that on any network: no congestion, only computing, waiting and the terminals' rates.
        tasks: The number of tasks.
        flows: Messages that went through the network.
        events: What the engine did: cycles simulated, or events of the flow engine.
        message_mean_s: Mean seconds from when a message can be sent until all of it has arrived.
        message_p99_s: The 99th percentile of these.
        wall_s: Seconds that the engine ran.
        peak_rss_bytes: The largest memory of the process so far.
        interrupted: Whether it was stopped early.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    spec: str
    app: str
    engine: str
    routing: str
    role: str = ""
    mapping: str
    paths: int | None = None
    makespan_s: float | None
    ideal_s: float | None = None
    tasks: int
    flows: int
    events: int
    message_mean_s: float | None = None
    message_p99_s: float | None = None
    wall_s: float
    peak_rss_bytes: int
    interrupted: bool = False

    @property
    def coalesced_share(self) -> float:
        """The part of the makespan that messages of the critical path waited to be served together with others."""
        waited: float = (self.model_extra or {}).get("coalesced_s", 0.0)
        return waited / self.makespan_s if self.makespan_s else 0.0

    @property
    def over_ideal(self) -> float | None:
        """The makespan in parts of the ideal one; None if it is not known, or takes no time."""
        return self.makespan_s / self.ideal_s if self.makespan_s is not None and self.ideal_s else None

    @property
    def routing_text(self) -> str:
        """The routing for people: its role and its name, where both differ."""
        return f"{self.role} ({self.routing})" if self.role and self.role != self.routing else self.routing

    @property
    def state(self) -> str:
        """What kind of answer it is, in a word."""
        if getattr(self, "deadlocked", False):
            return "deadlocked"
        if self.makespan_s is None:
            return "interrupted" if self.interrupted else "not finished"
        return "finished"


class WorkloadRun:
    """An application on a network, with options that go together.

    Args:
        network: The network.
        app: The application.
        role: A routing, or a role. The flow engine runs the minimal one instead of an adaptive one.
        options: How it is run.

    Attributes:
        own_room: The most tasks that the network has room for.
        room: The most tasks that the application may have: as many, unless other networks have room for fewer.

    Raises:
        TopoloomError: Arguments that do not go together.
    """

    def __init__(self, network: Network, app: str, role: str, options: WorkloadOptions) -> None:
        core = network.core if options.fail is None else network.core.with_failures(options.fail)
        self.network, self.app, self.options = core, app, options.on_this_machine()
        self.role, self.routing, self.warning = role, resolve_routing(role, core.family), None
        self.own_room = self.room = _core.room(core)
        if options.engine == "flow":
            self.routing, self.warning = flow_routing(core, role)
        if self.warning is not None:
            self.role = "minimal"

    def play(self) -> WorkloadResult:
        """Run it here and now."""
        return self.prepare()(_core.CancelToken())

    def prepare(self) -> Callable[[_core.CancelToken], WorkloadResult]:
        """Check all that can be checked, and return what runs it."""
        workload = _core.Workload(self.app, self.room)
        options = self.options
        about = {
            "spec": self.network.spec,
            **source(self.network),
            "app": self.app,
            "engine": options.engine,
            "routing": self.routing,
            "role": self.role,
            "mapping": options.mapping,
            "tasks": workload.tasks,
            "bytes": workload.total_bytes,
            "notes": [*workload.notes, *([] if self.warning is None else [self.warning])],
            "version": _core.__version__,
            "seed": options.seed,
        }
        if options.engine == "flow":
            _core.check_routing(self.network, self.routing)
            config = json.loads(_core.flow_check(workload, options.flow_engine, options.rate, options.seed))
            about |= {"paths": config["paths"], "assumptions": self._assumptions(workload, config["paths"])}
            return partial(_flowed, self, workload, about)
        engine = options.model_dump_json(by_alias=True, include=set(EngineOptions.model_fields) - {"fail"})
        play = _core.CyclePlay(
            self.network, self.routing, workload, options.mapping, options.flit, options.rate, engine
        )
        about["assumptions"] = self._assumptions(workload, None)
        about["config"] = json.loads(play.config()) | {"rate": options.rate, "flit": options.flit}
        return partial(_played, play, about)

    def _assumptions(self, workload: _core.Workload, paths: int | None) -> list[str]:
        """Return what the makespan rests on, a sentence each."""
        said = [IDEAL]
        if paths is not None:
            said.append(ONE_PATH if paths == 1 else SEVERAL_PATHS.format(paths=paths))
        if workload.fills_room and self.room < self.own_room:
            said.append(
                f"{self.app}: {workload.tasks:,} tasks on every network, as many as the smallest one has room for"
            )
        return said


def _played(play: _core.CyclePlay, about: dict[str, Any], cancel: _core.CancelToken) -> WorkloadResult:
    text, _ = play.run(cancel)
    about["config"]["threads"] = threads_given(cancel, about["config"]["threads"])
    return WorkloadResult.model_validate(about | json.loads(text))


def _flowed(
    run: WorkloadRun, workload: _core.Workload, about: dict[str, Any], cancel: _core.CancelToken
) -> WorkloadResult:
    begun, options = time.monotonic(), run.options
    text, *_ = _core.flow_workload(
        run.network,
        run.routing,
        workload,
        options.mapping,
        options.flow_engine,
        options.rate,
        options.seed,
        cancel,
    )
    told = json.loads(text)
    messages = told.pop("messages") or {}
    completed = told.pop("completed")
    told |= {f"message_{name}": value for name, value in messages.items()}
    told["config"] |= {"rate": options.rate}
    measured = {"wall_s": time.monotonic() - begun, "peak_rss_bytes": _peak_rss_bytes(), "interrupted": not completed}
    result = WorkloadResult.model_validate(about | told | measured)
    return result if completed else result.model_copy(update={"makespan_s": None})


def _peak_rss_bytes() -> int:
    """Return the largest memory of the process so far; kilobytes are told everywhere but on macOS."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@dataclass(frozen=True)
class Workloads:
    """How applications went on networks.

    Attributes:
        results: One for each application and network, application by application.
        baseline: The network that the others are compared with.
        command: The command that repeats it.
        finished: False if Ctrl-C ended it early.
    """

    results: list[WorkloadResult]
    baseline: str
    command: Sequence[str] = ()
    finished: bool = True

    @cached_property
    def apps(self) -> list[str]:
        """The applications, in the order in which they were named."""
        return list(dict.fromkeys(result.app for result in self.results))

    @cached_property
    def specs(self) -> list[str]:
        """The networks, in the order in which they were named."""
        return list(dict.fromkeys(result.spec for result in self.results))

    def result(self, spec: str, app: str) -> WorkloadResult | None:
        """Return the result of an application on a network, if there is one."""
        return next((own for own in self.results if (own.spec, own.app) == (spec, app)), None)

    def relative(self, spec: str, app: str) -> float | None:
        """Return the makespan in parts of that on the baseline; None if one of them is not known."""
        own, base = self.result(spec, app), self.result(self.baseline, app)
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
        """Return what ``workload --json`` prints."""
        return [
            result.model_dump()
            | {
                "over_ideal": result.over_ideal,
                "baseline": self.baseline,
                "relative": self.relative(result.spec, result.app),
            }
            for result in self.results
        ]

    def frame(self) -> "pd.DataFrame":
        """Return a data frame, one row a result."""
        import pandas as pd  # noqa: PLC0415 - loads slowly

        return pd.DataFrame(self.to_dict())

    def plot(self) -> "go.Figure":
        """Return a bar chart of all makespans, in parts of the baseline's."""
        import plotly.graph_objects as go  # noqa: PLC0415 - needed by those who draw only

        bars = [
            go.Bar(name=spec, x=self.apps, y=[self.relative(spec, app) for app in self.apps]) for spec in self.specs
        ]
        figure = go.Figure(bars)
        figure.update_layout(
            template="plotly_white", barmode="group", yaxis_title=f"makespan, 1 is that on {self.baseline}"
        )
        return figure

    def write_plot(self, path: str | Path, *, force: bool = False) -> None:
        """Draw the bar chart of all makespans into an .svg or .png file; the same results give the same file.

        Raises:
            TopoloomError: A file of another kind is there, and `force` is not given; a study or a store's file.
        """
        from topoloom.plotting.makespans import write_plot  # noqa: PLC0415 - needed by those who draw only

        write_plot(self, Path(path), force=force)

    def write_report(self, path: str | Path, *, force: bool = False) -> None:
        """Write the report, one HTML file that needs nothing else.

        Raises:
            TopoloomError: As for :meth:`write_plot`.
        """
        from topoloom.workload.page import render_workloads  # noqa: PLC0415 - needed by those who write reports only

        write_file(path, render_workloads(self), REPORT, force=force)

    def _repr_html_(self) -> str:
        columns = [
            "app", "spec", "routing", "tasks", "makespan_s", "relative", "ideal_s", "over_ideal", "flows", "wall_s",
        ]  # fmt: skip
        table: str = self.frame()[columns].to_html(index=False, float_format="{:.4g}".format)
        return f"<b>{escape(', '.join(self.apps))}</b>{table}"


def time_text(seconds: float | None) -> str:
    """Return a time with the unit that suits it.

    >>> time_text(0.00123), time_text(None)
    ('1.23 ms', '–')
    """
    if seconds is None:
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


OnResult = Callable[[WorkloadResult], None]


def workload(
    networks: str | Network | Iterable[str | Network],
    apps: str | Sequence[str],
    *,
    routing: str = "minimal",
    baseline: str | None = None,
    **options: Any,
) -> Workloads:
    """Run every application on every network, with the same number of tasks on all of them.

    That number is the least that one of the networks has room for, unless the application gives its own.

    Args:
        networks: Specs or networks.
        apps: Applications such as ``allreduce:size=64KiB``; ``gpcnet`` without a congestor stands for all its tests.
        routing: A routing, or the role ``minimal`` or ``adaptive``.
        baseline: The network that the others are compared with; the first unless given.
        **options: What :class:`WorkloadOptions` names.

    Raises:
        TopoloomError: A mistake in an argument.

    >>> workload("mesh:4x4", "reduce:size=1KiB").results[0].flows
    15
    """
    listed = [networks] if isinstance(networks, (str, Network)) else networks
    named = [apps] if isinstance(apps, str) else apps
    return WorkloadJob(as_networks(listed), named, routing, checked(WorkloadOptions, options), baseline).run()


class WorkloadJob:
    """Applications and networks that wait to be run.

    Args:
        networks: The networks.
        apps: The applications.
        routing: A routing, or a role.
        options: How they are run.
        baseline: The network that the others are compared with; the first if None.

    Raises:
        TopoloomError: A baseline that is none of the networks, or arguments that do not go together.
    """

    def __init__(
        self,
        networks: Sequence[Network],
        apps: Sequence[str],
        routing: str,
        options: WorkloadOptions,
        baseline: str | None = None,
    ) -> None:
        own = list({network.spec: network for network in networks}.values())
        apps = [one for app in apps for one in expanded(app)]
        specs = [network.spec for network in own]
        if baseline is not None and baseline not in specs:
            raise TopoloomError(f"the baseline is {baseline}; it must be one of the networks: {', '.join(specs)}")
        place = 0 if baseline is None else specs.index(baseline)
        self._large = any(network.num_terminals >= LARGE for network in own)
        options = options.on_this_machine()
        self._threads = options.threads
        self.runs = [WorkloadRun(network, app, routing, options) for app in dict.fromkeys(apps) for network in own]
        for run in self.runs:
            run.room = min(other.own_room for other in self.runs[: len(own)])
        self._baseline = self.runs[place].network.spec if self.runs else ""
        # Mistakes are told before anything runs; large ones are built again when their turn comes.
        self._prepared = [self._checked(run) for run in self.runs]

    def _checked(self, run: WorkloadRun) -> Callable[[], Callable[[_core.CancelToken], WorkloadResult]]:
        if self._large:
            return run.prepare
        prepared = interruptible(run.prepare)
        return lambda: prepared

    def run(
        self,
        command: Sequence[str] = (),
        on_result: OnResult | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> Workloads:
        """Run everything; Ctrl-C ends it early, and what is done is kept.

        Args:
            command: The command that repeats it.
            on_result: Hears every result.
            on_progress: Hears cycles simulated, or messages that have begun, some times a second.
        """
        cancel = _core.CancelToken()
        done: dict[int, WorkloadResult] = {}
        finished = True
        waiting = None if on_progress is None else lambda: on_progress(cancel.done)
        count = 1 if self._large else max(1, cpu_count() // self._threads)
        with Workers[tuple[int, WorkloadResult]](count) as workers:
            for place in range(len(self.runs)):
                workers.submit(partial(self._run, place, cancel))
            try:
                while len(done) < len(self.runs):
                    place, result = workers.next_result(waiting)
                    done[place] = result
                    if on_result is not None:
                        on_result(result)
            except KeyboardInterrupt:
                finished = False
            finally:
                cancel.cancel()
                workers.drop()
        results = [done[place] for place in sorted(done) if not done[place].interrupted]
        return Workloads(results, self._baseline, command, finished)

    def _run(self, place: int, cancel: _core.CancelToken) -> tuple[int, WorkloadResult]:
        return place, self._prepared[place]()(cancel)
