"""The question of a design: how many terminals, which router, what must hold, what counts."""

from collections.abc import Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, Self

from pydantic import field_validator, model_validator

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.design.candidates import MOST_PORTS, terminal_range, why_not_searched
from topoloom.design.hosting import Hosting
from topoloom.files import read_text
from topoloom.layout.prices import largest_switch, price_list, prices_of_rate
from topoloom.simulation.option_types import U64, Options
from topoloom.simulation.options import check_whole, checked, names_in
from topoloom.simulation.roles import ROLES
from topoloom.studies.mistakes import parse_toml
from topoloom.wording import counted
from topoloom.workload import gpcnet

LEAST_RADIX = 3
"""Routers of fewer ports form rings and chains alone, which leave nothing to choose."""

MOST_FINALISTS = 64
"""More finalists than this would be simulated for hours."""

PROBE = "hyperx:4x4,p=4"
"""A small network, which shows whether failures are written as they must be."""

UNIFORM = "uniform"
"""The pattern whose throughput no placement of tasks changes."""

RATE = "400Gb/s"
"""The rate of a link unless one is given, or a price list."""

DOLLARS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
WATTS = {"": 1.0, "W": 1.0, "kW": 1e3, "MW": 1e6}


class Question(Options):
    """What is asked. Every requirement may be left out.

    Attributes:
        terminals: The least number of terminals, of which there may be a tenth more; or the least and the largest.
        radix: The largest number of ports on a router, those of terminals included.
        families: The families to search; all that can be searched unless given.
        budget: The largest cost of routers, cables and network interfaces, in dollars.
        power: The largest power of routers, cables and network interfaces, in watts.
        max_diameter: The largest diameter, in hops.
        min_bisection: The smallest number of links between two halves, divided by half the terminals.
        min_throughput: The smallest saturation throughput under uniform traffic, in flits per cycle and terminal.
            Unless given, finalists carry at least a quarter of what the best network carries.
        survive: Random failures to live with, such as ``links=2%``: every pair of terminals must keep a path.
        traffic: Traffic patterns; the saturation throughput under each is a criterion.
        apps: Applications; the makespan of each is a criterion.
        criteria: What counts, by name; unless given ``cost``, and what `traffic`, `apps` and `survive` ask for.
        routing: The routing, or the role.
        finalists: Networks of the front that are measured in full.
        layout: The layout that cable, cost and power follow.
        prices: The price list; unless given the one of `rate`.
        rate: Bits or bytes per second of a link; unless given that of `prices`, or 400 Gb/s.
        seed: The seed of all random choices.
        hosts: The kind of hosts whose accelerators the terminals are, as in ``topoloom list hosts``. Their interfaces
            are plugged into the network; applications run on the accelerators.
    """

    terminals: tuple[int, int]
    radix: int
    families: tuple[str, ...] = ()
    budget: float | None = None
    power: float | None = None
    max_diameter: int | None = None
    min_bisection: float | None = None
    min_throughput: float | None = None
    survive: str | None = None
    traffic: tuple[str, ...] = (UNIFORM, "worst-case")
    apps: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    routing: str = "adaptive"
    finalists: int = 12
    layout: str = ""
    prices: str
    rate: str
    seed: U64 = 1
    hosts: str = ""

    @field_validator("terminals", mode="before")
    @classmethod
    def _range(cls, terminals: Any) -> tuple[int, int]:
        try:
            return terminal_range(tuple(terminals) if isinstance(terminals, list) else terminals)
        except TopoloomError as error:
            raise ValueError(str(error).removeprefix("terminals ")) from None

    @field_validator("budget", mode="before")
    @classmethod
    def _dollars(cls, value: Any) -> float:
        return amount(value, DOLLARS, "dollars such as 30M")

    @field_validator("power", mode="before")
    @classmethod
    def _watts(cls, value: Any) -> float:
        return amount(value, WATTS, "watts such as 500kW")

    @field_validator("min_bisection")
    @classmethod
    def _bisection(cls, value: float | None) -> float | None:
        if value is not None and value < 0:
            raise ValueError(f"is {value}; it must be a number from 0")
        return value

    @field_validator("min_throughput")
    @classmethod
    def _throughput(cls, value: float | None) -> float | None:
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"is {value}; it must be a number from 0 to 1 flit per cycle and terminal")
        return value

    @field_validator("families")
    @classmethod
    def _known_families(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if (sentence := why_not_searched(name)) is not None:
                raise ValueError(f"are wrong: {sentence}")
        return names

    @field_validator("families", "traffic", "apps", "criteria")
    @classmethod
    def _once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names))

    @model_validator(mode="after")
    def _hosts_find_places(self) -> Self:
        if self.hosts:
            _as_value_error(Hosting.read, self.hosts)
            for name in self.families:
                if (sentence := why_not_searched(name, self.hosts)) is not None:
                    raise ValueError(sentence)
        return self

    @model_validator(mode="after")
    def _named_things_exist(self) -> Self:
        names = [
            *(("traffic", name) for name in self.traffic),
            *(("app", name) for name in self.apps),
            *([] if self.routing in ROLES else [("routing", self.routing)]),
            *([("layout", self.layout)] if self.layout else []),
        ]
        for kind, name in names:
            _as_value_error(_core.Name, kind, name)
        for name in self.apps:
            if _core.head(name) == gpcnet.NAME:
                raise ValueError(
                    f"app {name} repeats messages until other tasks are done, which the flow engine does not model; a "
                    "design plays applications with that engine: leave it out, and give it to workload --engine cycle"
                )
            if _core.head(name) in _from_files():
                _as_value_error(_core.Workload, name, self.least_terminals)
        _as_value_error(price_list, self.prices)
        if self.survive is not None:
            _as_value_error(_check_failures, self.survive)
        return self

    @model_validator(mode="after")
    def _within_limits(self) -> Self:
        checks = (
            ("radix", self.radix, LEAST_RADIX, MOST_PORTS),
            ("finalists", self.finalists, 1, MOST_FINALISTS),
            ("max-diameter", 1 if self.max_diameter is None else self.max_diameter, 1, 1_000_000),
        )
        for check in checks:
            _as_value_error(check_whole, *check)
        most = largest_switch(self.prices)
        if most is not None and self.radix > most:
            raise ValueError(
                f"radix is {self.radix}, but the largest switch of the price list {self.prices} has "
                f"{counted(most, 'port')}; "
                f"ask for {most} or give prices of larger ones"
            )
        if self.min_throughput is not None and UNIFORM not in self.traffic:
            raise ValueError("min-throughput is of uniform traffic, which traffic does not name")
        if not self.traffic and not self.apps:
            raise ValueError("the question names no traffic and no application: nothing would be measured")
        return self

    @property
    def least_terminals(self) -> int:
        """The number of required terminals, which is the number of tasks of applications on every network."""
        return self.terminals[0]

    def sentence(self) -> str:
        """Return the question in words.

        >>> make_question({"terminals": 1000, "radix": 32, "budget": "3M"}).sentence()
        '1,000 to 1,100 terminals on routers of at most 32 ports, for at most 3,000,000 $'
        """
        low, high = self.terminals
        ends = f"accelerators in hosts {self.hosts}" if self.hosts else "terminals"
        parts = [f"{low:,} to {high:,} {ends} on routers of at most {self.radix} ports"]
        if self.budget is not None:
            parts.append(f"for at most {self.budget:,.0f} $")
        if self.power is not None:
            parts.append(f"with at most {self.power / 1e3:,.6g} kW")
        if self.max_diameter is not None:
            parts.append(f"of diameter {self.max_diameter} or less")
        if self.min_bisection is not None:
            parts.append(f"with at least {self.min_bisection:g} of full bisection")
        if self.min_throughput is not None:
            parts.append(f"that carry at least {self.min_throughput:g} of uniform traffic")
        if self.survive is not None:
            parts.append(f"connected after failures of {self.survive}")
        return ", ".join(parts)


