"""What shells offer behind the Tab key: names of the catalogue, also behind the commas of a list."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from topoloom import _core

VARIABLE = "_TOPOLOOM_COMPLETE"
"""The variable by which a shell's script asks for completions, as Typer's scripts name it."""

ROLES = ("minimal", "adaptive", "best")


def is_asked() -> bool:
    """Return whether a shell asks for completions instead of running a command.

    >>> is_asked()
    False
    """
    return VARIABLE in os.environ


def _offered(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes the last name of a list."""

    def offered(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [before + comma + name for name in names() if name.startswith(begun)]

    return offered


def _named(listed: Callable[[], Iterable[Any]]) -> Callable[[], Iterable[str]]:
    return lambda: (item.name for item in listed())


topologies = _offered(_named(_core.families))
routings = _offered(lambda: (*ROLES, *_named(_core.routings)()))
traffic = _offered(_named(_core.traffic_patterns))
apps = _offered(_named(_core.apps))
layouts = _offered(_named(_core.layouts))
prices = _offered(_named(_core.price_lists))
allocators = _offered(_named(_core.allocators))
