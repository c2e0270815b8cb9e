"""Records: results of the engine that never change, with keys as in JSON and attributes of the same names."""

import inspect
import json
from collections.abc import Mapping
from html import escape
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, get_args


class Record(dict[str, Any]):
    """A result of the engine: a dictionary as its JSON has it, frozen, with keys as attributes.

    A key that a result need not have is an attribute that is None; a key that is a word of Python or a method of
    dictionaries, an attribute with an underscore behind it. ``dict(record)`` and ``record | {…}`` are dictionaries that
    can change.

    Args:
        values: The values by key; records within them may be given as dictionaries.

    >>> record = Record({"routers": 16})
    >>> record["routers"], json.dumps(record), Record.of_json('{"routers": 16}') == record
    (16, '{"routers": 16}', True)
    >>> record["routers"] = 17
    Traceback (most recent call last):
    TypeError: a Record never changes; dict(…) of it can
    """

    fields: ClassVar[Mapping[str, Any]] = {}
    """The types of all attributes by name, those of base classes first."""

    _held: ClassVar[Mapping[str, type["Record"]]] = {}
    """The classes of the records under keys, alone or in a list."""

    def __init_subclass__(cls) -> None:
        own = inspect.get_annotations(cls)
        inherited = [base.fields for base in reversed(cls.__mro__[1:]) if issubclass(base, Record)]
        cls.fields = {name: kind for fields in [*inherited, own] for name, kind in fields.items()}
        held = {name.removesuffix("_"): _record_in(kind) for name, kind in cls.fields.items()}
        cls._held = {key: record for key, record in held.items() if record is not None}

    @classmethod
    def of_json(cls, text: str) -> Self:
        """Return the record that a JSON object describes.

        Args:
            text: The JSON.

        Raises:
            ValueError: The text is no JSON object.
        """
        return cls(json.loads(text))

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        for key, record in self._held.items():
            if key in self:
                super().__setitem__(key, _built(record, self[key]))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in self:
                return self[name]
            if name in self.fields:  # some have an underscore behind them
                return self.get(name.removesuffix("_"))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.fields, *self})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        """Let ``|=`` make a dictionary, as ``|`` does."""
        return dict(self) | other

    def _frozen(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} never changes; dict(…) of it can")

    __setitem__ = __delitem__ = __setattr__ = __delattr__ = _frozen
    clear = pop = popitem = setdefault = update = _frozen

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(key)}</th><td>{escape(str(value))}</td></tr>"
            for key, value in self.items()
        )
        return f"<table>{rows}</table>"


def _built(record: type[Record], value: Any) -> Any:
    """Return a value with dictionaries in it, or that is one, as records."""
    if isinstance(value, list):
        return [record(item) for item in value]
    return record(value) if isinstance(value, dict) else value


def _record_in(kind: Any) -> type[Record] | None:
    """Return the class of records in a type, such as ``list[Record] | None``."""
    if not isinstance(kind, UnionType) and isinstance(kind, type) and issubclass(kind, Record):
        return kind
    return next((found for part in get_args(kind) if (found := _record_in(part))), None)
