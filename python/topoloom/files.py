"""The files that users name: how they are read, and what may be written over them.

Regular files alone are read, and none that memory cannot hold: a device such as ``/dev/zero`` never ends, and opening a
pipe waits for a writer that may never come. The engine has the same rule for the files that it reads.

What a file that is written may replace is decided here, and nowhere else: only a file of its own kind, unless the user
gives ``--force``. Studies, directories, and files in a store are never replaced. A file is written beside its place
and renamed, so a run that fails leaves the old one.
"""

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import BinaryIO

from topoloom import _core
from topoloom._core import TopoloomError, available_memory
from topoloom.libraries import require

READING_COST = 12
"""Bytes of memory that a byte of a file may cost where all of it is read and taken apart."""


def read_bytes(path: str | Path, kind: str = "") -> bytes:
    """Return the bytes of a file.

    Args:
        path: The file.
        kind: What it is, as a message puts it before the name, such as ``the price list``.

    Raises:
        TopoloomError: There is no such file, it is no regular file, it cannot be read, or it is too large.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "own.json").write_bytes(b"1")
    ...     read_bytes(f"{folder}/own.json")
    b'1'
    """
    try:
        why = _why_unreadable(path)
        if why is None:
            return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # a ValueError is a character that no name can have
        why = getattr(error, "strerror", None) or str(error)
    raise TopoloomError(f"{kind} {path} cannot be read: {why}".lstrip())


def _why_unreadable(path: str | Path) -> str | None:
    """Return why a file is not to be opened."""
    about = Path(path).stat()
    if stat.S_ISDIR(about.st_mode):
        return "it is a folder; a file is read here"
    if not stat.S_ISREG(about.st_mode):
        return "it is no regular file; pipes and devices are not read"
    size, available = about.st_size, available_memory()
    if size * READING_COST > available:
        return f"it has {size // 10**6} MB, too many to read with {available // 10**6} MB of memory available"
    return None


def read_text(path: str | Path, kind: str = "") -> str:
    """Return the text of a file in UTF-8, without the mark of its byte order; arguments as for :func:`read_bytes`.

    Args:
        path: The file.
        kind: What it is, as a message puts it before the name.

    Raises:
        TopoloomError: As for :func:`read_bytes`, or the file is no text in UTF-8.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "own.json").write_text("1")
    ...     read_text(f"{folder}/own.json")
    '1'
    """
    try:
        text = read_bytes(path, kind).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TopoloomError(f"{kind} {path} cannot be read: it is no text in UTF-8".lstrip()) from None
    # As files that are opened as text: every line ends in a newline alone.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def source(network: _core.Network) -> dict[str, str]:
    """Return ``source_sha256`` of a network that comes from a file or a graph; nothing of others.

    Args:
        network: The engine's network, ``Network.core``.

    >>> import topoloom
    >>> source(topoloom.network("mesh:4").core)
    {}
    """
    sha256 = network.source_sha256()
    return {} if sha256 is None else {"source_sha256": sha256}


LEDGER = "ledger.sqlite"
"""The file by which a folder is known as a store."""

HEAD = 1 << 16
"""Bytes of a file that identify its kind."""

STUDY = re.compile(rb"^[ \t]*\[\[[ \t]*sweep[ \t]*\]\]", re.MULTILINE)
"""What every study has in it, whatever its name."""

STREAMS = ("/dev/", "/proc/")
"""Paths below this are written to directly, and never replaced: terminals, pipes, ``/dev/null``."""


@dataclass(frozen=True)
class Kind:
    """A kind of files that are written.

    Attributes:
        name: What it is called, as in "report of topoloom".
        begins: Whether the first :data:`HEAD` bytes of a file may be those of one of that kind.
        needs: Optional libraries that write it.
        endings: The endings that its name may have, if it has one; empty: any.
    """

    name: str
    begins: Callable[[bytes], object]
    needs: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


def _kind(name: str, head: bytes, needs: tuple[str, ...] = (), endings: tuple[str, ...] = ()) -> Kind:
    begins = re.compile(rb"(?:\xef\xbb\xbf)?" + head, re.DOTALL | re.IGNORECASE).match
    return Kind(name, begins, needs, endings)


def table(name: str, columns: Sequence[str]) -> Kind:
    """Return the kind of CSV files that begin with these columns.

    Args:
        name: What a message calls the files, unchecked.
        columns: The names of the first columns.

    >>> bool(table("list of links", ["from", "to"]).begins(b"from,to,class"))
    True
    """
    return _kind(name, re.escape(",".join(columns)).encode() + rb"[,\r\n]")


