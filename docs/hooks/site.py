"""What the site adds to the pages of this folder: pages of the repository's root, a notebook, a generated reference."""

import base64
import importlib
import io
import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from posixpath import normpath
from typing import Any

import matplotlib as mpl
import typer
import yaml
from matplotlib import pyplot as plt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import topoloom
from topoloom.cli.app import app
from topoloom.papers import Paper, names
from topoloom.papers.kept import KeptClaim, kept_run
from topoloom.papers.paper import Figure
from topoloom.papers.reproduction import shown
from topoloom.papers.values import Row, kept_values

mpl.use("Agg")

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

ELSEWHERE = {"CITATION.cff": "cite.md", "examples/tutorial.ipynb": "notebook.md"}
"""Files that the site shows on a page of another form."""

LINK = re.compile(r"\[([^][]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
PICTURE = re.compile(r"\[(!\[[^][]*\]\([^()]*\))\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")
"""A link whose text is a picture, which `LINK` does not read."""
ROLE = re.compile(r":\w+:`~?([^`]+)`")
FENCE = re.compile(r"^```(\w+) +file=(\S+)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in this folder."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for page, text in {
        "cite.md": cite(),
        "notebook.md": notebook(),
        "reference/commands.md": commands(),
        "reference/python.md": api(),
        "reference/studies.md": studies(),
        "reference/rust.md": RUST,
        **{f"papers/{name}.md": paper(name) for name in names()},
    }.items():
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
    return FENCE.sub(r'```\1 title="\2"', PICTURE.sub(target, LINK.sub(target, markdown)))


def cite() -> str:
    """Return the page on citing: the reference for BibTeX, and the file that reference managers read."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    citation = yaml.safe_load(text)
    bibtex = BIBTEX.format(
        author=" and ".join(f"{{{author['name']}}}" for author in citation["authors"]),
        title=citation["title"],
        version=citation["version"],
        year=str(citation["date-released"])[:4],
    )
    return CITE.format(bibtex=bibtex, citation=text)


CITE = """# How to cite

Please cite topoloom, and the papers whose topologies and routings you use: the pages on [topologies](topologies.md) and
[routings](routings.md) name them. State the version (`topoloom --version`), the specs and the seeds of your results.

```bibtex
{bibtex}```

`CITATION.cff` in the repository holds the same; reference managers read it:

```yaml
{citation}```
"""

BIBTEX = """@software{{topoloom,
  author  = {{{author}}},
  title   = {{{title}}},
  version = {{{version}}},
  year    = {{{year}}}
}}
"""


def notebook() -> str:
    """Return the cells of the tutorial's notebook, which tests run."""
    cells = json.loads((ROOT / "examples/tutorial.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = ("".join(cell["source"]) for cell in cells)
    parts = [
        text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        for cell, text in zip(cells, texts, strict=True)
    ]
    return "\n\n".join([*parts, "Download: `examples/tutorial.ipynb` in the repository.\n"])


def paper(name: str) -> str:
    """Return the page of a paper: the verdicts and the figures of the runs that are kept with it."""
    read = Paper.named(name)
    run = kept_run(read)
    drawn = {place: list(rows) for place, rows in groupby(kept_values(read), lambda row: row[:2])}
    parts = [
        f"# {read.title}\n",
        f"{read.citation}\n\n{read.about}\n",
        f"{'A quick run' if run.quick else 'The full run'} of {run.points:,} points took {run.seconds / 60:,.0f} "
        f"minutes of processor time. `topoloom reproduce {name}` repeats it; its page has the tables as well.",
    ]
    for item in read.item:
        claims = [claim for claim in run.claims if claim.part == item.id]
        figures = [
            f"{figure.title}\n\n{_chart(figure, drawn[place])}\n"
            for number, figure in enumerate(item.figure, 1)
            if (place := (item.id, f"figure {number}")) in drawn
        ]
        if claims or figures:
            parts += [f"\n## {item.title}\n", f"{item.text}\n", *figures, *_verdicts(claims)]
    return "\n".join(parts) + "\n"


def _verdicts(claims: list[KeptClaim]) -> Iterator[str]:
    """Yield the lines of a table of claims."""
    if claims:
        yield "\n| statement | published | measured | verdict |\n|---|---|---|---|"
    for claim in claims:
        whose = "" if claim.whose == "paper" else f" ({claim.whose})"
        reading = f"<br>*under this reading: {claim.reading}*" if claim.reading else ""
        cells = [claim.item + reading, claim.published, shown(claim.measured), claim.verdict + whose]
        yield "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"


def _chart(figure: Figure, rows: list[Row]) -> str:
    """Return a figure as a picture, drawn from its kept values."""
    with plt.rc_context({"svg.hashsalt": "topoloom", "svg.fonttype": "none", "font.size": 8}):
        canvas, axes = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
        for series, own in groupby(rows, lambda row: row[3]):
            _, _, _, _, xs, ys, published = zip(*own, strict=True)
            at = [float(x) for x in xs] if all(map(_is_number, xs)) else list(xs)
            style = "o" if figure.kind == "bars" else ".-"
            (line,) = axes.plot(at, list(map(float, ys)), style, markersize=3, linewidth=1, label=series)
            printed = [(x, float(y)) for x, y in zip(at, published, strict=True) if _is_number(y)]
            axes.plot(*zip(*printed, strict=True), "D", color=line.get_color(), fillstyle="none") if printed else None
        if figure.kind == "latency":
            # Past saturation latency grows with the length of a run.
            axes.set_ylim(0, 6 * min(float(row[5]) for row in rows))
        if figure.logarithmic:
            axes.set(xscale="log", yscale="log")
        curves = {"latency": ("offered load", "latency, cycles"), "throughput": ("offered load", "accepted load")}
        axes.set(**dict(zip(("xlabel", "ylabel"), curves.get(figure.kind, (figure.xaxis, figure.yaxis)), strict=True)))
        axes.legend(fontsize=6)
        text = io.BytesIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
        plt.close(canvas)
    # As a tag: links in Markdown are looked up, however long they are.
    return f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(text.getvalue()).decode()}">'


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def studies() -> str:
    """Return the keys of a study's file, from the schema that reads it."""
    schema = topoloom.Study.model_json_schema()
    parts = ["# Study files\n", "Every key of the file of a [study](../studies.md), from the schema that reads it."]
    for name, part in {"Study": schema, **schema["$defs"]}.items():
        about = ROLE.sub(r"`\1`", part.get("description", "").partition(">>>")[0].strip())
        parts += [f"\n## {name}\n", about, "\n| key | type | default | meaning |", "|---|---|---|---|"]
        for key, value in part.get("properties", {}).items():
            meaning = value.get("description", "").replace("|", r"\|").replace("\n", " ")
            parts.append(f"| `{key}` | {kind(value)} | {_default(key, value, part)} | {meaning} |")
    return "\n".join(parts) + "\n"


def kind(value: dict[str, Any]) -> str:
    """Return the type of a key of a schema in words."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(kind(one) for one in value["anyOf"] if one.get("type") != "null"))
    if "enum" in value:
        return ", ".join(f"`{word}`" for word in value["enum"])
    if value.get("type") == "array" and "items" in value:
        return f"list of {kind(value['items'])}"
    return str(value.get("type", "any"))  # what has no type takes anything


def _default(key: str, value: dict[str, Any], part: dict[str, Any]) -> str:
    if key in part.get("required", ()):
        return "*required*"
    default = value.get("default")
    return f"`{json.dumps(default)}`" if default not in (None, [], {}, "") else ""


RUST = """# Rust crate

The engine is the crate `topoloom`, which is complete without Python. `make docs` builds its pages;
<a href="../../rust/topoloom/index.html">this site has them too</a> where `make site` built it.

[Architecture](../architecture.md) describes the modules. [Adding a topology](../adding-a-topology.md) is one file.
"""


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
    for title, package in PACKAGES.items():
        module = importlib.import_module(package)
        own = getattr(module, "__all__", ("run", "rates"))
        parts += [f"\n## {title}\n", (module.__doc__ or "").partition("\n")[0]]
        parts += [f"\n::: {package}.{name}" for name in own if name not in names]
    return "\n".join(parts) + "\n"


PACKAGES = {
    "topoloom.flows": "topoloom.workload.flows",
    "topoloom.studies": "topoloom.studies",
    "topoloom.papers": "topoloom.papers",
    "topoloom.plotting": "topoloom.plotting",
}
"""Packages whose public names are documented besides those of `topoloom`, and the modules that they are."""

FAMILIES = (
    "Every family of [names](../names.md) is a callable as well: `topoloom.FleX(6, 6, 3, p=10)`. "
    "Errors are `topoloom.TopoloomError`, a `ValueError` with one sentence. "
    "The engine has [pages of its own](rust.md)."
)

CALLED = {
    "network": "topoloom.network.networks.network",
    "workload": "topoloom.workload.jobs.workload",
    "design": "topoloom.design.answer.design",
}
"""Packages that can be called, and the functions that they call."""
