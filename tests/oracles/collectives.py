"""What collectives mean: contributions of ranks, carried through messages as sets, end where they should.

A message is ``(source, target, combined, spans)``; a span is (first byte, bytes) of the collective's buffer. A rank's
state says of each part of the buffer whose contributions are in it; ``None`` is a part that it has nothing of.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import NamedTuple


class Message(NamedTuple):
    source: int
    target: int
    combined: bool
    spans: Sequence[tuple[int, int]]


State = dict[int, dict[int, frozenset[int] | None]]
"""By rank and by the first byte of each part of the buffer."""

Event = tuple[str, int]
"""``("send", message)`` or ``("receive", message)``, in the order in which they happen."""

Wait = tuple[int, int, bool]
"""An operation, one that waits for it, and whether for its start only; numbered task by task."""


def parts(messages: Iterable[Message], size: int, blocks: int) -> list[int]:
    """Return where the parts of the buffer begin between which no message and no block makes a difference."""
    cuts = {size * block // blocks for block in range(blocks)}
    for message in messages:
        for start, length in message.spans:
            assert length > 0
            assert 0 <= start < start + length <= size, "a span is out of the buffer"
            cuts |= {start, start + length}
    return sorted(cut for cut in cuts if cut < size)


def block_of(part: int, size: int, blocks: int) -> int:
    return next(block for block in range(blocks) if part < size * (block + 1) // blocks)


def before(what: str, group: Sequence[int], starts: Sequence[int], size: int, root: int) -> State:
    """Return what each rank has at the beginning."""
    n = len(group)

    def own(place: int, part: int) -> bool:
        if what in ("allreduce", "reduce-scatter", "reduce", "barrier"):
            return True
        if what == "all-gather":
            return block_of(part, size, n) == place
        if what == "all-to-all":
            return block_of(part, size, n * n) // n == place
        if what == "send-recv":
            return block_of(part, size, n) == place
        return group[place] == root  # a broadcast

    return {
        rank: {part: frozenset([rank]) if own(place, part) else None for part in starts}
        for place, rank in enumerate(group)
    }


def wanted(what: str, place: int, group: Sequence[int], part: int, size: int, root: int) -> frozenset[int] | None:
    """Return whose contributions a rank has in the end; None where anything will do."""
    n, rank, everybody = len(group), group[place], frozenset(group)
    if what in ("allreduce", "barrier"):
        return everybody
    if what == "reduce-scatter":
        return everybody if block_of(part, size, n) == place else None
    if what == "reduce":
        return everybody if rank == root else None
    if what == "all-gather":
        return frozenset([group[block_of(part, size, n)]])
    if what == "all-to-all":
        source, target = divmod(block_of(part, size, n * n), n)
        return frozenset([group[source]]) if target == place else None
    assert what == "broadcast"
    return frozenset([root])


def carry(messages: Sequence[Message], events: Iterable[Event], state: State, once: bool) -> None:
    """Carry contributions through messages. With `once` nothing may be counted twice."""
    starts = sorted(next(iter(state.values())))
    under_way: dict[int, dict[int, frozenset[int] | None]] = {}
    for what, number in events:
        source, target, _, spans = messages[number]
        inside = [part for part in starts if any(start <= part < start + length for start, length in spans)]
        if what == "send":
            carried = {part: state[source][part] for part in inside}
            assert None not in carried.values(), f"rank {source} sends what it has not got"
            under_way[number] = carried
            continue
        take(messages[number], under_way.pop(number), state[target], once)
    assert not under_way, "a message never arrives"


def in_program_order(programs: Sequence[Sequence[tuple[str, int]]]) -> list[Event]:
    """Return the events of tasks that do one thing after another; given a choice, the last tasks come first."""
    events: list[Event] = []
    sent: set[int] = set()
    at = [0] * len(programs)
    moved = True
    while moved:
        moved = False
        for task in reversed(range(len(programs))):
            while at[task] < len(programs[task]):
                what, number = programs[task][at[task]]
                if what == "receive" and number not in sent:
                    break
                if what == "send":
                    sent.add(int(number))
                if what != "compute":
                    events.append((what, int(number)))
                at[task] += 1
                moved = True
    assert all(place == len(program) for place, program in zip(at, programs, strict=True)), "it hangs"
    return events


def waits_of(programs: Sequence[Sequence[tuple[str, int]]], dependencies: Sequence[Wait] | None) -> list[Wait]:
    """Return what each operation waits for; tasks without dependencies do one thing after the other."""
    if dependencies is not None:
        return list(dependencies)
    ends = list(accumulate(len(program) for program in programs))
    return [(op, op + 1, False) for op in range(ends[-1]) if op + 1 not in ends]


def in_waiting_order(ops: Sequence[tuple[str, int]], waits: Sequence[Wait]) -> list[int]:
    """Return operations in an order in which each has what it waits for; of those that may happen the last one does."""
    sender = {number: op for op, (what, number) in enumerate(ops) if what == "send"}
    arrivals = [(sender[number], op, True) for op, (what, number) in enumerate(ops) if what == "receive"]
    followers: dict[int, list[int]] = {}
    missing = [0] * len(ops)
    for op, later, _ in [*waits, *arrivals]:
        followers.setdefault(op, []).append(later)
        missing[later] += 1
    ready = [-op for op in range(len(ops)) if not missing[op]]
    heapify(ready)
    order = []
    while ready:
        order.append(op := -heappop(ready))
        for later in followers.get(op, ()):
            missing[later] -= 1
            if not missing[later]:
                heappush(ready, -later)
    assert len(order) == len(ops), "it hangs"
    return order


def flow(
    messages: Sequence[Message],
    programs: Sequence[Sequence[tuple[str, int]]],
    waits: Sequence[Wait],
    state: State,
    once: bool,
) -> None:
    """Let a message carry what its rank had first and what has come by the receptions that its sending waits for.

    A rank puts what comes aside: nothing else than what waits for a reception sees it.
    """
    ops = [op for program in programs for op in program]
    order = in_waiting_order(ops, waits)
    come = receptions_before(ops, order, waits)
    carried: dict[int, dict[int, frozenset[int] | None]] = {}
    for op in order:
        what, number = ops[op]
        if what != "send":
            continue
        source, _, _, spans = messages[number]
        inside = {p: has for p, has in state[source].items() if any(a <= p < a + length for a, length in spans)}
        for one in received(programs[source]):
            if come[op] >> one & 1:
                take(messages[one], carried[one], inside, once)
        assert None not in inside.values(), f"rank {source} sends what it has not got"
        carried[number] = inside
    for rank, program in enumerate(programs):
        for number in received(program):
            take(messages[number], carried[number], state[rank], once)


def received(program: Sequence[tuple[str, int]]) -> list[int]:
    return [number for what, number in program if what == "receive"]


def receptions_before(ops: Sequence[tuple[str, int]], order: Sequence[int], waits: Sequence[Wait]) -> list[int]:
    """Return by operation whose reception it waits for, or is: the bits of a number."""
    before: dict[int, list[int]] = {}
    for op, later, start_only in waits:
        if not start_only:
            before.setdefault(later, []).append(op)
    come = [1 << number if what == "receive" else 0 for what, number in ops]
    for op in order:
        for earlier in before.get(op, ()):
            come[op] |= come[earlier]
    return come


def take(
    message: Message, carried: dict[int, frozenset[int] | None], into: dict[int, frozenset[int] | None], once: bool
) -> None:
    """Combine what a message carries with what is there, or put it in its place."""
    for part, comes in carried.items():
        if part not in into:
            continue
        own = into[part]
        if not message.combined:
            into[part] = comes
            continue
        assert own is not None, f"rank {message.target} combines with what it has not got"
        assert comes is not None
        assert not once or not own & comes, f"rank {message.target} counts {own & comes} twice"
        into[part] = own | comes


def keep_time(
    programs: Sequence[Sequence[tuple[str, int]]], waits: Sequence[Wait], times: Sequence[tuple[float, float]]
) -> None:
    """Assert that no message begins before all has arrived that its sending waits for."""
    ops = [op for program in programs for op in program]
    before: dict[int, list[tuple[int, bool]]] = {}
    for op, later, start_only in waits:
        before.setdefault(later, []).append((op, start_only))

    @cache
    def earliest(op: int) -> float:
        """When an operation may begin; computing and sending take no time here, which is a lower bound."""
        return max((earliest(one) if start_only else end(one) for one, start_only in before.get(op, ())), default=0.0)

    def end(op: int) -> float:
        what, number = ops[op]
        return max(earliest(op), times[number][1]) if what == "receive" else earliest(op)

    for op, (what, number) in enumerate(ops):
        if what == "send":
            late = times[number][0] - earliest(op)
            assert late >= -1e-12, f"message {number} begins {-late:.3g} s before it may"


def check(
    what: str, messages: Sequence[Message], events: Iterable[Event], group: Sequence[int], size: int, root: int
) -> None:
    """Assert that every rank ends with exactly what its collective says; `size` bytes are the whole buffer."""
    state, starts = beginning(what, messages, group, size, root)
    carry(messages, events, state, once=what not in ("barrier",))
    ends_well(what, state, starts, group, size, root)


def check_flow(
    what: str,
    messages: Sequence[Message],
    programs: Sequence[Sequence[tuple[str, int]]],
    waits: Sequence[Wait],
    size: int,
) -> None:
    """Assert the same of all ranks where messages carry no more than what their sending waits for."""
    group = range(len(programs))
    state, starts = beginning(what, messages, group, size, 0)
    flow(messages, programs, waits, state, once=what not in ("barrier",))
    ends_well(what, state, starts, group, size, 0)


def beginning(
    what: str, messages: Sequence[Message], group: Sequence[int], size: int, root: int
) -> tuple[State, list[int]]:
    n = len(group)
    blocks = {"all-to-all": n * n, "reduce-scatter": n, "all-gather": n, "send-recv": n}.get(what, 1)
    starts = parts(messages, size, blocks)
    return before(what, group, starts, size, root), starts


def ends_well(what: str, state: State, starts: Sequence[int], group: Sequence[int], size: int, root: int) -> None:
    for place, rank in enumerate(group):
        for part in starts:
            want = wanted(what, place, group, part, size, root)
            assert want is None or state[rank][part] == want, f"rank {rank} ends with {state[rank][part]} at {part}"


def bandwidths(what: str, n: int, size: int, seconds: float) -> tuple[float, float]:
    """Return algorithm and bus bandwidth in GB/s as nccl-tests define them; `size` is that of the application."""
    data = size * n if what == "alltoall" else size
    factor = {"allreduce": 2 * (n - 1) / n, "broadcast": 1.0, "reduce": 1.0, "send-recv": 1.0}.get(what, (n - 1) / n)
    return data / seconds / 1e9, data / seconds / 1e9 * factor
