"""What options are made of: types of their values, and the class that all classes of options derive from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from topoloom._core import files_of

MOST_U32, MOST_U64 = 2**32 - 1, 2**64 - 1
"""The largest numbers that the engine has room for: of sizes and counts, and of seeds and cycles."""

U32 = Annotated[int, Field(ge=0, le=MOST_U32)]
U64 = Annotated[int, Field(ge=0, le=MOST_U64)]


@dataclass(frozen=True)
class Reads:
    """Marks an option whose value may name files, all of which a result depends on.

    Attributes:
        files: Returns the paths of the files that a value names.
    """

    files: Callable[[str], list[str]]


def _whole_as_text(value: object) -> object:
    """Return a whole number as users would write it, anything else as it is."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


FilePath = Annotated[str, Reads(partial(files_of, "file"))]
"""The path of a file."""

CabinetRule = Annotated[str, BeforeValidator(_whole_as_text), Reads(partial(files_of, "cabinet"))]
"""Which routers share a cabinet: a number of routers, or what else a layout's ``cabinet`` takes."""


class Options(BaseModel):
    """Options that are checked once and never change.

    Attributes:
        stored: Options that are part of a result's identity even at their defaults.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    stored: ClassVar[frozenset[str]] = frozenset()

    @field_validator("*", mode="before")
    @classmethod
    def _truth_is_no_number(cls, value: object, told: ValidationInfo) -> object:
        kind: Any = cls.model_fields[str(told.field_name)].annotation
        if isinstance(value, bool) and _is_number(kind):
            raise ValueError(f"is {value}; it must be a number")
        return value

    @classmethod
    def files(cls, values: Mapping[str, Any]) -> list[str]:
        """Return the paths of the files that options name.

        Args:
            values: Options by the names that Python gives them, as far as they are given.

        >>> from topoloom.simulation.options import EngineOptions
        >>> EngineOptions.files({"rates": "rates.csv", "links": {"inside": 1, "cabinet": "racks.csv"}})
        ['rates.csv', 'racks.csv']
        """
        marked, nested = _file_fields(cls)
        own = [path for name, mark in marked.items() if values.get(name) for path in mark.files(str(values[name]))]
        return own + [path for name, model in nested.items() for path in model.files(values.get(name) or {})]


def marks(field: FieldInfo) -> Iterator[Reads]:
    """Yield the marks of an option whose value may name files.

    Args:
        field: A field of a model of options.

    >>> from topoloom.simulation.options import EngineOptions
    >>> any(marks(EngineOptions.model_fields["rates"])), any(marks(EngineOptions.model_fields["seed"]))
    (True, False)
    """
    yield from (mark for mark in (*field.metadata, *_parts(field.annotation)) if isinstance(mark, Reads))


@cache
def _is_number(kind: Any) -> bool:
    """Return whether a type of options is numbers, or one of several types that are."""
    return get_origin(kind) is not tuple and not {int, float}.isdisjoint((kind, *_parts(kind)))


def _parts(kind: Any) -> Iterator[Any]:
    """Yield what a type is made of, such as the marks of one of several types."""
    for part in (*get_args(kind), *getattr(kind, "__metadata__", ())):
        yield part
        yield from _parts(part)


@cache
def _file_fields(model: type[Options]) -> tuple[dict[str, Reads], dict[str, type[Options]]]:
    """Return the fields of `model` that may name files, and those that are options in turn."""
    fields = model.model_fields.items()
    marked = {name: mark for name, field in fields for mark in marks(field)}
    kinds = ((name, field.annotation) for name, field in fields)
    return marked, {name: kind for name, kind in kinds if isinstance(kind, type) and issubclass(kind, Options)}
