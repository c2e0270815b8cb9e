"""Whether a file can be written, found out before anything runs."""

from pathlib import Path


def check_writable(path: Path) -> None:
    """Check that a file can be written, and leave things as they were.

    Raises:
        OSError: A place that cannot be written to.
    """
    new = not path.exists()
    path.touch()
    if new:
        path.unlink()
