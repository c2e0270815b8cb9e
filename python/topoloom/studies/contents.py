"""What is in the files that points read: digests, by which a result knows its inputs."""

import hashlib
import stat
from functools import lru_cache
from pathlib import Path


def digest(name: str) -> str | None:
    """Return the SHA-256 of a file as hexadecimal digits.

    Args:
        name: The path of the file.

    Returns:
        None where the file is missing, is no regular file or cannot be read: its reader reports that.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "own.csv").write_text("1")
    ...     digest(f"{folder}/own.csv")[:8], digest(f"{folder}/other.csv")
    ('6b86b273', None)
    """
    path = Path(name)
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            return None
        return _digest(path, (about.st_dev, about.st_ino, about.st_mtime_ns, about.st_ctime_ns, about.st_size))
    except (OSError, ValueError):  # a zero byte in a name is no OSError
        return None


@lru_cache(maxsize=64)
def _digest(path: Path, version: tuple[int, ...]) -> str:  # noqa: ARG001 - a file that changed is read again
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
