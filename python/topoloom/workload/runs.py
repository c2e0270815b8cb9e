"""Runs: an application on a network, by the flow engine or by the cycle engine."""

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from topoloom import _core
from topoloom.files import source
from topoloom.network.networks import Network
from topoloom.simulation.options import EngineOptions, threads_given
from topoloom.simulation.roles import adapts, routing_on
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.results import WorkloadResult
from topoloom.workload.timeline import Events, events_of
from topoloom.workload.training import assumption, step_of

IDEAL = (
    "ideal: a lower bound for any network: every message alone on its path, terminals busy at their own rate, "
    "routers without delay"
)
IDEAL_IN_CYCLES = (
    "ideal: a lower bound for any network: terminals send and receive one flit per cycle, routers and links without "
    "delay; a cycle is that of a flit at {gbps:g} Gb/s"
)
ONE_PATH = (
    "paths=1: a message takes one path, drawn where its routing has several, as ECMP does for each flow; "
    "--flow-engine paths=16 spreads it"
)
SEVERAL_PATHS = "paths={paths}: a message is split evenly over as many paths, each drawn by its routing"
ADAPTIVE = (
    "{routing}: each part of a message decides at its start among the paths that the routing offers, by the bytes "
    "still to cross their channels, and keeps its path; packets would decide one by one"
)
ONE_DECISION = (
    "paths=1: a message takes one path; --flow-engine paths=16 splits it into parts that decide for themselves"
)
SEVERAL_DECISIONS = (
    "paths={paths}: a message has as many parts, each of which decides for itself; they share its bytes as rates allow"
)
ENDPOINT = "endpoint: {endpoint}; without these costs in the ideal, which stays a lower bound"
SCALE = "scale: messages have 1/{scale} of their bytes, rounded up, and computations 1/{scale} of their time"
NOISE = "noise: {noise}; the ideal has the same computations"
OWN_RATES = "{spec}: links have the rates of its spec or file, which --rate does not change"
MEASURED_BY = "; messages alone are measured by {gbps:g} Gb/s, what a terminal sends at load 1"
RATE = "rate: links carry {rate} in each direction, where their network gives no rates of its own; --rate sets it"
"""What makespans rest on."""

SYMBOLIC = {
    "alike": "{app}, {spec}: {tasks:,} of the tasks were simulated, each of which stands for all that are like it",
    "delay-lines": "{app}, {spec}: {tasks:,} of the tasks were simulated; the others pass on what reaches them after a "
    "fixed time",
    "at-once": "{app}, {spec}: all messages begin together and keep their rates, which were found once",
    "lock-step": "{app}, {spec}: all messages of a step have one rate; the steps follow one another",
}
"""How regular collectives were simulated without a list of messages, with the same result."""


class WorkloadRun:
    """An application on a network, with options that go together.

    Args:
        network: The network.
        app: The application.
        role: A routing, or a role.
        options: How it is run.

    Attributes:
        own_room: The most tasks that the network has room for.
        room: The most tasks that the application may have: as many, unless other networks have room for fewer.
        is_step: Whether it is a training step.
        events: What tasks do is added to this list, if there is one; of the flow engine.

    Raises:
        TopoloomError: Arguments that do not go together.
    """

    def __init__(self, network: Network, app: str, role: str, options: WorkloadOptions) -> None:
        core = network.core if options.fail is None else network.core.with_failures(options.fail)
        self.network, self.app, self.options = core, app, options.on_this_machine()
        self.role, self.routing = role, routing_on(core, role)
        self.own_room = self.room = _core.room(core)
        self.is_step = _core.head(app) == "training"
        self.events: Events | None = None

    def play(self) -> WorkloadResult:
        """Run it here and now.

        >>> from topoloom import network
        >>> WorkloadRun(network("mesh:4"), "reduce", "minimal", WorkloadOptions()).play().tasks
        4
        """
        return self.prepare()(_core.CancelToken())

    def workload(self, *, calls: bool = False) -> _core.Workload:
        """Build the application.

        Args:
            calls: Whether its collectives stay calls, without messages: to be written, not to be run.

        >>> from topoloom import network
        >>> WorkloadRun(network("mesh:4"), "reduce", "minimal", WorkloadOptions()).workload().num_messages
        3
        """
        options = self.options
        return _core.Workload.on(self.app, self.network, self.room, options.rate, calls, options.changes)

    def prepare(self) -> Callable[[_core.CancelToken], WorkloadResult]:
        """Check all that can be checked, and return what runs it.

        >>> from topoloom import network
        >>> run = WorkloadRun(network("mesh:4"), "reduce", "minimal", WorkloadOptions()).prepare()
        >>> run(_core.CancelToken()).tasks
        4
        """
        options, workload = self.options, self.workload()
        data_bytes, bus_factor = workload.yardstick or (None, None)
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
            "data_bytes": data_bytes,
            "bus_factor": bus_factor,
            "notes": workload.notes,
            "version": _core.__version__,
            "seed": options.seed,
        }
        routing = _core.Routing(self.network, self.routing)
        if options.engine == "flow":
            paths = _core.flow_check(workload, options.flow_engine, options.rate, options.seed, options.endpoint).paths
            about |= {"paths": paths, "assumptions": self._assumptions(workload, paths)}
            return lambda cancel: _flowed(routing, options, workload, about, self.events, cancel)
        engine = options.model_dump_json(by_alias=True, include=set(EngineOptions.model_fields) - {"fail"})
        play = _core.CyclePlay(routing, workload, options.mapping, options.flit, options.rate, options.endpoint, engine)
        about["assumptions"] = self._assumptions(workload, None)
        own = {"rate": options.rate, "flit": options.flit, "endpoint": options.endpoint} | options.changed()
        about["config"] = json.loads(play.config()) | own
        return partial(_played, play, workload, about)

    def _ideal_in_cycles(self) -> str:
        """Return what the ideal of the cycle engine is, at the rate that its cycles stand for."""
        cycle_ns = self.network.cycle_ns
        gbps = _core.bytes_per_second(self.options.rate) * 8e-9 if cycle_ns is None else 64 * 8 / cycle_ns
        return IDEAL_IN_CYCLES.format(gbps=gbps)

    def _assumptions(self, workload: _core.Workload, paths: int | None) -> list[str]:
        """Return what the makespan rests on, a sentence each."""
        if paths is not None:
            said = [IDEAL, rate_said(self.network, self.options.rate)]
        else:
            said = [self._ideal_in_cycles(), rate_said(self.network, self.options.rate, alone=False)]
        if self.options.endpoint:
            said.append(ENDPOINT.format(endpoint=self.options.endpoint))
        said += changes_said(self.options)
        if (step := workload.step) is not None:
            said.append(assumption(self.app, step))
        if paths is not None and adapts(self.network, self.routing):
            parts = ONE_DECISION if paths == 1 else SEVERAL_DECISIONS.format(paths=paths)
            said += [ADAPTIVE.format(routing=self.routing), parts]
        elif paths is not None:
            said.append(ONE_PATH if paths == 1 else SEVERAL_PATHS.format(paths=paths))
        if workload.fills_room and self.room < self.own_room:
            said.append(
                f"{self.app}: {workload.tasks:,} tasks on every network, as many as the smallest one has room for"
            )
        return said


