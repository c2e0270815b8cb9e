"""Studies, which users write in TOML or build in Python, and their points."""

import dataclasses
import datetime
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from topoloom import _core
from topoloom._core import TopoloomError, unknown
from topoloom.files import read_text
from topoloom.network.families import descriptions
from topoloom.network.networks import with_keys
from topoloom.simulation.loads import is_trace, parse_loads
from topoloom.simulation.option_types import MOST_U64
from topoloom.simulation.options import ROUTER_KEYS, parse_pairs
from topoloom.simulation.replications import LEAST_REPLICAS, MOST_REPLICAS
from topoloom.simulation.roles import resolve_routing, routing_on_spec
from topoloom.studies.executor import Executor, LocalExecutor
from topoloom.studies.ledger import Ledger
from topoloom.studies.measurements import MEASUREMENTS, Measurement
from topoloom.studies.mistakes import OptionError, first_mistake, parse_toml
from topoloom.studies.points import StudyPoint
from topoloom.studies.results import Results
from topoloom.studies.running import run_points
from topoloom.studies.toml_lines import Path as Place
from topoloom.studies.toml_lines import as_toml, line_of, places

MOST_SEEDS = 100_000

MOST_POINTS = 1_000_000
"""The most points of a study: they are held in memory, and each is checked before the first one runs."""

FAULTY = "faulty"
"""The family of a network in which something has failed."""


def _listed(value: object) -> object:
    """Return a single value as a list of one."""
    return value if isinstance(value, list) else [value]


def _number(value: object) -> object:
    """Reject true and false where a number is wanted; Python takes them for 1 and 0."""
    if isinstance(value, bool) or (isinstance(value, list) and any(isinstance(one, bool) for one in value)):
        raise ValueError("is true or false; it must be a number")
    return value


def _loads(value: object) -> object:
    """Check loads at once, so that a mistake has its line."""
    if isinstance(value, (str, int, float)) or (isinstance(value, list) and not any(map(_is_text, value))):
        parse_loads(_number(value))  # type: ignore[arg-type] # what is no number is reported
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _seeds(value: object) -> object:
    """Return the seeds in a text such as ``1:30``."""
    _number(value)
    if not isinstance(value, str):
        return _listed(value)
    first, colon, last = value.partition(":")
    if not (first.isdecimal() and (last.isdecimal() if colon else True)):
        raise ValueError(f"is '{value}'; it must be a number, a list of them, or first:last such as 1:30")
    if max(len(first), len(last)) > len(str(MOST_U64)):
        raise ValueError(f"is '{value}'; a seed must be from 0 to {MOST_U64}")
    seeds = int(last or first) - int(first) + 1
    if not 0 < seeds <= MOST_SEEDS:
        raise ValueError(f"is '{value}', {max(0, seeds)} seeds; there must be 1 to {MOST_SEEDS}")
    return list(range(int(first), int(first) + seeds))


class NetworkTable(BaseModel):
    """A network written as a table: the family, its sizes, and its keys.

    Raises:
        TopoloomError: An unknown family, or a key that it does not have.

    >>> NetworkTable(family="hyperx", sizes=[4, 4], p=2).spec()
    'hyperx:4x4,p=2'
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    family: str = Field(description="The family, such as hyperx.")
    sizes: list[int] | str | None = Field(default=None, description="Its sizes, such as [10, 10] or '10x10'.")

    @model_validator(mode="before")
    @classmethod
    def _is_of_the_family(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        keys = ["family", "sizes"]
        if "family" not in table:
            wrong = next((name for name in table if name not in keys), "")
            raise TopoloomError("a network has no family" + (f": {unknown('key', wrong, keys)}" if wrong else ""))
        family = descriptions().get(table["family"])
        if family is None:
            raise TopoloomError(unknown("topology", str(table["family"]), list(descriptions())))
        keys += [key["name"] for key in family["keys"]]
        for name in table:
            if name not in keys:
                raise TopoloomError(unknown(f"key of {table['family']}", name, keys))
        return table

    def spec(self) -> str:
        """Return the network as a spec."""
        sizes = "x".join(map(str, self.sizes)) if isinstance(self.sizes, list) else self.sizes
        spec = self.family if sizes is None else f"{self.family}:{sizes}"
        return with_keys(spec, self.model_extra or {})


def _networks(value: object) -> object:
    """Return networks as a list, those in tables read, so that a mistake in one is reported as such."""
    return [NetworkTable(**one) if isinstance(one, dict) else one for one in _listed(value)]  # type: ignore[attr-defined]


def _texts(value: object) -> Iterator[str]:
    """Return every text in a value, keys of tables included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for item in value.items() for one in item for text in _texts(one))
    elif isinstance(value, (list, tuple)):
        yield from (text for one in value for text in _texts(one))


