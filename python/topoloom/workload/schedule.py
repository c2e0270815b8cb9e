"""The schedule of a training step as a drawing: what the first rank of each stage does, over time."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from topoloom.workload.timeline import Events

WIDTH, MARGIN, GAP = 1000, 74, 4
"""Units of the drawing from its start to its end, left of that, and between ranks."""

COMPUTE_HEIGHT, LANE_HEIGHT = 14, 4
"""Units of computing and of a parallelism, in a rank."""

LEAST = 0.4
"""Units: what is shorter, or nearer to the part before it, is drawn as one."""

COLOURS = ("forward", "backward", "tensor", "context", "expert", "pipeline", "data")
"""What is drawn, in the order of the colours of the page."""


@dataclass
class Bar:
    """A part of the drawing.

    Attributes:
        what: One of :data:`COLOURS`.
        start: Where it begins, in units.
        end: Where it ends.
    """

    what: str
    start: float
    end: float


def schedule(events: Events, makespan_s: float) -> str:
    """Return the drawing of a step as SVG, a row for each rank; nothing where there are no events.

    Args:
        events: What the ranks did, of :func:`topoloom.workload.timeline.events_of`.
        makespan_s: How long the step took, in seconds.

    >>> schedule([(0, "compute", "forward, microbatch 0, chunk 0", 0.0, 1.0)], 2.0)[:38]
    '<svg class="schedule" viewBox="-74 0 1'
    >>> schedule([], 2.0)
    ''
    """
    rows: dict[int, dict[str, list[Bar]]] = defaultdict(lambda: defaultdict(list))
    for task, lane, name, start, end in sorted(events, key=lambda own: own[3]):
        what = ("backward" if name.startswith("backward") else "forward") if lane == "compute" else lane
        _extend(rows[task][lane], Bar(what, WIDTH * start / makespan_s, WIDTH * end / makespan_s))
    if not rows:
        return ""
    lanes = sorted({lane for own in rows.values() for lane in own if lane != "compute"}, key=COLOURS.index)
    height = COMPUTE_HEIGHT + LANE_HEIGHT * len(lanes)
    parts = [text for place, task in enumerate(rows) for text in _row(rows[task], lanes, place * (height + GAP), task)]
    box = f"-{MARGIN} 0 {WIDTH + MARGIN} {len(rows) * (height + GAP)}"
    label = "what the first rank of each stage does, over time"
    return f'<svg class="schedule" viewBox="{box}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def drawn(events: Events) -> list[tuple[int, str]]:
    """Return what a drawing shows, with the numbers of the colours.

    Args:
        events: What the ranks did.

    >>> drawn([(0, "compute", "backward, microbatch 0, chunk 0", 0.0, 1.0), (0, "data", "all-gather", 0.0, 1.0)])
    [(1, 'backward'), (6, 'data')]
    """
    found = {lane for _, lane, *_ in events}
    found |= {
        "backward" if name.startswith("backward") else "forward" for _, lane, name, *_ in events if lane == "compute"
    }
    return [(place, what) for place, what in enumerate(COLOURS) if what in found]


def _extend(bars: list[Bar], bar: Bar) -> None:
    """Add a bar, or join it with the last where no eye sees the gap."""
    last = bars[-1] if bars else None
    if last is not None and last.what == bar.what and bar.start <= last.end + LEAST:
        last.end = max(last.end, bar.end)
    else:
        bars.append(bar)


def _row(lanes_of: dict[str, list[Bar]], lanes: list[str], top: float, task: int) -> Iterator[str]:
    """Yield the parts of a rank: its name, what it computes, and what is under way to it."""
    yield f'<text x="-6" y="{top + COMPUTE_HEIGHT - 3}">{escape(f"rank {task:,}")}</text>'
    for place, lane in enumerate(["compute", *lanes]):
        own_top = top + (0 if place == 0 else COMPUTE_HEIGHT + LANE_HEIGHT * (place - 1))
        height = COMPUTE_HEIGHT if place == 0 else LANE_HEIGHT - 1
        for bar in lanes_of.get(lane, []):
            width = max(bar.end - bar.start, LEAST)
            yield (
                f'<rect class="n{COLOURS.index(bar.what)}" x="{bar.start:.1f}" y="{own_top}" width="{width:.1f}" '
                f'height="{height}"/>'
            )
