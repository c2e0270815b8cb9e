"""Studies on other machines: Dask clusters, batch systems, arrays of jobs."""

import asyncio
import gc
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest
from distributed import Client, LocalCluster, Scheduler, Security
from distributed.core import connect
from distributed.utils import get_ip

from topoloom import TopoloomError, _core
from topoloom.studies import Ledger, LocalExecutor, Study, StudyPoint, Sweep, clusters, job_array, run_points
from topoloom.studies.clusters import DaskExecutor, JobExecutor, Jobs
from topoloom.studies.ledger import Outcome
from topoloom.studies.security import exposure, scheduler_options, secret

TINY = {"warmup": 10, "measure": 20}
STUDY = """
name = "tiny"
[[sweep]]
networks = "mesh:2x2"
loads = 0.1
seeds = "1:{seeds}"
options = {{ warmup = 10, measure = 20 }}
"""


def tiny(seeds: str = "1:20", **keys: Any) -> list[StudyPoint]:
    options = TINY | keys.pop("options", {})
    return Study(
        name="tiny", sweep=[Sweep(networks=["mesh:2x2"], loads=0.1, seeds=seeds, options=options, **keys)]
    ).points()


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as made:
        yield made


@contextmanager
def worker(address: str, name: str, *arguments: str, cwd: Path) -> Iterator[None]:
    """A worker of its own, once the scheduler knows it."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--name", name, "--no-nanny"]
    process = subprocess.Popen(
        [*command, "--nthreads", "1", "--no-dashboard", *arguments], cwd=cwd, stderr=subprocess.DEVNULL
    )
    try:
        with Client(address, set_as_default=False) as client:
            while name not in {about["name"] for about in client.scheduler_info(n_workers=-1)["workers"].values()}:
                assert process.poll() is None
                time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


class Counting:
    """Keeps the outcomes that an executor returned."""

    def __init__(self, executor: DaskExecutor) -> None:
        self.executor = executor
        self.outcomes: list[Outcome] = []
        collect = executor.collect

        def counted(timeout_s: float) -> list[Outcome]:
            self.outcomes += (new := collect(timeout_s))
            return new

        executor.collect = counted  # type: ignore[method-assign]

    @property
    def keys(self) -> Counter[str]:
        return Counter(outcome.key for outcome in self.outcomes)


def test_dask_gives_what_this_machine_gives(cluster: LocalCluster, tmp_path: Path) -> None:
    points = tiny()
    told: list[str] = []
    rows = []
    for name, executor in ("dask", DaskExecutor(cluster.scheduler_address, told.append)), ("here", LocalExecutor(1)):
        with Ledger(tmp_path / name) as ledger:
            assert run_points(points, ledger, executor, name="tiny").finished
            rows.append({row["key"]: row["result"] for row in ledger.rows()})

    def plain(text: str) -> dict[str, Any]:
        return {
            key: value for key, value in json.loads(text).items() if key not in ("wall_s", "cpu_s", "peak_rss_bytes")
        }

    assert rows[0].keys() == rows[1].keys() == {point.key for point in points}
    assert all(plain(rows[0][key]) == plain(rows[1][key]) for key in rows[0])
    assert told == [exposure(cluster.scheduler_address)]
    assert f"{cluster.scheduler_address} is not encrypted: anyone who reaches it can run code as you" in told[0]


def test_a_dask_worker_that_is_killed_means_work_again_and_nothing_else(cluster: LocalCluster, tmp_path: Path) -> None:
    points = tiny("1:30", options={"warmup": 1000, "measure": 20000})
    executor = DaskExecutor(cluster.scheduler_address)
    counting = Counting(executor)
    killed: list[int] = []

    def kill(progress: Any) -> None:
        if progress.done > 5 and not killed:
            with Client(cluster.scheduler_address, set_as_default=False) as client:
                victim = next(iter(client.run(os.getpid).values()))
            killed.append(victim)
            os.kill(victim, signal.SIGKILL)

    with Ledger(tmp_path / "store") as ledger:
        progress = run_points(points, ledger, executor, name="tiny", on_progress=kill)
        assert progress.finished
        assert len(killed) == 1
        assert len(ledger.rows()) == len(points)
    assert set(counting.keys.values()) == {1}


def test_a_worker_of_another_version_is_refused_by_name(cluster: LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import topoloom._core as core\ncore.__version__ = '0.0.9'\n")
    told: list[str] = []
    executor = DaskExecutor(cluster.scheduler_address, told.append)
    counting = Counting(executor)
    with (
        worker(cluster.scheduler_address, "museum", "--preload", str(tmp_path / "old.py"), cwd=tmp_path),
        Ledger(tmp_path / "store") as ledger,
    ):
        assert run_points(tiny(), ledger, executor, name="tiny").finished
    assert all(outcome.error is None for outcome in counting.outcomes)
    _, refused = told
    assert "worker museum on " in refused
    assert f"it has topoloom 0.0.9 with models {_core.MODEL_VERSION}; this program is topoloom" in refused


def test_no_worker_of_this_version_is_a_mistake(cluster: LocalCluster, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(clusters, "VERSION", ("7.0", 99))
    with (
        Ledger(tmp_path / "store") as ledger,
        pytest.raises(TopoloomError, match=r"worker \d on .* is rejected: it has"),
    ):
        run_points(tiny(), ledger, DaskExecutor(cluster.scheduler_address), name="tiny")


def test_a_worker_without_the_files_of_a_study_says_so(tmp_path: Path, monkeypatch: Any) -> None:
    (here := tmp_path / "here").mkdir()
    (there := tmp_path / "there").mkdir()
    monkeypatch.chdir(here)
    (here / "demo.csv").write_text("source,destination\n0,1\n")
    points = tiny("1", traffic=["pairs:demo.csv"])
    progress = []
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as empty,
        worker(empty.scheduler_address, "afar", cwd=there),
    ):
        for name in ("missing", "other"):
            with Ledger(here / name) as ledger:
                progress.append(run_points(points, ledger, DaskExecutor(empty.scheduler_address), name="tiny"))
            (there / "demo.csv").write_text("source,destination\n1,2\n")
    missing, other = (next(iter(each.failed.values())) for each in progress)
    assert f"in {there} demo.csv is not there" in missing
    assert f"in {there} demo.csv is another file" in other


def test_a_scheduler_that_goes_ends_the_run_in_one_sentence(tmp_path: Path) -> None:
    made = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50, processes=False)
    points = tiny("1:200")
    with Ledger(tmp_path / "store") as ledger:
        with pytest.raises(TopoloomError, match="is gone; finished points are stored"):
            run_points(
                points, ledger, DaskExecutor(made.scheduler_address), name="tiny",
                on_progress=lambda progress: made.close() if progress.done else None,
            )  # fmt: skip
        assert 0 < len(ledger.rows()) < len(points)


def test_a_scheduler_that_is_not_there(topoloom: Callable[..., Any], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(clusters, "CONNECT_S", 0.2)
    (tmp_path / "s.toml").write_text(STUDY.format(seeds=2))
    told = topoloom("run", str(tmp_path / "s.toml"), "--scheduler", "tcp://127.0.0.1:9")
    assert told.status == 2
    assert told.err.startswith("topoloom: error: no Dask scheduler answers at tcp://127.0.0.1:9 within 0.2 s: ")


# ---- batch systems --------------------------------------------------------------------------------------------------


def put_on_path(folder: Path, monkeypatch: Any, **commands: str) -> None:
    """Make shell scripts, the only ones of their names."""
    folder.mkdir(exist_ok=True)
    for name, text in commands.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize(
    ("system", "command", "lines"),
    [
        ("slurm", "sbatch",
         ["#SBATCH -p fast", "#SBATCH -A physics", "#SBATCH --cpus-per-task=3", "#SBATCH --mem=6G",
          "#SBATCH -t 01:00:00"]),
        ("pbs", "qsub",
         ["#PBS -q fast", "#PBS -A physics", "#PBS -l select=1:ncpus=3:mem=5723MB", "#PBS -l walltime=01:00:00"]),
        ("lsf", "bsub", ["#BSUB -q fast", '#BSUB -P "physics"', "#BSUB -n 3", "#BSUB -W 01:00", "#BSUB -M 6000000"]),
        ("sge", "qsub", ["#$ -q fast", "#$ -P physics", "#$ -l h_rt=01:00:00"]),
    ],
)  # fmt: skip
def test_jobs_ask_for_what_was_asked(
    system: str, command: str, lines: list[str], tmp_path: Path, monkeypatch: Any
) -> None:
    put_on_path(tmp_path / "bin", monkeypatch, **{command: "exit 0"})
    walltime = "01:00" if system == "lsf" else "01:00:00"
    jobs = Jobs(
        system, jobs=2, cores=3, memory="6GB", queue="fast", account="physics", walltime=walltime, interface="lo"
    )
    with jobs.cluster() as made:
        script = made.job_script()
    (tmp_path / "job").write_text(script)
    subprocess.run(["bash", "-n", str(tmp_path / "job")], check=True)
    assert [line for line in lines if line not in script.splitlines()] == [], script
    assert "--nthreads 3" in script
    assert sys.executable in script


def start_queue(folder: Path, monkeypatch: Any) -> None:
    """A queue of its own: jobs are processes, and their numbers those of the processes."""
    put_on_path(
        folder / "bin",
        monkeypatch,
        sbatch=f"""cp "$1" {folder}/job.$$; setsid sh {folder}/job.$$ >/dev/null 2>&1 &
            echo $! >> {folder}/jobs; echo Submitted batch job $!""",
        scancel='kill -9 -- -"$1"',
        squeue='ps -o pid= -p "$3"',
    )


def kill_group(job: int) -> None:
    """Kill a job; on a busy machine its group comes to be a little after its process."""
    for _ in range(500):
        with suppress(ProcessLookupError):
            os.killpg(job, signal.SIGKILL)
            return
        time.sleep(0.01)
    raise AssertionError(f"job {job} has no group")


def test_jobs_are_workers_and_those_that_end_are_replaced(tmp_path: Path, monkeypatch: Any) -> None:
    start_queue(tmp_path, monkeypatch)
    monkeypatch.setattr(clusters, "REPLACE_S", 0.2)
    monkeypatch.chdir(tmp_path)
    executor = JobExecutor(Jobs("slurm", jobs=2, interface="lo"))
    counting = Counting(executor)
    killed = []

    def kill(progress: Any) -> None:
        # The first job before it is a worker, the second one at work.
        if (not killed and progress.under_way) or (progress.done > 3 and len(killed) < 2):
            killed.append(int((tmp_path / "jobs").read_text().split()[len(killed)]))
            kill_group(killed[-1])

    with Ledger(tmp_path / "store") as ledger:
        points = tiny("1:12", options={"warmup": 1000, "measure": 20000})
        assert run_points(points, ledger, executor, name="tiny", on_progress=kill).finished
        assert len(ledger.rows()) == len(points)
    assert len(killed) == 2
    assert len((tmp_path / "jobs").read_text().split()) > 2
    assert set(counting.keys.values()) == {1}


# ---- strangers ------------------------------------------------------------------------------------------------------


async def answers(address: str, security: Security | None) -> bool:
    """Whether a scheduler or a worker answers someone who comes to this address with these certificates."""
    arguments = {} if security is None else security.get_connection_args("client")
    try:
        comm = await connect(address, timeout=3, **arguments)
        try:
            await comm.write({"op": "identity", "reply": True})
            return isinstance(await comm.read(), dict)
        finally:
            await comm.close()
    except (OSError, RuntimeError, TypeError):
        return False


def admits(address: str, security: Security | None) -> bool:
    """The same, from outside the loop that a scheduler runs in."""
    return asyncio.run(answers(address, security))


def listening() -> set[Any]:
    return {one.laddr for one in psutil.Process().net_connections("inet") if one.status == "LISTEN"}


def test_strangers_are_refused(cluster: LocalCluster, tmp_path: Path, monkeypatch: Any) -> None:
    assert admits(cluster.scheduler_address, None), "a scheduler without certificates admits anyone"
    start_queue(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    executor = JobExecutor(Jobs("slurm", interface="lo"), told.append)
    met: list[tuple[str, bool, bool, bool]] = []
    before = listening()

    def come(progress: Any) -> None:
        if met or not progress.done:
            return
        workers = executor._client.scheduler_info(n_workers=-1)["workers"]
        for address in (executor.address, *workers, *(about["nanny"] for about in workers.values())):
            scheme, port = re.fullmatch(r"(\w+)://127\.0\.0\.1:(\d+)", address).groups()  # type: ignore[union-attr]
            assert scheme == "tls"
            others = Security.temporary()
            met.append((
                address,
                admits(f"tcp://127.0.0.1:{port}", None),
                admits(address, others),
                admits(address, executor._security),
            ))  # fmt: skip
        assert {address.ip for address in listening() - before} == {"127.0.0.1"}

    with Ledger(tmp_path / "store") as ledger:
        assert run_points(tiny("1:8"), ledger, executor, name="tiny", on_progress=come).finished
    assert len(met) == 3
    assert [answers for _, *answers in met] == [[False, False, True]] * 3
    assert [line for line in told if not line.startswith("no worker for ")] == [], "a busy machine may start it late"
    # The key was in a file of its own; scripts and command lines did not show it, and it is gone.
    scripts = list(tmp_path.glob("job.*"))
    assert scripts
    for script in scripts:
        assert "PRIVATE KEY" not in script.read_text()
        assert "--tls-key " in script.read_text()
    assert list(tmp_path.glob(".topoloom-*")) == []


def test_a_site_cannot_take_the_certificates_from_a_scheduler(tmp_path: Path, monkeypatch: Any) -> None:
    put_on_path(tmp_path / "bin", monkeypatch, sbatch="exit 0")
    monkeypatch.chdir(tmp_path)
    site = {"host": "127.0.0.1", "protocol": "tcp://", "security": Security(require_encryption=False)}
    with dask.config.set({"jobqueue.slurm.scheduler-options": site}), Jobs("slurm", interface="lo").cluster() as made:
        assert admits(made.scheduler_address, made.security)
        assert not admits(made.scheduler_address.replace("tls://", "tcp://"), None)
        assert not admits(made.scheduler_address, Security.temporary())


def test_nothing_listens_without_the_certificates(tmp_path: Path, monkeypatch: Any) -> None:
    """With certificates alone a scheduler listens at tcp:// all the same, and admits anyone."""
    monkeypatch.chdir(tmp_path)

    async def scheduler(protocol: str, security: Security) -> tuple[bool, bool]:
        async with Scheduler(protocol=protocol, host="127.0.0.1", security=security, dashboard=False) as made:
            return await answers(made.address, None), await answers(made.address, security)

    with secret("slurm") as own:
        assert asyncio.run(scheduler("tls://", own.security)) == (False, True)
        with pytest.raises(RuntimeError) as caught:
            asyncio.run(scheduler("tcp://", own.security))
    assert "encryption required" in str(caught.value.__cause__)


