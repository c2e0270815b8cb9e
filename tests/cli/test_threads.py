"""Threads: more than the machine has, and those that the system refuses."""

import json
import os
import platform
import subprocess
import sys
import threading

import pytest

import topoloom
from harness.outcome import timeless
from harness.processes import COMMAND
from topoloom.simulation.options import TopoloomWarning
from topoloom.workers import Workers, cpu_count, interruptible


def test_more_threads_than_processors_are_capped_and_said(topoloom):
    few = ["simulate", "mesh:4x4", "--load", "0.1", "--warmup", "100", "--measure", "200", "--json"]
    outcome = topoloom(*few, "--threads", "1024")
    assert outcome.status == 0
    assert f"warning: threads is 1024, and {cpu_count()} processor" in outcome.err
    assert outcome.err.count("warning") == 1
    assert outcome.json()["config"]["threads"] == cpu_count()
    assert topoloom(*few, "--threads", "1025").err == "topoloom: error: threads is 1025; it must be from 1 to 1024\n"
    assert timeless(outcome.json())["points"] == timeless(topoloom(*few).json())["points"]


def test_the_python_interface_and_studies_cap_threads_as_well(tmp_path, monkeypatch):
    monkeypatch.setattr("topoloom.simulation.options.cpu_count", lambda: 1)
    options = {"warmup": 100, "measure": 200, "threads": 2}
    with pytest.warns(TopoloomWarning, match="threads is 2, and 1 processor is"):
        curve = topoloom.network("mesh:4x4").simulate(load=0.1, **options)
    assert curve.config["threads"] == 1
    with pytest.warns(TopoloomWarning, match="run on 1"):
        topoloom.compare(["mesh:2x2"], ["minimal"], load=0.2, **options)
    with pytest.warns(TopoloomWarning, match="run on 1"):
        topoloom.workload("mesh:2x2", "reduce:size=1KiB", engine="cycle", threads=2)
    sweep = topoloom.Sweep(networks=["mesh:4x4"], loads=0.1, options=options)
    with pytest.warns(TopoloomWarning, match="run on 1"):
        topoloom.Study(name="threads", sweep=[sweep]).run(tmp_path / "store")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space bind on Linux")
def test_little_memory_for_threads_is_no_hang():
    limited = "ulimit -v 900000; exec " + " ".join([*COMMAND, "simulate", "mesh:16x16", "--threads", "200"])
    options = " --load 0.1 --warmup 100 --measure 200 --json"
    done = subprocess.run(["sh", "-c", limited + options], capture_output=True, text=True, timeout=60, check=False)
    assert "panicked" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["accepted"] > 0


HEAPS = """
import ctypes, resource, tempfile
from topoloom import _core
from topoloom.simulation.options import make_options
network = _core.Network("mesh:8x8")
options = make_options({"threads": 6, "warmup": 0, "measure": 10}).engine_json()
routing, traffic = _core.Routing(network, "dor"), _core.Traffic(network, "uniform")
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
def heaps():
    with tempfile.NamedTemporaryFile() as file:
        stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
        libc.malloc_info(0, stream)
        libc.fclose(stream)
        return file.read().count(b"<heap nr=")
before = heaps()
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))
assert _core.Simulation(routing, traffic, options).point(0.3, _core.CancelToken()).packets > 0
print(before, heaps())
"""
"""Counts the C library's heaps, for each of which it reserves 64 MB of addresses."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="heaps of glibc")
def test_threads_share_heaps_where_addresses_are_few():
    environment = os.environ | {"RAYON_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", HEAPS], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.split()
    assert after == before, "a heap a thread takes what is left for computations"


FEW_THREADS = """
import resource
from topoloom import _core
from topoloom.simulation.options import make_options
network, token = _core.Network("mesh:16x16"), _core.CancelToken()
def run(threads):
    options = make_options({"threads": threads, "warmup": 0, "measure": 10})
    routing, traffic = _core.Routing(network, "dor"), _core.Traffic(network, "uniform")
    return _core.Simulation(routing, traffic, options.engine_json()).point(0.3, token)
alone = run(1)
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (96 << 20), resource.RLIM_INFINITY))
many = run(200)
times = ("wall_s", "cpu_s", "peak_rss_bytes")
print(token.threads, {key: value for key, value in alone.items() if key not in times and many[key] != value})
"""
"""Asks the engine itself for far more threads than fit into memory."""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space bind on Linux")
def test_a_run_goes_on_with_the_threads_that_the_system_gives():
    environment = os.environ | {"RAYON_NUM_THREADS": "1"}  # a heap a processor stands before the limit
    done = subprocess.run(
        [sys.executable, "-c", FEW_THREADS], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    threads, _, different = done.stdout.partition(" ")
    assert 1 <= int(threads) < 100
    assert different == "{}\n"


@pytest.mark.parametrize("most", [0, 1])
def test_work_is_done_by_the_threads_that_there_are(monkeypatch, most):
    started = []
    start = threading.Thread.start

    def refuse(thread):
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Workers[int](3) as workers:
        for number in range(4):
            workers.submit(lambda number=number: number)
        assert sorted(workers.next_result() for _ in range(4)) == [0, 1, 2, 3]
    assert interruptible(lambda: topoloom.network("mesh:4x4").facts()["diameter"]) == 6


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="a system without affinities")
def test_processors_that_a_process_is_kept_from_do_not_count():
    script = (
        "import os; from topoloom.workers import cpu_count; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{script}; print(cpu_count())"], check=False, capture_output=True, text=True
    )
    assert done.stdout == "1\n", done.stderr