DRAWING = ("matplotlib", "networkx")
REPORT = _kind(
    "report of topoloom",
    rb'\s*<!doctype html>.{0,4000}<meta name="generator" content="topoloom ',
    ("jinja2", "plotly", *DRAWING),
    (".html", ".htm"),
)
SCRIPT = _kind("script for sbatch that topoloom wrote", rb"#!/bin/sh\n# Runs the study ")
PARQUET = _kind("Parquet file", rb"PAR1", ("pyarrow",))
ROWS = table("table of results", ("key", "kind", "spec"))
MAKESPANS = table("table of makespans", ("app", "spec", "routing", "mapping"))
CABLES = table("list of cables", ("router_a", "port_a", "cabinet_a"))
BILL = table("bill of materials", ("part", "item", "ports"))
GOAL = _kind("schedule in GOAL", rb"num_ranks \d+\n")
CHAKRA = _kind("Chakra trace", rb"[\x00-\x7f]\n[\x00-\x20][01]\.\d+\.\d+")
COMM_GROUPS = _kind("list of groups of ranks", rb'\{\s*"[^"]*":\s*\[')
TIMELINE = _kind("timeline of topoloom", rb'\s*\{\s*"otherData":\s*\{\s*"generator":\s*"topoloom')
MOVES = table("list of moves", ("step",))
PREDICTIONS = table("table of predictions", ("machine", "benchmark", "library", "nodes", "ranks", "bytes", "predicted"))
CALIBRATION = _kind("calibration of endpoints", rb'\s*\{\s*"topoloom_calibration"')
CABLING = _kind("cabling list", rb"[^\n]*(switch|router)[ _-]?a[^\n]*\n")

PICTURES = {
    ".svg": _kind("SVG picture", rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype svg[^>]*>\s*)?<svg[\s>]", DRAWING),
    ".png": _kind("PNG picture", rb"\x89PNG\r\n\x1a\n", DRAWING),
    ".pdf": _kind("PDF file", rb"%PDF-", DRAWING),
}
"""Pictures, by the ending of their name."""

TABLES = {
    "csv": table("table of routes", ("at", "destination", "port")),
    "lft": _kind("dump of forwarding tables", rb"Unicast lids "),
    "extoll": _kind("file of cards' tables", rb"card-tables "),
}
"""Routing tables, by their format."""

_NUMBERS = rb"(?:[ \t]*[%#][^\n]*\n)*[ \t]*\d+(?:[ \t]+\d+)*"

FORMATS = {
    "graphml": rb"\s*<\?xml[^>]*>\s*<graphml\b",
    "csv": rb"router_a,port_a,router_b,port_b",
    "edges": _NUMBERS + rb"[ \t]*(?:\{[^\n]*)?\r?\n",
    "anynet": rb"\s*router \d+ ",
    "metis": _NUMBERS + rb"[ \t]*\r?\n",
    "ibsim": rb"(?:#[^\n]*\n|\s)*(?:vendid|devid|sysimgguid|switchguid|caguid|Switch|Ca)\b",
    "dot": rb"\s*(?:strict\s+)?(?:di)?graph\b",
    "slurm": rb"\s*(?:#[^\n]*\n|\s)*SwitchName=",
    "slurm-yaml": rb"(?:---\s*\n|#[^\n]*\n|\s)*- topology:",
    "simgrid": rb"\s*<\?xml[^>]*>\s*<!DOCTYPE platform",
    "sst": rb"#[^\n]*\n# A cycle is ",
    "booksim": rb"(?://[^\n]*\n|\s)*topology\s*=",
    "caminos": rb"(?://[^\n]*\n|\s)*Configuration\b",
    "caminos-graph": rb"NODOS \d+\s",
}
"""How files of graphs begin, by their format; graph6, in which any word may begin, is known by its length."""


