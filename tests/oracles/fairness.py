"""Max-min fair rates and what follows from them, written from the definitions: sets, fractions, no increments."""

from collections.abc import Callable, Sequence
from fractions import Fraction

Path = Sequence[int]


def max_min(paths: Sequence[Path], capacity: dict[int, Fraction]) -> list[Fraction]:
    """Raise all rates together; whoever crosses a channel that fills up stays; go on with the others."""
    rate: dict[int, Fraction] = {}
    while len(rate) < len(paths):
        shares = {}
        for channel in {channel for flow, path in enumerate(paths) if flow not in rate for channel in path}:
            left = capacity[channel] - sum(rate[f] * list(paths[f]).count(channel) for f in rate)
            waiting = sum(list(path).count(channel) for f, path in enumerate(paths) if f not in rate)
            shares[channel] = left / waiting
        level = min(shares.values())
        full = {channel for channel, share in shares.items() if share == level}
        rate |= {f: level for f, path in enumerate(paths) if f not in rate and full & set(path)}
    return [rate[f] for f in range(len(paths))]


def share(paths: Sequence[Path], capacity: dict[int, Fraction]) -> list[Fraction]:
    """The least of the capacities of a flow's channels over the flows that cross them."""
    crossing = [channel for path in paths for channel in path]
    return [min(capacity[channel] / crossing.count(channel) for channel in path) for path in paths]


def completions(
    paths: Sequence[Path],
    sizes: Sequence[Fraction],
    capacity: dict[int, Fraction],
    rates: Callable[[Sequence[Path], dict[int, Fraction]], list[Fraction]] = max_min,
) -> list[Fraction]:
    """When each of several flows, begun together, is complete: rates anew after every completion."""
    left, now = dict(enumerate(sizes)), Fraction(0)
    ends = {}
    while left:
        flows = sorted(left)
        rate = dict(zip(flows, rates([paths[f] for f in flows], capacity), strict=True))
        step = min(left[f] / rate[f] for f in flows)
        now += step
        left = {f: left[f] - rate[f] * step for f in flows}
        ends |= {f: now for f in flows if left[f] == 0}
        left = {f: rest for f, rest in left.items() if rest > 0}
    return [ends[f] for f in range(len(paths))]


def shared_completions(
    messages: Sequence[Sequence[Path]],
    sizes: Sequence[Fraction],
    capacity: dict[int, Fraction],
    rates: Callable[[Sequence[Path], dict[int, Fraction]], list[Fraction]] = max_min,
) -> list[Fraction]:
    """When each of several messages is complete whose parts, one a path, share its bytes as their rates allow."""
    left, now = dict(enumerate(sizes)), Fraction(0)
    ends = {}
    while left:
        parts = [(message, path) for message in sorted(left) for path in messages[message]]
        rate = dict.fromkeys(left, Fraction(0))
        for (message, _), own in zip(parts, rates([path for _, path in parts], capacity), strict=True):
            rate[message] += own
        step = min(left[message] / rate[message] for message in left)
        now += step
        left = {message: rest - rate[message] * step for message, rest in left.items()}
        ends |= {message: now for message, rest in left.items() if rest == 0}
        left = {message: rest for message, rest in left.items() if rest > 0}
    return [ends[message] for message in range(len(messages))]
