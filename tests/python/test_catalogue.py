"""Names: one grammar, the engine's, cuts them; what they are called and read, and what lists say of their keys."""

import ast
from pathlib import Path

import pytest

import topoloom
from topoloom import _core
from topoloom.studies.points import StudyPoint

SOURCES = Path(topoloom.__file__).parent

SEPARATORS = (":", "=", "(", ")")
"""What the grammar of names cuts at, besides commas, which any list has."""

CUTS = {
    "simulation/loads.py": "loads, first:last:step",
    "studies/study.py": "seeds, first:last",
    "studies/ledger.py": "a line of /proc",
    "studies/mistakes.py": "lines of TOML",
}
"""The modules that cut other texts than names at these, and what texts."""

EXPRESSIONS = {
    "report/page.py": "where lines may be broken",
    "workload/sacct.py": "times and ids of jobs",
    "network/graphs.py": "a label without characters that specs use",
    "files.py": "how files begin",
    "cli/export.py": "Slurm's lists of nodes",
    "design/candidates.py": "a range of terminals, low:high",
    "papers/paper.py": "published numbers",
    "hardware/calibration.py": "names of parameters",
    "hardware/comparison.py": "ids of items",
    "studies/clusters.py": "amounts of memory, words of a shell",
    "studies/job_array.py": "names of files",
    "studies/repair.py": "names of files",
    "studies/mistakes.py": "messages of other libraries",
    "studies/schema.py": "docstrings",
    "studies/toml_lines.py": "TOML",
}
"""The modules with regular expressions, and of what."""


def modules() -> dict[str, ast.Module]:
    own = [path for path in SOURCES.rglob("*.py") if not path.is_relative_to(SOURCES / "papers" / "data")]
    return {path.relative_to(SOURCES).as_posix(): ast.parse(path.read_text()) for path in own}


def cuts(tree: ast.Module) -> bool:
    """Return whether a module cuts texts at what separates the parts of names."""
    methods = {"partition", "rpartition", "split", "rsplit", "removeprefix", "removesuffix"}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in methods
        and any(isinstance(value, ast.Constant) and value.value in SEPARATORS for value in node.args)
        for node in ast.walk(tree)
    )


def imports_expressions(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Import) and any(name.name == "re" for name in node.names) for node in ast.walk(tree)
    )


def test_nothing_in_python_cuts_names() -> None:
    trees = modules()
    assert {name for name, tree in trees.items() if cuts(tree)} == set(CUTS)
    assert {name for name, tree in trees.items() if imports_expressions(tree)} == set(EXPRESSIONS)


def test_what_cuts_is_seen() -> None:
    assert cuts(ast.parse("family = spec.partition(':')[0]"))
    assert not cuts(ast.parse("first, rest = text.partition('|')[0], x.strip(':')"))


@pytest.mark.parametrize(
    ("what", "text", "canonical", "family"),
    [
        ("topology", " torus : 4x4, double=true,p=2", "torus:4x4,p=2,double=true", "torus"),
        ("topology", "mesh:4x4 --fail seed=2,links=5%", "faulty:links=5%,seed=2(mesh:4x4)", "faulty"),
        ("traffic", "hotspot:share=0.5,nodes=1,5-7", "hotspot:nodes=1,5-7,share=0.5", "hotspot"),
        ("app", "allreduce:algorithm=ring,tasks=4", "allreduce:tasks=4,algorithm=ring", "allreduce"),
        ("routing", "lbr:t=2,n=all", "lbr:n=all,t=2", "lbr"),
    ],
)
def test_names_have_one_canonical_text(what: str, text: str, canonical: str, family: str) -> None:
    name = _core.Name(what, text)
    assert (name.canonical, name.family, name.files) == (canonical, family, [])
    assert _core.Name(what, canonical).canonical == canonical


def test_names_say_which_files_they_read(tmp_path: Path) -> None:
    racks = tmp_path / "racks,(1.csv"
    racks.write_text("0,A\n")
    name = _core.Name("topology", f'permuted:two-cab(file:gone.csv,p=1),cabinet="{racks}"')
    assert [path for path, _ in name.files] == ["gone.csv", str(racks)]
    assert name.files[0][1] is None
    assert len(name.files[1][1] or "") == 64
    assert (name.family, name.within, name.values[1]) == ("permuted", "file:gone.csv,p=1", ("cabinet", str(racks)))


def test_points_are_the_same_however_their_names_are_written() -> None:
    def point(spec: str, traffic: str) -> StudyPoint:
        return StudyPoint("simulate", spec, "min", traffic, 0.1, {"options": {"seed": 1}})

    plain = point("torus:4x4,p=2,double=true", "hotspot:nodes=1,share=0.5")
    other = point("torus:4x4, double=true, p=2", "hotspot:share=0.5,nodes=1")
    assert plain == other
    assert plain.keys == (plain.key,), "a canonical point has one key"
    assert other.keys[0] == plain.key
    assert other.among({other.keys[1]: "done"}) == "done", "what was stored by the names as written is found"
    assert point("torus:4x4,p=3", "uniform") != point("torus:4x4,p=2", "uniform")


def test_lists_say_the_types_of_keys() -> None:
    lists = [
        described()
        for described in (
            _core.families, _core.routings, _core.traffic_patterns, _core.apps, _core.mappings, _core.layouts,
        )
    ]  # fmt: skip
    keys = [key for items in lists for item in items for key in item["keys"]]
    assert all(key["doc"] and key["type"] for key in keys)
    assert all(key["words"] for key in keys if key["type"] == "choice")
    torus = next(family for family in lists[0] if family["name"] == "torus")
    assert torus["keys"][0] | {"doc": ""} == {"name": "p", "type": "int", "least": 1, "doc": ""}


def test_failures_are_a_network_of_their_own() -> None:
    written = topoloom.Network("torus:6x6,p=2 --fail links=10%,routers=1,seed=3")
    named = topoloom.Network("faulty:links=10%,routers=1,seed=3(torus:6x6,p=2)")
    assert written.spec == "torus:6x6,p=2 --fail links=10%,routers=1,seed=3"
    assert named.spec == "faulty:links=10%,routers=1,seed=3(torus:6x6,p=2)"
    assert named.family == written.family == "faulty"
    assert list(named.core.edges()) == list(written.core.edges())
    told = [network.core.facts() | {"spec": ""} for network in (written, named)]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("faulty:links=5%", "the network must be at the end, in brackets"),
        ("faulty:(torus:4x4)", "'' is not key=value; write it like 'faulty:links=5%"),
        ("faulty:seed=2(torus:4x4)", "nothing fails; give links=, routers= or both"),
        ("faulty:links=5%,lnks=1(torus:4x4)", "did you mean 'links'"),
        ("faulty:links=101%(torus:4x4)", "a percentage must be from 0% to 100%"),
        ("faulty:links=99(torus:4x4)", "links is 99, but torus:4x4 has 32 links"),
        ("faulty:links=1(tours:4x4)", "did you mean 'torus'"),
        ("faulty:links=1(faulty:links=1(torus:4x4))", "has failures already"),
        ("permuted:two-cab(faulty:links=1(torus:4x4)),cabinet=4", "let what is permuted fail instead"),
    ],
)
def test_mistakes_in_failures_are_sentences(spec: str, words: str) -> None:
    with pytest.raises(topoloom.TopoloomError) as told:
        topoloom.Network(spec)
    assert words in str(told.value), told.value
