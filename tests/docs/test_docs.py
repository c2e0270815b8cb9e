"""The pages show what the commands really print. Run as a program, this writes the blocks anew."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from topoloom import Study

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "tutorial",
            "faults",
            "cost",
            "files",
            "other-programs",
            "pictures",
            "permutation",
            "studies",
            "workloads",
            "design-search",
            "reproduce",
        )
    ),
]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def printed(command):
    """Return what a command prints on a terminal, both streams."""
    arguments = shlex.split(command)
    assert arguments[0] == "topoloom"
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    return done.stdout


def refreshed(text):
    """Return a page with the output of its commands as it is now."""

    def block(match):
        commands = [line for line in match[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{printed(line[2:])}" for line in commands) + "```"

    return BLOCK.sub(block, text)


@pytest.mark.parametrize("page", PAGES)
def test_the_console_blocks_of(page):
    text = (ROOT / page).read_text()
    assert refreshed(text) == text


@pytest.mark.parametrize("page", PAGES)
def test_the_links_of(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_the_python_blocks_of(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)):
        path = tmp_path / f"block{number}.py"
        path.write_text(code)
        runpy.run_path(str(path))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_the_example(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out.count("\n") == 4


def test_the_studies_of_the_pages():
    text = (ROOT / "docs/studies.md").read_text()
    studies = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert studies
    for study in studies + [path.read_text() for path in (ROOT / "examples/studies").glob("*.toml")]:
        assert Study.parse(study).points()


def test_the_notebook(tmp_path):
    notebook = nbformat.read(ROOT / "examples/tutorial.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("text/html" in output.get("data", {}) for output in shown) >= 3, "networks, curves and tables are rich"


if __name__ == "__main__":
    for name in PAGES:
        page = ROOT / name
        page.write_text(refreshed(page.read_text()))
