"""The funnel of a design: from every configuration to the front, and from that to finalists that are measured in full.

A network is dropped by a proof or by an interval, never by an estimate alone, with two exceptions. There are more
configurations than can be built, so of each family those are built that closed forms leave in doubt. And large networks
have no place to be simulated where a measured one beats what their bounds estimate. Stage after stage
asks the ledger for points, so that an interrupted run resumes.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

from topoloom._core import TopoloomError
from topoloom.design.candidates import Candidate, candidates
from topoloom.design.criteria import (
    MAKESPAN,
    SATURATION,
    SURVIVABLE,
    Criterion,
    Value,
    criteria_of,
)
from topoloom.design.entrant import Entrant, Surroundings
from topoloom.design.hosting import Hosting
from topoloom.design.makespans import (
    EVERYWHERE,
    FINALISTS,
    bytes_of_exchange,
    bytes_of_task,
    flow_options,
    played,
    time_before,
    time_of_exchange,
    with_tasks,
)
from topoloom.design.neighbours import SYNTHESISED, Neighbour, neighbours, synthesised
from topoloom.design.question import UNIFORM, Question
from topoloom.design.rounds import ALIKE, Rounds
from topoloom.design.selection import choose, practical
from topoloom.design.sensitivity import OPTICS
from topoloom.design.windows import CARRIED, COARSE_PRECISION, Window, places_of, search_parts, windows_of
from topoloom.layout.prices import price_list, with_optics
from topoloom.network.facts import (
    CABLE_PER_TERMINAL,
    COST_PER_TERMINAL,
    LIFETIME_COST_PER_TERMINAL,
    POWER_PER_TERMINAL,
)
from topoloom.network.networks import Network
from topoloom.simulation.plans import RESOLUTION
from topoloom.simulation.roles import ROLES, routing_on_spec
from topoloom.studies import Executor, Ledger, Progress, StudyPoint, run_points
from topoloom.studies.ledger import Outcome as PointOutcome

CLOSED, BUILT, BOUNDS, SHORT = "closed forms", "built", "bounds", "short simulations"
STAGES = (CLOSED, BUILT, BOUNDS, SHORT)
"""The stages in which networks drop out."""

FAILURES = 3
"""Draws of failures under which what is kept is measured; the least counts."""

STABLE = 0.95
"""A network carries about this part of what it accepts at full load without long delays."""

PLAYED = 12
"""Networks that play applications where none is simulated flit by flit, at most."""

SEARCH_S = 3e-3
"""Seconds per terminal that the search for a saturation load takes, roughly."""

PAIR_S = 1e-5
"""Seconds a pair of routers that bounding the throughput of a network takes, roughly."""

BROKEN = ("links", "routers")
"""What fails when the throughput of finalists under failures is bounded …"""

BROKEN_PARTS = (0.01, 0.05)
"""… and which parts of it."""

TOO_SLOW = "misses min-throughput"

BEATEN = "another network is as good in every criterion and better in one"
BEATEN_AT_BEST = f"{BEATEN}, even if all of the bounds are met"
BEATEN_AS_ESTIMATED = f"{BEATEN}, if it carries what its bounds estimate; it was not among those simulated"


class InterruptionError(Exception):
    """The run was interrupted; what was done is in the ledger."""


@dataclass(frozen=True)
class Outcome:
    """What came out of the funnel.

    Attributes:
        criteria: What counted.
        searched: Configurations that the families have.
        front: The networks of the front.
        finalists: Those of the front that were measured in full.
        dropped: Why how many networks dropped out, by stage.
        cpu_s: Processor seconds that this run took, those of its workers included; what was in the store took none.
        passed_over: Networks of the front that perform too little to be finalists.
    """

    criteria: list[Criterion]
    searched: int
    front: list[Entrant]
    finalists: list[Entrant]
    dropped: dict[str, Counter[str]]
    cpu_s: float
    passed_over: int = 0


class Watcher(Protocol):
    """Receives the progress of a funnel; a protocol."""

    def stage(self, name: str, count: int) -> None:
        """Receive the beginning of a stage.

        Args:
            name: The name of the stage, unchecked.
            count: The number of networks that enter it.
        """

    def progress(self, progress: Progress) -> None:
        """Receive the progress of the points of a stage.

        Args:
            progress: The progress.
        """


class Unwatched:
    """Ignores all progress.

    >>> Unwatched().stage("finalists", 3)
    >>> Unwatched().progress(Progress(total=1))
    """

    def stage(self, name: str, count: int) -> None:
        """Do nothing.

        Arguments are those of :meth:`Watcher.stage`, unchecked.
        """

    def progress(self, progress: Progress) -> None:
        """Do nothing.

        Arguments are those of :meth:`Watcher.progress`.
        """


class _Lasting:
    """An executor that stays between batches of points, so that its workers start once; it adds up what they take.

    Attributes:
        cpu_s: Processor seconds of all points until now.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.submit = executor.submit
        self.cpu_s = 0.0

    @property
    def capacity(self) -> int:
        """The points that it can hold."""
        return self._executor.capacity

    def collect(self, timeout_s: float) -> list[PointOutcome]:
        """Return the outcomes since the last call, as the executor does."""
        outcomes = self._executor.collect(timeout_s)
        self.cpu_s += sum(outcome.cpu_s for outcome in outcomes)
        return outcomes

    def __enter__(self) -> "_Lasting":
        return self

    def __exit__(self, *exception: object) -> None:
        """Leave the workers as they are."""


