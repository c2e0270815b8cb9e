"""The Typer application: what commands there are."""

from typing import Annotated

import typer

from topoloom._core import TopoloomError, __version__, unknown
from topoloom.cli import (
    bound,
    calibrate,
    candidates,
    compare,
    design,
    export,
    faults,
    import_lft,
    layout,
    listing,
    permute,
    reproduce,
    results,
    run,
    saturation,
    show,
    simulate,
    synthesise,
    verify,
    workload,
)


class _Commands(typer.core.TyperGroup):
    """A group of commands that answers a typo with the nearest name."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def] # Typer's own types moved between versions
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise TopoloomError(unknown("command", args[0], list(self.commands)))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


app.command()(show.show)
app.command()(simulate.simulate)
app.command()(saturation.saturation)
app.command()(bound.bound)
app.command()(candidates.candidates)
app.command()(design.design)
app.command()(synthesise.synthesise)
app.command()(compare.compare)
app.command()(workload.workload)
app.command()(layout.layout)
app.command()(permute.permute)
app.command()(verify.verify)
app.command()(faults.faults)
app.command()(export.export)
app.command(name="import-lft")(import_lft.import_lft)
app.command()(calibrate.calibrate)
app.command()(run.run)
app.command()(results.results)
app.command()(reproduce.reproduce)
app.command(name="list")(listing.list_)
