"""Networks on the machine floor: cabinets, cables, what they cost and draw."""

import csv
from collections.abc import Iterator
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from topoloom import _core
from topoloom.engine.results import Cost, Floor, Item, LayoutDescription
from topoloom.files import BILL, CABLES, write_file
from topoloom.layout.prices import assumed_prices, read_prices
from topoloom.libraries import require
from topoloom.plotting import draw_layouts

DEFAULT_LAYOUT = "rack"
"""The layout that cost and cable follow unless another one is named."""


class BuiltNetwork(Protocol):
    """A network with a floor: :class:`topoloom.Network` is one."""

    @property
    def core(self) -> _core.Network:
        """The engine's network."""


class End(NamedTuple):
    """One end of a cable, at a router.

    Attributes:
        router: The router.
        port: The port, counted within the router.
        cabinet: The cabinet that holds the router.
        unit: The lowest rack unit of the router in its cabinet, from 1.
    """

    router: int
    port: int
    cabinet: int
    unit: int

    @property
    def label(self) -> str:
        """The label of this end of the cable: cabinet, rack unit, port."""
        return f"C{self.cabinet}-U{self.unit}-P{self.port}"


class Cable(NamedTuple):
    """One cable.

    Attributes:
        near: Its end at a router; of two routers that of the smaller id.
        far: Its end at another router; None if it leads to a terminal.
        terminal: The terminal that it leads to, or None.
        terminal_cabinet: The cabinet of that terminal, or None.
        link_class: The class of its link.
        length_m: Its length.
        kind: Its kind, by the price list; None if that prices no cables.
        price_usd: What it costs, or None.
        bought_m: The length that is bought: its length, or the next one that the price list sells; or None.
    """

    near: End
    far: End | None
    terminal: int | None
    terminal_cabinet: int | None
    link_class: str
    length_m: float
    kind: str | None
    price_usd: float | None
    bought_m: float | None

    @property
    def far_cabinet(self) -> int | None:
        """The cabinet of its far end."""
        return self.terminal_cabinet if self.far is None else self.far.cabinet

    @property
    def label(self) -> str:
        """The label of the cable: its near end, then its far end or the terminal and its cabinet.

        >>> near, far = End(0, 2, 0, 1), End(17, 3, 1, 2)
        >>> Cable(near, far, None, None, "local", 4.6, "optical", None, 5.0).label
        'C0-U1-P2/C1-U2-P3'
        """
        far = f"C{self.terminal_cabinet}-T{self.terminal}" if self.far is None else self.far.label
        return f"{self.near.label}/{far}"


CABLE_COLUMNS = (
    "router_a", "port_a", "cabinet_a", "unit_a", "router_b", "port_b", "cabinet_b", "unit_b", "terminal", "class",
    "length_m", "kind", "bought_m", "price_usd", "label", "spec", "layout",
)  # fmt: skip

BILL_COLUMNS = (
    "part", "item", "ports", "kind", "class", "length_m", "count", "total_m", "unit_usd", "cost_usd", "power_w",
)  # fmt: skip

PRICES_COLUMN = "prices"
"""The last column of a bill: in its first line the price list, and what no public source gives of it."""