Names = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]


class Sweep(BaseModel):
    """Points of one kind: all combinations of the lists that are given, or some of them in step.

    >>> sweep = Sweep(networks=["mesh:2x2"], routings=["dor", "val"], loads=[0.1, 0.2])
    >>> len(list(sweep.combinations())), sweep.count(), len(list(sweep.points()))
    (2, 4, 4)
    """

    model_config = ConfigDict(extra="forbid")

    kind: Literal[tuple(MEASUREMENTS)] = Field(  # type: ignore[valid-type] # the names are known when this is read
        default="simulate",
        description="What is asked: "
        + "; ".join(f"{name}: {kind.summary}" for name, kind in MEASUREMENTS.items())
        + ".",
    )
    networks: Annotated[list[str | NetworkTable], BeforeValidator(_networks), Field(min_length=1)] = Field(
        description="Networks: specs such as 'hyperx:10x10,p=10', or tables {family=…, sizes=…, p=…}."
    )
    routings: Names = Field(default=["minimal"], description="Routings, or the roles minimal and adaptive.")
    adaptive: dict[str, str] = Field(
        default={},
        description="What the role adaptive stands for on networks of a family, where a study has its own choice: such "
        "as {hyperx = 'ugal-l'}.",
    )
    traffic: Names = Field(default=["uniform"], description="Traffic patterns.")
    apps: Names = Field(
        default=["allreduce"],
        description="Kind workload: applications such as 'allreduce:size=64KiB'. Kind jobs: files in TOML with a table "
        "[[job]] for each job. Kind replay: accounting files of Slurm.",
    )
    loads: Annotated[float | str | list[float], BeforeValidator(_loads)] = Field(
        default="0.1:0.9:0.1",
        description="Offered loads: a number, a list, or a text such as '0.1:0.9:0.1'. A curve places its own "
        "within their range.",
    )
    tolerance: Annotated[float, BeforeValidator(_number)] = Field(
        default=0.05, gt=0, le=1, description="Kind curve: the part of the latency that a bend may be missed by."
    )
    precision: Annotated[float, BeforeValidator(_number)] | None = Field(
        default=None,
        ge=0.001,
        le=0.5,
        description="Kind curve: add replicas by further seeds to each point below saturation until the 95 % interval "
        "of its mean latency is within this part of it.",
    )
    replicas: Annotated[int, BeforeValidator(_number)] = Field(
        default=MOST_REPLICAS,
        ge=LEAST_REPLICAS,
        le=1000,
        description="Kind curve: replicas of a point at most, where precision asks for them.",
    )
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=2**64)]], BeforeValidator(_seeds)] = Field(
        default=[1], min_length=1, description="Seeds: a number, a list, or a text such as '1:30'."
    )
    zip: Annotated[list[str], BeforeValidator(_listed)] = Field(
        default=[],
        description="Lists that go in step, first with first, instead of being combined: names of keys, or "
        "'options.NAME'. They must be equally long.",
    )
    options: dict[str, Any] = Field(
        default={},
        description="Options of the engine, or of what else the kind asks, named as on the command line; a list of "
        "values is one more list to combine. 'router' takes a text as --router does.",
    )

    @model_validator(mode="before")
    @classmethod
    def _can_name_files(cls, values: Any) -> Any:
        if isinstance(values, Mapping):
            for name, value in values.items():
                if any("\0" in text for text in _texts(value)):
                    raise OptionError(str(name), f"{name} has the character \\u0000, which no name of a file can have")
        return values

    @field_validator("options")
    @classmethod
    def _can_be(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        kind = MEASUREMENTS.get(str(info.data.get("kind")))
        if kind is None or "options" in kind.refused:  # reported as a mistake in the kind, or as a key too many
            return options
        engine = options.get("engine") if "engine" in kind.options.model_fields else None
        for name, values in options.items():
            try:
                _check_option(kind, name, values, engine)
            except TopoloomError as error:
                raise OptionError(name, str(error)) from None
        return options

    @model_validator(mode="after")
    def _means_something(self) -> "Sweep":
        for name in sorted(self.model_fields_set & MEASUREMENTS[self.kind].refused):
            raise OptionError(name, f"points of kind {self.kind} have no {name}; leave the key out")
        if "replicas" in self.model_fields_set and self.precision is None:
            raise OptionError("replicas", "replicas are added for the sake of precision; give precision, too")
        if (plays := MEASUREMENTS[self.kind].plays) and "apps" not in self.model_fields_set:
            raise OptionError("kind", f"points of kind {self.kind} need {plays.what}; give apps")
        if "loads" in self.model_fields_set and all(map(is_trace, self.traffic)):
            raise OptionError("loads", "a trace has a load of its own; leave loads out")
        return self

    @model_validator(mode="after")
    def _zips_lists(self) -> "Sweep":
        lists = self._lists()
        if len(set(self.zip)) < len(self.zip):
            raise ValueError("zip: it names a list twice")
        for name in self.zip:
            if name not in lists:
                raise ValueError(f"zip: {unknown('list', name, list(lists))}")
        lengths = {name: len(lists[name]) for name in self.zip}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ValueError(f"zip: the lists must be equally long, but have these lengths: {told}")
        return self

    def _lists(self) -> dict[str, list[Any]]:
        """Return the lists that are combined, by name."""
        lists: dict[str, list[Any]] = {
            "networks": self.networks,
            "routings": self.routings,
            "traffic": self.traffic,
            "apps": self.apps,
            "seeds": self.seeds,
        }
        options = self._options()
        return lists | {f"options.{name}": values for name, values in options.items() if isinstance(values, list)}

    def _options(self) -> dict[str, Any]:
        """Return the options under the names that Python gives them, those of `router` taken apart."""
        options = {name.replace("-", "_"): value for name, value in self.options.items()}
        router = options.pop("router", None)
        if router is not None:
            options |= _router_options(str(router))
        return options

    def combinations(self) -> Iterator[dict[str, Any]]:
        """Yield one value of every list, for each combination."""
        lists = self._lists()
        together = list(zip(*(lists[name] for name in self.zip), strict=True)) if self.zip else [()]
        free = [name for name in lists if name not in self.zip]
        for values in product(*(lists[name] for name in free)):
            for joined in together:
                yield dict(zip([*free, *self.zip], [*values, *joined], strict=True))

    def count(self) -> int:
        """Return the number of points, including repeated ones, without making them."""
        lists = self._lists()
        together = len(lists[self.zip[0]]) if self.zip else 1
        kind = MEASUREMENTS[self.kind]
        loads = len(parse_loads(self.loads)) if kind.loads and not all(map(is_trace, self.traffic)) else 1
        return prod(len(values) for name, values in lists.items() if name not in self.zip) * together * loads

    def points(self, origin: str = "") -> Iterator[StudyPoint]:
        """Yield the points, each as many times as the lists give.

        Args:
            origin: The position of the sweep in its file, for messages.

        Raises:
            TopoloomError: A network, an option or a load that cannot be read.
        """
        kind = MEASUREMENTS[self.kind]
        fixed = {name: value for name, value in self._options().items() if not isinstance(value, list)}
        loads = parse_loads(self.loads) if kind.loads or kind.takes_loads else []
        for chosen in self.combinations():
            spec = chosen["networks"]
            spec = spec.spec() if isinstance(spec, NetworkTable) else spec.strip()
            role = chosen["routings"] if kind.routes else ""
            settings: dict[str, Any] = {}
            own = {name.removeprefix("options."): v for name, v in chosen.items() if name.startswith("options.")}
            seed = {"seed": chosen["seeds"]} if kind.seeded else {}
            if options := _checked_options(self.kind, {**fixed, **own, **seed}):
                settings["options"] = options
            if kind.takes_loads:
                settings |= {"loads": loads, "tolerance": self.tolerance}
            if kind.takes_loads and self.precision is not None:
                settings |= {"precision": self.precision, "replicas": self.replicas}
            point = StudyPoint(
                kind=self.kind,
                spec=spec,
                routing=self._routing(role, spec, settings.get("options", {})) if role else "",
                traffic=chosen["traffic"] if kind.sends else chosen["apps"] if kind.plays else "",
                settings=settings,
                origin=origin,
                role=role,
            )
            if not kind.loads or is_trace(point.traffic):
                yield point
                continue
            for load in loads:
                yield _replace_load(point, load)

    def _routing(self, name: str, spec: str, options: Mapping[str, Any]) -> str:
        """Return the routing that a point runs."""
        fail = options.get("fail")
        family = _core.family_of(spec) if fail is None else FAULTY
        chosen = self.adaptive.get(family) if name == "adaptive" else None
        # What failures leave states whether the routing of the family still plays its role.
        return chosen or (routing_on_spec(spec, fail, name) if family == FAULTY else resolve_routing(name, family))


class Study(BaseModel):
    """A study: a name, and sweeps.

    Build it in Python, or read it with :meth:`read` or :meth:`parse`; :meth:`run` runs it.

    >>> study = Study(name="sides", sweep=[Sweep(kind="facts", networks=["mesh:2x2", "mesh:3x3"])])
    >>> [point.spec for point in study.points()]
    ['mesh:2x2', 'mesh:3x3']
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [row["spec"] for row in study.run(f"{folder}/sides.store").rows]
    ['mesh:2x2', 'mesh:3x3']
    """

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="The study's name, as tables and the report show it.")
    description: str = Field(default="", description="What it is for.")
    defaults: dict[str, Any] = Field(
        default={}, description="Keys of sweeps that hold where a sweep does not give its own; options are merged."
    )
    sweep: list[Sweep] = Field(min_length=1, description="What is asked; one table [[sweep]] each.")

    _places: dict[Place, int] = {}
    _file: str = ""
    _text: str = ""

    @property
    def text(self) -> str:
        """The text that the study was read from; empty if it was built in Python."""
        return self._text

    @classmethod
    def read(cls, path: str | Path, *, instead: Mapping[str, Any] | None = None) -> "Study":
        r"""Read a study file.

        Args:
            path: The file.
            instead: Keys of sweeps that replace those in the file; see :meth:`parse`.

        Raises:
            TopoloomError: A mistake in it, with the line.

        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "small.toml")
        ...     _ = path.write_text("name = 'small'\nsweep = [{networks = ['mesh:2x2'], loads = 0.1}]")
        ...     len(Study.read(path).points())
        1
        """
        return cls.parse(read_text(path), name=str(path), instead=instead)

    @classmethod
    def parse(cls, text: str, *, name: str = "study", instead: Mapping[str, Any] | None = None) -> "Study":
        r"""Read the text of a study file.

        Args:
            text: The file's text.
            name: The name in messages.
            instead: Keys of sweeps that replace those in the text, in every sweep whose kind has them;
                options one by one.

        Raises:
            TopoloomError: A mistake in it, with the line.

        >>> Study.parse("name = 'small'\nsweep = [{networks = ['mesh:2x2'], loads = 0.1}]").name
        'small'
        """
        values = parse_toml(name, text)
        found = places(text)
        try:
            study = cls.model_validate(_replaced(_with_defaults(values), instead or {}))
        except ValidationError as error:
            known = list(Sweep.model_fields), list(cls.model_fields)
            raise TopoloomError(first_mistake(error, values, found, name, known)) from None
        study._places, study._file, study._text = found, name, text
        return study

    def points(self) -> list[StudyPoint]:
        """Return the points, each once, in the order of the sweeps.

        Raises:
            TopoloomError: A network, an option or a load that cannot be read.
        """
        points: dict[str, StudyPoint] = {}
        for place, sweep in enumerate(self.sweep):
            line = line_of(self._places, ("sweep", place))
            origin = "" if line is None else f"{self._file}, line {line}"
            try:
                if (count := len(points) + sweep.count()) > MOST_POINTS:
                    raise TopoloomError(f"{count:,} points up to here; a study can have {MOST_POINTS:,}")
                for point in sweep.points(origin):
                    points.setdefault(point.key, point)
            except TopoloomError as error:
                raise TopoloomError(f"{origin}: {error}" if origin else str(error)) from None
        return list(points.values())

    def run(self, store: str | Path, *, executor: Executor | None = None, keep_going: bool = False) -> Results:
        """Run what the store lacks, and return the results of the study's points.

        Args:
            store: The folder of the results; made if it is not there.
            executor: Where points are run; the processors of this machine unless given.
            keep_going: Skip points that cannot be run instead of rejecting the study.

        Raises:
            TopoloomError: A point that cannot be run, before anything is; a point that failed; or a full disk.
            KeyboardInterrupt: Ctrl-C; what was done is stored.
        """
        points = self.points()
        with Ledger(Path(store)) as ledger:
            progress = run_points(points, ledger, executor or LocalExecutor(), name=self.name, keep_going=keep_going)
            if progress.failed and not keep_going:
                point, why = next(iter(progress.failed.items()))
                raise TopoloomError(f"{point.label()} failed: {why}")
            if not progress.finished:
                raise KeyboardInterrupt
            results = Results(ledger.rows(), ledger.notes).of(key for point in points for key in point.keys)
        for note in results.notes:
            warnings.warn(note, stacklevel=2)
        return results


