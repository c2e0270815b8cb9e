"""The formulas of a paper's folder: arithmetic over results, in Python's notation, and nothing else of Python.

A formula is parsed once and walked here node by node; only what :data:`FUNCTIONS` and :class:`Lookups` name can be
called, and there are neither attributes nor indices but into lists.
"""

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from topoloom._core import TopoloomError, unknown

Value = Any
"""A number, a truth, a text, or a list of them."""

MOST_ITEMS = 100_000
"""The longest list that a formula may make."""


class NoValueError(TopoloomError):
    """Arithmetic that has no answer."""


class Lookups(Protocol):
    """What a formula can ask of results."""

    def call(self, name: str, arguments: list[Value], conditions: dict[str, Value]) -> Value:
        """Return what a lookup finds.

        Args:
            name: The lookup, one of :data:`LOOKUPS`, unchecked.
            arguments: Its arguments: the name of a field; a load first where the lookup is ``at``.
            conditions: The values of columns and options that points must have.
        """


LOOKUPS = ("value", "values", "interval", "at")
"""The functions that look results up; :class:`topoloom.papers.lookups.Found` answers them."""


def _range(*bounds: float) -> list[int]:
    values = range(*map(int, bounds))
    if len(values) > MOST_ITEMS:
        raise TopoloomError(f"range has {len(values)} values; at most {MOST_ITEMS} are allowed")
    return list(values)


def _mean(values: list[float]) -> float:
    if not values:
        raise TopoloomError("mean of nothing")
    return math.fsum(values) / len(values)


def _moore(degree: float, diameter: float) -> float:
    """Return the most routers that a degree and a diameter allow."""
    return 1 + degree * sum((degree - 1) ** step for step in range(int(diameter)))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": abs, "all": all, "any": any, "ceil": math.ceil, "floor": math.floor, "len": len, "list": lambda *v: list(v),
    "log2": math.log2, "max": max, "mean": _mean, "min": min, "moore": _moore, "range": _range, "round": round,
    "sorted": sorted, "sqrt": math.sqrt, "sum": sum, "trunc": math.trunc,
}  # fmt: skip
"""What a formula can compute."""

_BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

_COMPARE: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

_UNARY: dict[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}


@dataclass(frozen=True)
class Formula:
    """A formula that has been read.

    Attributes:
        text: Its text.
        tree: Its syntax tree.

    >>> found = Formula.parse("2 * it + max(3, 4)")
    >>> sorted(found.names()), found.evaluate({"it": 5})
    (['it'], 14)
    """

    text: str
    tree: ast.expr

    @classmethod
    def parse(cls, text: str) -> "Formula":
        """Read a formula.

        Args:
            text: The formula.

        Raises:
            TopoloomError: An expression that formulas do not allow.

        >>> Formula.parse("2 * max(3, 4)").evaluate({})
        8
        """
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise TopoloomError(f"the formula '{text}' cannot be read: {error.msg}") from None
        _check(tree)
        return cls(text.strip(), tree)

    def names(self) -> set[str]:
        """Return the names in the formula that need values."""
        return _free(self.tree)

    def evaluate(self, names: Mapping[str, Value], lookups: Lookups | None = None) -> Value:
        """Return the formula's value.

        Args:
            names: The values of its names.
            lookups: What answers lookups; None where there are no results.

        Raises:
            TopoloomError: An unknown name, a missing result, or arithmetic that has no answer.
        """
        try:
            return _Walk(lookups).value(self.tree, dict(names))
        except TopoloomError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise NoValueError(f"the formula '{self.text}' has no value: {error}") from None


