"""The Python interface: every family by name, true stubs, what notebooks show, and what is loaded only when needed."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import topoloom
from topoloom import _core
from topoloom.cli.app import COMMANDS
from topoloom.network.families import Family

SLOW = ("networkx", "numpy", "pandas", "plotly", "pyarrow", "matplotlib", "highspy", "pymetis", "scipy", "jinja2")


def test_every_name_is_there_and_so_are_the_modules() -> None:
    assert set(topoloom.__all__) <= set(dir(topoloom))
    assert topoloom.studies.Study is topoloom.Study
    with pytest.raises(AttributeError, match="no attribute 'tours'"):
        _ = topoloom.tours


# Commas between keys: not those within brackets, nor those before a number, which belongs to a list.
OUTSIDE = r",(?![^()]*\))(?!\d)"


def test_every_family_of_the_engine_can_be_called_by_name() -> None:
    exported = {name: getattr(topoloom, name) for name in topoloom.__all__}
    called = {value.name: name for name, value in exported.items() if isinstance(value, Family)}
    families = {family["name"]: family for family in _core.families()}
    assert set(called) == set(families) - {"file"}, "a file is not built from sizes"
    for family, name in called.items():
        example = families[family]["example"]
        sizes, *items = re.split(OUTSIDE, example.partition(":")[2])
        parts = [*([] if "=" in sizes else sizes.split("x")), *([sizes] if "=" in sizes else []), *items]
        pairs = dict(part.split("=", 1) for part in parts if "=" in part)
        built = getattr(topoloom, name)(*(part for part in parts if part and "=" not in part), **pairs)
        assert built.spec == topoloom.network(example).spec
        assert family in repr(getattr(topoloom, name))
        assert "Source:" in getattr(topoloom, name).__doc__


def test_a_family_tells_a_mistake_in_its_keys() -> None:
    with pytest.raises(topoloom.TopoloomError, match=r"unknown key of flex 'q'"):
        topoloom.FleX(3, 3, 3, q=1)


def _given(argument: str, value: object) -> dict[str, object]:
    """Return arguments of `synthesise` with one of them replaced."""
    return {"routers": 21, "degree": 4, "graphs": 1, argument: value}


NUMBERS = {
    "tasks": lambda number: topoloom.Application("reduce", number),
    "task": lambda number: topoloom.Application("reduce", 4).program(number),
    "routers": lambda number: topoloom.synthesise(**_given("routers", number)),
    "degree": lambda number: topoloom.synthesise(**_given("degree", number)),
    "graphs": lambda number: topoloom.synthesise(**_given("graphs", number)),
    "seed": lambda number: topoloom.synthesise(**_given("seed", number)),
    "seed of paths": lambda number: topoloom.network("mesh:4").route_lengths(seed=number),
    "seed of failures": lambda number: topoloom.network("mesh:4").faults(trials=1, seed=number),
    "trials": lambda number: topoloom.network("mesh:4").faults(trials=number),
    "sample": lambda number: topoloom.network("mesh:4").facts(sample=number),
    "seed of a sample": lambda number: topoloom.network("mesh:4").facts(sample=2, seed=number),
    "vcs": lambda number: topoloom.network("mesh:4").verify(vcs=number),
    "p": lambda number: topoloom.Network.from_edges([(0, 1)], p=number),
    "key of a network": lambda number: topoloom.network("mesh:4", p=number),
    "size": topoloom.Mesh,
    "radix": lambda number: topoloom.candidates(terminals=100, radix=number),
    "terminals": lambda number: topoloom.candidates(terminals=number, radix=16),
    "max_diameter": lambda number: topoloom.candidates(terminals=100, radix=16, max_diameter=number),
    "seed of a simulation": lambda number: topoloom.network("mesh:4").simulate(load=0.1, seed=number),
    "measure": lambda number: topoloom.network("mesh:4").simulate(load=0.1, warmup=1, measure=number),
    "seed of a workload": lambda number: topoloom.workload("mesh:4", "reduce", seed=number),
    "cabinet": lambda number: topoloom.network("mesh:4").layout(f"cabinet={number}"),
}
"""Calls with a whole number, by what it is."""


@pytest.mark.parametrize("number", [-1, 2**70, -(2**70), "x", 1.5j], ids=["-1", "2^70", "-2^70", "x", "complex"])
@pytest.mark.parametrize("call", NUMBERS.values(), ids=NUMBERS)
def test_a_number_out_of_its_range_is_a_mistake_of_the_user(call: Callable[[object], object], number: object) -> None:
    with pytest.raises(topoloom.TopoloomError):
        call(number)


SHORT = {"load": 0.1, "warmup": 1, "measure": 10}

NOTHING = {
    "networks": [
        lambda: topoloom.compare([], **SHORT),
        lambda: topoloom.workload([], "reduce"),
    ],
    "routings": [lambda: topoloom.compare(["mesh:4"], [], **SHORT)],
    "traffics": [lambda: topoloom.compare(["mesh:4"], traffics=[], **SHORT)],
    "apps": [lambda: topoloom.workload("mesh:4", [])],
}


@pytest.mark.parametrize("name", NOTHING)
def test_an_empty_list_asks_for_nothing_and_is_rejected(name: str) -> None:
    for call in NOTHING[name]:
        with pytest.raises(topoloom.TopoloomError, match=f"{name} is empty; it must have at least one item"):
            call()


def test_a_single_one_need_be_in_no_list() -> None:
    one = topoloom.compare("mesh:4", "minimal", "uniform", **SHORT)
    assert [(curve.spec, curve.routing, curve.traffic) for curve in one.curves] == [("mesh:4", "dor", "uniform")]
    assert (
        topoloom.flows.rates("mesh:4", [0], [3]).tolist()
        == topoloom.flows.rates(topoloom.network("mesh:4"), [0], [3]).tolist()
    )
    assert topoloom.flows.run("mesh:4", [0], [3], [10**9], flow="gbps=8").makespan_s == 1.0


def test_a_chart_shows_a_measure_that_there_is() -> None:
    curve = topoloom.network("mesh:4").simulate(**SHORT)
    with pytest.raises(topoloom.TopoloomError, match=r"unknown measure 'latancy' \(did you mean 'latency'\?\)"):
        topoloom.plot(curve, "latancy")


def test_a_search_has_one_of_two_aims_and_a_time() -> None:
    for seconds in (-1, "x", None, float("nan")):
        with pytest.raises(topoloom.TopoloomError, match=r"it must be .*above 0"):
            topoloom.synthesise(21, 4, seconds=seconds, graphs=1)
    with pytest.raises(topoloom.TopoloomError, match=r"unknown aim 'loads' \(did you mean 'load'\?\)"):
        topoloom.synthesise(21, 4, minimise="loads", graphs=1)


def test_a_folder_that_cannot_be_made_is_no_store() -> None:
    with pytest.raises(topoloom.TopoloomError, match="/proc/x cannot be used as a store of results: No such file"):
        topoloom.compare(["mesh:4"], store="/proc/x", **SHORT)


def test_the_stub_has_the_names_and_arguments_of_the_engine() -> None:
    stub = ast.parse((Path(topoloom.__file__).parent / "_core.pyi").read_text())
    told = _names(stub)
    real = {name for name in vars(_core) if not name.startswith("_")} | {"__version__"}
    assert set(told) == real
    for name, members in told.items():
        if isinstance(getattr(_core, name), type) and not issubclass(getattr(_core, name), BaseException):
            own = {member for member in vars(getattr(_core, name)) if not member.startswith("_")}
            assert set(members) - {"__init__"} == own, name
            for member, arguments in members.items():
                thing, own_arguments = getattr(getattr(_core, name), member), arguments
                if member == "__init__":
                    thing, own_arguments = getattr(_core, name), arguments[1:]
                _agree(thing, own_arguments, f"{name}.{member}")
        _agree(getattr(_core, name), members.get("", ()), name)
    assert (Path(topoloom.__file__).parent / "py.typed").is_file()


def _names(stub: ast.Module) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the names of a stub: members of a class with their arguments, a function's own under no name."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            members = [member for member in node.body if isinstance(member, ast.FunctionDef)]
            found[node.name] = {
                member.name: () if _is_property(member) else tuple(arg.arg for arg in member.args.args)
                for member in members
            }
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = {"": tuple(arg.arg for arg in node.args.args)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = {}
    return found


def _is_property(member: ast.FunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "property" for mark in member.decorator_list)


def _agree(thing: object, arguments: tuple[str, ...], name: str) -> None:
    if arguments and (inspect.isbuiltin(thing) or inspect.ismethoddescriptor(thing) or isinstance(thing, type)):
        assert tuple(inspect.signature(thing).parameters) == arguments, name  # type: ignore[arg-type]


def test_slow_libraries_are_loaded_by_those_who_need_them_alone() -> None:
    for code in (
        "from topoloom.cli.app import COMMANDS, load; [*map(load, COMMANDS)]",
        "import topoloom.studies.worker",
    ):
        assert not set(SLOW) & _loaded_by(code), code


def test_keeping_results_loads_no_pandas() -> None:
    loaded = _loaded_by("from topoloom.studies import parquet; parquet.table([{'routers': 4}, {'routers': None}])")
    assert "pyarrow" in loaded
    assert "pandas" not in loaded


def test_a_command_loads_no_other_command() -> None:
    loaded = _loaded_by("from topoloom.cli.command import load_command; load_command(['show'])")
    commands = {f"topoloom.cli.{home.rpartition('.')[0]}" for home in COMMANDS.values()}
    assert loaded & {*commands, "topoloom.studies", "topoloom.papers"} == {"topoloom.cli.show"}


def _loaded_by(code: str) -> set[str]:
    """Return the modules that a process has after some code."""
    script = f"import sys; {code}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_networks_curves_and_results_show_themselves_in_notebooks(tmp_path: Path) -> None:
    net = topoloom.Mesh(4, 4)
    assert "Diameter" in net._repr_html_()
    curve = net.simulate(load="0.1,0.3", warmup=100, measure=500)
    assert curve._repr_html_().count("<tr") == 4, "two rows of heads, and one of each load"
    study = topoloom.Study(
        name="s",
        sweep=[topoloom.Sweep(networks=["mesh:4x4"], loads=0.1, seeds="1:3", options={"warmup": 10, "measure": 100})],
    )
    results = study.run(tmp_path / "s")
    assert "accepted" in results._repr_html_()
    band, line = results.plot().data
    assert band.fill == "toself"
    assert list(line.x) == [0.1]
