"""Design: from a need to a decision.

The package is a function as well, :func:`topoloom.design.answer.design`; see :mod:`topoloom.network` for why.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoloom.design.answer import Answer


class _CallablePackage(ModuleType):
    """This package, which can be called."""

    def __call__(self, path: str | Path | None = None, *, store: str | Path | None = None, **asked: Any) -> "Answer":
        """Return which networks answer a question; see :func:`topoloom.design.answer.design`."""
        from topoloom.design.answer import design  # noqa: PLC0415 - searches for candidates need none of it

        return design(path, store=store, **asked)


sys.modules[__name__].__class__ = _CallablePackage
