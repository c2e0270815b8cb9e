"""What collectives mean: contributions of ranks, carried through messages as sets, end where they should.

A message is ``(source, target, combined, spans)``; a span is (first byte, bytes) of the collective's buffer. A rank's
state says of each part of the buffer whose contributions are in it; ``None`` is a part that it has nothing of.
"""

from collections.abc import Iterable, Sequence
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
    under_way: dict[int, dict[int, frozenset[int]]] = {}
    for what, number in events:
        source, target, combined, spans = messages[number]
        inside = [part for part in starts if any(start <= part < start + length for start, length in spans)]
        if what == "send":
            carried = {part: state[source][part] for part in inside}
            assert None not in carried.values(), f"rank {source} sends what it has not got"
            under_way[number] = carried
            continue
        for part, what_comes in under_way.pop(number).items():
            own = state[target][part]
            if not combined:
                state[target][part] = what_comes
                continue
            assert own is not None, f"rank {target} combines with what it has not got"
            assert not once or not own & what_comes, f"rank {target} counts {own & what_comes} twice"
            state[target][part] = own | what_comes
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


def in_time_order(times: Iterable[tuple[float, float]]) -> list[Event]:
    """Return the events of messages with these times; what arrives at a time comes before what begins then."""
    events = []
    for number, (begin, end) in enumerate(times):
        events += [(begin, 1, ("send", number)), (end, 0, ("receive", number))]
    return [event for _, _, event in sorted(events)]


def check(
    what: str, messages: Sequence[Message], events: Iterable[Event], group: Sequence[int], size: int, root: int
) -> None:
    """Assert that every rank ends with exactly what its collective says; `size` bytes are the whole buffer."""
    n = len(group)
    blocks = {"all-to-all": n * n, "reduce-scatter": n, "all-gather": n, "send-recv": n}.get(what, 1)
    starts = parts(messages, size, blocks)
    state = before(what, group, starts, size, root)
    carry(messages, events, state, once=what not in ("barrier",))
    for place, rank in enumerate(group):
        for part in starts:
            want = wanted(what, place, group, part, size, root)
            assert want is None or state[rank][part] == want, f"rank {rank} ends with {state[rank][part]} at {part}"


def bandwidths(what: str, n: int, size: int, seconds: float) -> tuple[float, float]:
    """Return algorithm and bus bandwidth in GB/s as nccl-tests define them; `size` is that of the application."""
    data = size * n if what == "alltoall" else size
    factor = {"allreduce": 2 * (n - 1) / n, "broadcast": 1.0, "reduce": 1.0, "send-recv": 1.0}.get(what, (n - 1) / n)
    return data / seconds / 1e9, data / seconds / 1e9 * factor
