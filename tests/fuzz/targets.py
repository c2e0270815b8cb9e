"""What is fuzzed: each target makes, from a random number generator, a command line and the files that it reads."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random

from mutation import NUMBERS, mutated, mutated_bytes

from topoloom import _core, network


@dataclass(frozen=True)
class Case:
    """A command line, and files that stand in its folder."""

    arguments: list[str]
    files: Mapping[str, bytes] = field(default_factory=dict)


# names and specs


@cache
def families() -> list[dict]:
    return [family for family in _core.families() if family["name"] != "file"]


@cache
def listed(what: str) -> list[dict]:
    lists = {"routings": _core.routings, "traffic": _core.traffic_patterns, "apps": _core.apps}
    return list(lists[what]())


def spec(random: Random) -> str:
    """Return a spec by the grammar: sizes and keys that exist, with values that are small or absurd."""
    family = random.choice(families())
    parts = [random.choice(["4x4", "3", "2x3x4", "8", "5x5", *NUMBERS])] if family["sizes"] else []
    keys = random.sample(family["keys"], random.randint(0, len(family["keys"])))
    parts += [f"{key['name']}={random.choice(['1', '2', '3', '4', '8', '2x2', 'true', *NUMBERS])}" for key in keys]
    if any(key["name"] == "base" for key in family["keys"]):
        parts.insert(0, f"{random.choice(['two-cab', 'three-cab', 'one-step', 'optimised'])}({small(random)})")
    if any(key["name"] == "upper" for key in family["keys"]):
        parts.append(f"endpoints={random.choice([16, 32, 64])}")
    return f"{family['name']}:{','.join(parts)}"


SMALL = [
    *("mesh:4x4", "torus:4x4", "hypercube:4", "hyperx:3x3,p=2", "fattree:k=2,levels=3", "clos:radix=4,levels=3"),
    *("xgft:down=2x2,up=1x2", "dragonfly:a=4,h=2,p=2", "slimfly:q=3,p=2", "flex:3x3x3,p=2", "ring:12,degree=4,seed=1"),
    *("twin-torus:2x2x2", "random-regular:12,degree=4,seed=1", "permuted:two-cab(torus:4x4),cabinet=4,trials=2"),
    *("galaxyfly:n=4,q=9,a=3,p=2", "nesttree:t=2,u=2,endpoints=32", "dragonfly-plus:leaf=2,spine=2,p=2,h=1"),
]
"""Networks of every family that are built at once."""


def small(random: Random) -> str:
    return random.choice(SMALL)


@cache
def words() -> tuple[str, ...]:
    """Return the words that specs and names are made of."""
    found = {word for family in families() for word in (family["name"], *(key["name"] for key in family["keys"]))}
    for what in ("routings", "traffic", "apps"):
        found |= {item["name"] for item in listed(what)}
    return tuple(sorted(found | {"seed", "file", "two-cab", "optimised", "cabinets", "length", "absolute", "random"}))


def specs(random: Random) -> Case:
    """Networks: specs by the grammar, and examples with changes."""
    text = spec(random) if random.random() < 0.5 else mutated(random, small(random), list(words()))
    return Case(["export", "--format", "edges", "--", text])


def name_of(random: Random, what: str) -> str:
    """Return a routing, traffic or application with some of its keys."""
    item = random.choice(listed(what))
    keys = [key["name"] if isinstance(key, dict) else key[0] for key in item.get("keys", [])]
    given = [f"{key}={random.choice(NUMBERS)}" for key in random.sample(keys, random.randint(0, len(keys)))]
    text = item["name"] + (":" + ",".join(given) if given else "")
    return mutated(random, text, list(words())) if random.random() < 0.5 else text


# command lines

QUICK = ["--warmup", "10", "--measure", "20", "--load", "0.1"]

COMMANDS: list[tuple[list[str], dict[str, list[str]]]] = [
    (
        ["simulate", "mesh:3x3", *QUICK],
        {
            "--load": ["0.3", "0:1:0.5", "0.1,0.2"],
            "--router": ["vcs=4,buffer=8,speedup=2", "buffers=shared:5", "flow=vct", "allocator=islip,iterations=2"],
            "--links": ["local=3,terminal=2", "inside=1,between=9,cabinet=4"],
            "--packet": ["4", "1-8", "4:0.8,16:0.2"],
            "--injection": ["bernoulli", "on-off:alpha=0.1,beta=0.2"],
            "--seed": ["1"],
            "--threads": ["1"],
            "--model": ["iq", "vct", "extoll"],
            "--fail": ["links=5%,seed=1", "routers=1", "links=2"],
            "--latency-limit": ["100"],
            "--precision": ["0.05"],
            "--rates": ["/dev/zero", "/dev/full", "/dev/stdin", "/dev"],
        },
    ),
    (["verify", "torus:4x4"], {"--router": ["vcs=2"], "--fail": ["links=1,seed=1"], "--routing": ["dor", "val"]}),
    (["show", "hyperx:3x3"], {"--sample": ["4"], "--seed": ["1"], "--layout": ["cabinet=4"], "--prices": ["edr-flex"]}),
    (
        ["layout", "torus:4x4"],
        {
            "--layout": ["cabinet=4,width=1.2,rows=2", "cabinet=metis:4,place=anneal", "(permutation)", "cabinet=2x2"],
            "--prices": ["edr-flex", "fdr10-slimfly"],
        },
    ),
    (
        ["workload", "mesh:3x3"],
        {"--mapping": ["linear", "random:seed=1"], "--rate": ["10Gb/s"], "--flow-engine": ["paths=2,injection=1"]},
    ),
    (
        ["candidates", "--terminals", "300", "--radix", "12"],
        {"--terminals": ["100:120"], "--min-beta": ["0.5"], "--max-diameter": ["3"], "--each": ["2"]},
    ),
    (["faults", "mesh:3x3", "--trials", "3"], {"--fractions": ["0:0.5:0.1"], "--trials": ["2"], "--seed": ["1"]}),
    (["bound", "hyperx:3x3"], {"--routing": ["dor", "val"], "--traffic": ["uniform", "tornado"]}),
    (
        ["export", "mesh:4"],
        {"--format": ["edges", "slurm"], "--nodes": ["n[0-3]", "a,b,c[08-09]"], "--links": ["local=2"]},
    ),
    (["list"], {"": ["topologies", "prices", "formats"]}),
]
"""Commands that are done at once, and options of theirs with values that are fine."""


def lines(random: Random) -> Case:
    """Command lines: options that exist with changed values, and names of routings, traffic and applications."""
    command, options = random.choice(COMMANDS)
    arguments = list(command)
    for option in random.sample(sorted(options), random.randint(1, min(3, len(options)))):
        value = random.choice(options[option])
        value = mutated(random, value, value.replace("=", ",").split(",")) if random.random() < 0.8 else value
        arguments += [option, value] if option else [value]
    if command[0] == "workload":
        arguments += ["--app", f"{name_of(random, 'apps')}"]
    if command[0] in ("simulate", "bound") and random.random() < 0.5:
        arguments += ["--traffic", name_of(random, "traffic"), "--routing", name_of(random, "routings")]
    if random.random() < 0.1:
        at = random.randint(0, len(arguments))
        arguments[at:at] = [mutated(random, random.choice(["--json", "--help", "extra", ""]), [])]
    return Case(arguments)


# files


@cache
def graphs() -> dict[str, bytes]:
    """Return small files in every format of graphs that is read."""
    formats = [each for each in _core.formats() if each["read"] and each["write"]]
    made = {}
    for each in formats:
        for place, name in enumerate(("mesh:3x3,p=2", "hyperx:3,p=1")):
            core = network(name).core
            made[f"{place}.{each['endings'][0]}"] = core.text(each["name"], None, None)[0].encode()
    return made


TABLES: dict[str, tuple[list[str], bytes]] = {
    "pairs.csv": (["simulate", "mesh:4", *QUICK, "--traffic", "pairs:FILE"], b"source,target,weight\n0,1,2\n2,3,0.5\n"),
    "trace.csv": (["simulate", "mesh:4", "--traffic", "trace:FILE"], b"cycle,source,target,flits\n0,0,1,2\n5,2,3,1\n"),
    "jobs.csv": (
        ["workload", "mesh:4", "--sacct", "FILE"],
        b"JobID,Submit,Elapsed,NNodes\n1,2026-01-01T00:00:00,00:01:00,2\n2,2026-01-01T00:00:30,00:00:10,3\n",
    ),
    "rates.csv": (["simulate", "mesh:4", *QUICK, "--rates", "FILE"], b"terminal,rate\n0,1\n1,0.5\n2,2\n"),
    "table.csv": (
        ["verify", "mesh:3", "--routing", "table:FILE"],
        b"at,destination,port\n0,1,1\n0,2,1\n1,0,1\n1,2,2\n",
    ),
    "cabinets.csv": (["layout", "mesh:4", "--layout", "cabinet=FILE"], b"router,cabinet\n0,a\n1,a\n2,b\n3,b\n"),
    "messages.csv": (
        ["workload", "mesh:4", "--app", "messages:FILE"],
        b"source,target,bytes,after\n0,1,64\n1,2,128,0\n2,3,1KiB,0 1\n",
    ),
    "schedule.goal": (
        ["workload", "mesh:4", "--app", "goal:FILE"],
        b"num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\nl2: calc 50\nl2 requires l1\n}\n"
        b"rank 1 {\nrecv 8b from 0 tag 3\n}\n",
    ),
    "cables.csv": (
        ["permute", "FILE", "--trials", "2"],
        b"switch_a,port_a,cabinet_a,switch_b,port_b,cabinet_b\n0,0,0,1,0,0\n1,1,0,2,0,1\n2,1,1,3,0,1\n3,1,1,0,1,0\n",
    ),
    "prices.json": (["layout", "mesh:4", "--prices", "FILE"], b""),
}
"""Other files: the command that reads each, and one that is fine."""


@cache
def _table(name: str) -> bytes:
    if name == "prices.json":
        return json.dumps(_core.price_list("edr-flex")).encode()
    return TABLES[name][1]


def files(random: Random) -> Case:
    """Files of graphs in every format, and tables of every kind, with changes."""
    if random.random() < 0.6:
        name, data = random.choice(sorted(graphs().items()))
        arguments = ["export", "--format", "edges", f"file:{name}"]
    else:
        name = random.choice(sorted(TABLES))
        data = _table(name)
        arguments = [argument.replace("FILE", name) for argument in TABLES[name][0]]
    tokens = data[:2000].decode(errors="replace").split()
    return Case(arguments, {name: mutated_bytes(random, data, tokens)})


STUDIES = [
    """name = "sides"
