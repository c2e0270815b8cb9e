"""What the tests of the command line share."""

import signal
from collections.abc import Callable

import pytest

from harness.outcome import Outcome
from topoloom.cli.command import run
from topoloom.workers import cpu_count

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start what runs in the background deaf to Ctrl-C, and what tests start and interrupt would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