def test_only_the_user_can_read_the_key(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    before = os.umask(0)
    try:
        with secret("slurm") as own:
            assert own.folder.parent == tmp_path
            rights = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (own.folder, *own.folder.iterdir())}
            assert rights == {own.folder.name: 0o700, "key.pem": 0o600, "certificate.pem": 0o600}
        with dask.config.set({"jobqueue.slurm.shared-temp-directory": "$HERE/shared"}):
            monkeypatch.setenv("HERE", str(tmp_path))
            with pytest.raises(TopoloomError, match=r"shared cannot be written: No such file.*shared-temp-directory"):
                secret("slurm").__enter__()
            (tmp_path / "shared").mkdir()
            with secret("slurm") as own:
                assert own.folder.parent == tmp_path / "shared"
    finally:
        os.umask(before)
    assert list(tmp_path.rglob("*.pem")) == []


def test_addresses_are_as_narrow_as_the_cluster_allows() -> None:
    own = {"protocol": "tls://", "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    assert scheduler_options("slurm", None) == {"host": get_ip(), **own}
    assert scheduler_options("slurm", "ib0") == own
    with dask.config.set({"jobqueue.slurm.scheduler-options": {"host": "login", "dashboard_address": ":8787"}}):
        assert scheduler_options("slurm", None) == {"host": "login", **own}


def test_a_client_that_finds_no_scheduler_does_not_outlive_its_refusal(monkeypatch: Any) -> None:
    """Dask closes a client that is collected; while another one starts, that never ends."""

    def clients() -> set[int]:
        return {id(own) for own in gc.get_objects() if type(own) is Client}

    monkeypatch.setattr(clusters, "CONNECT_S", 0.3)
    gc.collect()
    before = clients()
    with pytest.raises(TopoloomError, match="no Dask scheduler answers"):
        DaskExecutor("tcp://127.0.0.1:9").__enter__()
    assert clients() <= before


def test_a_running_cluster_with_certificates(topoloom: Callable[..., Any], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clusters, "CONNECT_S", 2.0)
    (tmp_path / "s.toml").write_text(STUDY.format(seeds=2))
    with secret("slurm") as own, LocalCluster(
        n_workers=1, processes=False, protocol="tls://", security=own.security, dashboard_address=":0", silence_logs=50
    ) as made:  # fmt: skip
        call = ["run", "s.toml", "--scheduler", made.scheduler_address]
        told = topoloom(*call)
        assert told.status == 2
        assert told.err.startswith(
            f"topoloom: error: no Dask scheduler answers at {made.scheduler_address} within 2 s: "
        )
        ours = {"ca-file": own.security.tls_ca_file} | {
            f"client.{what}": getattr(own.security, f"tls_client_{what}") for what in ("key", "cert")
        }
        with dask.config.set({f"distributed.comm.tls.{name}": value for name, value in ours.items()}):
            told = topoloom(*call)
        assert told.status == 0, told.err
        assert "encrypted" not in told.err


@pytest.mark.parametrize("system", ["slurm", "pbs", "lsf", "sge"])
def test_nothing_breaks_out_of_its_line_of_a_job_script(system: str, tmp_path: Path, monkeypatch: Any) -> None:
    (folder := tmp_path / "it's $(touch broken) a folder").mkdir()
    monkeypatch.chdir(folder)
    put_on_path(tmp_path / "bin", monkeypatch, sbatch="exit 0", qsub="exit 0", bsub="exit 0")
    for name in ("queue", "walltime", "account", "interface"):
        for wrong in ("a\ntouch broken", "a b", "a\rb", "$(id)", "`id`", "a;b", "-x", "", "a\u2028b", "a'b", "a\0b"):
            with pytest.raises(TopoloomError, match=f"^{name} is .*; it must be letters, digits"):
                Jobs(system, **{name: wrong})
    with Jobs(
        system, queue="all.q@@hosts", account="proj:a/b", walltime="1-00:00:00", interface="lo"
    ).cluster() as made:
        words = shlex.split(made.job_script().splitlines()[-1])
        key = Path(words[words.index("--tls-key") + 1])
        assert key.parent.parent == folder
        assert "PRIVATE KEY" in key.read_text()


def test_batch_systems_that_are_not_there_or_refuse(
    topoloom: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "s.toml").write_text(STUDY.format(seeds=2))
    call = ["run", str(tmp_path / "s.toml"), "--cluster"]
    commands = {"slurm": "sbatch", "pbs": "qsub", "lsf": "bsub", "sge": "qsub"}
    for system, command in commands.items():
        monkeypatch.setenv("PATH", str(tmp_path))
        told = topoloom(*call, system)
        missing = f"topoloom: error: {command} is not on the path: --cluster {system} needs its commands\n"
        assert (told.status, told.err) == (2, missing)
        put_on_path(tmp_path / "bin", monkeypatch, **{command: f"echo '{command}: no queue nightly' >&2; exit 1"})
        told = topoloom(*call, system, "--queue", "nightly", "--interface", "lo")
        refused = f"topoloom: error: {system} rejects the job: {command}: no queue nightly\n"
        assert (told.status, told.err) == (2, refused)
    # SGE has no words of its own for cores, and a command may say nothing.
    put_on_path(tmp_path / "bin", monkeypatch, qsub="exit 1")
    told = topoloom(*call, "sge", "--cores", "4", "--interface", "lo")
    one_core, refused = told.err.splitlines()
    assert "the jobs ask SGE for one core, and run 4 points at a time" in one_core
    assert refused == "topoloom: error: sge rejects the job: its command failed, and said nothing"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cluster", "slum"], "unknown batch system 'slum' (did you mean 'slurm'?)"),
        (["--queue", "fast"], "--queue belongs to jobs; give --cluster slurm|pbs|lsf|sge or --script FILE too"),
        (["--cluster", "slurm", "--scheduler", "tcp://a:1"], "--scheduler and --cluster both run the points"),
        (["--workers", "2", "--cluster", "slurm"], "--workers counts processes of this machine"),
        (["--script", "x.sh", "--cluster", "sge"], "--script writes a file for sbatch, which --cluster sge does not"),
        (["--script", "x.sh", "--memory", "lots"], "memory is 'lots'; it must be a whole number of kB, MB, GB or TB"),
        (["--script", "x.sh", "--workers", "2"], "--workers counts processes of this machine"),
        (["--script", "x.sh", "--json"], "--script shows no results; give --json to the run that takes in what"),
        (["--share", "0", "--out", "r.html"], "--share shows no results; give --out to the run that takes in what"),
        (["--share", "0"], "has no share 0; topoloom run STUDY.toml --script FILE deals them"),
        (["--cluster", "slurm", "--interface", "none0"], "'none0' is not a valid network interface"),
    ],
)  # fmt: skip
def test_mistakes(
    options: list[str], words: str, topoloom: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    put_on_path(tmp_path / "bin", monkeypatch, sbatch="exit 0")
    (tmp_path / "s.toml").write_text(STUDY.format(seeds=2))
    told = topoloom("run", str(tmp_path / "s.toml"), *options)
    assert told.status == 2
    assert words in told.err


# ---- arrays of jobs -------------------------------------------------------------------------------------------------


def lines_of(script: Path) -> dict[str, str]:
    found = (
        line.removeprefix("#SBATCH --").partition("=")
        for line in script.read_text().splitlines()
        if "SBATCH --" in line
    )
    return {name: value for name, _, value in found}


def test_an_array_of_jobs_does_the_study_once(topoloom: Callable[..., Any], tmp_path: Path, monkeypatch: Any) -> None:
    study, script, store = tmp_path / "s.toml", tmp_path / "job.sh", tmp_path / "s.store"
    study.write_text(STUDY.format(seeds=6))
    assert topoloom("run", str(study)).status == 0
    study.write_text(STUDY.format(seeds=20))
    told = topoloom("run", str(study), "--script", str(script), "--jobs", "3", "--cores", "1", "--queue", "fast")
    assert "14 of 20 points in 3 jobs; submit it: sbatch" in told.err
    asks = lines_of(script)
    assert (asks["array"], asks["partition"], asks["cpus-per-task"], asks["mem"]) == ("0-2", "fast", "1", "4G")

    subprocess.run(["sh", str(script)], env=os.environ | {"SLURM_ARRAY_TASK_ID": "0"}, check=True, cwd="/")
    assert topoloom("run", str(study), "--share", "1").status == 0
    # The last job was killed in the middle of a line; a second one does what it lacks, and no more.
    journal = store / job_array.FOLDER / "1.jsonl"
    whole = journal.read_text()
    journal.write_text(whole[:-40])
    assert topoloom("run", str(study), "--share", "1").status == 0
    again = [line for line in journal.read_text().splitlines() if line]
    assert len(again) == len([line for line in whole.splitlines() if line]) + 1

    # A job that is at work keeps others off.
    (store / job_array.FOLDER / "2.alive").write_text("")
    told = topoloom("run", str(study))
    assert told.status == 2
    assert f"jobs are at work on shares 2 of {store}" in told.err
    monkeypatch.setattr(job_array, "STALE_S", -1.0)
    told = topoloom("run", str(study))
    assert "10 points were done by jobs of the array" in told.err
    assert "20 of 20 points are done, 16 of them before this run" in told.err
    told = topoloom("run", str(study), "--script", str(script), "--jobs", "3")
    assert "all 20 points are done" in told.err
    with Ledger(store, create=False) as ledger:
        assert len(ledger.rows()) == 20


def test_an_array_skips_what_cannot_be_run_if_it_may(
    topoloom: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    study, script = tmp_path / "my study.toml", tmp_path / "job.sh"
    study.write_text(STUDY.format(seeds=2).replace('"mesh:2x2"', '["mesh:2x2", "mesh:2x2x"]'))
    call = ["run", str(study), "--script", str(script)]
    assert (topoloom(*call).status, script.exists()) == (2, False)
    told = topoloom(*call, "--keep-going")
    assert told.status == 0
    assert told.err.count("skipped: simulate mesh:2x2x") == 2
    assert "2 of 4 points in 1 job;" in told.err
    subprocess.run(["sh", str(script)], env=os.environ | {"SLURM_ARRAY_TASK_ID": "0"}, check=True, cwd="/")
    told = topoloom("run", str(study), "--keep-going")
    assert told.status == 0
    assert "2 points were done by jobs of the array" in told.err
    assert "all 4 points but the 2 that are skipped are done" in topoloom(*call, "--keep-going").err
    told = topoloom("run", str(study), "--dry-run", "--keep-going")
    assert told.status == 0
    assert told.err.count("skipped: ") == 2
    assert topoloom("run", str(study), "--dry-run").status == 2


@pytest.mark.parametrize("name", ["a\ntouch broken\n#.toml", "a\rb.toml", "a\u2028b.toml"])
def test_a_path_that_ends_a_line_is_in_no_script(
    name: str, topoloom: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(STUDY.format(seeds=2))
    (tmp_path / "s.toml").write_text(STUDY.format(seeds=2))
    for call in ([name], ["s.toml", "--store", name + ".store"]):
        told = topoloom("run", *call, "--script", "job.sh")
        assert told.status == 2
        assert "holds a line break; a job script cannot name it" in told.err
    (folder := tmp_path / f"in {name}").mkdir()
    monkeypatch.chdir(folder)
    told = topoloom("run", "../s.toml", "--store", str(tmp_path / "s.store"), "--script", "job.sh")
    assert told.status == 2
    assert "holds a line break; a job script cannot name it" in told.err
    assert list(tmp_path.rglob("job.sh")) == []


@pytest.mark.parametrize("option", ["--queue", "--walltime", "--account", "--interface"])
def test_an_option_that_ends_a_line_is_in_no_script(option: str, topoloom: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY.format(seeds=2))
    told = topoloom(
        "run", str(tmp_path / "s.toml"), "--script", str(tmp_path / "job.sh"), option, "a\n#SBATCH --wrap=x"
    )
    assert told.status == 2
    assert told.err.startswith(f"topoloom: error: {option[2:]} is 'a\\n#SBATCH --wrap=x'; it must be letters")
    assert not (tmp_path / "job.sh").exists()


def test_a_study_that_changed_since_its_shares_were_dealt(topoloom: Callable[..., Any], tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(STUDY.format(seeds=4))
    assert topoloom("run", str(study), "--script", str(tmp_path / "job.sh"), "--jobs", "2").status == 0
    study.write_text(STUDY.format(seeds=2))
    told = topoloom("run", str(study), "--share", "1")
    assert told.status == 2
    assert "holds points that the study does not" in told.err
