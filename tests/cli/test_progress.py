"""Progress of long computations, on a terminal and elsewhere."""

import json
import os
import pty
import re
import select
import subprocess
import tempfile
import warnings

import pytest

from harness.processes import COMMAND, talkative

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
        (["verify", "mesh:64x64"], "mesh:64x64: proof of minimal: paths to destinations, "),
        (["show", "mesh:100x100", "--sample", "300"], r"mesh:100x100: facts: \w+, [\d,]+"),
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
    err = topoloom("verify", "mesh:40x40", "--json").err
    assert "topoloom: mesh:40x40: proof of minimal" in err


def test_no_warning_is_lost_that_is_not_ours(topoloom, monkeypatch):
    monkeypatch.setattr("topoloom.cli.listing.print_json", lambda _: warnings.warn("of a library", stacklevel=1))
    with pytest.warns(UserWarning, match="of a library"):
        topoloom("list", "topologies", "--json")
