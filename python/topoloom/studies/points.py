"""The points of a study: what one unit of its work is, and the hash under which its result is kept.

A point is all that its result depends on. Its *key* is the hash of that, of the files that it names, and of the
version of the models: two points with one key have the same result, bit for bit.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from topoloom import _core
from topoloom.studies.contents import digest
from topoloom.studies.measurements import MEASUREMENTS

IRRELEVANT = ("threads",)
"""Options that change how fast a result is there, not what it is."""


Known = TypeVar("Known")


@lru_cache(maxsize=4096)
def canonical(what: str, text: str) -> str:
    """Return the canonical text of a name; a text that is no such name stays as it is.

    Args:
        what: What it is the name of, such as ``topology``, unchecked.
        text: The name.

    >>> canonical("topology", "hyperx:4x4,p=4"), canonical("topology", "none")
    ('hyperx:4x4,p=4', 'none')
    """
    try:
        return _core.Name(what, text).canonical if text else text
    except _core.TopoloomError:  # the builder reports it
        return text


@dataclass(frozen=True, eq=False)
class StudyPoint:
    """One unit of work.

    Attributes:
        kind: The kind, a name of :data:`topoloom.studies.measurements.MEASUREMENTS`.
        spec: The network.
        routing: The routing, resolved from its role; empty where the kind needs none.
        traffic: The traffic pattern, or the application; empty where the kind needs none.
        load: Offered load in flits per active terminal per cycle; None where the kind chooses its own.
        settings: Further inputs of the kind: the engine's options, the loads of a curve.
        origin: The study file and the line of the point; no part of the key.
        role: The requested role or routing; no part of the key.

    >>> from topoloom import Study, Sweep
    >>> point = Study(name="one", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])]).points()[0]
    >>> point.label(), StudyPoint.from_json(point.to_json()) == point, point.changed_files()
    ('facts mesh:2x2', True, [])
    >>> point.key_of(lambda path: None) == point.key, point.among({point.key: "done"})
    (True, 'done')
    """

    kind: str
    spec: str
    routing: str = ""
    traffic: str = ""
    load: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""
    role: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StudyPoint) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def options(self) -> dict[str, Any]:
        """The engine's options, as Python takes them."""
        return dict(self.settings.get("options", {}))

    @property
    def seed(self) -> int | None:
        """The seed of the point, where its kind has one."""
        seed: int | None = self.options.get("seed")
        return seed

    @cached_property
    def key(self) -> str:
        """The hash of everything that the result depends on: 32 hexadecimal digits.

        Names count by their canonical text, however they are written. It stays what it was when it was first asked for,
        whatever happens to the files meanwhile.
        """
        return self.key_of(self.contents.get)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key, and behind it the one that earlier versions gave the point, by its names as they are written."""
        if self.names == (self.spec, self.routing, self.traffic):
            return (self.key,)
        return self.key, self.key_of(self.contents.get, as_written=True)

    def among(self, known: Mapping[str, Known]) -> Known | None:
        """Return the value of the point by either of its keys; None if there is none.

        Args:
            known: Values by keys of points.
        """
        return next((known[key] for key in self.keys if key in known), None)

    @cached_property
    def names(self) -> tuple[str, str, str]:
        """Network, routing, and traffic or application, by their canonical texts."""
        plays = self.kind in MEASUREMENTS and MEASUREMENTS[self.kind].plays
        kinds = ("topology", "routing", "app" if plays else "traffic")
        spec, routing, traffic = map(canonical, kinds, (self.spec, self.routing, self.traffic))
        return spec, routing, traffic

    def key_of(
        self, content: Callable[[str], str | None], model_version: int | None = None, *, as_written: bool = False
    ) -> str:
        """Return the key of the point for other contents of its files, or for another version of the models.

        Args:
            content: Returns the SHA-256 of a file's contents; None where there is no file.
            model_version: The number of the models' version; that of this program unless given.
            as_written: Whether names count as they are written, as in earlier versions.
        """
        settings = dict(self.settings)
        if "options" in settings:
            settings["options"] = {k: v for k, v in settings["options"].items() if k not in IRRELEVANT}
        identity = [
            _core.MODEL_VERSION if model_version is None else model_version,
            self.kind,
            *((self.spec, self.routing, self.traffic) if as_written else self.names),
            self.load,
            settings,
            [content(path) for path in self.files],
        ]
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def files(self) -> list[str]:
        """The paths of the files that the point reads, in its names and among its options."""
        return MEASUREMENTS[self.kind].files(self) if self.kind in MEASUREMENTS else []

    @cached_property
    def contents(self) -> dict[str, str | None]:
        """The SHA-256 of each file that the point reads when this is first asked for; None of one that is missing."""
        return {path: digest(path) for path in self.files}

    def changed_files(self) -> list[str]:
        """Return the files whose contents differ from those of the key."""
        return [path for path, known in self.contents.items() if digest(path) != known]

    @property
    def named(self) -> dict[str, Any]:
        """What identifies the point, by the names that tables and lookups have for it; options and settings aside."""
        names = ("kind", "spec", "routing", "role", "traffic", "load", "seed")
        return {name: getattr(self, name) for name in names}

    def label(self) -> str:
        """Return the point in one line, for people."""
        load = "" if self.load is None else f"load {self.load:g}"
        seed = "" if self.seed is None else f"seed {self.seed}"
        return " ".join(part for part in (self.kind, self.spec, self.routing, self.traffic, load, seed) if part)

    def to_json(self, contents: Mapping[str, str | None] | None = None) -> str:
        """Return the text that :meth:`from_json` reads.

        Args:
            contents: The SHA-256 of each file that the point read; :attr:`contents` unless given.
        """
        contents = self.contents if contents is None else contents
        values = {
            "kind": self.kind,
            "spec": self.spec,
            "routing": self.routing,
            "traffic": self.traffic,
            "load": self.load,
            "settings": dict(self.settings),
            "role": self.role,
        }
        return json.dumps(values | ({"files": dict(contents)} if contents else {}), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "StudyPoint":
        """Return the point that :meth:`to_json` wrote, with the files that are here.

        Args:
            text: The JSON of the point.

        Raises:
            ValueError: The text is no point.
        """
        values = json.loads(text)
        if isinstance(values, dict):
            values.pop("files", None)
            with suppress(TypeError):
                return cls(**values)
        raise ValueError("no point of a study")


def files_of(text: str) -> dict[str, str | None]:
    """Return the SHA-256 of each file that a point read, from what :meth:`StudyPoint.to_json` wrote of it.

    Args:
        text: The JSON of the point.

    Raises:
        ValueError: The text is no JSON.

    >>> files_of(StudyPoint("facts", "file:none.csv").to_json()), files_of(StudyPoint("facts", "mesh:2x2").to_json())
    ({'none.csv': None}, {})
    """
    files = json.loads(text).get("files")
    return files if isinstance(files, dict) else {}
