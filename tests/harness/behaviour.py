"""Record what users see of one build, and compare it with another build: for changes that must change nothing.

``.venv/bin/python tests/harness/behaviour.py record FILE`` runs more than a thousand command lines within one process
(a minute) and writes their exit status, output and messages to FILE, as JSON. Record with the build before the change
and with the build after it; ``compare OLD NEW`` prints every difference and exits with 1 if there is one. Times and
memory are left out: they are no part of a result.
"""

import contextlib
import io
import itertools
import json
import os
import random
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.engine import TIMES

NETWORKS = (
    "mesh:4x4,p=2",
    "mesh:3x2x2",
    "torus:4x4",
    "torus:5x3,p=2",
    "twin-torus:2x2x2",
    "hypercube:4",
    "folded-hypercube:4",
    "hyperx:4x4,p=2",
    "hyperx:3x4,trunk=2,p=2",
    "fattree:k=3,levels=2",
    "fattree:k=4,levels=3,taper=2",
    "clos:radix=8,levels=2",
    "clos:radix=4,levels=3",
    "xgft:down=4x4,up=2",
    "dragonfly:a=4,h=2,p=2",
    "dragonfly:a=4,h=2,p=2,g=5,arrangement=palmtree",
    "dragonfly-plus:leaf=4,spine=4,p=2,h=2,g=4",
    "slimfly:q=5,p=2",
    "slimfly:q=4",
    "flex:4x4x3,p=2",
    "flex:3x3x2",
    "galaxyfly:n=3,q=5,a=2,p=2",
    "galaxyfly:n=4,q=9,a=1,p=2",
    "nesttree:t=2,u=4,endpoints=256",
    "nestghc:t=2,u=4,endpoints=256,upper=4x4x4",
    "ring:16,degree=4,seed=2",
    "random-regular:20,degree=4,seed=1,p=2",
    "myriclos:32",
    "permuted:two-cab(torus:6x6),cabinet=4,trials=3",
    "permuted:one-step(hypercube:5),cabinet=4,trials=2,swappable=0.5",
    "permuted:optimised(torus:4x4),cabinet=4,trials=2,steps=200",
    "torus:4x4 --fail links=2,seed=3",
    "dragonfly:a=4,h=2,p=2 --fail routers=5%,seed=2",
)
"""Small networks: every family, several of some."""

ROUTER_OPTIONS = (
    "",
    "--router vcs=8,buffer=16,speedup=1",
    "--router vcs=8,buffer=32,speedup=1.5,allocator=islip,iterations=2",
    "--router vcs=8,buffer=16,allocator=wavefront",
    "--router vcs=8,buffer=16,flow=vct --packet 1-8",
    "--router vcs=8,buffer=16,buffers=shared:5 --packet 4",
    "--router vcs=8,routing-delay=1,vc-alloc-delay=2,sw-alloc-delay=2,credit-delay=1 --packet 2:0.5,6:0.5",
    "--links terminal=1,local=3,global=10,up=2",
    "--injection on-off:alpha=0.2,beta=0.3",
    "--model vct",
    "--model extoll",
    "--threads 2",
)

APPS = (
    "reduce", "allreduce", "allreduce:algorithm=ring", "mapreduce", "sweep3d", "flood", "nearneighbors", "nbodies",
    "unstructured", "unstructured-mgmt", "unstructured-hr", "bisection", "alltoall", "broadcast", "halo", "permutation",
    "training:data=2,tensor=2,pipeline=2,layers=4,microbatches=2", "gpcnet",
)  # fmt: skip

REFUSED = (
    "show permuted:two-cab(torus:4x4",
    "show permuted:two-cabs(torus:4x4)",
    "show permuted:two-cab(torus:4x4),steps=3",
    "show file:/nonexistent/x.graphml",
    "show file:",
    "show nesttree:t=3,u=5,endpoints=100",
    "show nestghc:t=2,u=4,endpoints=256",
    "simulate mesh:4x4 --traffic pairs:/nonexistent.csv",
    "simulate mesh:4x4 --traffic pairs:",
    "simulate mesh:4x4 --traffic hotspot",
    "simulate mesh:4x4 --traffic hotspot:nodes=99",
    "simulate mesh:4x4 --traffic hotspot:nodes=1,share=2",
    "simulate mesh:4x4 --traffic blended:share=x",
    "simulate mesh:4x4 --traffic random-permutation:seed=x",
    "simulate mesh:4x4 --routing dor:bubble=maybe",
    "simulate torus:4x4 --routing dor:bubble=on",
    "simulate mesh:4x4 --routing lbr:n=0",
    "simulate mesh:4x4 --routing lbr:m=1",
    "simulate mesh:4x4 --routing val:x=1",
    "simulate mesh:4x4 --routing table:/nonexistent.csv",
    "simulate mesh:4x4 --model extoll --router tcs=0",
    "simulate mesh:4x4 --model extoll --router flow=vct",
    "simulate mesh:4x4 --router tcs=4",
    "simulate mesh:4x4 --router buffer-delay=2",
    "workload mesh:4x4 --app allreduc",
    "workload mesh:4x4 --app allreduce:algorithm=rng",
    "workload mesh:4x4 --app allreduce:tasks=99",
    "workload mesh:4x4 --app allreduce:size=0",
    "workload mesh:4x4 --app halo:grid=4x4,tasks=2",
    "workload mesh:4x4 --app goal:/nonexistent.goal",
    "workload mesh:4x4 --app messages:",
    "workload mesh:4x4 --app reduce --mapping randm",
    "workload mesh:4x4 --app reduce --mapping random:seed=-1",
    "layout mesh:4x4 --layout cabinet=fit",
    "layout mesh:4x4 --layout flatened-butterfly",
    "layout mesh:4x4 --layout place=annealing",
    "layout mesh:4x4 --layout seed=3",
    "verify mesh:4x4 --routing xyz",
    "export mesh:4x4 --format nope",
    "run /nonexistent.toml",
    "design --terminals 64 --radix 1",
    "design --terminals 64 --radix 16 --families hyperex",
    "calibrate /nonexistent",
    "reproduce flx",
)
"""Command lines with a mistake, beside those of the tests."""

