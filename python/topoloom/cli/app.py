"""The Typer application: what commands there are. Each command is loaded when it is asked for."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from topoloom._core import TopoloomError, __version__, unknown

COMMANDS = {
    "show": "show.show",
    "simulate": "simulate.simulate",
    "saturation": "saturation.saturation",
    "bound": "bound.bound",
    "candidates": "candidates.candidates",
    "design": "design.design",
    "synthesise": "synthesise.synthesise",
    "compare": "compare.compare",
    "workload": "workload.workload",
    "layout": "layout.layout",
    "permute": "permute.permute",
    "verify": "verify.verify",
    "faults": "faults.faults",
    "export": "export.export",
    "import-lft": "import_lft.import_lft",
    "calibrate": "calibrate.calibrate",
    "run": "run.run",
    "results": "results.results",
    "reproduce": "reproduce.reproduce",
    "list": "listing.list_",
}
"""The commands in the order of the help: the module of this package and the function of each."""

_LOOKS: dict[str, Any] = {"rich_markup_mode": "markdown"}


@cache
def load(name: str) -> Any:
    """Return a command as Typer makes it of its function.

    Args:
        name: The name of the command.

    Raises:
        KeyError: There is no such command.

    >>> load("import-lft").name
    'import-lft'
    """
    module, _, function = COMMANDS[name].rpartition(".")
    alone = typer.Typer(add_completion=False, **_LOOKS)
    alone.command(name=name, cls=_Command)(getattr(import_module(f"topoloom.cli.{module}"), function))
    return typer.main.get_command(alone)


class _Loaded(Mapping[str, Any]):
    """The commands by their names. Most modules of the program belong to one command only, and take long to load."""

    def __getitem__(self, name: str) -> Any:
        return load(name)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Command(typer.core.TyperCommand):
    """A command that rejects an option given twice: all but the last of its values would be lost."""

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def] # Typer's own types moved between versions
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            single = [param for param in given if not getattr(param, "is_flag", True) and not param.multiple]
            twice = next((param for param in single if single.count(param) > 1), None)
            # With --help nothing else is read.
            if twice and not any(param.is_eager for param in given):
                raise TopoloomError(f"{twice.opts[0]} is given twice; it takes one {twice.metavar or 'value'}")
        return super().parse_args(ctx, args)


class _Commands(typer.core.TyperGroup):
    """A group of commands that loads them when they are asked for, and answers a typo with the nearest name."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Loaded()  # type: ignore[assignment] # nothing adds commands

    def list_commands(self, ctx):  # type: ignore[no-untyped-def] # noqa: ARG002 - Typer's own signature
        """Return the names without loading their commands: completion needs those alone that begin as the word does."""
        return list(self.commands)

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def] # Typer's own types moved between versions
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise TopoloomError(unknown("command", args[0], list(self.commands)))
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, **_LOOKS)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"topoloom {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def topoloom(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Design and evaluate the interconnection networks of supercomputers."""
    if context.invoked_subcommand is None:
        print(context.get_help())
