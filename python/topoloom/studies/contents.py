"""What is in the files that points read: digests, by which a result knows its inputs."""

import hashlib
import stat
from functools import lru_cache
from pathlib import Path


def digest(name: str) -> str | None:
    """Return the SHA-256 of a file. What is missing or no regular file has none: its reader reports it."""
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
