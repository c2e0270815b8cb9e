"""Points on a Dask cluster: one that is running, or one that this program asks a batch system for.

Dask sends points to workers and returns outcomes; it keeps no record. The scheduler gives the points of a lost worker
to others; a point that crashes several workers is returned as lost.
"""

import gc
import importlib
import logging
import re
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.studies.executor import LOST
from topoloom.studies.ledger import Outcome
from topoloom.studies.points import StudyPoint
from topoloom.studies.security import LOOPBACK, Secret, exposure, scheduler_options, secret
from topoloom.studies.worker import remote_outcome

if TYPE_CHECKING:
    from distributed import Future

INSTALL = "it needs Dask: pip install 'topoloom[cluster]'"

SYSTEMS = {
    "slurm": ("SLURMCluster", "account"),
    "pbs": ("PBSCluster", "account"),
    "lsf": ("LSFCluster", "project"),
    "sge": ("SGECluster", "project"),
}
"""Batch systems: the class of dask-jobqueue, and what it calls the account."""

STATUS = {"slurm": "squeue -h -j", "pbs": "qstat", "lsf": "bjobs -noheader", "sge": "qstat -j"}
"""How batch systems are asked about a job; for one that has ended they report nothing, or that none exists."""

ENDED = ("EXIT", "DONE")
"""What LSF states about jobs that have ended."""

MEMORY = re.compile(r"[1-9]\d* ?[kKMGT]i?B?")
"""An amount of memory."""

PLAIN = re.compile(r"[\w.,:@/+=%~][\w.,:@/+=%~-]*", re.ASCII)
"""A name that cannot end a line or a word of a job script: those of queues, accounts and interfaces, and times."""

CONNECT_S = 10.0
"""The longest wait for a scheduler, in seconds."""

LOOK_S = 1.0
"""Seconds between counts of the workers."""

WAIT_S = 0.005
"""Seconds between checks for outcomes while there are none."""

TOLD_S = 30.0
"""Seconds between reports of a missing worker."""

CLOSE_S = 10.0
"""The longest wait for the cancellation of jobs, in seconds."""

REPLACE_S = 10.0
"""Seconds between submissions of jobs that replace those that ended."""

Version = tuple[str, int]
VERSION: Version = (_core.__version__, _core.MODEL_VERSION)
"""What workers have to agree in: the version of topoloom and of its models."""