def make_question(values: Mapping[str, Any]) -> Question:
    """Return a checked question; keys that stand for None are left at their defaults.

    Args:
        values: Values of :class:`Question` by name, with dashes or underscores.

    Raises:
        TopoloomError: A key that does not exist, or a value that it does not allow.

    >>> make_question({"terminals": 1000, "radix": 32, "max-diameter": 3}).max_diameter
    3
    """
    values = {key.replace("-", "_"): value for key, value in values.items() if value is not None}
    for name in ("terminals", "radix"):
        if name not in values:
            raise TopoloomError(f"a design needs {name}; give it as --{name} or in the TOML file")
    for name in ("families", "traffic", "apps", "criteria"):
        if isinstance(values.get(name), str):
            values[name] = names_in(name, values[name])
    return checked(Question, values | _rate_and_prices(values))


def _rate_and_prices(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the rate of links and the price list, each by the other where only one of them is given.

    Raises:
        TopoloomError: No list has the rate, or the list that is given has another one.
    """
    rate, prices = values.get("rate"), values.get("prices")
    if rate is not None and not isinstance(rate, str):
        raise TopoloomError(f"rate is {rate!r}; it must be bits or bytes per second, as in 400Gb/s")
    if not prices:
        rate = RATE if rate is None else rate
        return {"rate": rate, "prices": prices_of_rate(_gbps_of(rate))}
    told = price_list(str(prices))
    if rate is None:
        return {"rate": f"{told.port_gbps:g}Gb/s" if told.port_gbps else RATE, "prices": str(prices)}
    if told.port_gbps and told.port_gbps != _gbps_of(rate):
        raise TopoloomError(
            f"the price list {told.name} has links of {told.port_gbps:g} Gb/s, but rate is {rate}; leave one out"
        )
    return {"rate": rate, "prices": str(prices)}


def _gbps_of(rate: str) -> float:
    """Return a rate in Gb/s.

    Raises:
        TopoloomError: It does not read.

    >>> _gbps_of("50GB/s"), _gbps_of("400G")
    (400.0, 400.0)
    """
    return round(_core.bytes_per_second(rate) * 8e-9, 9)


def read_question(path: str | Path) -> dict[str, Any]:
    r"""Return the values of a question in a TOML file, unchecked.

    Args:
        path: The file.

    Raises:
        TopoloomError: A file that cannot be read, or a key that is written twice, with - and with _.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "own.toml").write_text("terminals = 1000\nradix = 32")
    ...     read_question(f"{folder}/own.toml")
    {'terminals': 1000, 'radix': 32}
    """
    values: dict[str, Any] = {}
    for key, value in parse_toml(str(path), read_text(str(path), "the question")).items():
        name = key.replace("-", "_")
        if name in values:
            raise TopoloomError(f"{path}: {name.replace('_', '-')} is given twice, with a dash and without")
        values[name] = value
    return values


def amount(value: Any, units: Mapping[str, float], wanted: str) -> float:
    """Return a number that may be written with a unit.

    Args:
        value: The number, or its text with one of the units.
        units: The factor of each unit; ``""`` is that of a number without one.
        wanted: What is allowed, for the message.

    Raises:
        ValueError: It is none, or not above zero.

    >>> amount("500kW", WATTS, "watts"), amount(3, DOLLARS, "dollars")
    (500000.0, 3.0)
    """
    text = str(value).strip()
    number = text.rstrip("".join(sorted({letter for unit in units for letter in unit})))
    unit = text[len(number) :].strip()
    try:
        found = float(number) * units[unit]
    except (KeyError, ValueError):
        found = -1.0
    if isinstance(value, bool) or not isfinite(found) or found <= 0:
        raise ValueError(f"is {value!r}; it must be {wanted}")
    return found


@cache
def _from_files() -> frozenset[str]:
    """Return the applications that take their messages from a file."""
    return frozenset(app.name for app in _core.apps() if any(key["name"] == "file" for key in app.keys_))


def _check_failures(text: str) -> None:
    """Check what a design breaks: an amount of links or routers, without a seed, as it draws several times.

    Raises:
        TopoloomError: It is no such text.

    >>> _check_failures("links=2%")
    """
    if not text.strip():
        raise TopoloomError(f"survive is {text!r}; it must be failures such as links=2%")
    try:
        for key, amount_ in _core.Name("topology", f"{PROBE} --fail {text}").values:
            if key == "seed":
                raise TopoloomError(
                    "survive takes no seed: failures are drawn several times, from the seed of the question"
                )
            if not amount_.isdecimal():
                _core.Network(PROBE).with_failures(f"{key}={amount_}")
    except TopoloomError as error:
        raise TopoloomError(str(error).replace("--fail", "survive")) from None


def _as_value_error(check: Any, *arguments: Any) -> Any:
    """Call a check; its sentence becomes one that pydantic collects."""
    try:
        return check(*arguments)
    except TopoloomError as error:
        raise ValueError(str(error)) from None
