"""A user's mistake is one sentence on stderr and exit status 2, never a traceback."""

import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

MISTAKES = [
    # what there is not
    ("show tours:4x4", "did you mean 'torus'"),
    ("show xyzzy", "unknown topology 'xyzzy'"),
    ("simulate mesh:4x4 --routing drr", "did you mean 'dor'"),
    ("simulate mesh:4x4 --traffic unifrom", "did you mean 'uniform'"),
    ("simulate mesh:4x4 --model extol", "model"),
    ("shwo mesh:4x4", "did you mean 'show'"),
    ("simulate mesh:4x4 --laod 0.1", "did you mean '--load'"),
    ("simulate mesh:4x4 --load 0.1 --load 0.2", "--load is given twice; it takes one value"),
    ("reproduce flex --only fig1 --json --only fig3", "--only is given twice; it takes one ITEM,…"),
    ("list routing", "did you mean 'routings'"),
    ("list", "missing argument"),
    ("show", "missing argument"),
    ("simulate mesh:4x4 extra", "extra"),
    ("simulate mesh:4x4 --load", "--load"),
    # specs
    ("show mesh", "sizes are missing"),
    ("show mesh:", "sizes are missing"),
    ("show mesh:4x0", "whole number from 1"),
    ("show mesh:-4x4", "whole number from 1"),
    ("show mesh:4x4,q=3", "unknown key of mesh 'q'"),
    ("show mesh:4x4,p=2,p=3", "twice"),
    ("show mesh:4x4,p=", "no value"),
    ("show mesh:4x4,p=1.5", "whole number"),
    ("show mesh:4xa", "'a'"),
    ("show mesh:4x4,rate=400", "must be bits or bytes per second above 0, as in 400G"),
    ("show mesh:4x4,rate=0G", "must be bits or bytes per second above 0"),
    ("show mesh:4x4,rate=-4G", "must be bits or bytes per second above 0"),
    ("show mesh:4x4,delay=0ns", "must be a time above 0 with its unit"),
    ("show mesh:4x4,delay=5", "must be a time above 0 with its unit"),
    ("show mesh:4x4,rate.locl=4G", "did you mean 'rate.local'"),
    ("show mesh:4x4,rate.global=4G", "rate.global is given, but this network has no such links"),
    ("show dragonfly:a=2,h=1,rate.global=4G", "terminal links have none; give rate.terminal"),
    ("simulate mesh:4x4,delay=100ns --load 0.1", "delays in nanoseconds but no rates"),
    ("workload mesh:4x4 --app allreduce --endpoint overhed=1us", "did you mean 'overhead'"),
    ("workload mesh:4x4 --app allreduce --endpoint overhead=1", "must be a time with its unit"),
    ("show cluster:hosts=4", "fabric is missing"),
    ("show cluster:hosts=4,host=dgx,fabric=(mesh:4,rate=1G)", "unknown host 'dgx'"),
    ("show cluster:hosts=9,fabric=(mesh:4,rate=1G)", "5 are missing"),
    ("verify cluster:hosts=4,fabric=(mesh:4,rate=1G) --routing hosts:nic=rial", "did you mean 'rail'"),
    ("show slimfly:q=6", "prime power"),
    ("show slimfly:q=2", "prime power"),
    ("show dragonfly:a=8", "h"),
    ("show dragonfly:a=8,h=4,g=99", "g"),
    ("show fattree:k=1,levels=3", "k"),
    ("show fattree:k=4,levels=3,taper=5", "leaves no uplink"),
    ("show clos:radix=7,levels=3", "must be even"),
    ("show clos:radix=8,levels=2,taper=2x2", "taper has 2 numbers"),
    ("show clos:radix=8,levels=3,taper=half", "taper is 'half'"),
    ("show clos:radix=8,levels=99", "levels is 99"),
    ("show xgft:down=4x4,up=4x4", "up has 2 numbers"),
    ("show hypercube:99", "GB"),
    ("show folded-hypercube:1", "needs 2 or more"),
    ("show dragonfly-plus:leaf=4,spine=4,h=2,g=10", "at most spine*h+1 = 9 groups"),
    ("show dragonfly-plus:leaf=4,spine=4,h=2,seed=2", "arrangement=random only"),
    ("show ring:9,degree=3", "must be even"),
    ("show ring:2,degree=2", "3 routers or more"),
    ("show ring:8,degree=8", "at most 7 links"),
    ("show ring:8", "degree is missing"),
    ("show random-regular:9,degree=3", "it must be even"),
    ("show random-regular:9,degree=9", "at most 8 links"),
    ("show random-regular:4,degree=1", "2 links per router"),
    ("show galaxyfly:n=4,q=9,a=3,h=100000", "h is 100000; it must be from 3 to 1024"),
    ("show myriclos:1000", "power of two from 32 to 8192"),
    ("show torus:100000x100000", "GB"),
    ("show mesh:99999999999x2", "99999999999"),
    ("show hyperx:100000,p=100000", "GB"),
    # routing and traffic that do not go with the network
    ("simulate slimfly:q=5,p=3 --routing dor", "does not offer"),
    ("simulate mesh:4x4 --routing nca", "does not offer"),
    ("verify mesh:4x4 --routing anca", "does not offer"),
    ("simulate dragonfly:a=4,h=2,p=2 --routing min --router vcs=1", "needs 2 VCs"),
    ("simulate torus:4x4 --routing dor --router vcs=1", "needs 2 VCs"),
    ("simulate mesh:4x4 --traffic next-group", "next-group"),
    ("simulate mesh:4x4 --traffic uniform:bits=3", "unknown key of uniform"),
    ("simulate mesh:2x4 --traffic transpose", "even number of bits"),
    # loads
    ("simulate mesh:4x4 --load 1.5", "between 0 and 1"),
    ("simulate mesh:4x4 --load -0.1", "between 0 and 1"),
    ("simulate mesh:4x4 --load much", "not a number"),
    ("simulate mesh:4x4 --load nan", "not a number"),
    ("simulate mesh:4x4 --load 0.1:0.9", "first:last:step"),
    ("simulate mesh:4x4 --load 0.1:0.9:0", "step"),
    ("simulate mesh:4x4 --load 0.9:0.1:0.1", "ends before it begins"),
    ("simulate mesh:4x4 --load 0:1:0.0000001", "at most"),
    ("simulate mesh:4x4 --load ''", "not a number"),
    # options of the engine
    ("simulate mesh:4x4 --router vc=4", "did you mean 'vcs'"),
    ("simulate mesh:4x4 --router vcs", "not key=value"),
    ("simulate mesh:4x4 --router vcs=4,vcs=2", "twice"),
    ("simulate mesh:4x4 --router vcs=0", "vcs is 0"),
    ("simulate mesh:4x4 --router vcs=1000", "vcs is 1000"),
    ("verify galaxyfly:n=4,q=9,a=3 --routing nag --router vcs=0", "vcs is 0; it must be from 1 to 64"),
    ("verify mesh:4x4 --router vcs=65 --json", "vcs is 65; it must be from 1 to 64"),
    ("simulate mesh:4x4 --router vcs=2.5", "integer"),
    ("simulate mesh:4x4 --router buffer=-1", "buffer is '-1'"),
    ("simulate mesh:4x4 --router speedup=0.5", "speedup is 0.5"),
    ("simulate mesh:4x4 --router speedup=inf", "finite"),
    ("simulate mesh:4x4 --router allocator=wave", "'wavefront'"),
    ("simulate mesh:4x4 --router allocator=wavefront,iterations=2", "it must be 1"),
    ("simulate mesh:4x4 --router buffers=shard:5", "did you mean 'shared'"),
    ("simulate mesh:4x4 --router buffers=shared", "buffers=shared:5"),
    ("simulate mesh:4x4 --router buffers=private:5", "takes no number"),
    ("simulate mesh:4x4 --router buffers=shared:0", "without end"),
    ("simulate mesh:4x4 --router buffer=8,buffers=shared:9", "at most 8"),
    ("simulate mesh:4x4 --router vcs=8,buffer=60000,buffers=shared:9", "at most 65535 can be shared"),
    ("simulate mesh:4x4 --router flow=cut-through", "'wormhole' or 'vct'"),
    ("simulate mesh:4x4 --router flow=vct,buffer=8 --packet 9", "packets of 9 flits do not fit into buffers of 8"),
    ("simulate mesh:4x4 --router flow=vct,buffer=8,buffers=shared:5 --packet 9", "do not fit into buffers of 8 flits"),
    ("simulate mesh:4x4 --links lokal=3", "did you mean 'local'"),
    ("simulate mesh:4x4 --links local=0", "local"),
    ("simulate mesh:4x4 --packet 32-1", "ends before it begins"),
    ("simulate mesh:4x4 --packet 0-4", "packet is 0"),
    ("simulate mesh:4x4 --packet 1-99999", "packet is 99999"),
    ("simulate mesh:4x4 --packet 2.5", "packet is '2.5'; it must be flits"),
    ("simulate mesh:4x4 --packet -4", "packet"),
    ("simulate mesh:4x4 --packet four", "packet is 'four'; it must be flits"),
    ("simulate mesh:4x4 --packet 4:0.8,16", "'16' has no weight"),
    ("simulate mesh:4x4 --packet 4:0.8,16:-1", "weight of 16"),
    ("simulate mesh:4x4 --packet 4:0.8,4:0.2", "4 is given twice"),
    ("simulate mesh:4x4 --packet 4:1e308,5:1e308", "the weight of 4 must be a number above 0, at most 1e100"),
    ("simulate mesh:4x4 --router flow=vct,buffer=8 --packet 1-9", "packets of 9 flits"),
    ("simulate mesh:4x4 --packet 0", "packet is 0"),
    ("simulate mesh:4x4 --injection poisson", "unknown injection"),
    ("simulate mesh:4x4 --injection on-off:alpha=2,beta=0.1", "alpha is 2; it must be a number above 0, up to 1"),
    ("simulate mesh:4x4 --injection on-off:alpha=0.1", "both"),
    ("simulate mesh:4x4 --load 0.9 --injection on-off:alpha=0.1,beta=0.9", "cannot reach"),
    ("simulate mesh:4x4 --rates /nonexistent/rates.csv", "/nonexistent/rates.csv"),
    ("simulate mesh:4x4 --threads 0", "threads is 0"),
    ("simulate mesh:4x4 --seed one", "seed"),
    ("simulate mesh:4x4 --seed -1", "seed"),
    ("simulate mesh:4x4 --warmup 100", "both or neither"),
    ("simulate mesh:4x4 --measure 100", "both or neither"),
    # prices and layouts
    ("show mesh:4x4 --prices edr-flx", "did you mean 'edr-flex'"),
    ("layout mesh:4x4 --prices /nonexistent/mine.json", "/nonexistent/mine.json cannot be read"),
    ("layout mesh:4x4 --layout cabnet=4", "did you mean 'cabinet'"),
    ("layout mesh:4x4 --layout cabinet=0", "cabinet is 0"),
    ("layout mesh:4x4 --layout cabinet", "not key=value"),
    ("layout mesh:4x4 --layout width=wide", "width is 'wide'; it must be metres"),
    ("layout mesh:4x4 --layout cabinet=4,rows=1,columns=3", "4 cabinets do not fit"),
    ("layout mesh:4x4 --layout rows=2", "by coordinates"),
    ("layout mesh:4 --prices fdr10-slimfly", "would cost"),
    ("layout mesh:4x4 mesh:5x5 --cables cables.csv", "one network"),
    ("layout mesh:4x4 --cables /nonexistent/cables.csv", "/nonexistent/cables.csv"),
    ("layout", "missing argument"),
    ("candidates --terminals 9 --radix 8 --each 0", "--each is '0'; it must be a whole number from 1"),
    ("candidates --terminals 9 --radix 8 --each 1.5", "--each is '1.5'; it must be a whole number from 1"),
    ("candidates --terminals 9 --radix 8 --min-beta x", "--min-beta is 'x'; it must be a number"),
    ("synthesise --routers 9 --degree 4 --minimise x", "--minimise: 'x' is not one of 'load', 'distance'"),
    ("run own.toml --workers -1", "--workers is '-1'; it must be a whole number from 1"),
    ("list price", "did you mean 'prices'"),
    # pictures
    ("show mesh:4x4 --plot mesh.gif", "unknown ending of a picture '.gif'"),
    ("show mesh:4x4 --plot mesh", "unknown ending of a picture ''"),
    ("show mesh:4x4 --plot /nonexistent/mesh.svg", "/nonexistent/mesh.svg"),
    ("show hyperx:800 --plot /nonexistent/large.svg", "/nonexistent/large.svg"),
    ("layout mesh:4x4 --plot /nonexistent/mesh.png", "/nonexistent/mesh.png"),
    ("layout mesh:4x4 --plot mesh.jpeg", "did you mean"),
    # numbers that no room is for
    ("show mesh:4x4 --sample 5000000000", "sample is 5000000000; it must be a whole number from 1 to 4294967295"),
    ("show mesh:4x4 --sample 2 --seed 99999999999999999999", "from 0 to 18446744073709551615"),
    ("show mesh:4x4 --seed 99999999999999999999", "from 0 to 18446744073709551615"),
    ("show mesh:4x4 --sample " + "9" * 5000, "--sample"),
    ("simulate mesh:4x4 --seed 99999999999999999999", "18446744073709551615"),
    ("simulate mesh:4x4 --seed " + "9" * 5000, "seed"),
    ("simulate mesh:4x4 --router vcs=99999999999999999999", "4294967295"),
    ("simulate mesh:4x4 --threads 99999999999999999999", "4294967295"),
    ("simulate mesh:4x4 --warmup 99999999999999999999 --measure 1", "18446744073709551615"),
    ("simulate mesh:4x4 --fail links=1,seed=99999999999999999999", "18446744073709551615"),
    ("simulate mesh:4x4 --traffic random-permutation:seed=99999999999999999999", "18446744073709551615"),
    ("permute lists.csv --seed 99999999999999999999", "18446744073709551615"),
    ("permute lists.csv --trials 99999999999999999999", "4294967295"),
    ("simulate mesh:4x4 --load 0:1:1e-5000", "1e-5000"),
    ("simulate mesh:4x4 --load 0:1:1e-250", "at most 10000"),
    ("simulate mesh:4x4 --load 1e-99999999", "out of all range"),
    ("simulate mesh:4x4 --load 0:1e999999999999:0.1", "out of all range"),
    ("export mesh:4x4 --format slurm --nodes n[0-99999999999]", "more names than the 16 terminals"),
    ("export mesh:4x4 --format slurm --nodes n[0-" + "9" * 5000 + "]", "no list of names"),
    # input that is long or deep
    ("show " + "permuted:two-cab(" * 3000 + "mesh:2x2" + ")" * 3000, "nested more than 16 deep"),
    ("show " + "x" * 100_000, "unknown topology"),
    ("show mesh:4x4,p=" + "y " * 50_000, "it must be a whole number from 1 up"),
    ("simulate mesh:4x4 --traffic " + "z" * 100_000, "there are"),
    # what is no regular file
    ("simulate mesh:4x4 --traffic pairs:/dev/zero", "/dev/zero: it is no regular file"),
    ("simulate mesh:4x4 --rates /dev/full", "/dev/full: it is no regular file"),
    ("simulate mesh:4x4 --rates /", "/: it is a folder"),
    ("simulate mesh:4x4 --routing table:/dev/zero", "/dev/zero: it is no regular file"),
    ("workload mesh:4x4 --app goal:/dev/zero", "/dev/zero: it is no regular file"),
    ("workload mesh:4x4 --app messages:/dev/zero", "/dev/zero: it is no regular file"),
    ("layout mesh:4x4 --layout cabinet=/dev/../dev/zero.csv", "/dev/zero.csv"),
    ("show file:/dev,format=edges", "it is a folder"),
    ("permute /dev/zero", "/dev/zero cannot be read: it is no regular file"),
    ("run /dev/zero", "/dev/zero cannot be read: it is no regular file"),
    ("run /", "it is a folder"),
    ("import-lft mesh:4x4 /dev/zero", "/dev/zero"),
    # commands' own
    ("compare mesh:4x4 --traffic uniform,", "commas"),
    ("compare mesh:4x4 --out /nonexistent/report.html", "/nonexistent/report.html"),
    (
        "workload mesh:2x2 --app reduce --goal /nonexistent/x.goal",
        "/nonexistent/x.goal cannot be written: No such file",
    ),
    ("workload mesh:2x2 --app reduce --chakra /nonexistent/x/y", "/nonexistent/x/y cannot be written: No such file"),
    ("compare mesh:4x4 --store /proc/x", "/proc/x cannot be used as a store of results"),
    ("saturation mesh:4x4 --store /proc/x", "/proc/x cannot be used as a store of results"),
    ("compare mesh:4x4 mesh:4xx4", "mesh:4xx4"),
    ("show mesh:4x4 mesh:5x5 --edges links.csv", "one network"),
    ("show mesh:4x4 --edges /nonexistent/links.csv", "/nonexistent/links.csv"),
    ("faults mesh:4x4 --fractions 0:1.5:0.1", "between 0 and 1"),
    ("faults mesh:4x4 --fractions half", "not a number"),
    ("faults mesh:4x4 --trials 0", "trials is '0'"),
    ("faults mesh:4x4 --trials 1e3", "trials is '1e3'"),
    ("faults mesh:4x4 --trials 1000000 --fractions 0:1:0.001", "too many"),
    ("faults mesh:4x4 --seed -1", "seed is '-1'"),
    ("faults mesh:4x4 --kind cables", "'links' or 'routers'"),
    ("faults 'mesh:4x4 --fail links=1'", "has failures already"),
    ("simulate mesh:4x4 --fail links=105%", "from 0% to 100%"),
    ("simulate mesh:4x4 --fail links=25", "mesh:4x4 has 24 links"),
    ("simulate mesh:4x4 --fail links=0.05", "percentage"),
    ("simulate mesh:4x4 --fail links=-1", "whole number from 0"),
    ("simulate mesh:4x4 --fail link=5%", "did you mean 'links'"),
    ("simulate mesh:4x4 --fail links", "not key=value"),
    ("simulate mesh:4x4 --fail ''", "not key=value"),
    ("simulate mesh:4x4 --fail seed=3", "nothing fails"),
    ("simulate mesh:4x4 --fail links=1,seed=x", "seed is 'x'"),
    ("simulate mesh:4x4 --fail links=1,links=2", "twice"),
    ("simulate mesh:4x4 --fail routers=16", "leaves no router"),
    ("simulate mesh:4x4 --fail routers=17", "mesh:4x4 has 16 routers"),
    ("simulate 'mesh:4x4 --fail links=1' --fail links=2", "one --fail"),
    ("simulate mesh:4x4 --fail links=1 --routing dor", "it offers: min"),
    ("simulate mesh:4x4 --fail links=20", "components of"),
    ("compare torus:4x4 mesh:4x4 --fail links=70%", "disconnected"),
    ("verify mesh:4x4 --fail links=20", "components of"),
    ("show mesh:4x4 --fail linsk=1", "did you mean 'links'"),
    ("calibrate --nodes 2,x", "--nodes is '2,x'; it must be numbers from 1 to 4096, as in 2,4,8"),
    ("calibrate --nodes 0", "it must be numbers from 1"),
    ("calibrate --engine flo", "flow"),
    ("faults mesh:4x4 --plot curves.pdf", ".png or .svg"),
    ("faults mesh:4x4 --plot /nonexistent/curves.svg", "/nonexistent/curves.svg"),
]


@pytest.mark.parametrize(("line", "told"), MISTAKES, ids=[line[:60] for line, _ in MISTAKES])
def test_a_mistake_is_one_sentence_and_status_2(topoloom, line, told):
    outcome = topoloom(*shlex.split(line))
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("topoloom: error: ")
    assert outcome.err.count("\n") == 1
    assert len(outcome.err) < 1_300
    assert told in outcome.err


def test_there_is_no_traceback_from_a_process_of_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "topoloom", "simulate", "mesh:4x4", "--threads", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "topoloom: error: threads is 0; it must be from 1 to 1024\n"


def test_a_bug_of_ours_is_one_line_and_status_70(topoloom, monkeypatch):
    def broken(self, *arguments, **options):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("topoloom.network.networks.Network.facts", broken)
    outcome = topoloom("show", "mesh:4x4")
    assert outcome.status == 70
    assert outcome.err.count("\n") == 1
    assert "RuntimeError: two lines" in outcome.err
    assert "report" in outcome.err


def test_an_interrupt_is_said(topoloom: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("topoloom.cli.candidates.search", interrupted)
    told = topoloom("candidates", "--terminals", "100", "--radix", "16")
    assert (told.status, told.err) == (130, "topoloom: interrupted\n")
