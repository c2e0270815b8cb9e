"""Matplotlib's settings for all pictures."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl


@contextmanager
def plain() -> Iterator[None]:
    """Within this, figures are made and written: the same figure gives the same file, and ``$`` begins no formula.

    Names of files and networks stand in pictures, and may have dollar signs.
    """
    with mpl.rc_context({"svg.hashsalt": "topoloom", "text.parse_math": False}):
        yield