def _is_graph6(head: bytes) -> bool:
    """Whether a file may be one graph: the number of its nodes comes first, and gives its length."""
    text = head.removeprefix(b">>graph6<<").rstrip(b"\r\n")
    sizes, bits = (text[1:4], text[4:]) if text[:1] == b"~" else (text[:1], text[1:])
    if not sizes or not all(63 <= byte <= 126 for byte in text):  # noqa: PLR2004 - the alphabet of graph6
        return False
    nodes = sum((byte - 63) << 6 * place for place, byte in enumerate(reversed(sizes)))
    length = -(-nodes * (nodes - 1) // 12)
    return len(bits) == length or (len(head) == HEAD and len(bits) < length)


def graph(name: str) -> Kind:
    """Return the kind of files in a format of :func:`topoloom.file_formats`.

    Args:
        name: A format of :func:`topoloom.file_formats`.

    Raises:
        KeyError: A format that does not exist.

    >>> graph("graph6").name
    'file in the format graph6'
    """
    what = f"file in the format {name}"
    return Kind(what, _is_graph6) if name == "graph6" else _kind(what, FORMATS[name])


def picture(path: Path) -> Kind:
    """Return the kind of picture that the ending of `path`, one of :data:`PICTURES`, stands for.

    Args:
        path: The file.

    Raises:
        KeyError: An ending of no kind of picture.

    >>> picture(Path("network.svg")).name
    'SVG picture'
    """
    return PICTURES[path.suffix.lower()]


def check_writable(path: Path | None, kind: Kind, *, force: bool = False) -> None:
    """Check, before anything runs, that a file may be written and can be; leave things as they were. None passes.

    Args:
        path: The file; None passes.
        kind: The kind of file that is to be written there.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: The existing file may not be replaced by one of this kind; a place that cannot be written to; a
            library that writes it is missing.

    >>> check_writable(None, REPORT)
    """
    if path is None:
        return
    require(*kind.needs)
    with reporting(path):
        if _is_stream(path):
            return
        _require_replaceable(path, kind, force=force)
        target = _target(path)
        if not _in_place(target):
            beside, file = _beside(target)
            file.close()
            beside.unlink()


def check_folder(path: Path, allowed: str) -> None:
    """Reject what cannot become a folder of several files: ``-``, which means one output elsewhere, and a file.

    Args:
        path: The folder, which may be missing.
        allowed: What may be given, as the rest of a sentence.

    Raises:
        TopoloomError: A path that cannot be a folder.

    >>> check_folder(Path("-"), "a store of results is a folder")
    Traceback (most recent call last):
    topoloom.TopoloomError: '-' is no name of a folder; a store of results is a folder
    """
    if str(path) == "-":
        raise TopoloomError(f"'-' is no name of a folder; {allowed}")
    with reporting(path):
        if path.exists() and not path.is_dir():
            raise TopoloomError(f"{path} is a file; {allowed}")


def check_apart(files: Mapping[str, Path | None]) -> None:
    """Reject files of which one would overwrite another; None stands for one that is not asked for.

    Args:
        files: The files by the options that name them.

    Raises:
        TopoloomError: Two options name the same file.

    >>> check_apart({"--cables": Path("cables.csv"), "--bill": None})
    """
    given = [(name, path) for name, path in files.items() if path is not None and not _is_stream(path)]
    for (one, path), (other, again) in combinations(given, 2):
        if path.resolve() == again.resolve() or (path.exists() and again.exists() and path.samefile(again)):
            raise TopoloomError(f"{one} and {other} are the same file, {again}; what is in it would be lost")


def write_file(path: str | Path, data: str | bytes, kind: Kind, *, force: bool = False) -> None:
    """Write a file, whole or not at all; text as UTF-8.

    Args:
        path: The file.
        data: What is written.
        kind: The kind of file.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: The existing file may not be replaced by one of this kind; a place that cannot be written to.
        BrokenPipeError: A pipe whose reader has left.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(f"{folder}/links.csv", "from,to", table("list of links", ["from", "to"]))
    ...     Path(folder, "links.csv").read_text()
    'from,to'
    """
    with replacing(path, kind, force=force) as file:
        file.write(data.encode(errors="surrogateescape") if isinstance(data, str) else data)


class Page:
    """A result that can be read as one HTML page: in a notebook, or written to a file."""

    def to_html(self) -> str:
        """Return the report as HTML.

        Raises:
            NotImplementedError: A class that does not define it.

        >>> import topoloom
        >>> topoloom.workload("mesh:2x2", "reduce").to_html().startswith("<!doctype html>")
        True
        """
        raise NotImplementedError

    def write_report(self, path: str | Path, *, force: bool = False) -> None:
        """Write the report, one HTML file that needs nothing else.

        Args:
            path: The file, which ends in ``.html``.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: A file of another kind is there, and `force` is not given; a study or a store's file; a
                place that cannot be written to.

        >>> import tempfile
        >>> import topoloom
        >>> found = topoloom.workload("mesh:2x2", "reduce")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.write_report(f"{folder}/report.html")
        """
        write_file(path, self.to_html(), REPORT, force=force)

    def _repr_html_(self) -> str:
        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'


@contextmanager
def replacing(path: str | Path, kind: Kind, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file to be written, which takes its place when all is written, and not if an exception comes before.

    Args:
        path: The file.
        kind: The kind of file.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: The existing file may not be replaced by one of this kind; a place that cannot be written to.
        BrokenPipeError: A pipe whose reader has left.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/links.csv", table("list of links", ["from", "to"])) as file:
    ...         written = file.write(b"from,to")
    ...     Path(folder, "links.csv").read_text()
    'from,to'
    """
    path = Path(path)
    with reporting(path):
        stream = _is_stream(path)
        if not stream:
            _require_replaceable(path, kind, force=force)
        target = _target(path)
        direct = stream or _in_place(target)
    yield from _poured(path, stream=stream) if direct else _renamed(path, target)


def _poured(path: Path, *, stream: bool) -> Iterator[BinaryIO]:
    """Yield a file in memory, and write it into the existing one."""
    whole = BytesIO()
    yield whole
    with reporting(path):
        _pour(path, whole.getvalue(), stream=stream)


def _renamed(path: Path, target: Path) -> Iterator[BinaryIO]:
    """Yield a file beside `target`, and rename it; `path` is the name that the user gave."""
    with reporting(path):
        beside, file = _beside(target)
    try:
        with file:
            yield file
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def reporting(path: str | Path) -> Iterator[None]:
    """Report what the system rejects as a mistake in the path that the user gave, not in a file beside it.

    Args:
        path: The file or folder, as the user gave it.

    Raises:
        TopoloomError: A place that cannot be written to.
        BrokenPipeError: A pipe whose reader has left, which is no mistake.

    >>> with reporting("own.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    topoloom.TopoloomError: own.csv cannot be written: No space left on device
    """
    try:
        yield
    except (TopoloomError, BrokenPipeError):
        raise
    except (OSError, ValueError) as error:  # a ValueError is a character that no name can have
        raise _unwritable(path, error) from None


def _unwritable(path: str | Path, error: OSError | ValueError) -> TopoloomError:
    return TopoloomError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}")


def _require_replaceable(path: Path, kind: Kind, *, force: bool) -> None:
    """Reject a path at which a file of this kind may not be written."""
    _require_name(path, kind)
    target = _target(path)
    stores = (folder for folder in target.parents if folder.suffix == ".store" or (folder / LEDGER).exists())
    if store := next(stores, None):
        raise TopoloomError(f"{path} lies in the store {store}, where only results are kept; give another folder")
    try:
        target.lstat()
    except FileNotFoundError:
        return
    if not target.is_file():
        what = "directory" if target.is_dir() else "device or a socket"
        raise TopoloomError(f"{path} is a {what}; a {kind.name} is written to a file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with target.open("rb") as file:
        head = file.read(HEAD)
    # A report may quote its study.
    if target.suffix.lower() == ".toml" or (STUDY.search(head) and not kind.begins(head)):
        raise TopoloomError(f"{path} is a study or another TOML file, which is never overwritten; give another name")
    if head and not force and not kind.begins(head):
        raise TopoloomError(f"{path} exists and is no {kind.name}; give another name, or --force to overwrite it")


def _require_name(path: Path, kind: Kind) -> None:
    """Reject a name that means something else: ``-``, and the ending of another kind."""
    if str(path) == "-":
        raise TopoloomError(f"'-' is no name of a {kind.name}; /dev/stdout stands for standard output")
    if kind.endings and path.suffix and path.suffix.lower() not in kind.endings:
        raise TopoloomError(f"{path}: {_core.unknown('ending of a report', path.suffix, kind.endings)}")


def _is_stream(path: Path) -> bool:
    """Whether a path is written to directly: a fifo, a terminal or another character device."""
    if str(path.absolute()).startswith(STREAMS) and path.exists() and not path.is_dir() and not path.is_block_device():
        return True
    return path.is_fifo() or path.is_char_device()


def _target(path: Path) -> Path:
    """Return the file that a symbolic link leads to: it is replaced, and the link stays."""
    return Path(os.path.realpath(path))


def _in_place(target: Path) -> bool:
    """Whether a file has to be overwritten where it is, as nothing can be written beside it."""
    return target.exists() and not os.access(target.parent, os.W_OK)


def _beside(target: Path) -> tuple[Path, BinaryIO]:
    """Open a new file in the folder of `target`, with the rights of any new file."""
    beside = target.with_name(f".topoloom-{secrets.token_hex(6)}.part")
    return beside, os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb")


def _pour(path: Path, data: bytes, *, stream: bool) -> None:
    """Write into the existing file; a fifo that no program reads from is an error, not a reason to wait."""
    flags = os.O_APPEND | os.O_NONBLOCK if stream else os.O_TRUNC
    own = _own_descriptor(path)
    try:
        descriptor = os.open(path, os.O_WRONLY | flags) if own is None else os.dup(own)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise TopoloomError(f"no program reads from {path}") from None
        raise
    if own is None:
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _own_descriptor(path: Path) -> int | None:
    """Return the descriptor that ``/dev/stdout`` or the like stands for: a second one would write over its output."""
    place = Path(os.readlink(path)) if path.is_symlink() else path
    if os.path.realpath(place.parent) != f"/proc/{os.getpid()}/fd" or not place.name.isdigit():
        return None
    sys.stdout.flush()
    return int(place.name)
