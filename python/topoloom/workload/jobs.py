"""Jobs: every application on every network by every mapping, in parallel."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.network.networks import Network, as_networks
from topoloom.simulation.options import checked, require_some
from topoloom.workers import Workers, cpu_count, interruptible
from topoloom.workload.gpcnet import expanded
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.results import WorkloadResult
from topoloom.workload.runs import WorkloadRun
from topoloom.workload.timeline import write_timeline
from topoloom.workload.workloads import Workloads

LARGE = 16_384
"""Terminals from which on networks are run one at a time: each needs much memory."""

OnResult = Callable[[WorkloadResult], None]


def workload(
    networks: str | Network | Iterable[str | Network],
    apps: str | Sequence[str],
    *,
    routing: str = "minimal",
    mapping: str | Sequence[str] = "linear",
    baseline: str | None = None,
    timeline: str | Path | None = None,
    **options: Any,
) -> Workloads:
    """Run every application on every network by every mapping, with the same number of tasks on all of them.

    That number is the least that one of the networks has room for, unless the application gives its own.

    Args:
        networks: Specs or networks.
        apps: Applications such as ``allreduce:size=64KiB``; ``gpcnet`` without a congestor stands for all its tests.
        routing: A routing, or the role ``minimal`` or ``adaptive``.
        mapping: Which terminal runs which task: one mapping, or several to compare.
        baseline: The network that the others are compared with; the first unless given.
        timeline: A file for what tasks do when, of one application on one network, for Perfetto and Chrome.
        **options: What :class:`WorkloadOptions` names.

    Raises:
        TopoloomError: A mistake in an argument.

    >>> workload("mesh:4x4", "reduce:size=1KiB").results[0].flows
    15
    >>> found = workload(["mesh:4x4", "torus:4x4"], "halo:grid=4x4", mapping=["linear", "random"])
    >>> [(result.spec, result.mapping) for result in found.results]
    [('mesh:4x4', 'linear'), ('mesh:4x4', 'random'), ('torus:4x4', 'linear'), ('torus:4x4', 'random')]
    """
    named = [apps] if isinstance(apps, str) else apps
    mappings = [mapping] if isinstance(mapping, str) else list(mapping)
    own = [checked(WorkloadOptions, options | {"mapping": one}) for one in mappings or ["linear"]]
    job = WorkloadJob(as_networks(networks), named, routing, own[0], baseline, mappings)
    if timeline is not None:
        job.keep_events()
    found = job.run()
    if timeline is not None:
        job.write_timeline(timeline)
    return found


class WorkloadJob:
    """Applications and networks that wait to be run.

    Args:
        networks: The networks.
        apps: The applications.
        routing: A routing, or a role.
        options: How they are run.
        baseline: The network that the others are compared with; the first if None.
        mappings: The mappings, the first of which is that of the baseline; that of the options if there are none.

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
        mappings: Sequence[str] = (),
    ) -> None:
        require_some("networks", networks)
        require_some("apps", apps)
        own = list({network.spec: network for network in networks}.values())
        apps = [one for app in apps for one in expanded(app)]
        specs = [network.spec for network in own]
        if baseline is not None and baseline not in specs:
            raise TopoloomError(f"the baseline is {baseline}; it must be one of the networks: {', '.join(specs)}")
        place = 0 if baseline is None else specs.index(baseline)
        self._large = any(network.num_terminals >= LARGE for network in own)
        options = options.on_this_machine()
        self._threads = options.threads
        for mapping in mappings:
            _core.Name("mapping", mapping)  # a mistake in the name is reported before anything is built
        mapped = [
            options.model_copy(update={"mapping": mapping}) for mapping in dict.fromkeys(mappings or [options.mapping])
        ]
        self.runs = [
            WorkloadRun(network, app, routing, how) for app in dict.fromkeys(apps) for network in own for how in mapped
        ]
        room = min((run.own_room for run in self.runs), default=0)
        for run in self.runs:
            run.events = [] if run.is_step and options.engine == "flow" else None
            run.room = room
        self._baseline = self.runs[place * len(mapped)].network.spec if self.runs else ""
        # Mistakes are reported before anything runs; large ones are built again when their turn comes.
        self._prepared = [self._checked(run) for run in self.runs]

    def keep_events(self) -> None:
        """Keep what tasks do, for :meth:`write_timeline`.

        Raises:
            TopoloomError: Several applications, networks or mappings, or the cycle engine.

        >>> import topoloom
        >>> job = WorkloadJob([topoloom.network("mesh:4")], ["reduce"], "minimal", WorkloadOptions())
        >>> job.keep_events()
        """
        if len(self.runs) != 1:
            raise TopoloomError(f"a timeline shows one application on one network; there are {len(self.runs)} runs")
        if self.runs[0].options.engine != "flow":
            raise TopoloomError("a timeline shows a run of the flow engine, but engine is cycle")
        self.runs[0].events = []

    def write_timeline(self, path: str | Path, *, force: bool = False) -> None:
        """Write the timeline of tasks as JSON, for Perfetto and Chrome.

        Shown are the first rank of each stage of a training step, or the first tasks of another application.

        Args:
            path: The file, which ends in ``.json``.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: A file of another kind is there, and `force` is not given; a place that cannot be written to.

        >>> import tempfile
        >>> import topoloom
        >>> job = WorkloadJob([topoloom.network("mesh:4")], ["reduce"], "minimal", WorkloadOptions())
        >>> job.keep_events()
        >>> found = job.run()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     job.write_timeline(f"{folder}/reduce.json")
        """
        (run,) = self.runs
        write_timeline(run.events or [], f"{run.app} on {run.network.spec}", path, force=force)

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

        >>> import topoloom
        >>> job = WorkloadJob([topoloom.network("mesh:4")], ["reduce"], "minimal", WorkloadOptions())
        >>> len(job.run().results)
        1
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
        events = {
            (run.network.spec, run.app, run.options.mapping): run.events
            for run in self.runs
            if run.events and run.is_step
        }
        return Workloads(results, self._baseline, command, finished, events)

    def _run(self, place: int, cancel: _core.CancelToken) -> tuple[int, WorkloadResult]:
        return place, self._prepared[place]()(cancel)
