"""The entry point: runs a command and turns whatever it raises into one line and an exit status."""

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from topoloom._core import TopoloomError, concise, unknown
from topoloom.cli import completion, status, streams
from topoloom.cli.app import COMMANDS, app, load
from topoloom.cli.console import say
from topoloom.simulation.options import TopoloomWarning
from topoloom.workers import terminate_as_interrupt


def load_command(arguments: Sequence[str]) -> None:
    """Load the modules of the command that the arguments name, if they name one.

    Args:
        arguments: The arguments behind the program's name, unchecked.

    >>> load_command(["bound", "mesh:2x2"])
    """
    if arguments and arguments[0] in COMMANDS:
        load(arguments[0])


def main(arguments: Sequence[str]) -> None:
    """Run the command line and exit. SIGTERM ends a command as Ctrl-C does: what is done is kept.

    Args:
        arguments: The arguments behind the program's name.

    Raises:
        SystemExit: Always, with the exit status.

    >>> main(["show", "mesh:2x2"])  # doctest: +SKIP
    """
    if completion.is_asked():
        typer.main.get_command(app).main(list(arguments), prog_name="topoloom")
    terminate_as_interrupt()
    try:
        streams.prepare()
        code = run(list(arguments))
        sys.stdout.flush()
    except (TopoloomError, OSError) as error:
        code = _failure(error)
        streams.abandon_output()
    except KeyboardInterrupt:  # before the command begins, or while the last of its output is written
        say("interrupted")
        code = status.INTERRUPTED
    if code == status.INTERRUPTED:
        # A thread may still be inside the engine: ending the interpreter in an orderly way would wait for it.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit status, a number of :mod:`topoloom.cli.status`.

    Args:
        arguments: The arguments behind the program's name.

    Raises:
        SystemExit: A library ends the program.

    >>> run(["bound", "mesh:2x2", "--routing", "dorr"])
    2
    """
    try:
        _check_text(arguments)
        with _said_warnings():
            code = _call(arguments)
    except typer.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted")
        return status.INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the engine is no Exception
        return _failure(error)
    return code if isinstance(code, int) else status.DONE


def _call(arguments: list[str]) -> object:
    """Run the command and return what it returns.

    Typer's own ``main`` would make of Ctrl-C an exit without a word, and of a broken pipe a failed check.
    """
    command = typer.main.get_command(app)
    with command.make_context("topoloom", list(arguments), obj=["topoloom", *arguments]) as context:
        return command.invoke(context)


@contextmanager
def _said_warnings() -> Iterator[None]:
    """Print our own warnings on stderr in a line, once each."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def say_ours(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, TopoloomWarning):
                say(f"warning: {message}")
            else:
                show(message, category, filename, lineno, file, line)

        warnings.simplefilter("default", TopoloomWarning)
        warnings.showwarning = say_ours
        yield


def _check_text(arguments: Sequence[str]) -> None:
    """Reject arguments that are not UTF-8: neither the engine nor a report can hold them."""
    for argument in arguments:
        if argument != argument.encode(errors="replace").decode():
            shown = os.fsencode(argument).decode(errors="backslashreplace")
            raise TopoloomError(f"'{shown}' is no text in UTF-8")


def _failure(error: BaseException) -> int:
    """Report what went wrong: a mistake of the user's, or of ours."""
    if isinstance(error, BrokenPipeError):
        streams.abandon_output()
        return status.BROKEN_PIPE
    if isinstance(error, TopoloomError):
        return _mistake(str(error))
    if isinstance(error, MemoryError):
        return _mistake("the memory that this process may take is used up")
    if isinstance(error, OSError):
        return _mistake(f"{error.filename or 'output'}: {error.strerror}")
    if hasattr(error, "format_message"):
        return _mistake(_usage(error, error.format_message()))
    return _bug(error)


def _mistake(message: str) -> int:
    say("error: " + " ".join(message.split()))
    return status.MISTAKE


def _usage(error: BaseException, message: str) -> str:
    """Return Typer's message about a usage error in our own words, with the nearest name."""
    context = getattr(error, "ctx", None)
    option = getattr(error, "option_name", None)
    if option is not None and context is not None and message.startswith("No such option"):
        known = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
        return unknown(f"option of {context.command_path}", option, known)
    if (found := getattr(error.__cause__, "errors", None)) and (parameter := getattr(error, "param", None)) is not None:
        return _wrong_value(parameter, found()[0])
    return message[:1].lower() + message[1:].rstrip(".")


def _wrong_value(parameter: Any, found: dict[str, Any]) -> str:
    """Return the sentence on a value that Typer does not read, as it found it."""
    name = next((name for name in parameter.opts if name.startswith("--")), parameter.name)
    if found["type"] == "value_error":  # one word of several
        return f"{name}: {found['msg'].removeprefix('Value error, ').rstrip('.')}"
    what = "a number" if found["type"].startswith("float") else "a whole number"
    least = "" if parameter.min is None else f" from {parameter.min}"
    return f"{name} is '{found['input']}'; it must be {what}{least}"


def _bug(error: BaseException) -> int:
    if os.environ.get("TOPOLOOM_DEBUG") == "1":
        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    say(f"internal error: {concise(what)}; this is a bug, please report it with the output of TOPOLOOM_DEBUG=1")
    return status.BUG