class DaskExecutor:
    """Runs points on the workers of a Dask cluster that is running.

    Certificates of a scheduler at a ``tls://`` address are those of Dask's own configuration
    (``distributed.comm.tls``). The user is warned of a scheduler at another address.

    Args:
        address: Where its scheduler listens, such as ``tls://10.0.0.1:8786``.
        tell: Called with a sentence for the user.

    Raises:
        TopoloomError: On entry: Dask is missing, or no scheduler answers within :data:`CONNECT_S` seconds.

    >>> from topoloom import Study, Sweep
    >>> point = Study(name="one", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])]).points()[0]
    >>> with DaskExecutor("tcp://127.0.0.1:8786") as executor:  # doctest: +SKIP
    ...     executor.submit(point)
    ...     executor.collect(60.0)[0].key == point.key
    True
    """

    AHEAD = 3
    """Points that a worker's thread holds at least: the one under way, and some so that it never waits."""

    MOST_AHEAD = 200
    """Points that a worker's thread holds at most, where they are tiny."""

    AHEAD_S = 1.0
    """Seconds of work that a worker's thread holds in tiny points."""

    GATHER_S = 0.05
    """Outcomes within this many seconds are returned together: a commit of the ledger costs time."""

    def __init__(self, address: str, tell: Callable[[str], None] = lambda _: None) -> None:
        self.address = address
        self._tell = tell
        self._client: Any
        self._security: Any = None
        self._held: dict[Future[Any], StudyPoint] = {}
        self._restricted: dict[Future[Any], frozenset[str]] = {}
        self._lost: list[Outcome] = []
        self._threads: dict[str, int] = {}
        self._refused: dict[str, str] = {}
        self._looked = self._seen = self._told = 0.0
        self._mean_s = 1.0

    def __enter__(self) -> "DaskExecutor":
        distributed = _import("distributed")
        # The part of Dask's log that matters is reported here in one sentence.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        refusal = None
        try:
            warning = exposure(self.address)
            self._client = distributed.Client(
                self.address, timeout=CONNECT_S, set_as_default=False, security=self._security
            )
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            refusal = _first_line(error)
        if refusal is not None:
            # Dask closes an unfinished client when it is collected. During the start of another one that never ends.
            gc.collect()
            raise TopoloomError(f"no Dask scheduler answers at {self.address} within {CONNECT_S:g} s: {refusal}")
        if warning is not None:
            self._tell(warning)
        self._completed = distributed.as_completed(loop=self._client.loop, with_results=True, raise_errors=False)
        self._seen = self._told = time.monotonic()
        self._look()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._connected:
            self._client.cancel(list(self._held))
        self._held.clear()
        self._client.close(timeout=2)

    @property
    def capacity(self) -> int:
        """The points that keep every worker busy: more of them where they are tiny."""
        ahead = min(self.MOST_AHEAD, max(self.AHEAD, round(self.AHEAD_S / max(self._mean_s, 1e-6))))
        return ahead * max(1, sum(self._threads.values()))

    def submit(self, point: StudyPoint) -> None:
        """Hand a point to the scheduler.

        Args:
            point: The point to run.
        """
        workers = frozenset(self._threads) if self._refused else None
        future = self._client.submit(
            remote_outcome,
            point.to_json(),
            point.key,
            VERSION,
            key=f"topoloom-{point.key}-{time.monotonic_ns()}",
            workers=list(workers) if workers else None,
            pure=False,
        )
        self._held[future] = point
        if workers is not None:
            self._restricted[future] = workers
        self._completed.add(future)

    def collect(self, timeout_s: float) -> list[Outcome]:
        """Return the outcomes of workers, and update the list of workers.

        Args:
            timeout_s: The longest wait in seconds if there is no outcome.

        Raises:
            TopoloomError: The scheduler is gone, or all workers have another version of topoloom.
        """
        if time.monotonic() - self._looked > LOOK_S:
            self._look()
        outcomes, self._lost = self._lost, []
        until = time.monotonic() + (0 if outcomes else timeout_s)
        while True:
            new = [
                told
                for future, result in self._completed.next_batch(block=False)
                for told in self._take(future, result)
            ]
            if new and not outcomes:
                until = time.monotonic() + self.GATHER_S
            outcomes += new
            if time.monotonic() >= until:
                break
            time.sleep(WAIT_S)
        return outcomes

    @property
    def _connected(self) -> bool:
        return bool(self._client.status == "running")

    def _take(self, future: "Future[Any]", result: Any) -> list[Outcome]:
        """Return the outcome of a finished future; a point that a wrong worker had goes to another."""
        point = self._held.pop(future, None)
        self._restricted.pop(future, None)
        if point is None:
            return []
        if isinstance(result, Outcome):
            self._mean_s += (result.wall_s - self._mean_s) / 20
            return [result]
        self._require_scheduler()
        if future.status != "error":
            return [Outcome(point.key, None, LOST)]
        error = result[1]
        if type(error).__name__ == "KilledWorker":
            return [Outcome(point.key, None, LOST)]
        before = len(self._refused)
        self._look()
        if len(self._refused) == before and not self._refused:
            return [Outcome(point.key, None, f"internal error: {type(error).__name__}: {_first_line(error)}")]
        self.submit(point)
        return []

    # ---- workers ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Count the workers; new ones are asked for their version, and points of those that left are given up."""
        self._require_scheduler()
        self._looked = time.monotonic()
        try:
            there: dict[str, int] = self._client.nthreads()
        except (OSError, TimeoutError):
            self._require_scheduler()
            return
        new = [address for address in there if address not in self._threads and address not in self._refused]
        if new:
            self._refused |= self._wrong(new)
        self._refused = {address: why for address, why in self._refused.items() if address in there}
        self._threads = {address: count for address, count in there.items() if address not in self._refused}
        self._give_up_restricted()
        self._tell_of_none()

    def _wrong(self, addresses: Iterable[str]) -> dict[str, str]:
        """Ask workers for their version; return those that may not take part, with why."""

        # Not defined at the module's level: so it travels as code, and runs where topoloom is another or not at all.
        def versions() -> tuple[str, Any]:
            import socket  # noqa: PLC0415 - imported where the function runs

            try:
                from topoloom import _core as core  # noqa: PLC0415 - imported where the function runs
            except ImportError:
                return socket.gethostname(), None
            return socket.gethostname(), (core.__version__, core.MODEL_VERSION)

        told = self._client.run(versions, workers=list(addresses), on_error="return")
        names = {}
        for address, answer in told.items():
            if isinstance(answer, OSError):  # it has just left
                continue
            host, found = answer if isinstance(answer, tuple) else (address, answer)
            if found == VERSION:
                continue
            names[address] = (
                f"worker {self._name(address)} on {host} is rejected: {_has(found)}; this program is {_is(VERSION)}"
            )
            self._tell(names[address])
        return names

    def _name(self, address: str) -> str:
        about = self._client.scheduler_info(n_workers=-1)["workers"].get(address, {})
        return str(about.get("name", address))

    def _give_up_restricted(self) -> None:
        """Take back points that may run on workers alone that have left."""
        for future, workers in list(self._restricted.items()):
            if not any(worker in self._threads for worker in workers) and self._threads:
                point = self._held.pop(future)
                del self._restricted[future]
                self._client.cancel([future])
                self.submit(point)

    def _tell_of_none(self) -> None:
        now = time.monotonic()
        if self._threads:
            self._seen = self._told = now
        elif self._refused:
            raise TopoloomError(next(iter(self._refused.values())))
        elif now - self._told > TOLD_S:
            self._told = now
            self._tell(f"no worker for {now - self._seen:.0f} s at {self.address}; waiting for one")

    def _require_scheduler(self) -> None:
        if not self._connected:
            raise TopoloomError(
                f"the scheduler at {self.address} is gone; finished points are stored, and the same command resumes"
            )


