"""What CONTRIBUTING says of the tests, and what holds of the tests themselves."""

import ast
import re

import pytest

from harness.paths import ROOT

TESTS = ROOT / "tests"
ROW = re.compile(r"^\| (?P<changed>[^|]*) \| `(?P<folder>tests/[a-z]+)` \| (?P<seconds>\d+) \|$", re.MULTILINE)
ELSEWHERE = {"external", "long"}
"""Folders whose tests `make test` leaves out: make targets of their own run them."""


def rows() -> list[re.Match[str]]:
    """Return the rows of the table of what to run after a change."""
    return list(ROW.finditer((ROOT / "CONTRIBUTING.md").read_text()))


def test_the_table_has_every_folder_of_tests_once():
    folders = {path.parent.name for path in TESTS.rglob("test_*.py")} - ELSEWHERE
    assert sorted(row["folder"] for row in rows()) == sorted(f"tests/{folder}" for folder in folders)


def test_what_the_table_names_is_there():
    for row in rows():
        named = re.findall(r"`([^`]+)`", row["changed"])
        assert named, row[0]
        assert [path for path in named if not list(ROOT.glob(path))] == []


def test_tests_stand_in_folders():
    assert list(TESTS.glob("test_*.py")) == []


@pytest.mark.parametrize("path", sorted((TESTS / "oracles").glob("*.py")), ids=lambda path: path.stem)
def test_an_oracle_imports_nothing_of_the_project(path):
    own = {"topoloom", "harness", *(folder.name for folder in TESTS.iterdir())} - {"oracles"}
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert not imported & own
