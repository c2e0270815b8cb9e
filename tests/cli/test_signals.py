"""Ctrl-C and SIGTERM, and runs that go on where they were interrupted."""

import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import topoloom
from harness.engine import proof_of
from harness.lengths import with_long
from harness.outcome import timeless
from harness.processes import COMMAND, interrupt, talkative
from topoloom import _core
from topoloom.studies import Ledger

LONG_CALLS = {
    "verify": ("torus:128x128", "n.verify('min')"),
    "facts": ("random-regular:60000,degree=8", "n._facts(None, True)"),
    "bound": ("mesh:64x64", "n.bound('val')"),
    "faults": ("torus:64x64", "n.faults(trials=100000)"),
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
    # A bound lists the demands of all pairs of routers first, without looking.
    assert ending.took_s < (3 if call == "bound" else 0.7)


def test_a_computation_in_another_thread_is_cancelled():
    token, caught = _core.CancelToken(), []

    def work():
        token.enter()
        try:
            # It is soon at its last stage, which lasts long.
            proof_of("torus:48x48", "duato")
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


ONE_LONG = ["mesh:3x3", "mesh:9x9", "--routing", "minimal", "--load", "0.2,0.4", "--warmup", "200"]
"""Two networks, of which one takes longer than the other."""


def interrupted(command, number, line, cwd):
    """Run a command until it says a line, send a signal, and return status, output and errors."""
    process = subprocess.Popen([*COMMAND, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
    told = process.stderr.readline()
    assert line in told, told + process.stderr.read()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("more", with_long([[], ["--store", "kept"]], lambda more: not more))
def test_a_comparison_goes_on_where_sigterm_ended_it(tmp_path, more):
    command = ["compare", *ONE_LONG, "--measure", "3000", "--out", "r.html", "--json", *more]
    status, out, err = interrupted(command, signal.SIGTERM, "1 of 2: mesh:3x3", tmp_path)
    store = more[1] if more else "r.html.store"
    assert status == 130
    assert json.loads(out)["interrupted"]
    assert f"and kept in {store}; the same command resumes" in err
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
    monkeypatch.setattr("topoloom._core.Simulation.point_and_channels", None)
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
    command = ["saturation", "mesh:8x8", "--warmup", "200", "--measure", "3000", "--json"]
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
    assert "kept in kept; the same command resumes" in err
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
    assert "1 of 5 points are done, and the same command resumes" in err
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