@dataclass(frozen=True)
class Jobs:
    """What to ask a batch system for.

    Attributes:
        system: A name of :data:`SYSTEMS`.
        jobs: The number of jobs; each is one worker.
        cores: Cores per job, and points that it runs at a time.
        memory: Memory per job, such as ``4GB``.
        queue: The queue or partition; the system's own default unless given.
        walltime: The time limit of a job, in the batch system's notation; the setting of dask-jobqueue unless given,
            which is 30 minutes unless a site changed it.
        account: The account to charge.
        interface: The network interface by which workers reach this program, such as ``ib0``.

    Raises:
        TopoloomError: An unknown batch system, or a value that a job script cannot hold.

    >>> Jobs("slurm", jobs=4, cores=8, memory="16GB").walltime is None
    True
    >>> with Jobs("slurm").cluster() as cluster:  # doctest: +SKIP
    ...     cluster.job_script().splitlines()[0]
    '#!/usr/bin/env bash'
    """

    system: str
    jobs: int = 1
    cores: int = 1
    memory: str = "4GB"
    queue: str | None = None
    walltime: str | None = None
    account: str | None = None
    interface: str | None = None

    def __post_init__(self) -> None:
        if self.system not in SYSTEMS:
            raise TopoloomError(_core.unknown("batch system", self.system, list(SYSTEMS)))
        for name in ("jobs", "cores"):
            if getattr(self, name) < 1:
                raise TopoloomError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if re.fullmatch(MEMORY, self.memory) is None:
            raise TopoloomError(
                f"memory is '{self.memory}'; it must be a whole number of kB, MB, GB or TB, such as 4GB"
            )
        for name in ("queue", "walltime", "account", "interface"):
            value = getattr(self, name)
            if value is not None and PLAIN.fullmatch(value) is None:
                raise TopoloomError(
                    f"{name} is {value!r}; it must be letters, digits and any of . , : @ / + = % ~ _ - (not first)"
                )

    @contextmanager
    def cluster(self) -> Iterator[Any]:
        """Open the cluster of dask-jobqueue, without jobs: its scheduler admits only holders of its certificates.

        Raises:
            TopoloomError: Dask or the commands of the batch system are missing, or dask-jobqueue rejects a value.
        """
        name, account = SYSTEMS[self.system]
        kind = getattr(_import("dask_jobqueue"), name)
        command = kind.job_cls.submit_command.split()[0]
        if shutil.which(command) is None:
            raise TopoloomError(f"{command} is not on the path: --cluster {self.system} needs its commands")
        with secret(self.system) as own:
            made = self._made(kind, account, own)
            try:
                yield made
            finally:
                made.close(timeout=CLOSE_S)

    def _made(self, kind: Any, account: str, own: Secret) -> Any:
        try:
            return kind(
                job_cls=_job(kind.job_cls, own),
                cores=self.cores,
                processes=1,
                memory=self.memory,
                queue=self.queue,
                walltime=self.walltime,
                interface=self.interface,
                python=shlex.quote(sys.executable),
                job_name="topoloom",
                security=own.security,
                worker_extra_args=["--no-dashboard", "--dashboard-address", LOOPBACK],
                scheduler_options=scheduler_options(self.system, self.interface),
                **{account: self.account},
            )
        except (ValueError, TypeError, RuntimeError, OSError) as error:
            raise TopoloomError(f"--cluster {self.system}: {_first_line(error)}") from None


