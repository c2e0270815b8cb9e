"""The files that an open project shows: they parse, and they name what is there."""

import re
import tomllib

import pytest
import yaml

from harness.paths import ROOT
from topoloom import _core

YAML = [*sorted(ROOT.glob(".github/**/*.yml")), ROOT / "CITATION.cff", ROOT / ".pre-commit-config.yaml"]


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_it_is_yaml(path):
    assert isinstance(yaml.safe_load(path.read_text()), dict)


def test_the_citation_has_the_version_and_what_the_format_requires():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == _core.__version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()


def test_the_checks_before_a_commit_are_those_of_make_lint():
    lint = (ROOT / "Makefile").read_text().partition("lint: setup")[2].partition("\n\n")[0]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    for hook in hooks:
        command = hook["entry"].replace(".venv/bin/", "$(BIN)/")
        assert command in lint, command


def test_workflows_run_what_the_project_has():
    """Its own commands, and the version and the Rust that Cargo.toml states, where they are looked up."""
    workflows = "".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    assert ".ci/run" in workflows
    patterns = re.findall(r"sed -n 's/\^(\S+) = ", workflows)
    assert set(patterns) == {"version", "rust-version"}
    cargo = (ROOT / "Cargo.toml").read_text()
    for key in patterns:
        assert re.search(rf'^{key} = "[0-9.]+"$', cargo, re.MULTILINE), key


def test_the_oldest_dependencies_are_installed_as_such():
    """uv takes the oldest versions of what it is given directly: the lists of pyproject.toml, not of a package."""
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    steps = "".join(str(step.get("run")) for step in jobs["oldest"]["steps"])
    (command,) = re.findall(r"uv pip install .*lowest-direct.*", steps)
    assert " -r pyproject.toml " in command
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    own = re.fullmatch(r"topoloom\[(.*)\]", extras["all"][0])[1].split(",")
    assert re.findall(r"--extra (\w+)", command) == own


def test_the_paper_has_what_its_journal_asks_for():
    """Metadata, sections, a length of 750 to 1750 words, and references with a DOI or, failing that, an address."""
    _, head, text = (ROOT / "paper/paper.md").read_text().split("---\n", maxsplit=2)
    about = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= about.keys()
    assert {str(author["affiliation"]) for author in about["authors"]} <= {
        str(own["index"]) for own in about["affiliations"]
    }
    assert re.findall(r"^# (.*)$", text, re.MULTILINE) == SECTIONS
    assert 750 <= len(text.split()) <= 1750
    entries = re.findall(
        r"^@\w+\{([\w-]+),(.*?)^\}$", (ROOT / "paper" / about["bibliography"]).read_text(), re.M | re.S
    )
    assert {key for key, _ in entries} == set(re.findall(r"@([\w-]+)", text))
    for key, fields in entries:
        assert re.search(r"^ +doi += +\{10\.\d{4,}/\S+\}|^ +url +=", fields, re.MULTILINE), key


SECTIONS = [
    "Summary",
    "Statement of need",
    "State of the field",
    "Software design",
    "Research impact statement",
    "Acknowledgements",
    "References",
]