def _check_option(kind: Measurement, name: str, values: Any, engine: Any) -> None:
    """Reject what the kind cannot take, so that the mistake has its line; what depends on the network comes later.

    Of applications an option may belong to one `engine` alone, which is given beside it.
    """
    if name == "seed":
        raise TopoloomError("the seed is no option of a study; give seeds")
    if name == "router" and kind.simulates:
        if not isinstance(values, str):
            raise TopoloomError(f"router is {as_toml(values)}; it must be a text such as 'vcs=4,buffer=16'")
        kind.make_options(_router_options(values))
        return
    if values == []:
        raise TopoloomError(f"{name} is an empty list; it must hold at least one value")
    for value in values if isinstance(values, list) else [values]:
        field = kind.options.model_fields.get(name.replace("-", "_"))
        for key, part in _parts(name, value):
            # An option that there is not is reported below.
            is_meant = field is None or (isinstance(part, bool) and field.annotation is bool)
            if isinstance(part, (bool, datetime.date, datetime.time)) and not is_meant:
                raise TopoloomError(f"{key} is {as_toml(part)}; it must be a number or a text")
        kind.make_options(({"engine": engine} if isinstance(engine, str) else {}) | {name.replace("-", "_"): value})


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield an option, or each entry of one that is a table, with what it is called."""
    if not isinstance(value, dict):
        yield name, value
        return
    for key, part in value.items():
        yield from _parts(f"{name} {key}", part)


def _router_options(text: str) -> dict[str, str]:
    """Return the options in the text of ``--router``."""
    return parse_pairs("router", text, ROUTER_KEYS)


def _checked_options(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked options as JSON holds them, without those at their defaults unless the kind stores them.

    A default is left out so that an option that a later version adds does not change the keys of today's points.
    """
    return _options_once(kind, tuple(sorted((name, _frozen(value)) for name, value in values.items())))