class JobExecutor(DaskExecutor):
    """Runs points in jobs of a batch system. Each job is a Dask worker; one that ends before the work does is replaced.

    Args:
        jobs: What to ask for.
        tell: Called with a sentence for the user.

    Raises:
        TopoloomError: On entry: see :meth:`Jobs.cluster`, or the queue rejects the jobs.

    >>> with JobExecutor(Jobs("slurm", jobs=4)) as executor:  # doctest: +SKIP
    ...     executor.collect(60.0)
    []
    """

    def __init__(self, jobs: Jobs, tell: Callable[[str], None] = lambda _: None) -> None:
        super().__init__("", tell)
        self._jobs = jobs
        self._cluster: Any = None
        self._open = ExitStack()
        self._asked = 0.0

    def __enter__(self) -> "JobExecutor":
        with ExitStack() as opened:
            self._cluster = opened.enter_context(self._jobs.cluster())
            self._begin()
            self._open = opened.pop_all()
        return self

    def _begin(self) -> None:
        """Ask for the jobs, and become a client of their scheduler."""
        if self._jobs.system == "sge" and self._jobs.cores > 1 and "-pe " not in self._cluster.job_script():
            self._tell(
                f"the jobs ask SGE for one core, and run {self._jobs.cores} points at a time: how a site calls cores "
                "and memory belongs in job-extra-directives and resource-spec of jobqueue.yaml"
            )
        self.address, self._security = self._cluster.scheduler_address, self._cluster.security
        for _ in range(self._jobs.jobs):
            self._cluster.worker_spec.update(self._cluster.new_worker_spec())
        self._ask()
        super().__enter__()

    def __exit__(self, *exception: object) -> None:
        with self._open:
            super().__exit__(*exception)

    def collect(self, timeout_s: float) -> list[Outcome]:
        """Return the outcomes of workers, and replace jobs that ended.

        Args:
            timeout_s: The longest wait in seconds if there is no outcome.

        Raises:
            TopoloomError: The queue rejects a job, or the scheduler is gone.
        """
        if time.monotonic() - self._asked > REPLACE_S:
            self._ask()
        return super().collect(timeout_s)

    def _ask(self) -> None:
        """Ask for the jobs that are missing.

        Raises:
            TopoloomError: The queue rejects them.
        """
        self._asked = time.monotonic()

        async def settle() -> None:
            there = {about["name"] for about in self._cluster.scheduler_info["workers"].values()}
            for name in [name for name in self._cluster.workers if name not in there]:
                if await self._is_gone(self._cluster.workers[name].job_id):
                    await self._cluster.workers.pop(name).close()
            await self._cluster

        try:
            self._cluster.sync(settle)
        except (RuntimeError, ValueError) as error:
            raise TopoloomError(f"{self._jobs.system} rejects the job: {_said(error)}") from None

    async def _is_gone(self, job: str) -> bool:
        """Whether a job, of which no worker is there yet, is neither waiting nor at work."""
        import asyncio  # noqa: PLC0415 - loads slowly

        command = STATUS[self._jobs.system].split()
        if shutil.which(command[0]) is None:
            return False
        asked = await asyncio.create_subprocess_exec(
            *command, job, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        told, _ = await asked.communicate()
        return not told.strip() or any(word in told.decode(errors="replace").split() for word in ENDED)


def _job(kind: Any, own: Secret) -> Any:
    """Return a class of jobs that are closed once the queue rejects them, or their cluster could not be closed.

    Their scripts are in the secret folder, where no other user can replace them. LSF's command reads the
    script from its input, and dask-jobqueue throws away what it states: here it is kept.
    """
    from distributed import Status  # noqa: PLC0415 - Dask is optional, and loads slowly

    class Job(kind):  # type: ignore[misc] # the class of a library without types
        def __init__(self, *args: Any, security: Any = None, **keys: Any) -> None:
            super().__init__(*args, security=security and own.for_shell(security), **keys)

        @contextmanager
        def job_file(self) -> Iterator[str]:
            script = own.folder / f"{self.name}.sh"
            script.write_text(self.job_script(), encoding="utf-8", errors="surrogateescape")
            try:
                yield str(script)
            finally:
                script.unlink()

        async def start(self) -> None:
            try:
                await super().start()
            except BaseException:
                self.status = Status.closed
                raise

        async def _submit_job(self, script_filename: str) -> str:
            if getattr(self, "use_stdin", False):
                command = f"{self.submit_command} < {shlex.quote(script_filename)}"
                return str(await self._call([command], shell=True))
            return str(await super()._submit_job(script_filename))

    return Job


def _import(name: str) -> Any:
    # dask-jobqueue lets Ctrl-C end the program at once when it is imported: our own way to stop stays.
    heard = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return importlib.import_module(name)
    except ImportError:
        raise TopoloomError(f"--scheduler and --cluster: {INSTALL}") from None
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in heard.items():
                signal.signal(number, handler)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _said(error: BaseException) -> str:
    """Return what a batch system's command said on stderr, or else on stdout, from the message of dask-jobqueue."""
    before, found, told = str(error).partition("stderr:\n")
    texts = (told, before.partition("stdout:\n")[2]) if found else (before,)
    said = ("; ".join(filter(None, map(str.strip, text.splitlines()))) for text in texts)
    return next(filter(None, said), "its command failed, and said nothing")


def _has(found: Any) -> str:
    if found is None:
        return "it has no topoloom"
    return f"it has {_is(found)}" if isinstance(found, tuple) else f"asked for its version, it answers {found!r}"


def _is(version: Version) -> str:
    return f"topoloom {version[0]} with models {version[1]}"
