"""A pipeline of training written down a second time: nobody plans ahead, and each stage takes what there is."""

from math import inf


class Stage:
    """A stage: what has arrived, and what it has done.

    Attributes:
        free: When it is done with what it does.
        arrived: When each microbatch arrived, forward and backward.
        done: How many it has done of each.
        order: What it did, as ``f0`` and ``b0``.
    """

    def __init__(self, behind: int, microbatches: int) -> None:
        self.most = behind + 1
        self.free = 0.0
        self.arrived = {kind: [inf] * microbatches for kind in "bf"}
        self.done = {"b": 0, "f": 0}
        self.order: list[str] = []

    def choices(self, microbatches: int) -> list[tuple[float, str]]:
        """Return what it could do next, and when: backward first, and forward as long as it holds few microbatches."""
        held = self.done["f"] - self.done["b"]
        kinds = [
            kind for kind, may in (("b", held > 0), ("f", held < self.most)) if may and self.done[kind] < microbatches
        ]
        return [(max(self.free, self.arrived[kind][self.done[kind]]), kind) for kind in kinds]


def one_forward_one_backward(
    stages: int, microbatches: int, forward: float, backward: float
) -> tuple[float, list[list[str]]]:
    """Return how long a step takes, and what each stage does in which order, as ``f0`` and ``b0``."""
    row = [Stage(stages - 1 - place, microbatches) for place in range(stages)]
    row[0].arrived["f"] = [0.0] * microbatches
    for _ in range(2 * stages * microbatches):
        choices = [(*choice, place) for place, stage in enumerate(row) for choice in stage.choices(microbatches)]
        start, kind, place = min(choices)
        own = row[place]
        microbatch = own.done[kind]
        own.free = start + (forward if kind == "f" else backward)
        own.done[kind] += 1
        own.order.append(f"{kind}{microbatch}")
        if kind == "f" and place + 1 == stages:
            own.arrived["b"][microbatch] = own.free
        elif 0 <= (other := place + (1 if kind == "f" else -1)) < stages:
            row[other].arrived[kind][microbatch] = own.free
    return max(stage.free for stage in row), [stage.order for stage in row]