class Layout:
    """A network on the machine floor, at the prices of a list.

    Args:
        network: The network.
        layout: A layout's name and keys, such as ``rack:units=48`` or ``family``, or keys alone, such as
            ``cabinet=16,width=0.6``; nothing for ``rack``, the same racks for every family.
        prices: The name of a price list, or the path of your own (``*.json``); nothing for the list of the network's
            rate, ``edr-flex`` where links have no rates.

    Raises:
        TopoloomError: Rules or prices that do not read; cabinets that do not fit on the floor; a cable that is longer
            than all that the list has.

    >>> from topoloom import network
    >>> Layout(network("dragonfly:a=8,h=4,p=4")).cost()["cabinet_count"]
    33
    """

    def __init__(self, network: BuiltNetwork, layout: str = "", prices: str = "") -> None:
        self.network = network
        packed = pack(network, layout)
        self._core = _core.Layout(network.core, layout, read_prices(prices), packed)

    @property
    def spec(self) -> str:
        """The network's spec."""
        return self.network.core.spec

    @cached_property
    def _cost(self) -> Cost:
        return self._core.cost()

    @cached_property
    def _floor(self) -> Floor:
        return self._core.floor()

    @cached_property
    def _bill(self) -> list[Item]:
        return self._core.bill()

    def cost(self) -> Cost:
        """Return cost (dollars), power (watts) and cable (metres) in parts, by the keys of ``topoloom show --json``.

        >>> from topoloom import network
        >>> Layout(network("mesh:2")).cost()["router_cost_usd"] > 0
        True
        """
        return self._cost

    def floor(self) -> Floor:
        """Return the floor, its cabinets, lengths (metres) and bundles, by the keys of ``topoloom layout --json``.

        >>> from topoloom import network
        >>> len(Layout(network("mesh:2")).floor()["cabinets"])
        1
        """
        return self._floor

    def bill(self) -> list[Item]:
        """Return the bill of materials: an item is a line, by the keys of ``topoloom layout --json``.

        Its sums are those of :meth:`cost`, and it has as many cables as :meth:`cables`.

        >>> from topoloom import network
        >>> [(item.item, item.count) for item in Layout(network("mesh:2")).bill()][:2]
        [('router with 2 ports in use', 2), ('optical cable of 1.5 m, terminal', 2)]
        """
        return list(self._bill)

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``topoloom layout --json``.

        >>> from topoloom import network
        >>> Layout(network("mesh:2")).to_dict()["spec"]
        'mesh:2'
        """
        core = self.network.core.bought()
        head = {"spec": self.spec, "routers": core.num_routers, "terminals": core.num_terminals}
        return head | self._cost | self._floor | {"bill": self._bill}

    def cables(self) -> Iterator[Cable]:
        """Yield all cables: those between routers in the order of the links, then those of the terminals.

        >>> from topoloom import network
        >>> len(list(Layout(network("mesh:2")).cables()))
        3
        """
        for near, far, terminal, link_class, length_m, bought in self._core.cables():
            other = None if far is None else End(*far)
            number, cabinet = (None, None) if terminal is None else terminal
            kind, bought_m, price_usd = (None, None, None) if bought is None else bought
            yield Cable(End(*near), other, number, cabinet, link_class, length_m, kind, price_usd, bought_m)

    def write_cables(self, path: str | Path, *, force: bool = False) -> None:
        """Write the cabling list as CSV, lengths in metres and prices in dollars.

        A terminal's end has its cabinet, and no router, port or rack unit. The first line has the spec of the network
        and the rules of the layout, from which ``file:`` restores network and floor.

        Args:
            path: The file.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: A file of another kind exists, and `force` is not given; a study or a store's file; a place
                that cannot be written to.

        >>> import tempfile
        >>> from topoloom import network
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Layout(network("mesh:2")).write_cables(f"{folder}/cables.csv")
        ...     network(f"file:{folder}/cables.csv").family
        'mesh'
        """
        about = (self.network.core.written_as(), self._cost["layout"])
        text = StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(CABLE_COLUMNS)
        for cable in self.cables():
            head, about = about, (None, None)
            far = cable.far or ("", "", cable.terminal_cabinet, "")
            price = "" if cable.price_usd is None else f"{cable.price_usd:.2f}"
            bought = "" if cable.bought_m is None else f"{cable.bought_m:g}"
            writer.writerow(
                (
                    *(*cable.near, *far, cable.terminal, cable.link_class),
                    *(f"{cable.length_m:g}", cable.kind, bought, price, cable.label, *head),
                )
            )
        write_file(path, text.getvalue(), CABLES, force=force)

    def write_bill(self, path: str | Path, *, force: bool = False) -> None:
        """Write the bill of materials as CSV, one item per line: metres, dollars and watts; unknown values are empty.

        The first line names the price list, and its figures without a public source.

        Args:
            path: The file.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: As for :meth:`write_cables`.

        >>> import tempfile
        >>> from pathlib import Path
        >>> from topoloom import network
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Layout(network("mesh:2")).write_bill(f"{folder}/bill.csv")
        ...     Path(f"{folder}/bill.csv").read_text().count("router with 2 ports")
        1
        """
        text = StringIO(newline="")
        writer = csv.DictWriter(text, (*BILL_COLUMNS, PRICES_COLUMN), lineterminator="\n")
        writer.writeheader()
        prices: str | None = self._cost["prices"] + assumed_prices(self._cost["prices_assumed"])
        for item in self._bill:
            writer.writerow({key: _cell(item[key]) for key in BILL_COLUMNS} | {PRICES_COLUMN: prices})
            prices = None
        write_file(path, text.getvalue(), BILL, force=force)

    def draw(self, path: str | Path, *, force: bool = False) -> None:
        """Draw the floor with its cabinets and cables, the lengths, and cost and power in parts.

        Args:
            path: The file, which ends in ``.svg``, ``.png`` or ``.pdf``.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: An ending of no kind of picture, or a place that cannot be written to.

        >>> import tempfile
        >>> from pathlib import Path
        >>> from topoloom import network
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Layout(network("mesh:2")).draw(f"{folder}/floor.svg")
        ...     Path(f"{folder}/floor.svg").exists()
        True
        """
        draw_layouts([self], path, force=force)


def _cell(value: Any) -> Any:
    """Return a number as people read it: sums of lengths and prices may be off in their last digit."""
    return f"{value:.12g}" if isinstance(value, float) else value


def pack(network: BuiltNetwork, layout: str) -> list[int] | None:
    """Return METIS's partition of the routers, one part per cabinet, if the rules request ``cabinet=metis:N``.

    Args:
        network: The network.
        layout: The rules, such as ``cabinet=metis:16``.

    Raises:
        TopoloomError: Rules that cannot be read, or METIS is not installed.

    >>> from topoloom import network
    >>> sorted(pack(network("mesh:4"), "cabinet=metis:2"))
    [0, 0, 1, 1]
    """
    size = _core.metis_cabinet(layout)
    if size is None:
        return None
    core = network.core.bought()
    cabinets = -(-core.num_routers // size)
    if cabinets == 1:
        return [0] * core.num_routers
    require("pymetis")
    import pymetis  # noqa: PLC0415 - loads slowly

    offsets, neighbors, _, weights = core.metis_graph()
    options = pymetis.Options(seed=1, ufactor=1)
    _, parts = pymetis.part_graph(
        cabinets, pymetis.CSRAdjacency(offsets, neighbors), eweights=weights, options=options, recursive=True
    )
    return [int(part) for part in parts]


def layouts() -> list[LayoutDescription]:
    """Return the layouts that have a name, the default one first: ``name summary stands_for source keys``.

    >>> [layout.name for layout in layouts()][:2]
    ['rack', 'family']
    """
    return _core.layouts()
