"""Price lists: those that come with the program, and those of users."""

import json
from collections.abc import Iterable

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.engine.results import PriceList
from topoloom.files import read_text


def price_files(prices: str) -> list[str]:
    """Return the path of the file that `prices` names, if it names none of the lists that come with the program.

    Args:
        prices: The name of a list, or the path of a file that ends in ``.json``, unchecked.

    >>> price_files("own.json"), price_files("edr-flex")
    (['own.json'], [])
    """
    return [prices] if prices.endswith(".json") else []


def read_prices(prices: str) -> str:
    """Return what the engine takes as prices: a list's name, or the text of your own list.

    Args:
        prices: The name of a list, or the path of a file that ends in ``.json``.

    Raises:
        TopoloomError: A file that cannot be read, that holds no price list, or one that has the name of a list that
            comes with the program and other prices.

    >>> read_prices("edr-flex")
    'edr-flex'
    """
    if not price_files(prices):
        return prices
    text = read_text(prices, "the price list").strip()
    if not text.startswith("{"):
        raise TopoloomError(f"the price list {prices} holds no JSON object")
    try:
        own = _core.price_list(text)
    except TopoloomError as error:
        raise TopoloomError(f"{prices}: {error}") from None
    # Results bear the name of their list alone.
    if any(own.name == given.name and dict(own) != dict(given) for given in price_lists()):
        raise TopoloomError(
            f"{prices}: its name is '{own.name}', as of a list that comes with the program and has other prices; "
            "give it a name of its own"
        )
    return text


def price_lists() -> list[PriceList]:
    """Return the price lists that come with the program, the default one first.

    >>> price_lists()[0].name
    'edr-flex'
    """
    return _core.price_lists()


def price_list(prices: str) -> PriceList:
    """Return the price list that `prices` names, or that the file of this path holds.

    Args:
        prices: The name of a list, the path of a file, or the text of a list; empty: the default list.

    Raises:
        TopoloomError: There is none, or it does not read.

    >>> price_list("").router.usd_per_port
    128.0
    """
    return _core.price_list(read_prices(prices))


def prices_of_rate(gbps: float) -> str:
    """Return the name of the list of switches, cards and cables for a rate of links.

    Args:
        gbps: The rate of a link, in Gb/s.

    Raises:
        TopoloomError: There is none of that rate.

    >>> prices_of_rate(400.0)
    '400g'
    """
    rates = {own.port_gbps: own.name for own in price_lists() if own.get("switches")}
    if gbps not in rates:
        known = ", ".join(f"{rate:g}" for rate in rates)
        raise TopoloomError(
            f"no price list has links of {gbps:g} Gb/s; there are lists of {known} Gb/s, or give one with prices"
        )
    return rates[gbps]


def largest_switch(prices: str) -> int | None:
    """Return the ports of the largest switch of a list; None if it prices routers of any size.

    Args:
        prices: The name of a list, or the path of a file that ends in ``.json``.

    >>> largest_switch("400g"), largest_switch("edr-flex")
    (128, None)
    """
    return max((own.ports for own in price_list(prices).get("switches", ())), default=None)


PARTS_OF_A_PRICE = ("usd", "usd_per_m", "usd_per_gbps", "usd_per_gbps_m")


def with_optics(prices: str, factor: float) -> str:
    """Return a price list as text, its cables other than copper at `factor` times their price.

    Args:
        prices: The name of a list, or the path of a file that ends in ``.json``.
        factor: The ratio of the new prices to those of the list.

    Raises:
        TopoloomError: There is no such list, or it does not read.

    >>> price_list(with_optics("400g", 2)).cables[-1].usd / price_list("400g").cables[-1].usd
    2.0
    """
    told = json.loads(json.dumps(price_list(prices)))
    for kind in told["cables"]:
        if not kind.get("copper"):
            kind.update({key: factor * kind[key] for key in PARTS_OF_A_PRICE if key in kind})
    return json.dumps(told)


def assumed_prices(things: Iterable[str]) -> str:
    """Return the note on a price list: which of its figures no public source gives.

    Args:
        things: Names of figures, such as ``AEC: usd``.

    >>> assumed_prices(["AEC: usd, w", "nic: usd"])
    ' (assumed, without a public source: AEC: usd, w; nic: usd)'
    """
    told = "; ".join(things)
    return f" (assumed, without a public source: {told})" if told else ""
