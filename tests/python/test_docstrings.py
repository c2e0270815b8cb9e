"""Public functions have a summary line, their parameters with units and shapes, errors, and an example."""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel, Field

import topoloom
from topoloom.cli.app import app
from topoloom.design.answer import design
from topoloom.engine import results
from topoloom.network.families import Family
from topoloom.network.networks import network
from topoloom.workload.jobs import workload

CALLED = {"network": network, "workload": workload, "design": design}
"""Packages that can be called, and the functions that they call."""

NUMBER = re.compile(r"(?:int|float)(?: \| None)?")
UNIT = re.compile(
    r"\b(?:(?:micro|nano)?seconds?|cycles?|flits?|bytes|metres|dollars|watts|hops|links|routers|terminals|tasks|ports|VCs?"
    r"|Gb/s|number|share|probability|fractions?|parts|ids?|seeds?|ratio|load|many|first)\b",
    re.IGNORECASE,
)
"""What a description of a number has: its unit, or what it counts."""
SHAPE = re.compile(r"\b(?:shape|one for each|one per|array of|columns|fields)\b")
TEXT = re.compile(r"(?:str|Path)\b")


def functions() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Yield the name, the function and the class's docstring of every public function and method."""
    things = {name: getattr(topoloom, name) for name in topoloom.__all__} | CALLED
    for package in (topoloom.studies, topoloom.papers, topoloom.plotting):
        things |= {name: getattr(package, name) for name in package.__all__}
    things |= {f"flows.{name}": getattr(topoloom.flows, name) for name in ("run", "rates")}
    for name, thing in things.items():
        yield from members(name, thing)


def members(name: str, thing: Any) -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Yield a function, also one whose results are kept, or the methods of a class."""
    if inspect.isfunction(function := inspect.unwrap(thing) if callable(thing) else thing):
        yield name, function, ""
    elif inspect.isclass(thing) and not issubclass(thing, BaseException):
        for member, value in vars(thing).items():
            function = inspect.unwrap(value.__func__ if isinstance(value, classmethod | staticmethod) else value)
            names = (member, getattr(function, "__name__", ""))  # a name in public may be one more of a private method
            if inspect.isfunction(function) and not any(name.startswith(("_", "model_")) for name in names):
                of_class = inspect.getdoc(thing) or ""
                if getattr(thing, "_is_protocol", False):  # the classes that implement it have examples
                    of_class = f">>> it.{member}()"
                yield f"{name}.{member}", function, of_class


WHOLE = [
    f"topoloom.{found.name}"
    for found in pkgutil.iter_modules(topoloom.__path__)
    if found.name not in ("__main__", "_core")
]
"""Packages of which every function counts that has no underscore, whether or not the package lists it."""

GROUP = typer.main.get_command(app)
COMMANDS = {inspect.unwrap(command.callback) for command in [*GROUP.commands.values(), app.registered_callback]}
"""Functions whose docstring is the help of a command; the help of their options describes their parameters."""


def functions_of(package: str) -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Yield the same of every function and method that the modules of a package define."""
    for module in [package, *(found.name for found in pkgutil.iter_modules([str(folder(package))], f"{package}."))]:
        importlib.import_module(module)  # some packages can be called, and are no modules then
        for name, thing in vars(sys.modules[module]).items():
            if getattr(thing, "__module__", None) == module and not name.startswith("_"):
                yield from ((f"{module}.{own}", function, doc) for own, function, doc in members(name, thing))


def folder(package: str) -> Path:
    return Path(topoloom.__file__).parent / package.removeprefix("topoloom.")


FUNCTIONS = {
    name: (function, of_class)
    for name, function, of_class in [*functions(), *(found for package in WHOLE for found in functions_of(package))]
    if function not in COMMANDS and "<locals>" not in function.__qualname__
}