class Funnel:
    """Answers a question.

    Args:
        question: The question.
        ledger: Where results are kept.
        executor: What runs points.
        watcher: Receives progress.

    Raises:
        TopoloomError: An unknown criterion, or networks too large for what has to be simulated.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from topoloom.design.question import make_question
    >>> from topoloom.studies import LocalExecutor
    >>> asked = make_question({"terminals": (16, 16), "radix": 8, "families": "hyperx", "min_bisection": 9})
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder, "a.store")) as ledger:
    ...     Funnel(asked, ledger, LocalExecutor(1)).run()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    topoloom.TopoloomError: no network meets min-bisection 9 of full bisection, which excludes ...
    """

    def __init__(
        self,
        question: Question,
        ledger: Ledger,
        executor: Executor,
        watcher: Watcher | None = None,
    ) -> None:
        self._question = question
        self._ledger = ledger
        self._executor = executor
        self._points = _Lasting(executor)
        self._watcher = watcher or Unwatched()
        self._dropped: dict[str, Counter[str]] = {stage: Counter() for stage in STAGES}
        self._criteria = criteria_of(question)
        self._windows = windows_of(question)
        self._makespans = [each for each in self._criteria if each.kind == MAKESPAN]

    def run(self) -> Outcome:
        """Return the front, the finalists and the reasons why other networks dropped out.

        Raises:
            InterruptionError: Ctrl-C; the same question resumes there.
            TopoloomError: No network meets the requirements.
        """
        with self._executor:
            return self._run()

    def _run(self) -> Outcome:
        own_s = time.process_time()
        found = list(self._searched())
        entrants = self._built(found)
        entrants = self._bounded(entrants)
        front = self._fast_enough(self._front(entrants), SHORT)
        if not front:
            raise TopoloomError(f"no network is left: {self._dropped[SHORT].most_common(1)[0][0]}")
        usable = front if self._question.min_throughput is not None else practical(front, self._criteria)
        finalists = choose(usable, self._criteria, self._question.finalists)
        self._watcher.stage("finalists", len(finalists))
        self._measure_in_full(finalists)
        cpu_s = time.process_time() - own_s + self._points.cpu_s
        return Outcome(self._criteria, len(found), front, finalists, self._dropped, cpu_s, len(front) - len(usable))

    def _fast_enough(self, entrants: list[Entrant], stage: str) -> list[Entrant]:
        """Drop networks that carry less uniform traffic than the question requires: measured, or by a proof."""
        least, name = self._question.min_throughput, f"{SATURATION}.{UNIFORM}"
        if least is None:
            return entrants

        def carried(own: Entrant) -> float:
            value = own.values[name]
            return value.high if stage == BOUNDS else value.value

        kept = [own for own in entrants if carried(own) >= least]
        if entrants and not kept:
            best = max(entrants, key=carried)
            raise TopoloomError(
                f"no network meets min-throughput {least:g} of uniform traffic; the nearest is {best.spec} with "
                f"{carried(best):.3g}{' by the lengths of its paths' if stage == BOUNDS else ''}"
            )
        self._dropped[stage][TOO_SLOW] += len(entrants) - len(kept)
        return kept

    def _searched(self) -> Iterable[Candidate]:
        question = self._question
        found = candidates(
            terminals=question.terminals,
            radix=question.radix,
            families=question.families or None,
            hosts=question.hosts,
        )
        if not found:
            raise TopoloomError(
                f"no family has {question.sentence()}; more ports, or a wider range of terminals, give some"
            )
        return found

    def _built(self, found: list[Candidate]) -> list[Entrant]:
        """Build those that closed forms leave in doubt, and drop what misses a requirement."""
        from topoloom.design.screen import in_doubt  # noqa: PLC0415 - NumPy loads slowly

        self._watcher.stage(CLOSED, len(found))
        kept = in_doubt(found, self._question, self._dropped[CLOSED])
        if not kept:
            told = [Entrant(own, _by_closed_forms(own)) for own in found]
            misses = {own.spec: _missed(self._question, own.facts) for own in told}
            raise TopoloomError(_without_answer(self._question, told, misses))
        self._watcher.stage(BUILT, len(kept))
        options = {"layout": self._question.layout, "prices": self._question.prices}
        asked = {own.spec: StudyPoint("facts", own.spec, settings={"options": options}) for own in kept}
        known = self._results(asked.values())
        entrants = []
        for own in kept:
            facts = known.get(asked[own.spec].key)
            if facts is None:
                self._dropped[BUILT]["cannot be built"] += 1
            else:
                entrants.append(Entrant(own, facts, values=_exact(facts)))
        return self._meeting(entrants)

    def _meeting(self, entrants: list[Entrant]) -> list[Entrant]:
        """Drop networks that miss a requirement; if none is left, report the requirement that excludes all."""
        misses = {entrant.spec: _missed(self._question, entrant.facts) for entrant in entrants}
        kept = [entrant for entrant in entrants if not misses[entrant.spec]]
        if not kept:
            raise TopoloomError(_without_answer(self._question, entrants, misses))
        for own in misses.values():
            if own:
                self._dropped[BUILT][f"misses {own[0]}"] += 1
        return kept

    def _bounded(self, entrants: list[Entrant]) -> list[Entrant]:
        """Bound the throughput of each network under each traffic from above."""
        self._watcher.stage(BOUNDS, len(entrants))
        traffics = [each.of for each in self._criteria if each.kind == SATURATION]
        if self._makespans:
            traffics = list(dict.fromkeys([*traffics, UNIFORM]))
        if self._question.survive is not None:
            traffics = list(dict.fromkeys([*traffics, self._broken_under]))
        asked = {(own.spec, name): StudyPoint("split", own.spec, traffic=name) for own in entrants for name in traffics}
        # Walks between all pairs of routers: the time grows with their number, and the longest go first.
        noted = {asked[own.spec, name].key: PAIR_S * own.candidate.routers**2 for own in entrants for name in traffics}
        known = self._results(asked.values(), noted)
        kept = []
        for entrant in entrants:
            bounds = [known.get(asked[entrant.spec, name].key) for name in traffics]
            if any(bound is None for bound in bounds):
                self._dropped[BOUNDS]["traffic or routing that the network does not have"] += 1
                continue
            for name, bound in zip(traffics, bounds, strict=True):
                assert bound is not None
                most = entrant.most[name] = min(1.0, bound["distance_bound"])
                entrant.split[name] = min(1.0, bound["split_bound"])
                entrant.values[f"{SATURATION}.{name}"] = Value(min(most, bound["split_bound"]), 0.0, most, "bound")
            kept.append(entrant)
        self._estimate(kept)
        kept = self._fast_enough(kept, BOUNDS)
        return kept if self._question.survive is None else self._holding(kept)

    @property
    def _broken_under(self) -> str:
        """The traffic that must survive failures."""
        return (self._question.traffic or (UNIFORM,))[0]

    @property
    def _draws(self) -> list[str]:
        """The failures to survive."""
        return [f"{self._question.survive},seed={self._question.seed + draw}" for draw in range(FAILURES)]

    def _holding(self, entrants: list[Entrant]) -> list[Entrant]:
        """Drop what failures leave in pieces, and estimate by bounds what is left of the throughput of the others."""
        draws, name = self._draws, self._broken_under
        kept = [own for own in entrants if all(_in_one_piece(own.spec, draw) for draw in draws)]
        why = f"is disconnected, or has no routing left, when {self._question.survive} fail"
        self._dropped[BOUNDS][why] += len(entrants) - len(kept)
        if entrants and not kept:
            raise TopoloomError(f"no network is left: {why}")
        asked = {
            (own.spec, draw): StudyPoint("split", f"faulty:{draw}({own.spec})", traffic=name)
            for own in kept
            for draw in draws
        }
        known = self._results(asked.values())
        for own in kept:
            left = [known.get(asked[own.spec, draw].key, {}).get("split_bound", 0.0) for draw in draws]
            part = min(1.0, min(left) / own.split[name]) if own.split[name] else 0.0
            own.values[SURVIVABLE] = Value(part, 0.0, 1.0, "estimate")
        return kept

    def _front(self, entrants: list[Entrant]) -> list[Entrant]:
        """Simulate in rounds until it is known which networks nothing beats; count why the others are not on it."""
        self._watcher.stage(SHORT, len(entrants))
        entrants = self._routed(entrants)
        if not flow_options(self._question.least_terminals):
            # Small networks play in no time: which of them are simulated then rests on more than estimates.
            plays = self._to_play(entrants)
            entrants = self._timed(entrants, plays, self._results(plays.values()))
        rounds = Rounds(entrants, self._criteria, self._places())
        while wave := rounds.wave():
            alive = {own.spec for own in self._simulated(wave, wave[0].windows)}
            gone = {own.spec for own in wave} - alive
            rounds.entrants = [own for own in rounds.entrants if own.spec not in gone]
        front = rounds.front()
        self._count_beaten(rounds, front)
        return front

    def _places(self) -> list[int]:
        """Return the number of networks that may enter each window; where none is simulated, those that play alone."""
        return places_of(self._question) or ([PLAYED] if self._played_everywhere else [])

    def _count_beaten(self, rounds: Rounds, front: Sequence[Entrant]) -> None:
        """Count why networks are not on the front."""
        chosen, live = ({own.spec for own in group} for group in (front, rounds.unbeaten()))
        for own in rounds.entrants:
            if own.spec in chosen:
                continue
            if own.windows:
                self._dropped[SHORT][BEATEN] += 1
            else:
                self._dropped[BOUNDS][BEATEN_AS_ESTIMATED if own.spec in live else BEATEN_AT_BEST] += 1

    def _routed(self, entrants: list[Entrant]) -> list[Entrant]:
        question = self._question
        for entrant in entrants:
            entrant.routing = Network(entrant.spec).routing(question.routing)
            if question.hosts:
                ports = entrant.candidate.terminals
                entrant.cluster = Hosting.read(question.hosts).cluster(entrant.spec, ports, question.rate)
        return entrants

    def _exchange(self, each: Criterion) -> float | None:
        """Return the bytes that a task sends in an all-to-all of too many messages to play it on every network."""
        return bytes_of_exchange(each.of, self._question.least_terminals, EVERYWHERE)

    @cached_property
    def _played_everywhere(self) -> list[Criterion]:
        """The makespans that networks play."""
        return [each for each in self._makespans if self._exchange(each) is None]

    @cached_property
    def _sent(self) -> dict[str, float]:
        """What a task of each application sends, in bytes, by the criterion."""
        tasks, hosts = self._question.least_terminals, self._question.hosts
        # By interface: accelerators of a host share them.
        share = Hosting.read(hosts).accelerators / Hosting.read(hosts).interfaces if hosts else 1.0
        return {each.name: share * (self._exchange(each) or bytes_of_task(each.of, tasks)) for each in self._makespans}

    def _estimate(self, entrants: Sequence[Entrant]) -> None:
        """Estimate makespans that were not played by what is known of the throughput under uniform traffic."""
        for each in self._makespans:
            time_of = time_before if each in self._played_everywhere else time_of_exchange
            for own in entrants:
                if each.name not in own.values or own.values[each.name].known == "estimate":
                    uniform = own.values[f"{SATURATION}.{UNIFORM}"]
                    told = time_of(self._sent[each.name], self._question.rate, uniform)
                    # What stays within hosts takes none of the network's time.
                    own.values[each.name] = replace(told, low=0.0) if own.cluster else told

    def _to_play(self, entrants: Sequence[Entrant]) -> dict[tuple[str, str], StudyPoint]:
        """Return the applications that networks have yet to play, on as many tasks everywhere, at flow level."""
        return {
            (own.spec, each.name): self._application(own, each.of)
            for own in entrants
            for each in self._played_everywhere
            if each.name not in own.values or own.values[each.name].known != "measured"
        }

    def _application(self, entrant: Entrant, app: str) -> StudyPoint:
        tasks = self._question.least_terminals
        options = {"rate": self._question.rate, "seed": self._question.seed, **flow_options(tasks)}
        own = with_tasks(app, tasks)
        if entrant.cluster:
            # The role adaptive of a cluster is adaptive within the fabric, and so on.
            role = self._question.routing if self._question.routing in ROLES else f"hosts:fabric={entrant.routing}"
            routing = Network(entrant.cluster).routing(role)
            return StudyPoint("workload", entrant.cluster, routing, own, settings={"options": options})
        return StudyPoint("workload", entrant.spec, entrant.routing, own, settings={"options": options})

    def _has(self, entrant: Entrant, each: Criterion) -> bool:
        if each.name in entrant.values:
            return True
        self._dropped[SHORT][f"{each.name} cannot be measured"] += 1
        return False

    def _timed(
        self,
        entrants: list[Entrant],
        plays: Mapping[tuple[str, str], StudyPoint],
        known: Mapping[str, Mapping[str, Any]],
    ) -> list[Entrant]:
        """Take in how long applications took, and drop networks that have no result."""
        places = {own.spec: own for own in entrants}
        for spec, name in plays:
            places[spec].values.pop(name, None)
            if (found := known.get(plays[spec, name].key, {}).get("makespan_s")) is not None:
                places[spec].values[name] = played(found, self._question.least_terminals)
        kept = entrants
        for each in self._played_everywhere:
            kept = [own for own in kept if self._has(own, each)]
        return kept

    def _simulated(self, entrants: list[Entrant], rung: int) -> list[Entrant]:
        """Play applications and simulate at full load; a value that was measured before becomes more precise."""
        window = self._windows[rung] if self._windows else None
        wanted = [each for each in self._criteria if each.kind == SATURATION] if window else []
        asked = plays = self._to_play(entrants)
        loads: list[tuple[Entrant, Criterion]] = []
        if window is not None:
            loads = [(own, each) for own in entrants for each in wanted if window.shows_more(own.values.get(each.name))]
            asked = plays | {(own.spec, each.name): self._full_load(own, each.of, window) for own, each in loads}
        known = self._results(asked.values())
        kept = self._timed(entrants, plays, known)
        for entrant in entrants:
            entrant.windows = rung + 1
        for own, each in loads:
            assert window is not None
            own.values.pop(each.name, None)
            found = known.get(asked[own.spec, each.name].key)
            if found is not None and not found["deadlocked"]:
                own.values[each.name] = window.value(found["accepted"], own.most[each.of])
        for each in wanted:
            kept = [own for own in kept if self._has(own, each)]
        self._estimate(kept)
        return kept if self._question.survive is None else self._broken(kept, self._question.survive, rung)

    def _full_load(self, entrant: Entrant, traffic: str, window: Window, fail: str | None = None) -> StudyPoint:
        length = {"warmup": window.warmup, "measure": window.measure, "drain": 0}
        options: dict[str, Any] = length | {"seed": self._question.seed}
        routing = entrant.routing
        if fail is not None:
            options["fail"] = fail
            # The role may select another routing on the surviving network, as some routings need all links.
            routing = routing_on_spec(entrant.spec, fail, self._question.routing)
        return StudyPoint("simulate", entrant.spec, routing, traffic, 1.0, {"options": options})

    def _measure_in_full(self, finalists: list[Entrant]) -> None:
        """Measure finalists with the longest windows, search their saturation loads, prove, lay out, break them."""
        last = max(0, len(self._windows) - 1)
        # A short window shows which of them carry everything, and need no long one.
        self._simulated([own for own in finalists if not own.windows and last], 0)
        self._simulated(finalists, last)
        question = self._question
        asked: dict[tuple[str, str, str], StudyPoint] = {}
        lists = {("layout", ""): question.prices} | {("optics", f"{x:g}"): text for x, text in self._optics().items()}
        for own in finalists:
            for (kind, of), prices in lists.items():
                floor = {"layout": question.layout, "prices": prices}
                asked[own.spec, kind, of] = StudyPoint("layout", own.spec, settings={"options": floor})
            asked |= {(own.spec, "workload", app): self._application(own, app) for app in self._long_exchanges()}
            asked[own.spec, "verify", ""] = StudyPoint("verify", own.spec, own.routing, settings={"options": {}})
            for name in question.traffic if self._windows else ():
                asked[own.spec, "saturation", name] = self._search(own, name)
            for kind in BROKEN:
                asked[own.spec, "faults", kind] = self._faults(own, kind)
        terminals = {own.spec: own.candidate.terminals for own in finalists}
        searches = [(spec, point) for (spec, kind, _), point in asked.items() if kind == "saturation"]
        noted = {point.key: SEARCH_S * terminals[spec] for spec, point in searches}
        known = self._results(asked.values(), noted)
        places = {own.spec: own for own in finalists}
        for (spec, kind, of), point in asked.items():
            if (found := known.get(point.key)) is not None:
                places[spec].details[kind, of] = found
        self._look_around(finalists)

    def _long_exchanges(self) -> list[str]:
        """Return the all-to-alls that are estimated everywhere and played on finalists."""
        tasks = self._question.least_terminals
        estimated = [each.of for each in self._makespans if self._exchange(each) is not None]
        return [app for app in estimated if bytes_of_exchange(app, tasks, FINALISTS) is None]

    def _search(self, own: Entrant, traffic: str) -> StudyPoint:
        """Return the search for the saturation load: near what is accepted at full load, if that was measured."""
        options: dict[str, Any] = {"seed": self._question.seed}
        parts = search_parts(self._question)
        # The usual grid and precision are not written out: results that are stored have none.
        coarse = {} if parts == RESOLUTION else {"parts": parts}
        settings: dict[str, Any] = {"options": options | ({"precision": COARSE_PRECISION} if coarse else {})}
        if (value := own.values.get(f"{SATURATION}.{traffic}")) is not None:
            settings |= {"near": value.value * (STABLE if value.value < CARRIED else 1.0)} | coarse
        return StudyPoint("saturation", own.spec, own.routing, traffic, settings=settings)

    def _faults(self, own: Entrant, kind: str) -> StudyPoint:
        """Return the failures of a kind that break a finalist, and the traffic that must continue."""
        traffic = list(self._question.traffic or (UNIFORM,))
        fractions, trials = list(BROKEN_PARTS), FAILURES
        if not self._windows:
            # Bounds of a network that is too large to be simulated take half a minute.
            fractions, trials, traffic = fractions[-1:], 1, traffic[:1]
        options = {
            "kind": kind, "fractions": fractions, "trials": trials, "seed": self._question.seed,
            "throughput": traffic,
        }  # fmt: skip
        whole = {name: own.split[name] for name in traffic if name in own.split}
        settings = {"options": options} | ({"intact": whole} if len(whole) == len(traffic) else {})
        return StudyPoint("faults", own.spec, settings=settings)

    def _look_around(self, finalists: list[Entrant]) -> None:
        """Find the neighbours of finalists, price them and bound their throughput; not of those too large for it."""
        question = self._question
        floor = {"layout": question.layout, "prices": question.prices}
        near = {own.spec: self._near(own.spec) for own in finalists}
        specs = dict.fromkeys([*near, *(each.spec for found in near.values() for each in found)])
        priced = {spec: StudyPoint("layout", spec, settings={"options": floor}) for spec in specs}
        bounded = {(spec, name): StudyPoint("split", spec, traffic=name) for spec in specs for name in question.traffic}
        known = self._results([*priced.values(), *bounded.values()])

        def bounds(spec: str) -> dict[str, float]:
            found = {name: known.get(bounded[spec, name].key) for name in question.traffic}
            return {name: min(1.0, own["split_bound"]) for name, own in found.items() if own is not None}

        for own in finalists:
            own.details["split", ""] = bounds(own.spec)
            own.neighbours = [
                Surroundings(each, known.get(priced[each.spec].key, {}).get("cost_per_terminal_usd"), bounds(each.spec))
                for each in near[own.spec]
                # What a search finds is no neighbour unless it carries more.
                if each.change != SYNTHESISED or _carries_more(bounds(each.spec), bounds(own.spec))
            ]

    def _near(self, spec: str) -> list[Neighbour]:
        """Return the neighbours of a network, and a Cayley graph of as many routers and links, if there is one."""
        if not self._windows:
            return []
        found = synthesised(spec, self._question.seed)
        return neighbours(spec, self._question.radix) + ([] if found is None else [found])

    def _optics(self) -> dict[float, str]:
        """Return the price list with other prices of optics, by factor; none if it prices no cables."""
        prices = self._question.prices
        return {factor: with_optics(prices, factor) for factor in OPTICS} if price_list(prices).cables else {}

    def _broken(self, entrants: Sequence[Entrant], survive: str, rung: int) -> list[Entrant]:
        """Measure the least share of throughput that several draws of failures leave; drop disconnected networks."""
        window = self._windows[rung]
        traffic = self._broken_under
        draws = [None, *self._draws]
        asked = {(own.spec, draw): self._full_load(own, traffic, window, draw) for own in entrants for draw in draws}
        known = self._results(asked.values())
        kept = []
        for own in entrants:
            whole, *left = (known.get(asked[own.spec, draw].key) for draw in draws)
            if whole is None or any(one is None for one in left):
                self._dropped[SHORT][f"is disconnected, or has no routing left, when {survive} fail"] += 1
                continue
            least = min(0.0 if one is None or one["deadlocked"] else one["accepted"] for one in left)
            part = least / whole["accepted"] if whole["accepted"] else 0.0
            own.values[SURVIVABLE] = Value(part, max(0.0, part - window.off), part + window.off, "measured")
            kept.append(own)
        return kept

    def _results(
        self, points: Iterable[StudyPoint], noted: Mapping[str, float] = MappingProxyType({})
    ) -> dict[str, dict[str, Any]]:
        """Run what the ledger lacks, and return the results by the keys of points; those that failed are missing.

        Seconds of points that are known about are `noted` by their keys.
        """
        points = list({point.key: point for point in points}.values())
        progress = run_points(
            points,
            self._ledger,
            self._points,
            name="design",
            keep_going=True,
            check=False,
            on_progress=self._watcher.progress,
            noted=noted,
        )
        if not progress.finished:
            raise InterruptionError
        wanted = {key: point.key for point in points for key in point.keys}
        found: dict[str, dict[str, Any]] = {}
        for row in self._ledger.rows(wanted.keys()):
            if (key := wanted.get(row["key"])) is not None and key not in found:
                found[key] = json.loads(row["result"])
        reasons = progress.skipped | progress.failed
        for kind in dict.fromkeys(point.kind for point in reasons):
            alike = [point for point in points if point.kind == kind]
            if not any(point.key in found for point in alike):
                first = next(reasons[point] for point in alike if point in reasons)
                raise TopoloomError(f"no network can be measured; of the first: {first}")
        return found


