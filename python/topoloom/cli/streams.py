"""Standard output and standard error as they come from outside: closed, full, or in a narrow encoding."""

import os
import sys
from typing import TextIO

from topoloom._core import TopoloomError


def prepare() -> None:
    """Make the streams take whatever is printed; characters that their encoding lacks are written as escapes.

    Raises:
        TopoloomError: Standard output is closed, so that no result could be printed.

    >>> prepare()
    """
    closed = sys.stdout is None
    _fill_descriptors()
    sys.stdout = sys.stdout or _nowhere(1)
    sys.stderr = sys.stderr or _nowhere(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if closed:
        raise TopoloomError("standard output is closed; direct it to a file, or to /dev/null")


def _fill_descriptors() -> None:
    """Take the numbers of streams that are closed, which files that are opened later would get otherwise."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - that of standard error
        pass
    os.close(opened)


def _nowhere(descriptor: int) -> TextIO:
    return os.fdopen(descriptor, "w", encoding="utf-8")


def abandon_output() -> None:
    """Redirect standard output to nothing, so that the interpreter does not complain about it when it ends.

    >>> abandon_output()  # doctest: +SKIP
    """
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def write_data(text: str) -> None:
    """Write the contents of a file to standard output: UTF-8, as in the file, whatever the terminal's encoding is.

    Args:
        text: The contents.

    Raises:
        OSError: Standard output cannot be written.

    >>> write_data("router 0 node 0")  # doctest: +SKIP
    router 0 node 0
    """
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
