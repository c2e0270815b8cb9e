"""What a user's machine hands to the program: endless files, narrow encodings, closed streams, small limits."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from topoloom import Study, TopoloomError, _core
from topoloom.studies.toml_lines import places

ENGINE = Path(__file__).parents[2] / "crates/topoloom/src"

TOPOLOOM = [sys.executable, "-m", "topoloom"]

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process has")

SWEEP = '[[sweep]]\nkind = "simulate"\nnetworks = ["mesh:4x4"]\n'


def process(*arguments, seconds=60, environment=(), **options):
    """Run the program in a process of its own."""
    options = {"capture_output": True} | options
    return subprocess.run(
        [*TOPOLOOM, *arguments], timeout=seconds, check=False, env={**os.environ, **dict(environment)}, **options
    )


def is_a_sentence(outcome):
    lines = outcome.err.splitlines()
    return outcome.status == 2 and len(lines) == 1 and lines[0].startswith("topoloom: error: ") and len(lines[0]) < 1300


# files


@pytest.mark.parametrize(
    "command",
    [
        ["simulate", "mesh:4x4", "--rates", "FIFO"],
        ["simulate", "mesh:4x4", "--traffic", "pairs:FIFO"],
        ["simulate", "mesh:4x4", "--traffic", "trace:FIFO"],
        ["simulate", "mesh:4x4", "--routing", "table:FIFO"],
        ["simulate", "mesh:4x4", "--links", "inside=2,cabinet=FIFO"],
        ["workload", "mesh:4x4", "--app", "goal:FIFO"],
        ["show", "file:FIFO,format=edges"],
        ["show", "mesh:4x4", "--prices", "FIFO.json"],
        ["layout", "mesh:4x4", "--layout", "cabinet=FIFO.csv"],
        ["permute", "FIFO"],
        ["import-lft", "mesh:4x4", "FIFO"],
        ["run", "FIFO"],
    ],
    ids=" ".join,
)
def test_a_pipe_is_not_waited_for(topoloom, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    for name in ("FIFO", "FIFO.json", "FIFO.csv"):
        os.mkfifo(name)
    outcome = topoloom(*command)
    assert is_a_sentence(outcome), outcome
    assert "FIFO" in outcome.err
    assert "regular file" in outcome.err or command[0] == "simulate"


TEXTS = {
    ("simulate", "mesh:2", "--load", "0.1", "--rates"): "0,1\n1,0.5\n",
    ("simulate", "mesh:2", "--load", "0.1", "--traffic", "pairs:"): "0,1\n",
    ("simulate", "mesh:2", "--traffic", "trace:"): "0,0,1,1\n",
    ("simulate", "mesh:2", "--load", "0.1", "--routing", "table:"): (
        "at,destination,port\n" + "".join(f"{at},{to},{int(at != to)}\n" for at in (0, 1) for to in (0, 1))
    ),
    ("workload", "mesh:2", "--app", "goal:"): "num_ranks 2\nrank 0 { send 8b to 1 }\nrank 1 { recv 8b from 0 }\n",
    ("show", "file:"): "0 1\n",
    ("show", "mesh:2", "--prices"): (ENGINE / "layout/prices/multitier.json").read_text(encoding="utf-8"),
    ("layout", "mesh:2", "--layout", "cabinet="): "0,A\n1,B\n",
    ("permute",): "switch_a,port_a,cabinet_a,switch_b,port_b,cabinet_b\n"
    + "".join(f"s{at},1,c{at // 2},s{(at + 1) % 8},2,c{(at + 1) % 8 // 2}\n" for at in range(8)),
    ("run", "--dry-run"): f'name = "x"\n{SWEEP}',
}
"""A command, to whose last argument the name of the file belongs, and what the file may hold."""


@pytest.mark.parametrize("command", TEXTS, ids=" ".join)
def test_a_mark_of_the_byte_order_is_no_part_of_the_text(topoloom, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name = "file.json" if command[-1] == "--prices" else "file.csv"
    arguments = [*command[:-1], command[-1] + name] if command[-1][-1] in ":=" else [*command, name]
    (tmp_path / name).write_text(TEXTS[command], encoding="utf-8")
    plain = topoloom(*arguments)
    assert plain.status == 0, plain.err
    (tmp_path / name).write_text(TEXTS[command], encoding="utf-8-sig")
    marked = topoloom(*arguments)
    assert marked.status == 0, marked.err


def test_a_file_that_memory_cannot_hold_is_not_read(topoloom, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(_core.available_memory() // 2)
    for command in (
        ["permute", str(large)],
        ["run", str(large)],
        ["show", f"file:{large}"],
        ["simulate", "mesh:4x4", "--rates", str(large)],
        ["simulate", "mesh:4x4", "--routing", f"table:{large}"],
    ):
        outcome = topoloom(*command)
        assert is_a_sentence(outcome), outcome
        assert "MB, too many to read" in outcome.err


@LINUX
def test_weights_of_edges_are_no_more_links_than_memory_holds(tmp_path):
    routers = 41
    row = lambda router: " ".join(f"{other + 1} 1000000" for other in range(routers) if other != router)  # noqa: E731
    text = f"{routers} {routers * (routers - 1) // 2} 001\n" + "\n".join(row(router) for router in range(routers))
    (tmp_path / "heavy.graph").write_text(text + "\n")
    done = process("show", f"file:{tmp_path / 'heavy.graph'}", preexec_fn=lambda: limit(resource.RLIMIT_AS, 3 * 10**9))
    assert done.returncode == 2, done
    assert b"links up to here need about" in done.stderr


# memory


def limit(which, count):
    resource.setrlimit(which, (count, count))


@LINUX
@pytest.mark.parametrize("which", [resource.RLIMIT_AS, resource.RLIMIT_DATA], ids=["address space", "data"])
@pytest.mark.parametrize("command", ["show mesh:8000x8000", "workload mesh:100x100 --app alltoall:tasks=10000"])
def test_the_limits_of_a_process_count_as_memory(which, command):
    done = process(*command.split(), preexec_fn=lambda: limit(which, 1_500_000_000))
    assert done.returncode == 2, done
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"topoloom: error: ")


# studies


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"name = 'x'\nseeds = {'9' * 5000}\n", "line 2: a whole number has more than 4300 digits"),
        (f"name = 'x'\n{SWEEP}seeds = '1:99999999999999999999'\n", "line 5: seeds is '1:99999999999999999999', 9999"),
        (f"name = 'x'\n{SWEEP}seeds = '1:{'9' * 6000}'\n", "line 5: seeds is '1:99"),
        (f"name = 'x'\n{SWEEP}seeds = '{2**64}'\n", f"line 5: seeds is {2**64}"),
        (f"name = 'x'\nvalues = {'[' * 3000}{']' * 3000}\n", "nested too deep"),
        (f"name = 'x'\nvalues = {'{a = ' * 3000}", "nested too deep"),
        ("name = 'x'\n[[sweep]]\nkind = 'facts'\nnetworks = [\"file:a\\u0000b.edges\"]\n", "line 4: networks has the"),
        (f'name = "x"\n{SWEEP}options = {{rates = "a\\u0000b"}}\n', "line 5: options has the character \\u0000"),
        (f"name = 'x'\n{SWEEP}seeds = '1:100000'\nloads = '0.001:1:0.001'\n", "line 2: 100,000,000 points"),
        (f"name = 'x'\n{SWEEP}loads = '0:1:1e-5000'\n", "line 5: load '1e-5000'"),
        (f"name = 'x'\n{SWEEP}options = {{vcs = 99999999999999999999}}\n", "4294967295"),
        (f"name = 'x'\n{SWEEP}options = {{rates = '/dev/zero'}}\n", "/dev/zero: it is no regular file"),
        (f"name = 'x'\n{SWEEP}traffic = 'pairs:/dev/zero'\n", "/dev/zero: it is no regular file"),
    ],
)
def test_a_study_that_cannot_be_is_one_sentence(topoloom, tmp_path, text, told):
    (tmp_path / "s.toml").write_text(text)
    began = time.monotonic()
    outcome = topoloom("run", str(tmp_path / "s.toml"), "--dry-run")
    assert is_a_sentence(outcome), outcome
    assert told in outcome.err
    assert time.monotonic() - began < 10


def test_blanks_behind_a_bracket_do_not_slow_the_reading_of_a_study(tmp_path):
    text = f'name = "x"\ndescription = """\n[{" " * 3000}\n"""\n[[sweep]]\nkind = "facts"\nnetworks = "mesh:4"\n'
    began = time.monotonic()
    assert Study.parse(text).points()[0].spec == "mesh:4"
    assert time.monotonic() - began < 5


def test_tables_are_found_whatever_blanks_stand_about():
    text = '[ a ] # b\nc = 1\n[[ d."e" ]]\nf = 2\nvalues = [\n[1, 2],\n]\n[]]\n[ ]\n[x] y\n'
    assert places(text) == {
        ("a",): 1,
        ("a", "c"): 2,
        ("d", "e", 0): 3,
        ("d", "e", 0, "f"): 4,
        ("d", "e", 0, "values"): 5,
    }


def test_a_study_built_in_python_has_its_limits_too():
    with pytest.raises(TopoloomError, match="100,000,000 points"):
        Study(name="x", sweep=[{"networks": ["mesh:4"], "seeds": "1:100000", "loads": "0.001:1:0.001"}]).points()


# options


def test_bursts_at_a_load_of_next_to_nothing_end(topoloom):
    options = ["--injection", "on-off:alpha=1e-9,beta=1e-9", "--warmup", "1000", "--measure", "20000"]
    began = time.monotonic()
    assert topoloom("simulate", "mesh:4x4", "--load", "1e-9", *options).status in (0, 3)
    assert time.monotonic() - began < 20


def test_a_dollar_sign_in_a_name_is_no_formula(topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a$b_{$c.edges").write_text("0 1\n1 2\n")
    spec = "file:a$b_{$c.edges"
    for command in (
        ["show", spec, "--plot", "a.svg"],
        ["layout", spec, "--plot", "b.svg"],
        ["faults", spec, "--trials", "2", "--plot", "c.svg"],
        ["workload", spec, "mesh:3", "--app", "allreduce", "--plot", "d.svg"],
    ):
        assert topoloom(*command).status == 0
    assert all(Path(f"{name}.svg").stat().st_size for name in "abcd")


def test_comparing_what_saturates_at_no_load_prints_its_progress(topoloom):
    # At this load the network is past saturation: there is no stable load.
    outcome = topoloom("compare", "mesh:4x4", "--traffic", "hotspot:nodes=0", "--routing", "dor", "--load", "1")
    assert outcome.status in (0, 3)
    assert "internal error" not in outcome.err
    assert "1 of 1: mesh:4x4, dor, hotspot:nodes=0" in outcome.err


# streams


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_narrow_encoding_gets_escapes(encoding, tmp_path):
    environment = {"PYTHONIOENCODING": encoding}
    for command in (["show", "mesh:4x4"], ["list", "topologies"], ["list", "prices"]):
        done = process(*command, environment=environment)
        assert done.returncode == 0, done
        done.stdout.decode(encoding)
    (tmp_path / "é.edges").write_text("0 1\n")
    done = process("show", f"file:{tmp_path / 'é.edges'}", "--json", environment=environment)
    assert json.loads(done.stdout.decode(encoding))[0]["spec"].endswith("é.edges")


def test_a_graph_on_standard_output_is_what_stands_in_a_file(tmp_path):
    (tmp_path / "named.edges").write_text("é à\nà ü\n", encoding="utf-8")
    spec, out = f"file:{tmp_path / 'named.edges'}", tmp_path / "out.graphml"
    assert process("export", spec, "--out", str(out)).returncode == 0
    done = process("export", spec, "--format", "graphml", environment={"PYTHONIOENCODING": "ascii"})
    assert done.stdout == out.read_bytes()


@pytest.mark.parametrize("argument", [b"mesh:4x4\xff", b"--plot=\xff.svg"])
def test_an_argument_that_is_no_text_is_a_mistake(argument):
    done = process("show", "mesh:4", argument)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"topoloom: error: '")
    assert b"\\xff" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_closed_standard_output_is_a_mistake():
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *TOPOLOOM, "show", "mesh:4x4"], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == b"topoloom: error: standard output is closed; direct it to a file, or to /dev/null\n"


def test_a_closed_standard_error_changes_nothing():
    done = [
        subprocess.run(["sh", "-c", script, "sh", *TOPOLOOM, *command], stdout=subprocess.PIPE, check=False)
        for command in (["show", "mesh:4x4"], ["show", "tours:4"])
        for script in ('"$@" 2>&-', '"$@" 2>/dev/null', '"$@" 2>/dev/full')
    ]
    assert [each.returncode for each in done] == [0, 0, 0, 2, 2, 2]
    assert done[0].stdout == done[1].stdout == done[2].stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("command", [["show", "mesh:4x4", "--json"], ["export", "mesh:4x4", "--format", "graphml"]])
def test_a_full_disk_is_a_mistake(command):
    with Path("/dev/full").open("w") as full:
        done = process(*command, stdout=full, capture_output=False, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == b"topoloom: error: output: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["typing_extensions", "pydantic_core", "topoloom._core"])
def test_a_signal_while_the_program_is_loaded_is_one_line(module, number):
    began = subprocess.Popen(
        [sys.executable, "-X", "importtime", *TOPOLOOM[1:], "simulate", "mesh:16x16"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in began.stderr:
        if line.split("|")[-1].strip() == module:
            break
    began.send_signal(number)
    _, errors = began.communicate(timeout=60)
    assert began.returncode == 130
    assert [line for line in errors.splitlines() if not line.startswith("import time:")] == ["topoloom: interrupted"]
