"""Broadcasts chunk by chunk: repeated ones on rings of GPUs, one kernel after the other; one down a chain of ranks.

Nothing of the project is imported: each GPU and each chunk is followed by itself.
"""

from itertools import pairwise


class Rings:
    """Repeated broadcasts from GPU 0 over several rings through all nodes.

    Args:
        orders: For each ring the order of a node's GPUs.
        nodes: Nodes.
        chunks: Chunks of a broadcast on each ring.
        net: Time of a chunk to another node.
        inside: Time of a chunk to the next GPU of a node.
        slots: Chunks that a buffer between two GPUs holds.
    """

    def __init__(self, orders, nodes, chunks, net, inside, slots=8):
        self.per, self.chunks, self.slots = len(orders[0]), chunks, slots
        self.rings = []
        for order in orders:
            ring = [node * self.per + gpu for node in range(nodes) for gpu in order]
            first = ring.index(0)
            self.rings.append(ring[first:] + ring[:first])
        self.hops = [[net if a // self.per != b // self.per else inside for a, b in pairwise(r)] for r in self.rings]
        self.done = [[[] for _ in ring] for ring in self.rings]
        self.ends = [[] for _ in self.rings[0]]

    def period(self, over=12, warm=14):
        """Return the time between two broadcasts at the last GPU, once they follow each other evenly."""
        self._run(over + warm)
        last = self.ends[self.rings[0][-1]]
        return (last[-1] - last[-1 - over]) / over

    def _run(self, broadcasts):
        waiting = [(ring, 0) for ring in range(len(self.rings))]
        while waiting:
            ring, place = waiting.pop()
            while len(self.done[ring][place]) < broadcasts * self.chunks and self._advance(ring, place):
                waiting += [(ring, near) for near in (place - 1, place + 1) if 0 <= near < len(self.rings[ring])]
                gpu = self.rings[ring][place]
                if self._kernel_ends(gpu):
                    waiting += [(other, own.index(gpu)) for other, own in enumerate(self.rings)]

    def _advance(self, ring, place):
        """Hand on the next chunk, if all that it waits for has happened."""
        own, gpu = self.done[ring][place], self.rings[ring][place]
        chunk = len(own)
        broadcast = chunk // self.chunks
        if len(self.ends[gpu]) < broadcast:
            return False
        times = [self.ends[gpu][broadcast - 1] if broadcast else 0.0]
        hops = self.hops[ring]
        if place > 0:
            if len(self.done[ring][place - 1]) <= chunk:
                return False
            times.append(self.done[ring][place - 1][chunk] + hops[place - 1])
        if chunk:
            times.append(own[-1] + max(hops[max(place - 1, 0) : place + 1]))
        if place + 1 < len(self.rings[ring]) and chunk >= self.slots:
            if len(self.done[ring][place + 1]) <= chunk - self.slots:
                return False
            times.append(self.done[ring][place + 1][chunk - self.slots])
        own.append(max(times))
        return True

    def _kernel_ends(self, gpu):
        """End the kernel of a GPU when all rings have handed on its chunks."""
        last = (len(self.ends[gpu]) + 1) * self.chunks - 1
        own = [self.done[ring][places.index(gpu)] for ring, places in enumerate(self.rings)]
        if any(len(times) <= last for times in own):
            return False
        self.ends[gpu].append(max(times[last] for times in own))
        return True


def chain(nodes, per, segments, inside, outside):
    """Return when the last rank of a chain has all segments.

    A rank waits for a segment, then for its own send. Of a message within a node, `inside`, half is the receiver's and
    half the sender's; one to another node takes the sender `outside` and the receiver nothing.
    """
    free = [0.0] * (nodes * per)
    arrived = [0.0] * segments
    for rank in range(nodes * per):
        away_before, away_after = rank % per == 0, rank % per == per - 1
        takes = 0.0 if away_before else inside / 2
        gives = 0.0 if rank == nodes * per - 1 else outside if away_after else inside / 2
        for segment in range(segments):
            free[rank] = max(free[rank], arrived[segment]) + takes + gives
            arrived[segment] = free[rank]
    return free[-1]
