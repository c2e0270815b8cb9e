"""Threads that the system refuses, signals, runs that go on where they were interrupted, and progress."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import numpy as np
import pytest

import topoloom
from harness.engine import TIMES
from harness.processes import interrupt
from topoloom import _core
from topoloom.simulation.options import TopoloomWarning
from topoloom.studies import Ledger
from topoloom.workers import Workers, cpu_count, interruptible

COMMAND = [sys.executable, "-m", "topoloom"]


def timeless(value):
    """Return JSON without what differs from run to run."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in (*TIMES, "command")}
    return [timeless(item) for item in value] if isinstance(value, list) else value


# ---- threads --------------------------------------------------------------------------------------------------------


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


FEW_THREADS = """
import json, resource
from topoloom import _core
from topoloom.simulation.options import make_options
network, token = _core.Network("mesh:16x16"), _core.CancelToken()
def run(threads):
    options = make_options({"threads": threads, "warmup": 0, "measure": 10})
    return json.loads(_core.simulate(network, "dor", "uniform", 0.3, options.engine_json(), token))
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
    done = subprocess.run([sys.executable, "-c", FEW_THREADS], capture_output=True, text=True, timeout=120, check=False)
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


# ---- signals --------------------------------------------------------------------------------------------------------

LONG_CALLS = {
    "verify": ("torus:48x48", "n.verify('min')"),
    "facts": ("random-regular:60000,degree=8", "n._facts(None, True)"),
    "bound": ("mesh:32x32", "n.bound('val')"),
    "faults": ("torus:64x64", "n.faults(trials=10000)"),
    "distances under faults": ("torus:320x320", "n.faults(trials=1, fractions=[0], distances=True)"),
    "layout": ("random-regular:8000,degree=8", "n.layout('cabinet=8,place=anneal')"),
    "permuted": ("mesh:2", "topoloom.network('permuted:optimised(torus:48x48),cabinet=8')"),
}
"""Calls of the engine that take long, by what they do."""


@pytest.mark.parametrize("call", LONG_CALLS)
def test_ctrl_c_ends_a_long_call_of_the_python_interface(call):
    spec, text = LONG_CALLS[call]
    script = f"import topoloom; n = topoloom.network('{spec}'); print('go', flush=True); {text}; print('done')"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(0.3)
    ending = interrupt(process)
    assert "KeyboardInterrupt" in ending.err
    assert ending.out == "", "it would have taken longer than that"
    assert "panicked" not in ending.err
    assert ending.took_s < 3


def test_a_computation_in_another_thread_is_cancelled():
    token, caught = _core.CancelToken(), []

    def work():
        token.enter()
        try:
            _core.verify(_core.Network("torus:48x48"), "min")
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    stages = set()
    until = time.monotonic() + 60
    while time.monotonic() < until and not any(stage and stage[0] == "paths to destinations" for stage in stages):
        stages.add(token.stage)
        time.sleep(0.001)
    token.cancel()
    thread.join(timeout=60)
    assert [type(error) for error in caught] == [KeyboardInterrupt]
    assert any(stage and stage[1] <= stage[2] == 48 * 48 for stage in stages)


ONE_LONG = ["mesh:3x3", "mesh:12x12", "--routing", "minimal", "--load", "0.2,0.4", "--warmup", "200"]
"""Two networks, of which one takes longer than the other."""


def interrupted(command, number, line, cwd):
    """Run a command until it says a line, send a signal, and return status, output and errors."""
    process = subprocess.Popen([*COMMAND, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
    told = process.stderr.readline()
    assert line in told, told + process.stderr.read()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("more", [[], ["--store", "kept"]])
def test_a_comparison_goes_on_where_sigterm_ended_it(tmp_path, more):
    command = ["compare", *ONE_LONG, "--measure", "6000", "--out", "r.html", "--json", *more]
    status, out, err = interrupted(command, signal.SIGTERM, "1 of 2: mesh:3x3", tmp_path)
    store = more[1] if more else "r.html.store"
    assert status == 130
    assert json.loads(out)["interrupted"]
    assert f"and kept in {store}; the same command goes on from there" in err
    assert "1 of 2 curves are complete" in (tmp_path / "r.html").read_text()
    with Ledger(tmp_path / store, create=False) as ledger:
        before = len(ledger.rows())
    assert before > 0

    done = subprocess.run([*COMMAND, *command], capture_output=True, text=True, cwd=tmp_path, check=True)
    with Ledger(tmp_path / store, create=False) as ledger:
        rows = ledger.rows()
    points = sum(len(curve["points"]) for curve in json.loads(done.stdout)["curves"])
    assert len(rows) == points
    verb = "point was" if before == 1 else "points were"
    assert f"{before} {verb} simulated before and {points - before} now; all are in {store}" in done.stderr

    if more:
        return
    (tmp_path / "other").mkdir()
    once = subprocess.run([*COMMAND, *command], capture_output=True, text=True, cwd=tmp_path / "other", check=True)
    assert timeless(json.loads(done.stdout)) == timeless(json.loads(once.stdout))
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["r.html"], (
        "nothing is left where nothing happened"
    )


def test_points_that_are_kept_are_not_simulated_again(tmp_path, monkeypatch):
    arguments = {"routings": ["minimal"], "load": "0.2,0.4", "warmup": 100, "measure": 300}
    first = topoloom.compare(["mesh:3x3"], **arguments, store=tmp_path / "kept")
    monkeypatch.setattr("topoloom._core.simulate_channels", None)
    again = topoloom.compare(["mesh:3x3"], **arguments, store=tmp_path / "kept")
    (one,), (two,) = first.curves, again.curves
    assert one.points == two.points
    assert one.saturation_load == two.saturation_load
    assert one.channels.load == two.channels.load
    assert np.array_equal(one.channels.flits, two.channels.flits)
    assert again.store == "kept"
    monkeypatch.undo()
    other = topoloom.compare(["mesh:3x3"], **arguments, seed=2, store=tmp_path / "kept")
    assert other.curves[0].points != one.points, "other options make other points"


def test_a_search_goes_on_where_sigterm_ended_it(tmp_path):
    command = ["saturation", "mesh:8x8", "--warmup", "200", "--measure", "6000", "--json"]
    process = subprocess.Popen(
        [*COMMAND, *command, "--store", "kept"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and not _rows(tmp_path / "kept"):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    before = len(_rows(tmp_path / "kept"))
    assert len(json.loads(out)["points"]) == before
    assert "kept in kept; the same command goes on" in err
    done = subprocess.run(
        [*COMMAND, *command, "--store", "kept"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    once = subprocess.run([*COMMAND, *command], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert timeless(json.loads(done.stdout)) == timeless(json.loads(once.stdout))
    assert len(_rows(tmp_path / "kept")) == len(json.loads(done.stdout)["points"])


def _rows(store):
    if not (store / "ledger.sqlite").is_file():
        return []
    try:
        with Ledger(store, create=False) as ledger:
            return ledger.rows()
    except topoloom.TopoloomError:  # it is being made
        return []


def test_an_interrupted_run_whose_points_cannot_be_kept_says_so(tmp_path):
    (tmp_path / "r.html.store").mkdir()
    (tmp_path / "r.html.store" / "mine.txt").write_text("mine")
    command = ["compare", *ONE_LONG, "--measure", "60000", "--out", "r.html"]
    status, _, err = interrupted(command, signal.SIGTERM, "1 of 2: mesh:3x3", tmp_path)
    assert status == 130
    assert "could not be kept: r.html.store holds other files" in err
    assert (tmp_path / "r.html.store" / "mine.txt").read_text() == "mine"


def test_sigterm_leaves_the_networks_that_were_tried():
    command = ["faults", "mesh:2x2", "torus:64x64", "--trials", "10000", "--json"]
    process = subprocess.Popen(talkative(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    next(line for line in process.stderr if "torus:64x64: failures" in line)
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; 1 of 2 networks are done" in err
    assert [network["spec"] for network in json.loads(out)] == ["mesh:2x2"]


def test_sigterm_leaves_the_points_of_a_study(tmp_path):
    study = tmp_path / "study.toml"
    sweeps = (
        'networks = ["mesh:4x4"]\nloads = 0.1\noptions = { warmup = 0, measure = 500 }',
        'networks = ["mesh:16x16"]\nloads = "0.1:0.4:0.1"\noptions = { warmup = 0, measure = 50000000 }',
    )
    study.write_text('name = "s"\n' + "".join(f'[[sweep]]\nkind = "simulate"\n{sweep}\n' for sweep in sweeps))
    process = subprocess.Popen(
        [*COMMAND, "run", str(study), "--workers", "5", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and not _rows(tmp_path / "study.store"):
        time.sleep(0.1)
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "1 of 5 points are done, and the same command goes on" in err
    assert [point["spec"] for point in json.loads(out)["points"]] == ["mesh:4x4"]


def test_sigterm_that_is_ignored_stays_so():
    script = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "from topoloom.workers import noted_interrupt, terminate_as_interrupt\n"
        "terminate_as_interrupt()\n"
        "with noted_interrupt() as event: signal.raise_signal(signal.SIGTERM); assert not event.is_set()\n"
        "signal.signal(signal.SIGTERM, signal.SIG_DFL); terminate_as_interrupt()\n"
        "with noted_interrupt() as event: signal.raise_signal(signal.SIGTERM); assert event.is_set()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def talkative(arguments):
    """Return a command that shows progress at once, and often."""
    script = (
        "import topoloom.cli.watching as w; w.QUIET_S = 0.0; w.SAID_EVERY_S = 0.05\n"
        f"from topoloom.cli import main; main({list(map(str, arguments))!r})"
    )
    return [sys.executable, "-c", script]


# ---- progress -------------------------------------------------------------------------------------------------------


def on_a_terminal(command):
    """Run a command whose stderr is a terminal; return its status, stdout, and what people have seen."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
    # A pipe that nobody reads meanwhile would hold up a command with much to print.
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=theirs, env=environment)
        os.close(theirs)
        seen = read_until_the_end(ours, process)
        status = process.wait(timeout=60)
        printed.seek(0)
        return status, printed.read().decode(), seen.decode(errors="replace")


