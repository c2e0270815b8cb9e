"""The options of a simulation: what users type for them, and how they are checked.

:class:`EngineOptions` is the one list of options that the command line, the Python API and the engine share. Names,
types, defaults and documentation are the engine's own (:mod:`topoloom.simulation.run_options` is generated from it).
Types are checked here, ranges by the engine itself, in :meth:`topoloom._core.Simulation.check`.
"""

import warnings
from collections.abc import Mapping, Sized
from numbers import Integral
from types import MappingProxyType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError, field_validator, model_validator

from topoloom import _core
from topoloom._core import CancelToken, TopoloomError, unknown
from topoloom.simulation.option_types import MOST_U64, Options
from topoloom.simulation.run_options import LinkLatencies, RouterOptions, RunOptions
from topoloom.wording import counted
from topoloom.workers import cpu_count


def check_whole(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number that the engine has room for.

    Args:
        name: The name of the argument, for the message.
        value: The number, or anything else.
        least: The first number that is allowed.
        most: The number that is the last one allowed.

    Raises:
        TopoloomError: It is none, or out of its range.

    >>> check_whole("sample", 3, 1, 100)
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        # An integer of thousands of digits has no text.
        shown = "too large" if isinstance(value, Integral) and int(value) > MOST_U64 else repr(value)
        raise TopoloomError(f"{name} is {shown}; it must be a whole number from {least} to {most}")
    return int(value)


def require_some(name: str, given: Sized) -> None:
    """Reject an empty list, which asks for nothing.

    Args:
        name: The name of the argument, for the message.
        given: The list.

    Raises:
        TopoloomError: It is empty.

    >>> require_some("networks", ["mesh:4x4"])
    """
    if not given:
        raise TopoloomError(f"{name} is empty; it must have at least one item")


MOST_THREADS = 1024
"""More threads in one simulation are a mistake, as the engine states."""


class TopoloomWarning(UserWarning):
    """What a user should know of what runs, though nothing is wrong with the result."""


Model = TypeVar("Model", bound=Options)


_MODELS = _core.router_models()

CYCLE_NS: Mapping[str, float] = MappingProxyType(
    {model.name: model.cycle_ns for model in _MODELS if model.cycle_ns is not None}
)
"""Nanoseconds of a cycle, of router models whose cycles stand for some."""

ROUTER_KEYS: tuple[str, ...] = tuple(name for name in RouterOptions.model_fields if name != "model")
"""The options that ``--router`` sets: those of all router models."""

_PRESETS = {model.name: model.preset for model in _MODELS}


class EngineOptions(RunOptions):
    """How the cycle engine runs: a router, what it runs in, and what fails before. Times are in cycles, sizes in flits.

    Attributes:
        fail: Links and routers that fail at random before the run, such as ``links=5%,seed=1``; None for none.
    """

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
        """Return the options with no more threads than there are processors: more only make it slower.

        >>> EngineOptions(threads=1).on_this_machine().threads
        1
        """
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
        """Return the JSON that the engine reads.

        >>> '"seed":7' in EngineOptions(seed=7).engine_json()
        True
        """
        return self.model_dump_json(by_alias=True, exclude={"fail"})


def threads_given(cancel: CancelToken, asked: int) -> int:
    """Return how many threads the simulations that `cancel` was given to ran on, and warn if the system gave fewer.

    Args:
        cancel: The token that the simulations had.
        asked: The number of threads that they were to have.

    >>> threads_given(_core.CancelToken(), 2)
    2
    """
    given = cancel.threads
    if given is None or given >= asked:
        return asked
    warnings.warn(
        f"the system gave fewer threads than the {asked} asked for: simulations run on {given}, with the same results",
        TopoloomWarning,
        stacklevel=2,
    )
    return given


def make_options(values: Mapping[str, Any]) -> EngineOptions:
    """Return checked options; keys that stand for None are left at their defaults.

    Args:
        values: Options by name; texts are read.

    Raises:
        TopoloomError: An option that does not exist, or a value that it does not allow.

    >>> make_options({"vcs": "2", "speedup": 1}).speedup
    1.0
    """
    return checked(EngineOptions, values)


def checked(model: type[Model], values: Mapping[str, Any]) -> Model:
    """Return `values` as a `model`; keys that stand for None are left at their defaults.

    Args:
        model: A model of options.
        values: Its values by name.

    Raises:
        TopoloomError: A key that the model does not have, or a value that it does not allow.

    >>> checked(EngineOptions, {"seed": 7, "warmup": None}).seed
    7
    """
    try:
        return model.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        raise TopoloomError(_sentence(error, model)) from None


def parse_pairs(option: str, text: str, keys: tuple[str, ...]) -> dict[str, str]:
    """Return the pairs of ``key=value,key=value``, keys with underscores.

    Args:
        option: The name of the option, for the message.
        text: The pairs.
        keys: The keys that are allowed.

    Raises:
        TopoloomError: An item without a value, or a key that is unknown or repeated.

    >>> parse_pairs("--router", "vcs=4,credit-delay=1", ROUTER_KEYS)
    {'vcs': '4', 'credit_delay': '1'}
    """
    return dict(_core.parse_pairs(option, text, keys))


def names_in(option: str, text: str) -> tuple[str, ...]:
    """Return the names in a text; no text has none.

    Args:
        option: The option, for the message.
        text: The text.

    Raises:
        TopoloomError: A name is missing between commas.

    >>> names_in("traffic", "uniform,hotspot:nodes=1,5"), names_in("traffic", "")
    (('uniform', 'hotspot:nodes=1,5'), ())
    """
    names = _core.split_names(text) if text.strip() else []
    if names is None:
        raise TopoloomError(f"{option} is {text!r}; it must be names with commas between them")
    return tuple(names)


def link_keys() -> tuple[str, ...]:
    """Return what ``--links`` takes: classes of links, and the keys that use cabinets.

    >>> "global" in link_keys()
    True
    """
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
