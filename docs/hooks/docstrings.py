"""Docstrings as the site shows them: doctests are blocks of code, and roles of Sphinx are plain names."""

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
ROLE = re.compile(r":\w+:`~?([^`]+)`")


class Docstrings(griffe.Extension):
    """Rewrites every docstring once it is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the doctests of an object's docstring."""
        if obj.docstring is not None:
            text = ROLE.sub(r"`\1`", obj.docstring.value).replace("``", "`")
            obj.docstring.value = DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
