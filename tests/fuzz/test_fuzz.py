"""A few hundred random inputs of each kind end in a result or in one sentence. ``make fuzz`` runs many more."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runner import executed, judged
from targets import TARGETS, Case

RUNNER = Path(__file__).with_name("runner.py")

CASES = 400
SECONDS = float(os.environ.get("FUZZ_SECONDS", "2"))
"""How long a target runs at the most."""


def fuzzed(target: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(RUNNER), target, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_random_input_ends_in_a_result_or_a_sentence(target, tmp_path):
    done = fuzzed(target, tmp_path, "--cases", str(CASES), "--seconds", str(SECONDS))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    under_way = (tmp_path / "case.json").read_text() if not told or "ran" not in told[-1] else ""
    assert done.returncode == 0, (told, under_way, done.stderr[-2000:])
    assert told[-1]["ran"] > 0


@pytest.mark.parametrize(
    ("status", "out", "err", "what"),
    [
        (0, "a table\n", "", None),
        (0, "a table\n", "topoloom: a note\n", None),
        (2, "", "topoloom: error: a sentence\n", None),
        (70, "", "topoloom: internal error: a bug\n", "status 70"),
        (-6, "", "", "status -6"),
        (2, "", "", "0 mistakes"),
        (0, "", "topoloom: error: a sentence\n", "1 mistakes"),
        (2, "", "topoloom: error: a\ntopoloom: error: b\n", "2 mistakes"),
        (2, "a table\n", "topoloom: error: a sentence\n", "results beside"),
        (2, "", "topoloom: error: two\nlines\n", "more than one line"),
        (2, "", f"topoloom: error: {'x' * 2000}\n", "nobody reads"),
        (2, "", "topoloom: error: \x1b[2J\n", "cursor"),
    ],
)
def test_the_judge_sees_what_is_wrong(status, out, err, what):
    found = judged(status, out, err)
    assert found is None if what is None else what in found


def test_a_bug_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def broken(self, spec):
        raise IndexError("planted")

    monkeypatch.setattr("topoloom.network.networks.Network.__init__", broken)
    assert judged(*executed(Case(["show", "mesh:4"]))) == "status 70"


def test_a_case_that_hangs_or_kills_the_process_is_found(tmp_path):
    planted = "import runner, os, time; runner.LONGEST_S = 0.5; runner.run = lambda arguments: {}; runner.main()"
    for deed in ("time.sleep(60)", "os.abort()"):
        done = subprocess.run(
            [sys.executable, "-c", planted.format(deed), "specs", "--cases", "3"],
            cwd=tmp_path,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(RUNNER.parent)},
            timeout=60,
            check=False,
        )
        assert done.returncode != 0
        assert b'"ran"' not in done.stdout
        assert json.loads((tmp_path / "case.json").read_text())["number"] == 0