def _carries_more(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether a network has a higher bound than another under a traffic, and a lower one under none."""
    shared = [(value, other[name]) for name, value in one.items() if name in other]
    return any(mine > (1 + ALIKE) * theirs for mine, theirs in shared) and all(
        mine >= (1 - ALIKE) * theirs for mine, theirs in shared
    )


def _exact(facts: Mapping[str, Any]) -> dict[str, Value]:
    """Return the criteria that facts decide."""
    told = {
        "cost": COST_PER_TERMINAL.value(facts),
        "lifetime-cost": LIFETIME_COST_PER_TERMINAL.value(facts),
        "power": POWER_PER_TERMINAL.value(facts),
        "cable": CABLE_PER_TERMINAL.value(facts),
        "diameter": facts["diameter"],
    }
    return {name: Value.exact(float(value)) for name, value in told.items() if value is not None}


def _in_one_piece(spec: str, fail: str) -> bool:
    """Return whether failures leave a path between all routers that are left, and any of these."""
    try:
        return bool(Network(spec).core.with_failures(fail).facts((1, 1))["connected"])
    except TopoloomError:
        return False


def _by_closed_forms(own: Candidate) -> dict[str, Any]:
    """Return what closed forms know of what can be required; cost and power are left open."""
    return {"diameter": own.diameter, "beta": own.beta, "cost_usd": 0.0, "power_w": 0.0}


def _missed(question: Question, facts: Mapping[str, Any]) -> list[str]:
    """Return the requirements that a network misses, by name."""
    limits = _requirements(question)
    return [name for name, (key, most, sign) in limits.items() if facts[key] is None or sign * facts[key] > sign * most]


def _requirements(question: Question) -> dict[str, tuple[str, float, int]]:
    """Return what must hold: by name the key of the fact, its limit, and 1 if it is the most, -1 if the least."""
    asked = {
        "budget": ("cost_usd", question.budget, 1),
        "power": ("power_w", question.power, 1),
        "max-diameter": ("diameter", question.max_diameter, 1),
        "min-bisection": ("beta", question.min_bisection, -1),
    }
    found = {name: (key, limit, sign) for name, (key, limit, sign) in asked.items() if limit is not None}
    return {**found, "all routers in one piece": ("diameter", float("inf"), 1)}


def _without_answer(question: Question, entrants: Sequence[Entrant], misses: Mapping[str, list[str]]) -> str:
    """Return why no network meets the requirements: what excludes most, most alone if any, and the nearest network."""
    limits = _requirements(question)
    alone = [own for own in entrants if len(misses[own.spec]) == 1]
    name = Counter(name for own in (alone or entrants) for name in misses[own.spec]).most_common(1)[0][0]
    key, limit, sign = limits[name]
    able = [own for own in (alone or entrants) if name in misses[own.spec] and own.facts[key] is not None]
    if not able:
        return f"no network that was built has {name}"
    nearest = min(able, key=lambda own: sign * own.facts[key])
    others = [other for other in misses[nearest.spec] if other != name]
    what = {"budget": "$", "power": "W", "max-diameter": "hops", "min-bisection": "of full bisection"}[name]
    told, excluded = f"{name} {limit:,g} {what}", sum(name in misses[own.spec] for own in entrants)
    parts = [
        f"no network meets {told}, which excludes"
        if excluded == len(entrants)
        else f"no network meets all that is asked; {told} excludes",
        f" {excluded:,} of {len(entrants):,} networks; the nearest",
        f", which misses {' and '.join(others)} too," if others else " that meets all else that is asked",
        f" is {nearest.spec} with {nearest.facts[key]:,.6g} {what}",
    ]
    return "".join(parts)
