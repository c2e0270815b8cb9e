"""Cases that every run of the tests has, and those that only long ones have."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def with_long(cases: Iterable[Any], is_long: Callable[[Any], bool]) -> list[Any]:
    """Return the cases of a parametrised test, the long ones marked: `make test-long` runs them.

    >>> [getattr(case, "marks", ()) != () for case in with_long(["mesh", "torus"], lambda case: case == "torus")]
    [False, True]
    """
    return [_marked(case) if is_long(case) else case for case in cases]


def _marked(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.long)
