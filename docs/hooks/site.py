"""What the site has besides the pages of this folder: pages of the repository's root, and a generated reference."""

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import topoloom
from topoloom.cli.app import app

ROOT = Path(__file__).parents[2]

OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "papers/README.md": "papers.md",
}
"""Pages outside this folder, and where the site has them."""

INSIDE = {page: source for source, page in OUTSIDE.items()}

ELSEWHERE = {"CITATION.cff": "cite.md"}
"""Files that the site shows on a page of another form."""

LINK = re.compile(r"\[([^][]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^```(\w+) +file=(\S+)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in this folder."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for page, text in {"cite.md": cite(), "reference/commands.md": commands(), "reference/python.md": api()}.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Let links point to where the site has their targets; what it has not is named without a link."""
    source = INSIDE.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def target(found: re.Match[str]) -> str:
        text, path, anchor = found.groups()
        path = normpath(f"{source.rpartition('/')[0] or '.'}/{path}")
        on_site = OUTSIDE.get(path) or ELSEWHERE.get(path) or path.removeprefix("docs/")
        if files.get_file_from_path(on_site) is not None:
            return f"[{text}]({'../' * page.file.src_uri.count('/')}{on_site}{anchor or ''})"
        # A folder or a source: the site has none of them. What is nowhere stays, and the build reports it.
        return text if (ROOT / path).exists() else found[0]

    # What follows the language of a block names its file.
    return FENCE.sub(r'```\1 title="\2"', LINK.sub(target, markdown))


def cite() -> str:
    """Return the page on citing."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    return f"# How to cite\n\n`CITATION.cff` in the repository has the reference:\n\n```yaml\n{text}```\n"


def commands() -> str:
    """Return the reference of the command line, from the commands themselves."""
    group: Any = typer.main.get_command(app)
    parts = ["# Commands\n", "Every option of every command, as `--help` has them."]
    for name, command in group.commands.items():
        parts += [f"\n## topoloom {name}\n", command.help or "", "\n| argument or option | meaning |", "|---|---|"]
        parts += list(_rows(command.params))
    return "\n".join(parts) + "\n"


def _rows(parameters: list[Any]) -> Iterator[str]:
    for parameter in parameters:
        names = ", ".join(f"`{name}`" for name in parameter.opts if name.startswith("-"))
        what = names or f"`{(parameter.metavar or parameter.name).strip('[].')}`"
        if names and parameter.metavar:
            what += f" `{parameter.metavar}`"
        text = (getattr(parameter, "help", None) or "").replace("|", r"\|").replace("\n", " ")
        yield f"| {what} | {text} |"


def api() -> str:
    """Return the reference of the Python interface: every public name, families of networks aside."""
    parts = ["# Python interface\n", "The public names of `topoloom`, from their docstrings.", FAMILIES]
    homes = {name: module for module, names in topoloom._HOMES.items() for name in names}
    names = [
        *CALLED,
        *(name for name, home in homes.items() if home not in {"topoloom.network.families", "topoloom._core"}),
    ]
    parts += [f"\n::: {CALLED.get(name) or f'{homes[name]}.{name}'}" for name in sorted(names, key=str.lower)]
    return "\n".join(parts) + "\n"


FAMILIES = (
    "Every family of [names](../names.md) is a callable as well: `topoloom.FleX(6, 6, 3, p=10)`. "
    "`make docs` builds the pages of the Rust crate."
)

CALLED = {
    "network": "topoloom.network.networks.network",
    "workload": "topoloom.workload.jobs.workload",
    "design": "topoloom.design.answer.design",
}
"""Packages that can be called, and the functions that they call."""
