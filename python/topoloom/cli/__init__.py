"""The command line: one module a command, and one place where mistakes become exit statuses."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from topoloom.cli import status


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; the command is loaded here, a moment in which Ctrl-C or SIGTERM may come.

    Args:
        arguments: The arguments behind the program's name; those of the process unless given.

    Raises:
        SystemExit: Always, with the exit status.

    >>> main(["show", "mesh:2x2"])  # doctest: +SKIP
    """
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: handler for number, handler in usual.items() if signal.getsignal(number) == handler}
    for number in before:
        signal.signal(number, _leave)
    from topoloom.cli.command import load_command  # noqa: PLC0415 - see above
    from topoloom.cli.command import main as command  # noqa: PLC0415

    words = sys.argv[1:] if arguments is None else list(arguments)
    load_command(words)
    for number, handler in before.items():
        signal.signal(number, handler)
    command(words)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """End at once: nothing has begun. An exception could come up in any module that is being loaded."""
    os.write(2, b"topoloom: interrupted\n")
    os._exit(status.INTERRUPTED)