def read_until_the_end(terminal, process):
    """Return what a process writes to a terminal until it has ended."""
    seen = b""
    while True:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                new = os.read(terminal, 65536)
            except OSError:
                break
            if not new:
                break
            seen += new
        elif process.poll() is not None:
            break
    os.close(terminal)
    return seen


@pytest.mark.parametrize(
    ("command", "stage"),
    [
        (["verify", "mesh:32x32"], "mesh:32x32: proof of minimal: paths to destinations, "),
        (["show", "mesh:200x200", "--sample", "300"], r"mesh:200x200: facts: \w+, [\d,]+"),
        (["faults", "mesh:32x32", "--trials", "5000"], "mesh:32x32: failures: trials, "),
    ],
)
def test_people_see_how_far_a_long_computation_is(command, stage):
    status, out, seen = on_a_terminal(talkative([*command, "--json"]))
    assert status == 0
    assert re.search(stage, seen)
    json.loads(out)


def test_what_is_done_soon_shows_nothing():
    _, _, seen = on_a_terminal([*COMMAND, "list", "topologies", "--json"])
    assert seen == ""


def test_lines_come_now_and_then_where_nobody_watches(topoloom, monkeypatch):
    monkeypatch.setattr("topoloom.cli.watching.QUIET_S", 0.0)
    monkeypatch.setattr("topoloom.cli.watching.SAID_EVERY_S", 0.05)
    err = topoloom("verify", "mesh:32x32", "--json").err
    assert "topoloom: mesh:32x32: proof of minimal" in err


def test_no_warning_is_lost_that_is_not_ours(topoloom, monkeypatch):
    monkeypatch.setattr("topoloom.cli.listing.print_json", lambda _: warnings.warn("of a library", stacklevel=1))
    with pytest.warns(UserWarning, match="of a library"):
        topoloom("list", "topologies", "--json")
