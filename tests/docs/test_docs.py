"""The pages show what the commands really print. Run as a program, this writes the blocks anew."""

import contextlib
import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import typer
import yaml
from nbclient import NotebookClient

from topoloom import Study
from topoloom.cli.app import app
from topoloom.cli.command import run

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "papers/README.md")),
        *sorted((ROOT / "docs").glob("*.md")),
    )
}
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CHECKED = {"console", "python", "sh", "toml", "rust", "diff"}
"""Languages of blocks that a test here or in `test_pages.py` runs or parses on every page."""
HOSTS = "docs/topologies.md"
"""The page whose TOML is a host, not a study."""

ONCE = {
    ("docs/clusters.md", "yaml"),
    ("docs/cost.md", "csv"),
    ("docs/cost.md", "json"),
    ("docs/traffic.md", "csv"),
    ("docs/workloads.md", "csv"),
    ("docs/workloads.md", "text"),
}
"""Blocks of other languages, each with a test of its own; those of the page on cost are in `tests/layout`."""


def blocks(page: str, language: str) -> list[str]:
    """Return the contents of all blocks of one language on a page."""
    return [found[3] for found in BLOCK.finditer(PAGES[page]) if found[1] == language]


def pages_with(language: str) -> list[str]:
    """Return the pages that have blocks of a language."""
    return [page for page in PAGES if blocks(page, language)]


def words_of(command):
    """Return the arguments of a command of topoloom."""
    program, *arguments = shlex.split(command)
    assert program == "topoloom"
    return arguments


def printed(command):
    """Return what a command prints on a terminal, both streams."""
    done = subprocess.run(
        [sys.executable, "-m", "topoloom", *words_of(command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    return done.stdout


def printed_here(command):
    """Return the same of a command within this process, which spares its start."""
    both = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(both), contextlib.redirect_stderr(both):
        run(words_of(command))
    return both.buffer.getvalue().decode()


CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def refreshed(text, printed=printed):
    """Return a page with the output of its commands as it is now."""

    def block(match):
        commands = [line for line in match[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{printed(line[2:])}" for line in commands) + "```"

    return CONSOLE.sub(block, text)


def test_no_block_is_left_unchecked():
    found = {(page, block[1]) for page, text in PAGES.items() for block in BLOCK.finditer(text)}
    assert {(page, language) for page, language in found if language not in CHECKED} == ONCE


@pytest.mark.parametrize("page", pages_with("console"))
def test_the_console_blocks_of(page):
    """Commands of the first page that people read run as they would run them."""
    assert refreshed(PAGES[page], printed if page == "README.md" else printed_here) == PAGES[page]


@pytest.mark.parametrize("page", pages_with("sh"))
def test_the_commands_of(page):
    """Every command is there, and takes its options."""
    group = typer.main.get_command(app)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in "\n".join(blocks(page, "sh")).splitlines():
        program, *words = shlex.split(line, comments=True) or [""]
        if program == "make":
            assert set(words) <= targets
        elif program == "topoloom":
            group.commands[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("page", PAGES)
def test_the_links_of(page):
    for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", PAGES[page]):
        assert ((ROOT / page).parent / target).exists(), target


@pytest.mark.parametrize("page", pages_with("python"))
def test_the_python_blocks_of(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, code in enumerate(blocks(page, "python")):
        path = tmp_path / f"block{number}.py"
        path.write_text(code)
        runpy.run_path(str(path))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_the_example(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out.count("\n") == 4


def test_the_studies_of_the_pages():
    studies = [study for page in pages_with("toml") if page != HOSTS for study in blocks(page, "toml")]
    assert studies
    for study in studies + [path.read_text() for path in (ROOT / "examples/studies").glob("*.toml")]:
        assert Study.parse(study).points()


def test_the_host_and_the_machine_of_the_page_on_topologies(topoloom, tmp_path):
    text, machine = blocks(HOSTS, "toml")
    (tmp_path / "mine.toml").write_text(text)
    (tmp_path / "machine.toml").write_text(machine)
    outcome = topoloom("verify", f"machine:{tmp_path / 'machine.toml'},racks=2", "--routing", "hosts:fabric=amin")
    assert outcome.status == 0, outcome.err
    spec = f"cluster:hosts=4,host={tmp_path / 'mine.toml'},fabric=(mesh:4,rate=100G)"
    outcome = topoloom("show", spec, "--json")
    assert outcome.status == 0, outcome.err
    assert json.loads(outcome.out)[0]["terminals"] == 8


def test_the_trace_of_the_page_on_traffic(topoloom, tmp_path):
    (text,) = blocks("docs/traffic.md", "csv")
    (tmp_path / "trace.csv").write_text(text)
    outcome = topoloom("simulate", "mesh:5x4", "--traffic", f"trace:{tmp_path / 'trace.csv'}", "--json")
    assert outcome.status == 0, outcome.err


def test_the_schedule_of_the_page_on_workloads(topoloom, tmp_path):
    (text,) = blocks("docs/workloads.md", "text")
    (tmp_path / "two.goal").write_text(text)
    assert topoloom("workload", "mesh:2", "--app", f"goal:{tmp_path / 'two.goal'}", "--json").status == 0


def test_the_table_of_the_page_on_workloads(topoloom, tmp_path):
    (text,) = blocks("docs/workloads.md", "csv")
    (tmp_path / "calls.csv").write_text(text)
    assert topoloom("workload", "mesh:2", "--app", f"nccl:{tmp_path / 'calls.csv'}", "--json").status == 0


def test_the_settings_of_the_page_on_clusters():
    (text,) = blocks("docs/clusters.md", "yaml")
    assert yaml.safe_load(text)["distributed"]["comm"]["tls"].keys() == {"ca-file", "client"}


def test_the_notebook(tmp_path):
    notebook = nbformat.read(ROOT / "examples/tutorial.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("text/html" in output.get("data", {}) for output in shown) >= 3, "networks, curves and tables are rich"


if __name__ == "__main__":
    for name in pages_with("console"):
        (ROOT / name).write_text(refreshed(PAGES[name]))
