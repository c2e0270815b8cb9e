"""Offered loads and other parts of 1 as users write them: ``0.3``, ``0.1:0.9:0.1``, ``0.05,0.1:0.9:0.1,1``."""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from topoloom import _core
from topoloom._core import TopoloomError

Loads = float | str | Iterable[float]

DEFAULT_LOADS = "0.1:0.9:0.1"
"""The loads that are simulated unless others are asked for."""

MOST_LOADS = 10_000
"""The most points that one list of loads may name."""

MOST_EXPONENT = 300
"""The largest power of ten, up or down, that a number may have: what is further off is no float."""


def parse_loads(loads: Loads) -> list[float]:
    """Return the offered loads that `loads` names, ascending, each once.

    Args:
        loads: One load, several, or a text of loads and ranges ``first:last:step`` between commas. Both ends of
            a range are included, the last one even where the steps pass it by. Loads are flits per active
            terminal per cycle, from 0 to 1.

    Raises:
        TopoloomError: A load that is no number, lies outside 0..1, or a range that leads nowhere.

    >>> parse_loads("0.1:0.3:0.1,1")
    [0.1, 0.2, 0.3, 1.0]
    """
    return _parse(loads, "load", " flits per terminal per cycle")


def is_trace(traffic: str) -> bool:
    """Whether `traffic` gives packets one by one, and so has a load of its own.

    Args:
        traffic: A traffic pattern, unchecked.

    >>> is_trace("trace:packets.csv"), is_trace("uniform")
    (True, False)
    """
    return _core.head(traffic) == "trace"


def offered_loads(network: _core.Network, traffic: str, load: Loads | None) -> list[float]:
    """Return the loads to simulate: those of `load`, unless given 0.1 to 0.9, or the one that a trace has by itself.

    Args:
        network: The engine's network, ``Network.core``.
        traffic: A traffic pattern.
        load: A load, a list of loads, or ``first:last:step``; None: the default loads.

    Raises:
        TopoloomError: Loads that do not parse, a load beside a trace, or a mistake in a trace.

    >>> import topoloom
    >>> offered_loads(topoloom.network("mesh:4").core, "uniform", "0.1:0.3:0.1")
    [0.1, 0.2, 0.3]
    """
    if not is_trace(traffic):
        return parse_loads(DEFAULT_LOADS if load is None else load)
    if load is not None:
        raise TopoloomError("a trace has a load of its own; leave the load out")
    own = _core.Traffic(network, traffic).trace_load
    return [] if own is None else [own]


def parse_fractions(fractions: Loads) -> list[float]:
    """Return the fractions that `fractions` names, ascending, each once; written like loads, from 0 to 1, or ``none``.

    Args:
        fractions: A fraction, a list of fractions, ``first:last:step``, or ``none``.

    >>> parse_fractions("0:0.1:0.05,1"), parse_fractions("none")
    ([0.0, 0.05, 0.1, 1.0], [])
    """
    return [] if fractions in ("none", []) else _parse(fractions, "fraction", "")


def _parse(values: Loads, noun: str, unit: str) -> list[float]:
    if isinstance(values, str):
        items = [value for item in values.split(",") for value in _item(item.strip(), values, noun)]
    else:
        items = [_number(str(value), "", noun) for value in ([values] if isinstance(values, (int, float)) else values)]
    if not items:
        raise TopoloomError(f"no {noun} is given; write it like 0.5 or 0.1:0.9:0.1")
    for value in items:
        if not 0 <= value <= 1:
            raise TopoloomError(f"{noun} is {value}; it must lie between 0 and 1{unit}")
    return sorted({float(value) for value in items})


def _item(item: str, whole: str, noun: str) -> list[Decimal]:
    """Return the numbers of one item between commas."""
    parts = [_number(part.strip(), whole, noun) for part in item.split(":")]
    if len(parts) == 1:
        return parts
    if len(parts) != 3:  # noqa: PLR2004 - first, last and step
        raise TopoloomError(f"{noun} range '{item}' is not first:last:step; write it like 0.1:0.9:0.1")
    first, last, step = parts
    if step <= 0:
        raise TopoloomError(f"{noun} range '{item}' has a step of {step}; it must be more than 0")
    if first > last:
        raise TopoloomError(f"{noun} range '{item}' ends before it begins")
    span = (last - first) / step
    if not span < MOST_LOADS:
        raise TopoloomError(f"{noun} range '{item}' has {span:.6g} {noun}s; at most {MOST_LOADS} are possible")
    steps = int(span)
    return [first + place * step for place in range(steps + 1)] + [last]


def _number(text: str, whole: str, noun: str) -> Decimal:
    """Return the finite number that `text` writes."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    given = f"{noun} '{text}' in '{whole}'" if whole else f"{noun} '{text}'"
    if number and number.is_finite() and abs(number.adjusted()) > MOST_EXPONENT:
        raise TopoloomError(f"{given} is out of all range; write it like 0.5 or 0.1:0.9:0.1")
    if not number.is_finite():
        raise TopoloomError(f"{given} is not a number; write it like 0.5 or 0.1:0.9:0.1")
    return number