def changes_said(options: WorkloadOptions) -> list[str]:
    """Return what was changed of an application before it ran, a sentence each.

    Args:
        options: How it was run.

    >>> changes_said(WorkloadOptions(noise="jitter=5%"))
    ['noise: jitter=5%; the ideal has the same computations']
    """
    said = [] if options.scale == 1 else [SCALE.format(scale=f"{options.scale:,}")]
    return said + ([NOISE.format(noise=options.noise)] if options.noise else [])


def rate_said(network: _core.Network, rate: str, *, alone: bool = True) -> str:
    """Return at which rates the links of a network run, as a sentence.

    Args:
        network: The engine's network, ``Network.core``.
        rate: The rate of links without one of their own, unchecked, such as ``400Gb/s``.
        alone: Whether times of messages are compared with those of messages alone, as the flow engine does.

    >>> import topoloom
    >>> rate_said(topoloom.network("mesh:4").core, "400Gb/s")[:29]
    'rate: links carry 400Gb/s in '
    """
    if (gbps := network.injection_gbps) is not None:
        return OWN_RATES.format(spec=network.spec) + (MEASURED_BY.format(gbps=gbps) if alone else "")
    return RATE.format(rate=rate)


def _played(
    play: _core.CyclePlay, workload: _core.Workload, about: dict[str, Any], cancel: _core.CancelToken
) -> WorkloadResult:
    result, _ = play.run(cancel)
    about["training"] = step_of(workload, result.makespan_s, None)
    about["config"]["threads"] = threads_given(cancel, about["config"]["threads"])
    return WorkloadResult.model_validate(about | result)


def _flowed(
    routing: _core.Routing,
    options: WorkloadOptions,
    workload: _core.Workload,
    about: dict[str, Any],
    events: Events | None,
    cancel: _core.CancelToken,
) -> WorkloadResult:
    begun = time.monotonic()
    result, _, times, computations = _core.flow_workload(
        routing,
        workload,
        options.mapping,
        options.flow_engine,
        options.rate,
        options.seed,
        cancel,
        options.endpoint,
    )
    if events is not None:
        events[:] = events_of(workload, times, computations)
    if (symbolic := result.symbolic) is not None:
        said = SYMBOLIC[symbolic.way].format(app=about["app"], spec=about["spec"], tasks=symbolic.tasks)
        about = about | {"notes": [*about["notes"], said]}
    told = {name: value for name, value in result.items() if name not in ("messages", "completed", "step")}
    told["training"] = step_of(workload, result.makespan_s, result.step)
    told |= {f"message_{name}": value for name, value in (result.messages or {}).items()}
    told["config"] = result.config | {"rate": options.rate} | options.changed()
    done = {} if result.completed else {"makespan_s": None}
    measured = {"wall_s": time.monotonic() - begun, "peak_rss_bytes": _peak_rss_bytes()}
    return WorkloadResult.model_validate(about | told | measured | {"interrupted": not result.completed} | done)


def _peak_rss_bytes() -> int:
    """Return the largest memory of the process so far; the system reports kilobytes everywhere but on macOS."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
