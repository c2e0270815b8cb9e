"""What people see on the terminal: tables on stdout, progress and warnings on stderr."""

import codecs
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from topoloom._core import concise
from topoloom.network.facts import Values, assumptions

WIDE = 10_000
"""Columns of an output that is no terminal: nothing is ever folded or cut there."""


def console(*, stderr: bool = False) -> Console:
    """Return the console of stdout or stderr as they are now.

    Args:
        stderr: Whether it is that of stderr.

    >>> console().print("[networks]", markup=False)
    [networks]
    """
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, soft_wrap=False, width=None if stream.isatty() else WIDE)


def print_json(value: Any) -> None:
    """Print a value to stdout as JSON, escaped where the encoding is not UTF-8.

    Args:
        value: The value, with null in the place of numbers that are not finite.

    Raises:
        ValueError: A number that is not finite.

    >>> print_json({"routers": 4})
    {
      "routers": 4
    }
    """
    narrow = codecs.lookup(sys.stdout.encoding or "ascii").name != "utf-8"
    print(json.dumps(value, indent=2, ensure_ascii=narrow, allow_nan=False))


def say(message: str) -> None:
    """Print a message on stderr. Where it cannot be written, the results still count.

    Args:
        message: The message, unchecked; a long one is shortened.

    >>> say("4 of 4 points are done")
    """
    with suppress(OSError):
        print(f"topoloom: {concise(message)}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Return a time for people.

    Args:
        seconds: The time in seconds.

    >>> duration(59.4), duration(61), duration(3700)
    ('59 s', '1 min 01 s', '1 h 01 min')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table; its first `left` columns are set left, the others right.

    Args:
        headers: The titles of the columns.
        rows: The cells of each row.
        left: The number of columns that are set left.

    >>> print_table(["network", "routers"], [["mesh:2x2", "4"]])
    network    routers
    ──────────────────
    mesh:2x2         4
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


FOLDED = 110
"""The largest width of sentences beneath a table, in columns."""


def print_assumptions(told: Iterable[Values]) -> None:
    """Print to stdout the assumptions behind cost, power and cable of networks.

    Args:
        told: The facts of the networks.

    >>> from topoloom.network.networks import Network
    >>> print_assumptions([Network("mesh:2x2").facts()])  # doctest: +ELLIPSIS
    Cost, power and cable: prices ...
    """
    for sentence in assumptions(told):
        print_sentence(sentence)


def print_sentence(sentence: str) -> None:
    """Print to stdout a sentence that belongs to the table above it.

    Args:
        sentence: The sentence, unchecked; it is folded to the width of the terminal.

    >>> print_sentence("Cable: layout rack.")
    Cable: layout rack.
    """
    output = console()
    output.print(Text(textwrap.fill(sentence, min(output.width, FOLDED)), style="dim"))


def progress() -> Progress:
    """Return a progress bar on stderr that vanishes when done, and that shows on terminals only.

    >>> with progress() as bar:
    ...     bar.add_task("curves", total=2, now="")
    0
    """
    errors = console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[now]}"),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        disable=not errors.is_terminal,
    )


@contextmanager
def paused(bar: Progress) -> Iterator[None]:
    """Remove the bar while something is printed to stdout, which may be the same terminal.

    Args:
        bar: The bar.

    >>> with progress() as bar, paused(bar):
    ...     print("mesh:2x2")
    mesh:2x2
    """
    bar.stop()
    try:
        yield
    finally:
        bar.start()
