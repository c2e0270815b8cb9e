"""What the tests of the command line share."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.outcome import Outcome
from topoloom.cli.command import run
from topoloom.workers import cpu_count

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start what runs in the background deaf to Ctrl-C, and what tests start and interrupt would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


ON_REQUEST = {
    "long": "one more case of what shorter tests show, or minutes; run with -m long",
    "pages": "compiles the crate with what a page adds; run with -m pages",
    "slurm": "needs Slurm's daemons; run with -m slurm",
    "opensm": "needs OpenSM and ibsim; run with -m opensm",
    "tools": "needs Graphviz, METIS, SimGrid and CAMINOS; run with -m tools",
    "wheel": "builds the wheel and installs it; run with -m wheel",
}
"""Marks of tests that run only where `-m` names them."""
FOLDERS_ON_REQUEST = ("long", "external")
"""Folders whose tests all have such a mark."""


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in ON_REQUEST.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what runs on request alone unless a mark or a path asks for it: that takes a second.

    Scripts beside such tests are never tests: they may import what only their own target installs.
    """
    name = collection_path.name
    if collection_path.parent.name == "external" and name.endswith(".py") and not name.startswith("test_"):
        return True
    asked = config.option.markexpr or any(name in str(word) for word in config.args)
    return True if name in FOLDERS_ON_REQUEST and not asked else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long unless it is asked for."""
    absent = [name for name in ON_REQUEST if name not in config.option.markexpr]
    left_out = {item for item in items if any(item.get_closest_marker(name) for name in absent)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_xdist_auto_num_workers() -> int:
    """Return what `-n auto` means: the processors that this process may use."""
    return cpu_count()


@pytest.fixture
def topoloom(capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command line within this process."""

    def call(*arguments: str) -> Outcome:
        status = run(list(arguments))
        captured = capfd.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call