LISTS = ("topologies", "routings", "traffic", "apps", "mappings", "layouts", "prices", "formats")
VOLATILE = TIMES | {"version"}
"""Fields of results that differ from run to run."""


def cases() -> Iterator[str]:
    """Yield the command lines, the same ones for every build that has the same lists of names."""
    yield from _helps()
    yield from (f"list {what}{json_flag}" for what in LISTS for json_flag in ("", " --json"))
    yield "run --schema"
    for spec in NETWORKS:
        name = shlex.quote(spec)
        yield f"show {name} --json"
        yield f"layout {name} --json"
        yield f"bound {name} --json"
    yield from _refused()
    yield from _simulations()
    yield from (
        f"workload {spec} --app {app} --engine {engine} --json"
        for app, spec, engine in itertools.product(
            APPS, ("torus:4x4", "clos:radix=8,levels=2", "dragonfly:a=4,h=2,p=2"), ("flow", "cycle")
        )
        if engine == "flow" or app in {"reduce", "allreduce", "alltoall", "broadcast", "halo"}
    )
    yield "candidates --terminals 200:260 --radix 16 --json"
    yield "faults torus:4x4 --fractions 0:0.4:0.2 --trials 5 --json"
    yield "saturation hyperx:4x4,p=2 --routing dor --json"
    yield "compare mesh:4x4 hyperx:4x4,p=2 --traffic uniform,tornado --routing minimal,adaptive --json"


def _helps() -> Iterator[str]:
    """Yield the help of topoloom and of each of its commands."""
    from typer.main import get_command  # noqa: PLC0415 - only where it is used

    from topoloom.cli.app import app  # noqa: PLC0415 - the build that is recorded

    yield "--help"
    yield from (f"{command} --help" for command in get_command(app).commands)


def _refused() -> Iterator[str]:
    from cli.test_mistakes import MISTAKES  # noqa: PLC0415 - only where the tests are at hand

    yield from REFUSED
    yield from (line for line, _ in MISTAKES)


def _simulations() -> Iterator[str]:
    """Yield points of every network with every routing that it offers."""
    from topoloom._core import Network  # noqa: PLC0415 - the build that is recorded

    draw = random.Random(7)
    patterns = ("uniform", "bit-complement", "tornado", "neighbor", "worst-case", "hotspot:nodes=1,share=0.3")
    for spec in NETWORKS:
        network, name = Network(spec), shlex.quote(spec)
        for routing in network.routings():
            yield f"verify {name} --routing {routing} --json"
            options = draw.choice(ROUTER_OPTIONS)
            traffic = draw.choice(patterns)
            load = draw.choice(("0.1", "0.3", "0.2,0.9"))
            seed = draw.randrange(1000)
            yield (
                f"simulate {name} --routing {routing} --traffic {traffic} --load {load} --seed {seed} "
                f"--warmup 200 --measure 300 {options} --json"
            )


def outcome(line: str) -> dict[str, Any]:
    """Run one command line within this process."""
    from topoloom.cli.command import run  # noqa: PLC0415 - the build that is recorded

    with _captured() as streams:
        try:
            status: Any = run(shlex.split(line))
        except SystemExit as left:
            status = left.code
    out, err = streams
    try:
        told: Any = _steady(json.loads(out[0]))
    except ValueError:
        told = out[0]
    return {"status": status, "out": told, "err": err[0]}


@contextlib.contextmanager
def _captured() -> Iterator[tuple[list[str], list[str]]]:
    """Collect what is written to both streams, by Python and by the engine."""
    results: tuple[list[str], list[str]] = ([], [])
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in results]
        saved = [os.dup(number) for number in (1, 2)]
        sys.stdout.flush()
        for number, file in zip((1, 2), files, strict=True):
            os.dup2(file.fileno(), number)
        try:
            yield results
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, old, file, result in zip((1, 2), saved, files, results, strict=True):
                os.dup2(old, number)
                os.close(old)
                file.seek(0)
                result.append(io.TextIOWrapper(file, encoding="utf-8", errors="replace").read())


def _steady(value: Any) -> Any:
    """Return JSON without what differs from run to run."""
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in VOLATILE}
    return [_steady(item) for item in value] if isinstance(value, list) else value


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield where two recorded values differ, in a line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from differences(old.get(key, "(missing)"), new.get(key, "(missing)"), f"{where}.{key}")
        if list(old) != list(new) and set(old) == set(new):
            yield f"{where}: the order of keys"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{where}[{number}]")
    elif old != new:
        yield f"{where}: {str(old)[:300]!r} -> {str(new)[:300]!r}"


def main(arguments: list[str]) -> int:
    """Record, or compare."""
    match arguments:
        case ["record", path]:
            lines = list(dict.fromkeys(cases()))
            found = {}
            for number, line in enumerate(lines):
                found[line] = outcome(line)
                print(f"\r{number + 1} of {len(lines)}", end="", file=sys.stderr)
            Path(path).write_text(json.dumps(found))
            return 0
        case ["compare", old, new]:
            before, after = (json.loads(Path(path).read_text()) for path in (old, new))
            told = [
                f"{line}{difference}"
                for line in {**before, **after}
                for difference in differences(before.get(line), after.get(line))
            ]
            print("\n".join(told) or f"{len(before)} command lines, no difference")
            return 1 if told else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
