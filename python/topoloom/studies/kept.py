"""Points of comparisons and searches, kept in a store of results, so that an interrupted run can resume.

They are stored as a study's points of kind ``simulate`` are, by the same keys: nothing is measured twice, and what was
measured under other options or on another network is never taken for it.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.files import LEDGER
from topoloom.simulation.points import Point
from topoloom.simulation.simulator import Simulator
from topoloom.studies.ledger import Ledger, now
from topoloom.studies.points import StudyPoint

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

CHANNELS = "channels"
"""The key of the flits per cycle on each channel in a result."""


class KeptPoints:
    """Points of earlier runs, and of this one.

    Args:
        folder: The store.
        name: What runs, for the store's record.
        always: Whether every point is stored as soon as it is done. Otherwise only an existing store is used at
            once, and a missing one is created by :meth:`save`.

    Raises:
        TopoloomError: A folder that is no store of results.

    Attributes:
        folder: The store.
        recalled: Number of points that were taken from earlier runs.
        measured: Number of points of this run.

    >>> import tempfile
    >>> from topoloom import network
    >>> from topoloom.simulation.options import make_options
    >>> from topoloom.simulation.plans import fixed_plan
    >>> from topoloom.simulation.runs import run_here
    >>> short = make_options({"warmup": 10, "measure": 100})
    >>> own = Simulator(network("mesh:2x2").core, "dor", "uniform", short, most_load=0.1, searching=False)
    >>> run_here(own, fixed_plan([0.1]))
    >>> point = own.curve.points[0.1]
    >>> with tempfile.TemporaryDirectory() as folder, KeptPoints(Path(folder, "a.store"), "one", always=False) as kept:
    ...     kept.keep(own, 0.1, point)
    ...     kept.save()
    ...     with KeptPoints(kept.folder, "two", always=True) as again:
    ...         again.recall(own, 0.1) == point, again.recall(own, 0.2), again.recalled
    (True, None, 1)
    """

    def __init__(self, folder: Path, name: str, *, always: bool) -> None:
        self.folder = folder
        self.recalled = self.measured = 0
        self._name = name
        self._unsaved: dict[str, dict[str, Any]] = {}
        self._asked: dict[tuple[int, float], StudyPoint] = {}
        self._ledger = Ledger(folder) if always or (folder / LEDGER).is_file() else None
        rows = self._ledger.rows() if self._ledger is not None else []
        self._known: dict[str, dict[str, Any]] = {row["key"]: json.loads(row["result"]) for row in rows}

    @property
    def store(self) -> str:
        """The name of the store, if there is one already."""
        return self.folder.name if self._ledger is not None else ""

    def recall(self, simulator: Simulator, load: float) -> Point | None:
        """Return a point that is known, and give the simulator the channel loads that belong to it.

        Args:
            simulator: The simulator that would measure it.
            load: The offered load in flits per active terminal per cycle.

        Returns:
            None where the store lacks the point, or its channel loads where the simulator keeps them.
        """
        asked = self._asked[id(simulator), load] = _point(simulator, load)
        result = asked.among(self._known)
        if result is None:
            return None
        result = dict(result)
        flits = result.pop(CHANNELS, None)
        if simulator.keeps_flits:
            if flits is None:
                return None
            simulator.keep_flits(load, _unpacked(flits))
        result.pop("config", None)
        self.recalled += 1
        return Point.model_validate(result)

    def keep(self, simulator: Simulator, load: float, point: Point) -> None:
        """Keep a point that was measured, unless a file that it reads has changed meanwhile.

        Args:
            simulator: The simulator that measured it.
            load: The offered load in flits per active terminal per cycle.
            point: The point.

        Raises:
            TopoloomError: A place that cannot be written to.
        """
        asked = self._asked.pop((id(simulator), load), None) or _point(simulator, load)
        self.measured += 1
        if asked.changed_files():  # which content was measured is not known
            return
        result = {"config": simulator.curve.config} | point.model_dump()
        if (flits := simulator.flits(load)) is not None:
            result[CHANNELS] = _packed(flits)
        self._unsaved[asked.key] = {
            "key": asked.key,
            "point": asked.to_json(),
            "result": result,
            "wall_s": point.wall_s,
            "finished": now(),
            "version": _core.__version__,
            "model_version": _core.MODEL_VERSION,
            "host": "",
        }
        if self._ledger is not None:
            self.save()

    def save(self) -> None:
        """Store what is not stored yet.

        Raises:
            TopoloomError: A place that cannot be written to.
        """
        if not self._unsaved:
            return
        if self._ledger is None:
            try:
                self._ledger = Ledger(self.folder)
            except OSError as error:
                raise TopoloomError(f"{self.folder}: {error.strerror}") from None
        self._ledger.begin(self._name)
        self._ledger.adopt(list(self._unsaved.values()))
        self._unsaved.clear()

    def __enter__(self) -> "KeptPoints":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._ledger is not None:
            self._ledger.pack()
            self._ledger.close()


def _point(simulator: Simulator, load: float) -> StudyPoint:
    """Return what a study would call a point."""
    curve, options = simulator.curve, simulator.options_at(load)
    shown = options.model_dump(mode="json", by_alias=True, exclude_defaults=True) | {"seed": options.seed}
    given = {name: value for name, value in shown.items() if value is not None}
    return StudyPoint("simulate", curve.spec, curve.routing, curve.traffic, load, {"options": given}, role=curve.role)


def _packed(flits: "NDArray[float32]") -> Mapping[str, str]:
    return {"float32": base64.b64encode(zlib.compress(flits.astype("<f4").tobytes())).decode()}


def _unpacked(packed: Mapping[str, str]) -> "NDArray[float32]":
    import numpy as np  # noqa: PLC0415 - loads slowly, and few points have channels

    return np.frombuffer(zlib.decompress(base64.b64decode(packed["float32"])), dtype="<f4")