def kind_of(annotation: Any) -> str:
    """Return an annotation as it is written."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def described(doc: str, section_title: str = "Args") -> dict[str, str]:
    """Return the text of each parameter in a section, that of arguments unless given."""
    section = re.search(rf"^{section_title}:\n((?: .*\n?|\n(?= ))+)", doc, re.MULTILINE)
    found = re.split(r"^ {4}\*{0,2}(\w+): ", section[1], flags=re.MULTILINE) if section else [""]
    return dict(zip(found[1::2], found[2::2], strict=True))


def lacking(function: Callable[..., Any], of_class: str = "") -> list[str]:
    """Return what the docstring of a function lacks."""
    doc = inspect.getdoc(function) or ""
    arguments = described(doc)
    signature = inspect.signature(function)
    parameters = {
        name: kind_of(it.annotation) for name, it in signature.parameters.items() if name not in {"self", "cls"}
    }
    elsewhere = re.search(r"[Aa]rguments (?:and errors )?are those of :\w+:`", doc)
    lacks = [] if re.match(r".+[.;:](?:\n\n|\Z|\n)", doc) else ["summary line"]
    if not elsewhere:
        lacks += [f"parameter {name}" for name in parameters if name not in arguments]
    for name, text in arguments.items():
        kind = parameters.get(name, "")
        if "ndarray" in kind and not SHAPE.search(text):
            lacks.append(f"shape of {name}")
        elif NUMBER.fullmatch(kind) and not UNIT.search(text):
            lacks.append(f"unit of {name}")
    may_be_none = kind_of(signature.return_annotation).endswith(" | None")  # what is not found is None
    takes_names = not may_be_none and any(TEXT.match(kind) for kind in parameters.values())
    raises = "raise " in inspect.getsource(function) or takes_names
    if raises and not re.search(r"^Raises:|rrors are those of :\w+:`|unchecked", doc, re.MULTILINE):
        lacks.append("errors")
    if NUMBER.fullmatch(kind_of(signature.return_annotation)) and not UNIT.search(doc):
        lacks.append("unit of the result")
    if ">>> " not in doc and f".{function.__name__}(" not in "".join(
        re.findall(r"^ *(?:>>>|\.\.\.) .*", of_class, re.MULTILINE)
    ):
        lacks.append("example")
    return lacks


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_docstring_of(name):
    assert not lacking(*FUNCTIONS[name])


def classes() -> Iterator[type]:
    """Yield the public classes of all packages, errors, protocols and the generated results of the engine aside."""
    for name in sorted(name for name in sys.modules if name.startswith(tuple(WHOLE)) and name != results.__name__):
        for thing in vars(sys.modules[name]).values():
            own = inspect.isclass(thing) and thing.__module__ == name and not thing.__name__.startswith("_")
            if own and not (issubclass(thing, BaseException) or getattr(thing, "_is_protocol", False)):
                yield thing


def parts(thing: type) -> list[str]:
    """Return what a class is made of: its own fields, but those of pydantic that describe themselves, or arguments."""
    if issubclass(thing, BaseModel):
        own = inspect.get_annotations(thing)
        return [name for name, field in thing.model_fields.items() if name in own and not field.description]
    if is_dataclass(thing):
        return [name for name in inspect.get_annotations(thing) if name in {field.name for field in fields(thing)}]
    return list(inspect.signature(thing.__init__).parameters)[1:] if "__init__" in vars(thing) else []


def undescribed(thing: type) -> list[str]:
    """Return the parts of a class that its docstring leaves out."""
    doc = ast.get_docstring(ast.parse(inspect.getsource(thing)).body[0]) or ""
    known = described(doc) | described(doc, "Attributes")
    return [part for part in parts(thing) if not part.startswith("_") and part not in known]


@pytest.mark.parametrize("thing", list(classes()), ids=lambda thing: f"{thing.__module__}.{thing.__name__}")
def test_the_parts_of(thing):
    assert not undescribed(thing)


def test_families_have_a_source_and_classes_a_docstring():
    for name in topoloom.__all__:
        thing = getattr(topoloom, name)
        assert name == "__version__" or inspect.getdoc(thing), name
        assert not isinstance(thing, Family) or "Source:" in thing.__doc__


def bare(path: str, seconds: float) -> float:
    return seconds if path else 0.0


def whole(path: str, seconds: float) -> float:
    """Return the seconds.

    Args:
        path: The file.
        seconds: The seconds.

    Raises:
        ValueError: No file.

    >>> whole("a", 1.0)
    1.0
    """
    if not path:
        raise ValueError(path)
    return seconds


def _private() -> None: ...


def test_functions_whose_results_are_kept_count_and_private_ones_do_not():
    assert [function for _, function, _ in members("kept", cache(bare))] == [bare]
    thing = type("Thing", (), {"public": cache(whole), "_hidden": whole, "another_name": _private})
    assert [name for name, _, _ in members("Thing", thing)] == ["Thing.public"]


class Plain:
    """It has one part.

    Args:
        one: The first.
    """

    def __init__(self, one: int, two: int) -> None: ...


@dataclass
class Parts:
    """It has one part.

    Attributes:
        two: The second.
    """

    one: int
    two: int
    _own: int = 0


class Model(BaseModel):
    """It has none."""

    one: int
    two: int = Field(description="The second.")


def test_parts_that_are_missing_are_found():
    assert [undescribed(thing) for thing in (Plain, Parts, Model)] == [["two"], ["one"], ["one"]]


def test_what_is_missing_is_found():
    assert not lacking(whole)
    assert lacking(bare) == [
        "summary line",
        "parameter path",
        "parameter seconds",
        "errors",
        "unit of the result",
        "example",
    ]
