"""Price lists: those that come with the program, and those of users."""

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.engine.results import PriceList
from topoloom.files import read_text


def price_files(prices: str) -> list[str]:
    """Return the path of the file that `prices` names, if it names none of the lists that come with the program.

    >>> price_files("own.json"), price_files("edr-flex")
    (['own.json'], [])
    """
    return [prices] if prices.endswith(".json") else []


def read_prices(prices: str) -> str:
    """Return what the engine takes as prices: a list's name, or the text of one's own list.

    Raises:
        TopoloomError: A file that cannot be read.
    """
    if not price_files(prices):
        return prices
    text = read_text(prices, "the price list").strip()
    if not text.startswith("{"):
        raise TopoloomError(f"the price list {prices} holds no JSON object")
    return text


def price_lists() -> list[PriceList]:
    """Return the price lists that come with the program, the default one first.

    >>> price_lists()[0].name
    'edr-flex'
    """
    return _core.price_lists()


def price_list(prices: str) -> PriceList:
    """Return the price list that `prices` names, or that stands in the file of this path.

    Raises:
        TopoloomError: There is none, or it does not read.

    >>> price_list("").router.usd_per_port
    128.0
    """
    return _core.price_list(read_prices(prices))
