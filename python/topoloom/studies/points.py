"""The points of a study: what one unit of its work is, and the hash under which its result is kept.

A point is all that its result depends on. Its *key* is the hash of that, of the files that it names, and of the
version of the models: two points with one key have the same result, bit for bit.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from topoloom import _core

IRRELEVANT = ("threads",)
"""Options that change how fast a result is there, not what it is."""

FILE_OPTIONS = ("rates",)
"""Options that are the path of a file."""

_FILES = re.compile(r"(?:^|[(,=])(?:(?:file|pairs|trace|table|goal|messages):|cabinet=(?=[^,()]+\.csv))([^,()]+)")
"""The paths of files in the name of a network, a routing or a traffic, wherever they stand in it."""


@dataclass(frozen=True, eq=False)
class StudyPoint:
    """One unit of work.

    Attributes:
        kind: What is asked, a name of :data:`topoloom.studies.kinds.KINDS`.
        spec: The network.
        routing: The routing, resolved from its role; empty where the kind needs none.
        traffic: The traffic pattern, or the application; empty where the kind needs none.
        load: Offered load in flits per active terminal per cycle; None where the kind chooses its own.
        settings: What else the kind takes: the engine's options, the loads of a curve.
        origin: The study file and its line that ask for the point; no part of the key.
        role: The routing as it was asked for; no part of the key.
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
        """The hash of everything that the result depends on: 32 hexadecimal digits."""
        settings = dict(self.settings)
        if "options" in settings:
            settings["options"] = {k: v for k, v in settings["options"].items() if k not in IRRELEVANT}
        identity = [
            _core.MODEL_VERSION,
            self.kind,
            self.spec,
            self.routing,
            self.traffic,
            self.load,
            settings,
            [file_digest(path) for path in self.files],
        ]
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def files(self) -> list[str]:
        """The paths of the files that the point names."""
        names = [path for name in (self.spec, self.routing, self.traffic) for path in _FILES.findall(name)]
        cabinets = str(self.options.get("links", {}).get("cabinet", ""))
        named = [
            *(self.options.get(option) for option in FILE_OPTIONS),
            cabinets if cabinets.endswith(".csv") else None,
        ]
        return names + [path for path in named if path is not None]

    @property
    def named(self) -> dict[str, Any]:
        """What tells the point, by the names that tables and lookups have for it; options and settings aside."""
        names = ("kind", "spec", "routing", "role", "traffic", "load", "seed")
        return {name: getattr(self, name) for name in names}

    def label(self) -> str:
        """Return the point in one line, for people."""
        load = "" if self.load is None else f"load {self.load:g}"
        seed = "" if self.seed is None else f"seed {self.seed}"
        return " ".join(part for part in (self.kind, self.spec, self.routing, self.traffic, load, seed) if part)

    def to_json(self) -> str:
        """Return what :meth:`from_json` reads."""
        values = {
            "kind": self.kind,
            "spec": self.spec,
            "routing": self.routing,
            "traffic": self.traffic,
            "load": self.load,
            "settings": dict(self.settings),
            "role": self.role,
        }
        return json.dumps(values, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "StudyPoint":
        """Return the point that :meth:`to_json` wrote."""
        return cls(**json.loads(text))


def file_digest(name: str) -> str | None:
    """Return the hash of a file. A missing one has none here: whoever uses it says so."""
    path = Path(name)
    try:
        return _digest(path, path.stat().st_mtime_ns, path.stat().st_size)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _digest(path: Path, stamp: int, size: int) -> str:  # noqa: ARG001 - a file that changed is read again
    return hashlib.sha256(path.read_bytes()).hexdigest()
