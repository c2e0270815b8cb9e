"""Mutants of a Python module that its tests do not notice: `make mutants MODULE=topoloom.papers.formulas TESTS=…`.

A mutant has one operator, number or condition of one function exchanged. Each runs the tests in a process of its own,
which begins with everything loaded. No test runs before these processes begin: they would lack the engine's threads.
A mutant that passes the tests survives: it is printed with its line, and either a test is missing or the mutant does
the same. Status 1: some survived.

Usage: mutants.py MODULE MOST SEED [arguments of pytest]
"""

import ast
import contextlib
import gc
import importlib
import inspect
import io
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

SECONDS = 120
"""A mutant that takes more processor time, or ten times as long by the clock, is noticed."""
EXCHANGED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
"""Functions that are exchanged."""

Change = tuple[int, Callable[[], None]]
"""A line, and what changes the tree there."""


def changes(tree: ast.AST) -> list[Change]:
    """Return the changes that the functions of a tree can have, in the order of the tree, each once."""
    inside = {id(node): node for own in ast.walk(tree) if isinstance(own, ast.FunctionDef) for node in ast.walk(own)}
    return [change for node in inside.values() for change in _of(node)]


def _of(node: Any) -> Iterator[Change]:
    """Yield the changes of a node."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in EXCHANGED:
                yield node.lineno, lambda at=place: node.ops.__setitem__(at, EXCHANGED[type(node.ops[at])]())
    elif change := _change(node):
        field, value = change
        yield node.lineno, lambda: setattr(node, field, value)


def _change(node: Any) -> tuple[str, Any] | None:
    """Return the field of a node that changes, and its other value."""
    match node:
        case ast.BinOp() | ast.BoolOp() if type(node.op) in EXCHANGED:
            return "op", EXCHANGED[type(node.op)]()
        case ast.Constant(value=bool()):
            return "value", not node.value
        case ast.Constant(value=int() | float()):
            return "value", node.value + 1
        case ast.If() | ast.IfExp() | ast.While():
            return "test", ast.UnaryOp(ast.Not(), node.test)
        case ast.Name() if node.id in NAMES:
            return "id", NAMES[node.id]
    return None


def mutant(source: str, number: int) -> ast.Module:
    """Return the tree of a source with one of its changes."""
    tree = ast.parse(source)
    changes(tree)[number][1]()
    return ast.fix_missing_locations(tree)


def changed(source: str, number: int) -> str:
    """Return the line that a change writes, in place of the one before it."""
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(source), mutant(source, number)))
    return next((f"{new.strip()}  # {old.strip()}" for old, new in zip(before, after, strict=False) if old != new), "")


def functions(module: ModuleType) -> list[FunctionType]:
    """Return the functions from a module's source: wrapped ones, and lambdas that others have made, as well."""
    made = (own for own in gc.get_objects() if isinstance(own, FunctionType))
    return [own for own in made if own.__code__.co_filename == module.__file__]


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of every function within a code."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from codes(inner)


def put(module: ModuleType, tree: ast.Module) -> None:
    """Give the functions of a module the code of a tree, also those that other modules have imported."""
    made: dict[tuple[str, int], list[CodeType]] = {}
    for code in codes(compile(tree, str(module.__file__), "exec")):
        made.setdefault((code.co_qualname, code.co_firstlineno), []).append(code)
    for function in functions(module):
        own = function.__code__
        # Of several lambdas on one line none is known to be the function's.
        match made.get((own.co_qualname, own.co_firstlineno)):
            case [code] if code.co_freevars == own.co_freevars:
                function.__code__ = code


def passes(arguments: list[str], before: Callable[[], None]) -> bool:
    """Return whether the tests pass in a process of their own in which something is done before."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(10 * SECONDS)
        with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
            before()
            os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *arguments])))
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main(name: str, most: str, seed: str, *arguments: str) -> int:
    """Run a sample of a module's mutants, and print those that survive."""
    module = importlib.import_module(name)
    source = inspect.getsource(module)
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *arguments])
    if loaded != pytest.ExitCode.OK or not passes(list(arguments), lambda: None):
        sys.exit("the tests fail without a mutant")
    lines = [line for line, _ in changes(ast.parse(source))]
    sample = sorted(random.Random(seed).sample(range(len(lines)), min(int(most), len(lines))))
    survived = 0
    for number in sample:
        if passes(list(arguments), lambda n=number: put(module, mutant(source, n))):
            survived += 1
            print(f"{module.__file__}:{lines[number]}: survived: {changed(source, number)}", flush=True)
    print(f"{name}: {len(sample) - survived} of {len(sample)} mutants noticed; there are {len(lines)}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
