"""A real Slurm on this machine: munge, slurmctld and four slurmd on loopback, with no systemd and no cgroups."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from topoloom import Network
from topoloom.studies import Ledger

pytestmark = pytest.mark.slurm

CONF = """
ClusterName=topoloom
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmctldAddr=127.0.0.1
AuthType=auth/munge
AuthInfo=socket={munge}
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
TopologyPlugin=topology/tree
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=30
KillWait=1
NodeName={nodes} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports} CPUs=2 RealMemory=8000
PartitionName=all Nodes={nodes} Default=YES MaxTime=INFINITE State=UP
PartitionName=closed Nodes={nodes} State=DOWN
"""

STUDY = """
name = "many"
[[sweep]]
networks = ["mesh:2x2", "torus:4x4"]
loads = [0.1, 0.2]
seeds = "1:{seeds}"
options = {{ warmup = 50, measure = 200 }}
"""


@dataclass
class Slurm:
    folder: Path
    environment: dict[str, str]

    def call(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(
            command, env=self.environment, check=False, capture_output=True, text=True, cwd=self.folder
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def jobs(self) -> list[str]:
        return self.call("squeue", "-h", "-o", "%A", "-t", "RUNNING").split()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    folder = tmp_path_factory.mktemp("slurm")
    for place in ("state", "spool", "munge"):
        (folder / place).mkdir(mode=0o700)
    (folder / "munge" / "key").write_bytes(os.urandom(128))
    (folder / "munge" / "key").chmod(0o400)
    conf = configuration(folder, folder / "munge.socket", "n[1-4]", "[17001-17004]")
    # A tree of two leaf switches under one: written by topoloom, loaded by Slurm.
    topology = [sys.executable, "-m", "topoloom", "export", "mesh:2,p=2", "--nodes", "n[1-4]"]
    subprocess.run([*topology, "--out", str(folder / "topology.conf")], check=True)
    environment = os.environ | {"SLURM_CONF": str(conf)}
    daemons = []

    def start(*command: str) -> None:
        log = (folder / f"{Path(command[0]).name}.out").open("a")
        daemons.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder))

    try:
        start(
            "munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge/key",
            f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge/seed",
        )  # fmt: skip
        until((folder / "munge.socket").exists)
        start("slurmctld", "-D", "-i", "-f", str(conf))
        for node in ("n1", "n2", "n3", "n4"):
            start("slurmd", "-D", "-N", node, "-f", str(conf))
        made = Slurm(folder, environment)
        until(lambda: made.call("sinfo", "-h", "-p", "all", "-t", "idle", "-o", "%D", check=False).strip() == "4")
        yield made
        made.call("scancel", "--user=root", check=False)
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in reversed(daemons):
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def configuration(folder: Path, munge: Path, nodes: str, ports: str) -> Path:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host = socket.gethostname().split(".")[0]
    conf = folder / "slurm.conf"
    conf.write_text(CONF.format(host=host, port=port, folder=folder, munge=munge, nodes=nodes, ports=ports))
    return conf


def until(true: object, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, f"not within {seconds:g} s"
        time.sleep(0.1)


def study(slurm: Slurm, name: str, seeds: int) -> Path:
    path = slurm.folder / f"{name}.toml"
    path.write_text(STUDY.format(seeds=seeds))
    return path


def topoloom(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "topoloom", *arguments]


def assert_complete(store: Path, count: int) -> None:
    """Every point is done, once."""
    with Ledger(store, create=False) as ledger:
        keys = [row["key"] for row in ledger.rows()]
        assert set(ledger.states().values()) == {"done"}
    assert len(keys) == len(set(keys)) == count


def test_slurm_loads_the_topology(slurm: Slurm) -> None:
    told = slurm.call("scontrol", "show", "topology")
    found = re.findall(r"SwitchName=(\w+) Level=(\d) .*?Nodes=(\S+)", told)
    assert found == [("s0", "0", "n[1-2]"), ("s1", "0", "n[3-4]"), ("root", "1", "n[1-4]")], told


@pytest.mark.parametrize(
    "spec",
    ["clos:radix=4,levels=3", "dragonfly:a=4,h=2,p=2", "flex:4x3x3,p=2", "torus:3x3x3", "galaxyfly:n=2,q=4,a=2,p=2"],
)
def test_another_slurm_loads_the_trees_of_other_networks(spec: str, slurm: Slurm, tmp_path: Path) -> None:
    """Its nodes are down, but it knows which switch they hang on, however far up."""
    network = Network(spec)
    network.write(tmp_path / "topology.conf")
    trees = dict(re.findall(r"SwitchName=(\S+) \w+=(\S+)", (tmp_path / "topology.conf").read_text()))
    count = network.facts()["terminals"]
    conf = configuration(tmp_path, slurm.folder / "munge.socket", f"n[0-{count - 1}]", f"[18001-{18000 + count}]")
    (tmp_path / "state").mkdir(mode=0o700)
    environment = slurm.environment | {"SLURM_CONF": str(conf)}
    with (tmp_path / "out").open("w") as out:
        daemon = subprocess.Popen(["slurmctld", "-D", "-i"], env=environment, stdout=out, stderr=out)
    try:
        other = Slurm(tmp_path, environment)
        until(lambda: other.call("scontrol", "ping", check=False).find("is UP") > 0)
        told = other.call("scontrol", "show", "topology")
    finally:
        daemon.terminate()
        daemon.wait()
    below = dict(re.findall(r"SwitchName=(\S+) Level=\d+ LinkSpeed=\d+ (?:Nodes=\S+ )?Switches=(\S+)", told))
    nodes = dict(re.findall(r"SwitchName=(\S+) Level=0 LinkSpeed=\d+ Nodes=(\S+)", told))
    assert below | nodes == trees, told
    (top,) = re.findall(rf"SwitchName=(\S+) Level=[1-9]\d* LinkSpeed=\d+ Nodes=n\[0-{count - 1}\]", told)
    assert top == "root"


def test_two_thousand_points_with_a_worker_cancelled(slurm: Slurm) -> None:
    path = study(slurm, "many", 500)
    command = topoloom(
        "run", str(path), "--cluster", "slurm", "--jobs", "4", "--memory", "1GB", "--interface", "lo", "--json"
    )
    began = time.monotonic()
    run = subprocess.Popen(
        command, env=slurm.environment, cwd=slurm.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    store = path.with_suffix(".store")

    def done() -> int:
        if not (store / "ledger.sqlite").is_file():
            return 0
        with Ledger(store, create=False) as ledger:
            return sum(state == "done" for state in ledger.states().values())

    until(lambda: done() > 200, 180)
    victim = slurm.jobs()[0]
    slurm.call("scancel", "--signal=KILL", "--full", victim)
    slurm.call("scancel", victim)
    out, errors = run.communicate(timeout=600)
    print(f"2000 points in {time.monotonic() - began:.0f} s; job {victim} cancelled")
    assert run.returncode == 0, errors
    assert len(json.loads(out)["points"]) == 2000
    assert_complete(store, 2000)
    until(lambda: not slurm.jobs())


def test_an_array_of_jobs_and_one_of_them_killed(slurm: Slurm) -> None:
    path = study(slurm, "an array of 50%", 60)
    run = topoloom("run", str(path), "--keep-going")
    slurm.call(*run, "--script", "array.sh", "--jobs", "4", "--memory", "1GB", "--walltime", "0:10:00")
    job = slurm.call("sbatch", "--parsable", "array.sh").strip()
    journals = path.with_suffix(".store") / "shares"
    until(lambda: any(journals.glob("*.jsonl")), 120)
    slurm.call("scancel", f"{job}_0", check=False)
    until(lambda: not slurm.call("squeue", "-h", "-j", job, check=False).split(), 300)
    for left in journals.glob("*.alive"):
        os.utime(left, (0, 0))  # a minute has gone by
    told = slurm.call(*run)
    assert "points were done by jobs of the array" in told
    assert_complete(path.with_suffix(".store"), 240)
    assert "240 of 240 points are done" in told
    assert "points are done" in (journals / "1.log").read_text()


def test_a_queue_that_refuses(slurm: Slurm) -> None:
    path = study(slurm, "refused", 1)
    command = topoloom("run", str(path), "--cluster", "slurm", "--interface", "lo", "--queue", "nightly")
    done = subprocess.run(command, env=slurm.environment, check=False, capture_output=True, text=True, cwd=slurm.folder)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "topoloom: error: slurm rejects the job: sbatch: error: invalid partition specified: nightly"
    )
    assert "Traceback" not in done.stderr


def test_ctrl_c_takes_the_jobs_back(slurm: Slurm) -> None:
    path = study(slurm, "stopped", 500)
    command = topoloom("run", str(path), "--cluster", "slurm", "--jobs", "2", "--memory", "1GB", "--interface", "lo")
    run = subprocess.Popen(command, env=slurm.environment, cwd=slurm.folder, stderr=subprocess.PIPE, text=True)
    until(lambda: len(slurm.jobs()) == 2, 120)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    until(lambda: not slurm.jobs())


def test_every_command_is_there() -> None:
    assert [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None] == []
