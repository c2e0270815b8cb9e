"""Mistakes in study files, each as one sentence with its line."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from topoloom._core import TopoloomError, unknown
from topoloom.studies.toml_lines import Path, as_toml, line_of

SWEEP = 2
"""The length of the path of a sweep: ``("sweep", 0)``."""


class OptionError(ValueError):
    """A mistake in one key of a sweep or of its options.

    Args:
        name: The key.
        sentence: What is wrong with it.
    """

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


MOST_DIGITS = 4300
"""Digits of the longest whole number that Python reads."""


def parse_toml(name: str, text: str) -> dict[str, Any]:
    """Return the document with this text, of the file `name`.

    Args:
        name: The name of the file, for messages.
        text: Its text.

    Raises:
        TopoloomError: It is no TOML, or nests or counts further than can be read; with the line where there is one.

    >>> parse_toml("s.toml", "a = 1")
    {'a': 1}
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TopoloomError(_unreadable(name, str(error), text)) from None
    except RecursionError:
        raise TopoloomError(f"{name}: arrays and tables are nested too deep to be read") from None
    except ValueError:  # the one that is left: a whole number
        digits = re.compile(rf"\d(?:_?\d){{{MOST_DIGITS}}}")
        line = next((number for number, line in enumerate(text.splitlines(), 1) if digits.search(line)), None)
        where = name if line is None else f"{name}, line {line}"
        raise TopoloomError(f"{where}: a whole number has more than {MOST_DIGITS} digits") from None


def _unreadable(name: str, error: str, text: str) -> str:
    r"""Return what tomllib states about the file `name` with `text` as a sentence like our own.

    >>> _unreadable("s.toml", "Cannot overwrite a value (at line 2, column 6)", "a = 1\na = 2")
    's.toml, line 2: a is given twice'
    """
    found = re.fullmatch(r"(.*) \(at line (\d+), column \d+\)", error)
    if not found:
        return f"{name}: {error}"
    what, line = found[1][:1].lower() + found[1][1:], int(found[2])
    if what.startswith(("cannot overwrite", "cannot declare")):
        what = f"{text.splitlines()[line - 1].partition('=')[0].strip()} is given twice"
    return f"{name}, line {line}: {what}"


def first_mistake(
    error: ValidationError,
    values: Mapping[str, Any],
    found: dict[Path, int],
    name: str,
    known: tuple[list[str], list[str]],
) -> str:
    """Return the first mistake of a document as one sentence with its line.

    Args:
        error: What pydantic found.
        values: The document as it was written.
        found: The lines of its keys.
        name: The name of the file, unchecked.
        known: The keys of a sweep, and those of a study.

    >>> from topoloom import Study
    >>> try:
    ...     Study.model_validate({"name": "one", "sweep": []})
    ... except ValidationError as error:
    ...     first_mistake(error, {}, {("sweep",): 3}, "s.toml", ([], ["name", "sweep"]))
    's.toml, line 3: sweep is empty; it must hold at least one value'
    """
    mistakes = error.errors(include_url=False)
    mistake = mistakes[0]
    if mistake["type"] == "missing":
        # A misspelt key is reported, and not that the intended one is missing.
        mistake = next((one for one in mistakes if one["type"] == "extra_forbidden"), mistake)
    path: Path = mistake["loc"]
    cause = mistake.get("ctx", {}).get("error")
    if isinstance(cause, OptionError):
        path = (*path, cause.name)
    line = line_of(found, _written(path, values))
    where = f"{name}, line {line}" if line else name
    key = next((part for part in reversed(path) if part in known[0]), path[0])
    if isinstance(cause, (OptionError, TopoloomError)) or (cause and len(path) <= SWEEP):
        return f"{where}: {cause}"
    return f"{where}: {_sentence(mistake['type'], mistake, str(key), known[path[0] != 'sweep'])}"


def _sentence(sort: str, mistake: Mapping[str, Any], key: str, known: Sequence[str]) -> str:
    last = str(mistake["loc"][-1])
    sentences = {
        "extra_forbidden": lambda: unknown("key", last, known),
        "value_error": lambda: f"{key} {mistake['ctx']['error']}",
        "missing": lambda: f"the key '{last}' is missing",
        "too_short": lambda: f"{key} is empty; it must hold at least one value",
    }
    if sort in sentences:
        return sentences[sort]()
    if mistake["loc"] == ("sweep",):
        return "sweep must be a list of tables; write each as [[sweep]]"
    message = mistake["msg"].replace("Input should be", "it must be").partition(", unable to parse")[0]
    return f"{key} is {as_toml(mistake['input'])}; {message.replace('valid dictionary', 'table')}"


def _written(path: Path, values: Mapping[str, Any]) -> Path:
    """Return where the value at `path` was written: in its sweep, or among the defaults."""
    if path[0] != "sweep" or len(path) <= SWEEP:
        return path
    own: Any = values["sweep"][path[1]]
    default: Any = values.get("defaults", {})
    for place, part in enumerate(path[SWEEP:], start=SWEEP):
        if isinstance(own, dict) and part in own:
            own, default = own[part], default.get(part) if isinstance(default, dict) else None
        elif isinstance(default, dict) and part in default:
            return ("defaults", *path[SWEEP:])
        else:
            return path[:place]
    return path
