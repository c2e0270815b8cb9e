"""Price lists: those that come with the program, and those of users."""

import json
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
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


def price_lists() -> list[dict[str, Any]]:
    """Return the price lists that come with the program, the default one first.

    >>> price_lists()[0]["name"]
    'edr-flex'
    """
    lists: list[dict[str, Any]] = json.loads(_core.prices_json())
    return lists


def price_list(prices: str) -> dict[str, Any]:
    """Return the price list that `prices` names, or that stands in the file of this path.

    Raises:
        TopoloomError: There is none, or it does not read.

    >>> price_list("")["router"]["usd_per_port"]
    128.0
    """
    found: dict[str, Any] = json.loads(_core.price_list_json(read_prices(prices)))
    return found
