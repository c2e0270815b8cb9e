"""The bench beside peers, with programs that print what the real ones print."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "bench.py"

ENGINE = """
import json, sys, time
config = json.loads(sys.argv[5])
while time.process_time() < 0.2:
    pass
print(json.dumps({"cycles": config["warmup"] + config["measure"], "latency_cycles": 22.0, "accepted": 0.3}))
"""

BOOKSIM = """
import re, sys, time
text = open(sys.argv[1]).read()
number = lambda key: int(re.search(rf"{key} = (\\d+);", text)[1])
while time.process_time() < 0.2:
    pass
print("Packet latency average = 1.0 (1 samples)")
print("Time taken is", number("sample_period") * number("max_samples"), "cycles")
print("Packet latency average = 20 (1 samples)")
print("Accepted flit rate average = 0.31 (1 samples)")
sys.exit(255)
"""

YARDSTICK = """
import sys
given = dict(word.split("=") for word in sys.argv[1:])
print(f"fh=1 lat=22.5 acc=0.29 hops=2 n=3 left=0 cycles={int(given['warm']) + int(given['meas'])} cpu=0.1")
"""

CAMINOS = """
import re, sys
print("git_id=unknown version_number=0.0.1")
if sys.argv[1] == "--help":
    sys.exit()
text = open(sys.argv[1]).read()
assert text.count("{") == text.count("}"), text
assert [re.search(rf"{key}: (\\d+),", text)[1] for key in ("warmup", "measured", "servers")] == ["200", "1800", "1056"]
print("accepted_load: 0.4, average_message_delay: 8.25, average_packet_hops: 2.8")
"""


def program(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return str(path)


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, PROGRAM, *words], capture_output=True, text=True, check=False)


@pytest.fixture
def programs(tmp_path):
    return ["--engine", program(tmp_path, "point", ENGINE), "--booksim", program(tmp_path, "booksim", BOOKSIM)]


def test_the_ratio_is_of_cycles_a_second_of_processor_time(programs):
    out = bench(*programs, "--case", "mesh", "--runs", "2").stdout
    line = next(line for line in out.splitlines() if line.startswith("mesh"))
    # 400,000 cycles and 10,000, in the same time.
    ratio, low, high = map(float, re.search(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", line).groups())
    assert low <= ratio <= high
    assert ratio == pytest.approx(40, rel=0.5)
    assert "22.00    20.00  +10.0%  0.3000 0.3100" in line


def test_it_says_how_a_peer_was_built(programs, tmp_path):
    (tmp_path / "Makefile").write_text("CPPFLAGS += -Wall $(INCPATH)\nCPPFLAGS += -O3\nCPPFLAGS += -g\n")
    source = tmp_path / "networks" / "flatfly_onchip.cpp"
    source.parent.mkdir()
    source.write_text("  assert(_xrouter == _yrouter);\n")
    words = [*programs, "--case", "mesh", "--runs", "1", "--share", "0.1"]
    assert "booksim, flags -O3 -g, source as it is" in bench(*words).stdout
    source.write_text("  //assert(_xrouter == _yrouter);\n")
    assert "flags -O3 -g, asserts of flatfly_onchip.cpp about square concentrations taken out" in bench(*words).stdout


def test_a_peer_runs_the_cases_that_it_has(programs, tmp_path):
    yardstick = program(tmp_path, "yardstick", YARDSTICK)
    out = bench(*programs, "--yardstick", yardstick, "--case", "hyperx-valiant", "--runs", "1").stdout
    assert [line.split()[1] for line in out.splitlines() if line.startswith("hyperx-valiant")] == ["yardstick"]
    assert "22.00    22.50   -2.2%  0.3000 0.2900" in out


def test_caminos_runs_by_a_configuration_of_its_own(programs, tmp_path):
    caminos = program(tmp_path, "caminos", CAMINOS)
    out = bench(*programs[:2], "--caminos", caminos, "--case", "dragonfly-min", "--case", "mesh", "--runs", "1").stdout
    assert f"CAMINOS: {caminos}, version 0.0.1" in out
    (line,) = [line for line in out.splitlines() if line.startswith(("dragonfly-min", "mesh"))]
    assert "22.00     8.25 +166.7%  0.3000 0.4000" in line


def test_booksim_measures_after_a_warm_up(programs, tmp_path):
    """A short run has a warm-up of some latencies all the same, and then measures."""
    said = program(tmp_path, "said", BOOKSIM.replace("sys.exit(255)", "open(__file__ + '.log', 'w').write(text)"))
    bench(*programs[:2], "--booksim", said, "--case", "dragonfly", "--runs", "1", "--share", "0.01")
    text = Path(f"{said}.log").read_text()
    assert "sample_period = 500;" in text
    assert "max_samples = 2;" in text


def test_what_does_not_run_is_a_sentence(programs, tmp_path):
    broken = program(tmp_path, "broken", "print('Assertion failed')")
    for words, said in (
        (programs[:2], "no peer; give BOOKSIM="),
        ([*programs[:2], "--booksim", str(tmp_path / "none")], "cannot be run: No such file or directory"),
        (
            [*programs[:2], "--booksim", broken],
            "does not say 'Time taken is'; the end of what it says: 'Assertion failed'",
        ),
    ):
        done = bench(*words, "--case", "mesh", "--runs", "1")
        assert done.returncode == 2, done
        assert said in done.stderr
        assert "Traceback" not in done.stderr
