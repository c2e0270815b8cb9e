"""Libraries that a bare installation lacks, and the extra that installs each.

The core computes with NumPy alone. What draws, renders pages, keeps studies or solves linear programs calls
:func:`require` before it imports its library, so that a missing one is one sentence. METIS has no wheels for some
systems: bisections use it where it is :func:`installed`.
"""

import sys
from importlib.util import find_spec

from topoloom._core import TopoloomError

EXTRAS = {
    "matplotlib": "plot",
    "networkx": "plot",
    "jinja2": "report",
    "plotly": "report",
    "highspy": "studies",
    "pandas": "studies",
    "pyarrow": "studies",
    "scipy": "studies",
    "dask_jobqueue": "cluster",
    "distributed": "cluster",
    "pymetis": "metis",
}
"""The extra of each optional library, by the name under which it is imported."""


def require(*libraries: str) -> None:
    """Check that optional libraries are installed.

    Args:
        libraries: Names in :data:`EXTRAS`.

    Raises:
        TopoloomError: One is missing; the message has the command that installs its extra.

    >>> require("networkx")
    """
    for library in libraries:
        if not installed(library):
            raise TopoloomError(missing(library))


def installed(library: str) -> bool:
    """Return whether a library can be imported.

    Args:
        library: The name under which it is imported, unchecked.

    >>> installed("numpy"), installed("no_such_library")
    (True, False)
    """
    try:
        return library in sys.modules or find_spec(library) is not None
    except ImportError:
        return False


def missing(library: str) -> str:
    """Return the sentence on a missing library.

    Args:
        library: A key of ``EXTRAS``, such as ``plotly``.

    Raises:
        KeyError: A library of no extra.

    >>> missing("plotly")
    "plotly is not installed; install the extra that has it: pip install 'topoloom[report]'"
    """
    return f"{library} is not installed; install the extra that has it: pip install 'topoloom[{EXTRAS[library]}]'"
