"""The options of a simulation: types, defaults, and what users type for them.

:class:`EngineOptions` is the one list of options that the command line, the Python API and the engine share. Their
types are checked here, ranges by the engine itself, in :meth:`topoloom._core.Simulation.check`. Those of router models,
their defaults and what goes with a model are the engine's own: nothing here names one.
"""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator, model_validator

from topoloom import _core
from topoloom._core import CancelToken, TopoloomError, files_of, unknown
from topoloom.workers import cpu_count

MOST_U32, MOST_U64 = 2**32 - 1, 2**64 - 1
"""The largest numbers that the engine has room for: of sizes and counts, and of seeds and cycles."""

U32 = Annotated[int, Field(ge=0, le=MOST_U32)]
U64 = Annotated[int, Field(ge=0, le=MOST_U64)]


def check_whole(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number that the engine has room for.

    Raises:
        TopoloomError: It is none, or out of its range.

    >>> check_whole("sample", 3, 1, MOST_U32)
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        # An integer of thousands of digits has no text.
        shown = "too large" if isinstance(value, Integral) and int(value) > MOST_U64 else repr(value)
        raise TopoloomError(f"{name} is {shown}; it must be a whole number from {least} to {most}")
    return int(value)


MOST_THREADS = 1024
"""More threads in one simulation are a mistake, as the engine says."""


class TopoloomWarning(UserWarning):
    """What a user should know of what runs, though nothing is wrong with the result."""


@dataclass(frozen=True)
class Reads:
    """Marks an option whose value may name files, all of which a result depends on.

    Attributes:
        files: Returns the paths of the files that a value names.
    """

    files: Callable[[str], list[str]]


class Options(BaseModel):
    """Options that are checked once and never change."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def files(cls, values: Mapping[str, Any]) -> list[str]:
        """Return the paths of the files that options name.

        Args:
            values: Options by the names that Python gives them, as far as they are given.

        >>> EngineOptions.files({"rates": "rates.csv", "links": {"inside": 1, "cabinet": "racks.csv"}})
        ['rates.csv', 'racks.csv']
        """
        marked, nested = _file_fields(cls)
        own = [path for name, mark in marked.items() if values.get(name) for path in mark.files(str(values[name]))]
        return own + [path for name, model in nested.items() for path in model.files(values.get(name) or {})]


@cache
def _file_fields(model: type[Options]) -> tuple[dict[str, Reads], dict[str, type[Options]]]:
    """Return the fields of `model` that may name files, and those that are options in turn."""
    fields = model.model_fields.items()
    marked = {name: mark for name, field in fields for mark in field.metadata if isinstance(mark, Reads)}
    kinds = ((name, field.annotation) for name, field in fields)
    return marked, {name: kind for name, kind in kinds if isinstance(kind, type) and issubclass(kind, Options)}


Model = TypeVar("Model", bound=Options)


class LinkLatencies(Options):
    """Latency of a link in cycles: by its class, or where that is given by its cabinets.

    Attributes:
        terminal: Of links between a terminal and its router.
        local: Of links within a group, or of a family without a hierarchy.
        global: Of links between groups.
        up: Of links of trees.
        internal: Of links between the routers of one node.
        inside: Of links between routers of one cabinet, whatever their class; None for their class's.
        between: Of links between routers of different cabinets, whatever their class; None for their class's.
        cabinet: Which routers share a cabinet, as a layout's ``cabinet`` says; None for the default layout's.
    """

    terminal: U32 = 1
    local: U32 = 1
    # "global" is a keyword of Python
    global_: U32 = Field(default=1, alias="global")
    up: U32 = 1
    internal: U32 = 1
    inside: U32 | None = None
    between: U32 | None = None
    cabinet: Annotated[str | None, Reads(partial(files_of, "cabinet"))] = None

    @field_validator("cabinet", mode="before")
    @classmethod
    def _routers_a_cabinet(cls, cabinet: object) -> object:
        return str(cabinet) if isinstance(cabinet, int) and not isinstance(cabinet, bool) else cabinet


_ROUTERS: dict[str, Any] = json.loads(_core.routers_json())

CYCLE_NS: Mapping[str, float] = MappingProxyType(
    {model["name"]: model["cycle_ns"] for model in _ROUTERS["models"] if model["cycle_ns"] is not None}
)
"""Nanoseconds of a cycle, of router models whose cycles stand for some."""

ROUTER_KEYS: tuple[str, ...] = tuple(key["name"] for key in _ROUTERS["keys"])
"""The options that ``--router`` sets: those of all router models, which the engine lists."""

_PRESETS: dict[str, dict[str, Any]] = {model["name"]: model["preset"] for model in _ROUTERS["models"]}


def _field(key: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the type and the default of a router's option."""
    kinds: dict[str, Any] = {"int": U32, "real": float, "text": str}
    kind = Literal[tuple(key["words"])] if key["kind"] == "choice" else kinds[key["kind"]]
    return (kind | None, None) if key["default"] is None else (kind, key["default"])


def _about(key: Mapping[str, Any]) -> str:
    """Return a line of documentation on a router's option, as docstrings have it."""
    everywhere = len(key["models"]) > 1
    what = key["doc"][0].upper() + key["doc"][1:] if everywhere else f"Of ``{key['models'][0]}``: {key['doc']}"
    unless = f"; unless given, {key['unless']}" if key["unless"] else ""
    return f"        {key['name']}: {what}{unless}."


if TYPE_CHECKING:

    class RouterOptions(Options):
        """A router model and its options; see below."""

        model: str = ""

        def __getattr__(self, name: str) -> Any: ...

else:
    RouterOptions = create_model(
        "RouterOptions",
        __base__=Options,
        __doc__="\n".join(
            [
                "A router model and its options, as the engine lists them. Times are in cycles, sizes in flits.",
                "",
                "    Attributes:",
                f"        model: The router model: {', '.join(_PRESETS)}; what goes with it stands wherever an option "
                "is not given.",
                *map(_about, _ROUTERS["keys"]),
            ]
        ),
        __module__=__name__,
        model=(Literal[tuple(_PRESETS)], next(iter(_PRESETS))),
        **{key["name"]: _field(key) for key in _ROUTERS["keys"]},
    )


class EngineOptions(RouterOptions):
    """How the cycle engine runs: a router, and what it runs in. Times are in cycles, sizes in flits.

    Attributes:
        links: Latency of a link by class, or by cabinets.
        packet: Flits of a packet: one size such as 4, any of a range such as 1-32, or sizes with weights such as
            4:0.8,16:0.2.
        injection: The injection process.
        rates: A CSV file of terminal,rate: how much each terminal sends beside the others; None if all send the same.
        warmup: Cycles before measurement; None to detect the end of warm-up.
        measure: Cycles of measurement; None to stop when the confidence interval is narrow enough.
        latency_limit: Mean latency past which a network counts as saturated and its simulation ends early; None for
            no limit.
        precision: Half-width of the interval of the mean latency, relative to it, at which a simulation ends that has
            no fixed length.
        seed: The seed of every random choice.
        threads: Threads within one simulation.
        unsafe: Run a routing that can deadlock.
        fail: Links and routers that fail at random before the run, such as ``links=5%,seed=1``; None for none.
    """

    links: LinkLatencies = LinkLatencies()
    packet: U32 | str = 1
    injection: str = "bernoulli"
    rates: Annotated[str | None, Reads(partial(files_of, "file"))] = None
    warmup: U64 | None = None
    measure: U64 | None = None
    latency_limit: float | None = None
    precision: float = 0.01
    seed: U64 = 1
    threads: U32 = 1
    unsafe: bool = False
    fail: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_times(cls, values: Any) -> Any:
        model = values.get("model") if isinstance(values, Mapping) else None
        return {**_PRESETS.get(model, {}), **values} if isinstance(model, str) else values

    @field_validator("packet", mode="before")
    @classmethod
    def _one_size_is_a_number(cls, packet: object) -> object:
        if not isinstance(packet, int | float | str) or isinstance(packet, bool):
            raise ValueError(f"is {packet!r}; it must be flits, as in 4, 1-32 or 4:0.8,16:0.2")
        try:
            size = float(packet)
        except ValueError:
            return packet
        return int(size) if size.is_integer() and 0 <= size < 2**32 else str(packet)

    def on_this_machine(self) -> Self:
        """Return the options with no more threads than there are processors: more only make it slower."""
        processors = cpu_count()
        if not processors < self.threads <= MOST_THREADS:
            return self
        warnings.warn(
            f"threads is {self.threads}, and {counted(processors, 'processor is', 'processors are')} available here: "
            f"simulations run on {processors}, with the same results",
            TopoloomWarning,
            stacklevel=2,
        )
        return self.model_copy(update={"threads": processors})

    def engine_json(self) -> str:
        """Return the JSON that the engine reads."""
        return self.model_dump_json(by_alias=True, exclude={"fail"})


def threads_given(cancel: CancelToken, asked: int) -> int:
    """Return how many threads the simulations that `cancel` was given to ran on, and warn if the system gave fewer."""
    given = cancel.threads
    if given is None or given >= asked:
        return asked
    warnings.warn(
        f"the system gave fewer threads than the {asked} asked for: simulations run on {given}, with the same results",
        TopoloomWarning,
        stacklevel=2,
    )
    return given


def counted(number: int, one: str, several: str) -> str:
    """Return a number of things as people say it.

    >>> counted(1, "point is", "points are")
    '1 point is'
    """
    return f"{number:,} {one if number == 1 else several}"


def make_options(values: Mapping[str, Any]) -> EngineOptions:
    """Return checked options; keys that stand for None are left at their defaults.

    Raises:
        TopoloomError: An option that does not exist, or a value that it does not allow.

    >>> make_options({"vcs": "2", "speedup": 1}).speedup
    1.0
    """
    return checked(EngineOptions, values)


def checked(model: type[Model], values: Mapping[str, Any]) -> Model:
    """Return `values` as a `model`; keys that stand for None are left at their defaults.

    Raises:
        TopoloomError: A key that the model does not have, or a value that it does not allow.
    """
    try:
        return model.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        raise TopoloomError(_sentence(error, model)) from None


def parse_pairs(option: str, text: str, keys: tuple[str, ...]) -> dict[str, str]:
    """Return the pairs of ``key=value,key=value``, keys with underscores.

    Raises:
        TopoloomError: An item without a value, or a key that is unknown or repeated.

    >>> parse_pairs("--router", "vcs=4,credit-delay=1", ROUTER_KEYS)
    {'vcs': '4', 'credit_delay': '1'}
    """
    return dict(_core.parse_pairs(option, text, keys))


def link_keys() -> tuple[str, ...]:
    """Return what ``--links`` takes: classes of links, and the keys that go by cabinets."""
    return tuple(field.alias or name for name, field in LinkLatencies.model_fields.items())


def _sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first mistake of `error` as one sentence."""
    mistake = error.errors(include_url=False)[0]
    where = " ".join(str(part) for part in mistake["loc"]).replace("_", "-").rstrip("-")
    if mistake["type"] == "extra_forbidden":
        known = [*link_keys()] if where.startswith("links") else list(model.model_fields)
        return unknown("option", str(mistake["loc"][-1]), known)
    if mistake["type"] == "value_error":
        return f"{where} {mistake['ctx']['error']}".strip()
    return f"{where} is {mistake['input']!r}; {_wanted(mistake['msg'])}"


def _wanted(message: str) -> str:
    """Return Pydantic's message as the second half of a sentence."""
    return message.replace("Input should be", "it must be").partition(", unable to parse")[0]
