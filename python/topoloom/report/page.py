"""What all pages share: each is one HTML file that opens offline, in light and dark, on a phone and on paper."""

import re
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape


@cache
def environment(package: str) -> Environment:
    """Return what renders the templates of a package.

    Args:
        package: The name of the package.

    Raises:
        ValueError: There is no such package.

    >>> environment("topoloom.report").from_string("{{ 1234.5 | fixed(1) }}").render()
    '1,234.5'
    """
    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["fixed"] = _fixed
    environment.filters["breakable"] = _breakable
    return environment


def _fixed(value: float | None, decimals: int) -> str:
    """Return a number with thousands separators, or a dash where there is none."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def _breakable(spec: str) -> Markup:
    """Return a spec that a narrow column may break behind its colon and commas."""
    return Markup(re.sub("([:,])", r"\1<wbr>", str(escape(spec))))


def text(name: str) -> str:
    """Return the text of a file of this folder.

    Args:
        name: The name of the file.

    Raises:
        FileNotFoundError: There is no such file.

    >>> "{" in text("style.css")
    True
    """
    return files("topoloom.report").joinpath(name).read_text(encoding="utf-8")
