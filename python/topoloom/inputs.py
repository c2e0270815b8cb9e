"""Files that users name to be read: regular ones alone, and none that memory cannot hold.

A device such as ``/dev/zero`` never ends, and opening a pipe waits for a writer that may never come. The engine has the
same rule for the files that it reads.
"""

import stat
from pathlib import Path

from topoloom._core import TopoloomError, available_memory

COST = 12
"""Bytes of memory that a byte of a file may cost where all of it is read and taken apart."""


def read_bytes(path: str | Path, kind: str = "") -> bytes:
    """Return the bytes of a file.

    Args:
        path: The file.
        kind: What it is, to stand before its name in a message, such as ``the price list``.

    Raises:
        TopoloomError: There is no such file, it is no regular file, it cannot be read, or it is too large.
    """
    try:
        why = _refused(path)
        if why is None:
            return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # a ValueError is a character that no name can have
        why = getattr(error, "strerror", None) or str(error)
    raise TopoloomError(f"{kind} {path} cannot be read: {why}".lstrip())


def _refused(path: str | Path) -> str | None:
    """Return why a file is not to be opened."""
    about = Path(path).stat()
    if stat.S_ISDIR(about.st_mode):
        return "it is a folder; a file is read here"
    if not stat.S_ISREG(about.st_mode):
        return "it is no regular file; pipes and devices are not read"
    size, available = about.st_size, available_memory()
    if size * COST > available:
        return f"it has {size // 10**6} MB, too many to read with {available // 10**6} MB of memory available"
    return None


def read_text(path: str | Path, kind: str = "") -> str:
    """Return the text of a file in UTF-8; arguments as for :func:`read_bytes`.

    Raises:
        TopoloomError: As for :func:`read_bytes`, or the file is no text in UTF-8.
    """
    try:
        text = read_bytes(path, kind).decode("utf-8")
    except UnicodeDecodeError:
        raise TopoloomError(f"{kind} {path} cannot be read: it is no text in UTF-8".lstrip()) from None
    # As files that are opened as text: every line ends in a newline alone.
    return text.replace("\r\n", "\n").replace("\r", "\n")
