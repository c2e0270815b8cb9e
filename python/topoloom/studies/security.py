"""Access to a Dask cluster: temporary certificates for those that this program starts, a warning for the others.

Anyone who reaches a Dask scheduler can run code on its workers, and in its clients, as the user. A scheduler
that this program starts therefore speaks TLS only, and accepts only holders of the key of this one run.
"""

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom._core import TopoloomError

if TYPE_CHECKING:
    from distributed import Security

LOOPBACK = "127.0.0.1:0"
"""Where the pages of schedulers and workers are served: on the machine itself alone, at any port."""

ENCRYPTED = ("tls", "wss", "inproc")
"""Schemes of addresses that others cannot read or speak to: encrypted, or within the process."""


def exposure(address: str) -> str | None:
    """Return a sentence that warns of a scheduler that anyone can use, or None if it is not one.

    Args:
        address: The address of the scheduler, such as ``tls://10.0.0.1:8786``.

    Raises:
        ValueError: A text that is no address.

    >>> exposure("tls://10.0.0.1:8786") is None
    True
    """
    from distributed.comm.addressing import parse_address  # noqa: PLC0415 - Dask is optional, and loads slowly

    scheme, _ = parse_address(address)
    if scheme in ENCRYPTED:
        return None
    return (
        f"the scheduler at {address} is not encrypted: anyone who reaches it can run code as you, here and on its "
        "workers; one at a tls:// address admits only those with its certificates"
    )


@dataclass(frozen=True)
class Secret:
    """The secrets that only a cluster and its jobs share.

    Attributes:
        folder: A folder that only the user can enter, for the job scripts too.
        security: The key and the certificate as Dask takes them; they are in files of the folder.

    >>> from types import SimpleNamespace
    >>> paths = dict.fromkeys(("tls_ca_file", "tls_worker_cert", "tls_worker_key"), "own folder/a.pem")
    >>> own = SimpleNamespace(**paths)
    >>> Secret(Path("own folder"), own).for_shell(own).tls_ca_file
    "'own folder/a.pem'"
    """

    folder: Path
    security: "Security"

    def for_shell(self, security: "Security") -> "Security":
        """Return certificates with their paths quoted: dask-jobqueue puts them into a script as they are.

        Args:
            security: The key and the certificate as Dask takes them.
        """
        quoted = copy(security)
        for name in ("tls_ca_file", "tls_worker_cert", "tls_worker_key"):
            setattr(quoted, name, shlex.quote(getattr(security, name)))
        return quoted


@contextmanager
def secret(system: str) -> Iterator[Secret]:
    """Make a key and a certificate for one run; they are removed after it.

    Jobs read them on other machines, so the folder is where these can see it: in ``shared-temp-directory`` of
    dask-jobqueue's configuration, or else in the folder in which topoloom runs. Command lines name the files only.

    Args:
        system: The batch system, a section of dask-jobqueue's configuration, unchecked.

    Raises:
        TopoloomError: The folder cannot be made, or the library for certificates is missing.

    >>> with secret("slurm") as own:  # doctest: +SKIP
    ...     sorted(path.name for path in own.folder.iterdir())
    ['certificate.pem', 'key.pem']
    """
    import dask  # noqa: PLC0415 - Dask is optional, and loads slowly

    given = dask.config.get(f"jobqueue.{system}.shared-temp-directory", None)
    parent = Path(os.path.expandvars(given)).expanduser().absolute() if given else Path.cwd()
    try:
        folder = tempfile.TemporaryDirectory(prefix=".topoloom-", dir=parent)  # only its owner can enter it
    except OSError as error:
        raise TopoloomError(
            f"--cluster {system} puts its certificates into a folder that the jobs see, and {parent} cannot be "
            f"written: {error.strerror}; name another one as shared-temp-directory in jobqueue.yaml"
        ) from None
    with folder as path:
        yield Secret(Path(path), _certificates(Path(path)))


def _certificates(folder: Path) -> "Security":
    """Write a new key with its certificate; one pair serves scheduler, workers and client."""
    from distributed import Security  # noqa: PLC0415 - Dask is optional, and loads slowly

    try:
        fresh = Security.temporary()  # type: ignore[no-untyped-call]
    except ImportError:
        raise TopoloomError("--cluster needs certificates: pip install 'topoloom[cluster]'") from None
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    _write_secret(key, fresh.tls_worker_key)
    _write_secret(certificate, fresh.tls_worker_cert)
    pair = {f"tls_{role}_{what}": str(path) for role in ("client", "scheduler", "worker")
            for what, path in (("key", key), ("cert", certificate))}  # fmt: skip
    # Certificates do not keep a scheduler from listening without them, at tcp://; this does, whatever its options are.
    return Security(require_encryption=True, tls_ca_file=str(certificate), **pair)  # type: ignore[no-untyped-call]


def _write_secret(path: Path, text: str) -> None:
    """Write a new file that only its owner can read, from its first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)


def scheduler_options(system: str, interface: str | None) -> dict[str, Any]:
    """Return what dask-jobqueue gives its scheduler: the site's own options, and addresses no wider than needed.

    It listens at one address alone: that of `interface` or of the site's configuration, or else the one that jobs are
    given. Its pages are served to this machine only. No option of a site removes its certificates.

    Args:
        system: The batch system, a section of dask-jobqueue's configuration, unchecked.
        interface: The network interface by which workers reach this program; None for the site's.

    >>> scheduler_options("slurm", "ib0")["protocol"]
    'tls://'
    """
    import dask  # noqa: PLC0415 - Dask is optional, and loads slowly
    from distributed.utils import get_ip  # noqa: PLC0415 - as above

    site: dict[str, Any] = dict(dask.config.get(f"jobqueue.{system}.scheduler-options", None) or {})
    site.pop("security", None)
    site.update(protocol="tls://", dashboard=False, dashboard_address=LOOPBACK)
    interface = interface or dask.config.get(f"jobqueue.{system}.interface", None)
    if interface is None and not {"host", "interface"} & site.keys():
        site["host"] = get_ip()  # type: ignore[no-untyped-call]
    return site
