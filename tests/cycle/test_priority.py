"""Who is allocated VCs and the switch before others, on a line of routers whose terminals all send to the last one.

A quarter of what is offered can arrive. Whose packets these are, their mean hops tell: by turns each router halves what
comes from behind it, so that near terminals have nearly all; if they are passed over, they have nothing.
"""

import pytest

from harness.engine import run
from topoloom import TopoloomError

ALLOCATORS = ["separable-input-first", "islip", "wavefront"]


def routers_visited(**options: str) -> float:
    point = run("mesh:8", "dor", 0.5, traffic="hotspot:nodes=7", warmup=2500, measure=1000, **options)
    assert point["accepted"] == pytest.approx(1 / 8, rel=0.01), "the hot terminal is always busy"
    return point["hops"]


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_turns_leave_little_to_those_far_away(allocator):
    # The hot terminal's own packets half, those of the router before a quarter, …: 1/2 + 2/4 + 3/8 + … routers.
    halves = sum(place / 2**place for place in range(1, 8)) + 8 / 2**7
    assert routers_visited(allocator=allocator) == pytest.approx(halves, rel=0.12)
    assert routers_visited(allocator=allocator, priority="none") == routers_visited(allocator=allocator)


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_packets_on_their_way_come_before_those_that_wait_at_their_source(allocator):
    """The two farthest terminals send as much as can arrive."""
    assert routers_visited(allocator=allocator, priority="transit") > 7.4


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_by_age_all_terminals_have_the_same_share(allocator):
    assert routers_visited(allocator=allocator, priority="age") == pytest.approx(sum(range(1, 9)) / 8, rel=0.02)


def test_a_workload_runs_with_a_priority(topoloom):
    for priority in ("transit", "age"):
        line = f"workload torus:4x4 --app alltoall:size=300 --engine cycle --router priority={priority} --json"
        result = topoloom(*line.split()).json()
        assert "priority" in str(result)


def test_a_priority_is_one_of_three_and_of_routers_that_have_it():
    with pytest.raises(TopoloomError, match="priority is 'oldest'; it must be 'none', 'transit' or 'age'"):
        run("mesh:4", "dor", 0.1, priority="oldest")
    with pytest.raises(TopoloomError, match="priority is for model=iq and model=vct, which alone have it"):
        run("mesh:4", "dor", 0.1, model="extoll", priority="age")