@lru_cache(maxsize=4096)
def _options_once(kind: str, values: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    given = {name: dict(value) if isinstance(value, tuple) else value for name, value in values}
    options = MEASUREMENTS[kind].make_options(given)
    shown: dict[str, Any] = options.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    shown |= options.model_dump(mode="json", by_alias=True, include=set(options.stored))
    if "seed" in given:
        shown["seed"] = given["seed"]
    return {name: value for name, value in shown.items() if value is not None}


def _frozen(value: Any) -> Any:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def _replace_load(point: StudyPoint, load: float) -> StudyPoint:
    """Return `point` at another load."""
    return dataclasses.replace(point, load=load)


def _meant(options: dict[str, Any], kind: Measurement | None) -> dict[str, Any]:
    """Return those options of the defaults that the kind knows; what no kind knows stays, as a mistake to report."""
    if kind is None:
        return options
    known = {"router"} | {name for other in MEASUREMENTS.values() for name in other.options.model_fields}
    own = set(kind.options.model_fields) | ({"router"} if kind.simulates else set())
    plain = {name: name.replace("-", "_") for name in options}
    return {name: value for name, value in options.items() if plain[name] in own or plain[name] not in known}


def _with_defaults(values: dict[str, Any]) -> dict[str, Any]:
    """Return the document with its defaults put into every sweep."""
    defaults, sweeps = values.get("defaults", {}), values.get("sweep")
    if not (isinstance(defaults, dict) and isinstance(sweeps, list)):
        return values
    merged = []
    for sweep in sweeps:
        if not isinstance(sweep, dict):
            return values
        kind = MEASUREMENTS.get(str(sweep.get("kind", defaults.get("kind", "simulate"))))
        both = {name: value for name, value in defaults.items() if kind is None or name not in kind.refused} | sweep
        if isinstance(both.get("options"), dict) and isinstance(defaults.get("options"), dict):
            both["options"] = _meant(defaults["options"], kind) | (both["options"] if "options" in sweep else {})
        merged.append(both)
    return values | {"sweep": merged}


def _replaced(values: dict[str, Any], instead: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with keys of its sweeps replaced, where their kinds have them."""
    sweeps = values.get("sweep")
    if not instead or not (isinstance(sweeps, list) and all(isinstance(sweep, dict) for sweep in sweeps)):
        return values
    changed = []
    for sweep in sweeps:
        kind = MEASUREMENTS.get(str(sweep.get("kind", "simulate")))
        own = {name: value for name, value in instead.items() if kind is None or name not in kind.refused}
        if isinstance(own.get("options"), dict):
            own["options"] = sweep.get("options", {}) | _meant(own["options"], kind)
        changed.append(sweep | own)
    return values | {"sweep": changed}
