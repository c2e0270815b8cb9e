"""The floors of the crate: which module may import which, as the page on architecture has it."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.paths import ROOT

SOURCES = ROOT / "crates/topoloom/src"
PAGE = ROOT / "docs/architecture.md"

TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{\n.*?^\}\n", re.DOTALL | re.MULTILINE)
"""The tests of a file: rustfmt puts the brace that ends them, and none before it, at the beginning of a line."""
COMMENT = re.compile(r"//.*")
TYPE = re.compile(r"^\s*(?:pub(?:\(\w+\))? )?(?:struct|enum|trait|type|union) (\w+)", re.MULTILINE)
PARTICIPLE = re.compile(
    r"(?<!Tok)(?:[a-z]ed|[a-z]own|awn|itten|oken|ought|Told|Found|Seen|Given|Left|Lost|Kept|Held|Sent|Done)$"
)
FROM_CRATE = re.compile(r"\bcrate::(\w+|\{)")
FROM_ABOVE = re.compile(r"(?<![\w:])((?:super::)+)(?=\w|\{)")


class Import(NamedTuple):
    """A path to another module of the crate: where it stands, and what it names."""

    importer: str
    imported: str
    line: int


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _group(text: str) -> Iterator[str]:
    """Yield the first names of the paths in a group, of which `text` begins behind the brace."""
    depth, first = 0, True
    for token in re.finditer(r"\w+|[{},]", text):
        if token[0] == "}" and depth == 0:
            return
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
        elif token[0] == ",":
            first = first or depth == 0
        elif first:
            yield token[0]
            first = False


def imports_of(source: str, path: Path) -> Iterator[Import]:
    """Yield the modules of the crate that a file's code names, its tests aside.

    Args:
        source: The text of the file.
        path: Where the file stands below `src`.
    """
    code = COMMENT.sub(_blank, TESTS.sub(_blank, source))
    parts = [part for part in path.with_suffix("").parts if part != "mod"]
    for found in FROM_CRATE.finditer(code):
        line = code.count("\n", 0, found.start()) + 1
        names = _group(code[found.end() :]) if found[1] == "{" else iter([found[1]])
        yield from (Import(parts[0], name, line) for name in names if name != parts[0])
    for found in FROM_ABOVE.finditer(code):
        if found[1].count("super") >= len(parts):
            yield Import(parts[0], "super", code.count("\n", 0, found.start()) + 1)


@cache
def _files() -> tuple[tuple[Path, str], ...]:
    """Return all files but those of tests and the crate's own, which declares the modules."""
    paths = (path for path in SOURCES.rglob("*.rs") if path.name not in ("lib.rs", "tests.rs"))
    return tuple((path.relative_to(SOURCES), path.read_text(encoding="utf-8")) for path in paths)


@cache
def _floors() -> list[list[str]]:
    """Return the modules as the page lists them, the uppermost first; those of a line do not import each other."""
    block = re.search(r"those below it alone:\n\n((?:    .+\n)+)", PAGE.read_text(encoding="utf-8"))
    assert block is not None
    return [re.findall(r"\w+", line.partition("  #")[0]) for line in block[1].strip("\n").splitlines()]


def _wrong(imports: Iterator[Import]) -> list[str]:
    level = {module: number for number, floor in enumerate(_floors()) for module in floor}
    return [
        f"{own.importer}, line {own.line}, imports {own.imported}"
        for own in imports
        if own.imported not in level or level[own.importer] >= level[own.imported]
    ]


def test_the_page_lists_every_module_of_the_crate():
    modules = {path.stem if path.is_file() else path.name for path in SOURCES.iterdir()} - {"lib"}
    listed = [module for floor in _floors() for module in floor]
    assert sorted(listed) == sorted(modules)


def test_modules_import_those_below_them_alone():
    wrong = [f"{path}: {sentence}" for path, source in _files() for sentence in _wrong(imports_of(source, path))]
    assert not wrong, "\n".join(wrong)


def test_tests_end_their_files():
    """What stands behind them would not be looked at by who reads a file, nor be missed here."""
    for path, source in _files():
        found = list(TESTS.finditer(source))
        assert len(found) <= 1, path
        assert all(tests.end() == len(source) for tests in found), path


def test_imports_are_found_however_they_are_written():
    source = (
        "//! Not crate::cycle.\n"
        "use crate::{error::{Error, Result}, routing, watch::{self, Stage}};\n"
        "fn f() -> crate::topology::Family { super::flow::run() }\n"
        "use super::names;\n"
        "#[cfg(test)]\n"
        "mod tests {\n"
        "    use crate::metrics;\n"
        "}\n"
    )
    found = [(own.imported, own.line) for own in imports_of(source, Path("limits.rs"))]
    assert found == [("error", 2), ("routing", 2), ("watch", 2), ("topology", 3), ("super", 3), ("super", 4)]
    found = [own.imported for own in imports_of(source, Path("flow/rates.rs"))]
    assert found == ["error", "routing", "watch", "topology"]


def test_an_import_upwards_is_found():
    upwards = "use crate::cycle::Config;\nuse crate::error::Error;\n"
    assert _wrong(imports_of(upwards, Path("routing/min.rs"))) == ["routing, line 1, imports cycle"]
    assert _wrong(imports_of("use crate::flow::Paths;\n", Path("cycle/mod.rs"))) == ["cycle, line 1, imports flow"]
    assert _wrong(imports_of("use crate::Result;\n", Path("cycle/mod.rs"))) == ["cycle, line 1, imports Result"]


@cache
def _types() -> list[tuple[str, Path]]:
    """Return every type of the crate's code, tests aside, with its file."""
    return [(name, path) for path, source in _files() for name in TYPE.findall(TESTS.sub("", source))]


def test_types_are_called_by_nouns():
    types = {name for name, _ in _types()}
    assert len(types) > 300
    assert [name for name in sorted(types) if PARTICIPLE.search(name)] == []
    assert all(PARTICIPLE.search(name) for name in ("Told", "Searched", "Played", "Written", "RouteFound"))


@pytest.mark.parametrize("name", ["Move", "Cut", "Channel", "Point"])
def test_one_type_alone_has_a_name_of_the_field(name):
    """Such a name stands for what a reader of the field expects: a hop of a packet, a point of a curve."""
    assert len([path for known, path in _types() if known == name]) <= 1
