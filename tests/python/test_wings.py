"""The plan of the Python package: which wing may import which, as the page on architecture has it."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import topoloom
from harness.paths import ROOT

PACKAGE = ROOT / "python/topoloom"
PAGE = ROOT / "docs/architecture.md"

MOST_FLAT = 4
"""Python files beside the wings."""

LATE = {
    "topoloom.cli": "Ctrl-C is to end the program without a traceback while the commands are loaded",
    "topoloom.plotting": "matplotlib loads slowly",
    "topoloom.papers.reproduction": "the libraries of pages load slowly",
    "topoloom.design": "a search for candidates needs none of it",
    "topoloom.design.answer": "the libraries of pages load slowly",
    "topoloom.design.candidates": "NumPy loads slowly",
    "topoloom.design.funnel": "NumPy loads slowly",
    "topoloom.hardware.folders": "SciPy loads slowly",
    "topoloom.report.comparison": "the libraries of pages load slowly",
    "topoloom.workload.workloads": "the libraries of pages load slowly",
    "topoloom.studies.clusters": "the function is sent to the workers of a cluster, and imports there",
}
"""The modules with functions that import modules of ours, and why."""


class Import(NamedTuple):
    """An import of a module of ours by another."""

    importer: str
    imported: str
    line: int
    late: bool


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _sources() -> dict[str, ast.Module]:
    return {_module(path): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


def _targets(node: ast.AST) -> Iterator[str]:
    """Yield the dotted names of ours that a statement imports, or a call imports by name."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
        yield from (ast.literal_eval(own) for own in node.args if isinstance(own, ast.Constant))


def _nodes(node: ast.AST, late: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yield all nodes, and whether they stand in a function."""
    for child in ast.iter_child_nodes(node):
        yield child, late
        yield from _nodes(child, late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))


@cache
def _imports() -> tuple[Import, ...]:
    known = {*_sources(), "topoloom._core"}
    found = []
    for importer, source in _sources().items():
        for node, late in _nodes(source):
            for name in _targets(node):
                if name.partition(".")[0] != "topoloom":
                    continue
                imported = name if name in known else name.rpartition(".")[0]
                assert imported in known, f"{importer} imports {name}"
                found.append(Import(importer, imported, getattr(node, "lineno", 0), late))
    return tuple(found)


def _wing(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def _floors() -> list[list[str]]:
    """Return the wings as the page lists them, the uppermost first; those of a line do not import each other."""
    block = re.search(r"each imports only those below it:\n\n((?:    .+\n)+)", PAGE.read_text(encoding="utf-8"))
    assert block is not None
    return [re.findall(r"[\w_]+", line.partition("  #")[0]) for line in block[1].strip("\n").splitlines()]


def test_every_wing_is_a_folder_and_few_files_stand_beside_them():
    files = {path.stem for path in PACKAGE.glob("*.py")}
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert len(files) <= MOST_FLAT, sorted(files)
    listed = [wing for floor in _floors() for wing in floor]
    assert sorted(listed) == sorted({*files, *folders, "_core"})


def test_wings_import_those_below_them_alone():
    level = {wing: number for number, floor in enumerate(_floors()) for wing in floor}
    wrong = [
        f"{own.importer}, line {own.line}, imports {own.imported}"
        for own in _imports()
        if _wing(own.importer) != _wing(own.imported) and level[_wing(own.importer)] >= level[_wing(own.imported)]
    ]
    assert not wrong, "\n".join(wrong)


def test_no_modules_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {}
    for own in _imports():
        # A package's own file and a module of it that is named in it are one step, not a circle.
        if not own.late and own.importer != own.imported:
            graph.setdefault(own.importer, set()).add(own.imported)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_functions_import_nothing_of_ours_but_for_the_reasons_that_are_listed():
    late = [own for own in _imports() if own.late]
    assert {own.importer for own in late} == set(LATE)
    outward = [own for own in late if _wing(own.importer) != _wing(own.imported) != "_core"]
    assert not outward, "what a function imports stands in its own wing, so that nothing is hidden"


WINGS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


@pytest.mark.parametrize("first", ["", *(f".{wing}" for wing in WINGS), ".network.facts", ".workload.flows"])
def test_packages_that_are_functions_can_be_called_whatever_is_imported_first(first):
    code = (
        f"import topoloom{first}, topoloom\n"
        "assert topoloom.network('mesh:2x2').num_routers == 4\n"
        "import topoloom.network.families, topoloom.workload.results\n"
        "from topoloom import network, workload\n"
        "assert network('mesh:2', p=2).num_terminals == 4\n"
        "assert workload('mesh:2x2', 'reduce').results[0].tasks == 4\n"
        "assert topoloom.network is network and topoloom.network.families.Mesh is topoloom.Mesh\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_packages_that_are_functions_have_their_signatures():
    from topoloom.network.networks import network  # noqa: PLC0415 - the name is the package's as well
    from topoloom.workload.jobs import workload  # noqa: PLC0415

    assert inspect.signature(topoloom.network) == inspect.signature(network)
    assert inspect.signature(topoloom.workload).parameters == inspect.signature(workload).parameters


def test_every_public_name_is_there():
    for name in topoloom.__all__:
        assert getattr(topoloom, name) is not None
    assert topoloom.flows.rates
    assert set(topoloom.__all__) <= set(dir(topoloom))