description = "What it is for."

[defaults]
kind = "simulate"
seeds = "1:3"
options = { warmup = 10, measure = 20 }

[[sweep]]
networks = ["mesh:4x4", { family = "hyperx", sizes = [3, 3], p = 2 }]
routings = ["minimal", "val"]
traffic = ["uniform", "tornado"]
loads = "0.1:0.5:0.2"
""",
    """name = "zipped"

[[sweep]]
kind = "curve"
networks = ["torus:4x4", "mesh:4x4"]
routings = ["dor", "min"]
zip = ["networks", "routings", "options.packet"]
tolerance = 0.1
precision = 0.05
replicas = 4
options = { packet = [1, 4], router = "vcs=4,buffer=16" }

[[sweep]]
kind = "workload"
networks = "mesh:4x4"
apps = ["allreduce:size=64KiB", "bisection"]

[[sweep]]
kind = "faults"
networks = ["mesh:4x4"]
options = { trials = 3, fractions = "0:0.5:0.25" }
""",
]


def studies(random: Random) -> Case:
    """Studies in TOML with changes, read and checked but not run."""
    text = random.choice(STUDIES)
    tokens = [*words(), *(word for study in STUDIES for word in study.split())]
    return Case(["run", "--dry-run", "s.toml"], {"s.toml": mutated_bytes(random, text.encode(), tokens)})


TARGETS: dict[str, Callable[[Random], Case]] = {"specs": specs, "lines": lines, "files": files, "studies": studies}
"""The targets by name."""
