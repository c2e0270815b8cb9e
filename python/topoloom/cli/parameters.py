"""Arguments and options that several commands share. All are texts: what they mean is checked in one place."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.cli import completion
from topoloom.simulation.loads import DEFAULT_LOADS
from topoloom.simulation.options import ROUTER_KEYS, EngineOptions, link_keys, make_options, parse_pairs

Spec = Annotated[
    str,
    typer.Argument(metavar="SPEC", help="A network, such as hyperx:10x10,p=10.", autocompletion=completion.topologies),
]
Specs = Annotated[
    list[str],
    typer.Argument(metavar="SPEC…", help="Networks, such as hyperx:10x10,p=10.", autocompletion=completion.topologies),
]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
Prices = Annotated[
    str,
    typer.Option(
        "--prices",
        metavar="NAME|FILE.json",
        help="The price list; that of each network's rate unless given; see: topoloom list prices.",
        autocompletion=completion.prices,
    ),
]
LayoutRules = Annotated[
    str,
    typer.Option(
        "--layout",
        metavar="NAME[:KEY=VALUE,…]",
        help="Racks and their positions: rack, the same for every family (the default); family, the family's own "
        "packaging; or others, see: topoloom list layouts.",
        autocompletion=completion.layouts,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE.svg|png|pdf", help="Draw it; the ending selects the format."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files of another kind, but never studies and stores.")]
Routing = Annotated[
    str,
    typer.Option("--routing", help="A routing, or the role minimal or adaptive.", autocompletion=completion.routings),
]
AnyRouting = Annotated[
    str,
    typer.Option(
        "--routing",
        help="A routing, or the role minimal or adaptive; best: all that the network offers, in a table.",
        autocompletion=completion.routings,
    ),
]
Traffic = Annotated[str, typer.Option("--traffic", help="A traffic pattern.", autocompletion=completion.traffic)]
Load = Annotated[
    str,
    typer.Option("--load", help="Offered loads, flits per terminal per cycle: 0.3 or first:last:step; commas mix."),
]

OneLoad = Annotated[
    str | None,
    typer.Option(
        "--load",
        help="Offered loads, as 0.3 or first:last:step; commas mix. A trace has its own.",
        show_default=DEFAULT_LOADS,
    ),
]
"""As `Load`, but it can be left out."""


def _engine(name: str, help_: str, metavar: str | None = None) -> Any:
    return Annotated[
        str | None,
        typer.Option(name, metavar=metavar, help=help_, rich_help_panel="Engine", show_default=False),
    ]


Fail = _engine("--fail", "Links and routers that fail at random: links=5%,routers=2,seed=1.", "KIND=AMOUNT,…")
Links = _engine(
    "--links",
    "Latency of links: terminal, local, global, up, internal; or inside and between cabinets: the default racks, or "
    "cabinet=29 routers each, or cabinet=own.",
    "KEY=CYCLES,…",
)

ENGINE: dict[str, Any] = {
    "router": _engine(
        "--router",
        "The router: " + ", ".join(key.replace("_", "-") for key in ROUTER_KEYS) + ".",
        "KEY=VALUE,…",
    ),
    "links": Links,
    "packet": _engine("--packet", "Flits of a packet: 4, 1-32, or 4:0.8,16:0.2.", "FLITS"),
    "injection": _engine("--injection", "bernoulli, or on-off:alpha=…,beta=….", "PROCESS"),
    "rates": _engine("--rates", "A CSV of terminal,rate: the relative rate of each terminal.", "FILE"),
    "warmup": _engine("--warmup", "Cycles of warm-up, given with --measure; detected unless given.", "CYCLES"),
    "measure": _engine("--measure", "Cycles measured; as many as precision needs unless given.", "CYCLES"),
    "drain": _engine("--drain", "The largest number of cycles after --measure, in which its packets arrive.", "CYCLES"),
    "latency_limit": _engine(
        "--latency-limit", "End a simulation as saturated once its mean latency passes this.", "CYCLES"
    ),
    "precision": _engine("--precision", "Relative half-width of the latency interval that ends a simulation.", "PART"),
    "fail": Fail,
    "seed": _engine("--seed", "The seed of all random choices.", "N"),
    "threads": _engine("--threads", "Threads within one simulation.", "N"),
    "model": _engine("--model", "The router model.", "NAME"),
    "unsafe": Annotated[
        bool, typer.Option("--unsafe", help="Run a routing that can deadlock.", rich_help_panel="Engine")
    ],
}
"""The engine's options, common to all commands that simulate."""


def takes(
    argument: str, options: dict[str, Any], read: Callable[[dict[str, Any]], Any]
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command options that many have; it receives the result of `read` as one argument.

    Args:
        argument: The name of that argument.
        options: Annotations as Typer reads them, by names.
        read: Checks the values; those of options that are not given are None, or False for ``unsafe``.

    Raises:
        TopoloomError: When the command is run: `read` rejects a value.

    >>> @takes("seeds", {"first": int, "last": int}, lambda given: list(range(given["first"], given["last"])))
    ... def command(seeds: list[int]) -> int:
    ...     return len(seeds)
    >>> command(first=1, last=4)
    3
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in inspect.signature(command, eval_str=True).parameters.values()
            if parameter.name != argument
        ]
        shared = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=False if name == "unsafe" else None,
                annotation=annotation,
            )
            for name, annotation in options.items()
        ]

        @functools.wraps(command)
        def with_options(**values: Any) -> int:
            given = {name: values.pop(name) for name in options}
            return command(**values, **{argument: read(given)})

        with_options.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined] # read by Typer
        with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
        return with_options

    return decorate


def _engine_options(values: dict[str, Any]) -> EngineOptions:
    router, links = values.pop("router"), values.pop("links")
    if router is not None:
        values |= parse_pairs("--router", router, ROUTER_KEYS)
    return make_options(values | link_options(links))


takes_engine_options = takes("options", ENGINE, _engine_options)
"""Gives a command the options of :data:`ENGINE`; it receives them checked, as its argument `options`."""


def link_options(links: str | None) -> dict[str, Any]:
    """Return the option `links` from the text of ``--links``.

    Args:
        links: The text; None if it is not given.

    Raises:
        TopoloomError: A text that does not read.

    >>> link_options("local=10,global=100"), link_options(None)
    ({'links': {'local': '10', 'global': '100'}}, {})
    """
    return {} if links is None else {"links": parse_pairs("--links", links, link_keys())}


def split_names(option: str, text: str) -> list[str]:
    """Return the names in a text; a comma also parts the parameters of one name, and the numbers of one parameter.

    Args:
        option: The option, for the message.
        text: The text.

    Raises:
        TopoloomError: An empty name.

    >>> split_names("--traffic", "random-permutation:seed=1,bits=3,hotspot:nodes=1,5,uniform")
    ['random-permutation:seed=1,bits=3', 'hotspot:nodes=1,5', 'uniform']
    """
    names = _core.split_names(text)
    if names is None:
        raise TopoloomError(f"{option} is '{text}'; it must be names with commas between them")
    return list(dict.fromkeys(names))
