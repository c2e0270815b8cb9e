"""The command line: one module a command, and one place where mistakes become exit statuses."""

from topoloom.cli.main import main

__all__ = ["main"]