def _check(tree: ast.expr) -> None:
    """Reject what formulas do not allow.

    Raises:
        TopoloomError: The first such thing.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name):
                raise TopoloomError(f"'{ast.unparse(node.func)}' cannot be called in a formula")
            if node.func.id not in (*FUNCTIONS, *LOOKUPS):
                raise TopoloomError(unknown("function", node.func.id, [*LOOKUPS, *FUNCTIONS]))
            if any(keyword.arg is None for keyword in node.keywords) or any(
                isinstance(argument, ast.Starred) for argument in node.args
            ):
                raise TopoloomError("a formula has no * before an argument")
        elif not isinstance(node, _ALLOWED):
            raise TopoloomError(f"'{_told(node)}' is not allowed in a formula")


_ALLOWED = (
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.And, ast.Or, ast.Compare,
    ast.IfExp, ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Subscript, ast.keyword,
    *_BINARY, *_COMPARE, *_UNARY,
)  # fmt: skip


def _told(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__


def _free(node: ast.AST) -> set[str]:
    """Return the names in a formula that are not bound within it; those of functions aside."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Call):
        return set().union(*map(_free, node.args), *(_free(keyword.value) for keyword in node.keywords))
    found: set[str] = set().union(*map(_free, ast.iter_child_nodes(node)))
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        found -= set().union(*(_free(generator.target) for generator in node.generators))
    return found


class _Walk:
    """Evaluates a tree."""

    def __init__(self, lookups: Lookups | None) -> None:
        self._lookups = lookups

    def value(self, node: ast.expr, names: dict[str, Value]) -> Value:
        if isinstance(node, ast.Constant):
            return node.value
        visit: Callable[[Any, dict[str, Value]], Value] = getattr(self, f"_{type(node).__name__.lower()}")
        return visit(node, names)

    def _name(self, node: ast.Name, names: dict[str, Value]) -> Value:
        if node.id not in names:
            raise TopoloomError(unknown("name", node.id, list(names)))
        return names[node.id]

    def _binop(self, node: ast.BinOp, names: dict[str, Value]) -> Value:
        return _BINARY[type(node.op)](self.value(node.left, names), self.value(node.right, names))

    def _unaryop(self, node: ast.UnaryOp, names: dict[str, Value]) -> Value:
        return _UNARY[type(node.op)](self.value(node.operand, names))

    def _boolop(self, node: ast.BoolOp, names: dict[str, Value]) -> Value:
        values = (self.value(part, names) for part in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)

    def _compare(self, node: ast.Compare, names: dict[str, Value]) -> bool:
        values = [self.value(part, names) for part in (node.left, *node.comparators)]
        steps = zip(node.ops, values, values[1:], strict=False)
        return all(_COMPARE[type(relation)](left, right) for relation, left, right in steps)

    def _ifexp(self, node: ast.IfExp, names: dict[str, Value]) -> Value:
        return self.value(node.body if self.value(node.test, names) else node.orelse, names)

    def _list(self, node: ast.List | ast.Tuple, names: dict[str, Value]) -> list[Value]:
        return [self.value(part, names) for part in node.elts]

    _tuple = _list

    def _subscript(self, node: ast.Subscript, names: dict[str, Value]) -> Value:
        return self.value(node.value, names)[self.value(node.slice, names)]

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, names: dict[str, Value]) -> list[Value]:
        return [self.value(node.elt, bound) for bound in self._bound(node.generators, names)]

    _generatorexp = _listcomp

    def _bound(self, generators: list[ast.comprehension], names: dict[str, Value]) -> Iterator[dict[str, Value]]:
        """Return the names as each round of a comprehension sees them."""
        if not generators:
            yield names
            return
        first, *others = generators
        for item in self.value(first.iter, names):
            own = names | _unpacked(first.target, item)
            if all(self.value(test, own) for test in first.ifs):
                yield from self._bound(others, own)

    def _call(self, node: ast.Call, names: dict[str, Value]) -> Value:
        assert isinstance(node.func, ast.Name)
        arguments = [self.value(argument, names) for argument in node.args]
        keywords = {str(keyword.arg): self.value(keyword.value, names) for keyword in node.keywords}
        if node.func.id in FUNCTIONS:
            return FUNCTIONS[node.func.id](*arguments, **keywords)
        if self._lookups is None:
            raise TopoloomError(f"{node.func.id} looks results up; there are none here")
        return self._lookups.call(node.func.id, arguments, keywords)


def _unpacked(target: ast.expr, item: Value) -> dict[str, Value]:
    """Return the names that one item of a comprehension gives values to."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, ast.Tuple):
        parts = zip(target.elts, item, strict=True)
        return {name: value for part, own in parts for name, value in _unpacked(part, own).items()}
    raise TopoloomError(f"'{ast.unparse(target)}' cannot take a value in a formula")
