"""Applications: their messages and what each waits for, against programs that are written down a second time."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import workloads as oracle
from topoloom import Application, TopoloomError

SIDES = [[2, 2, 2], [3, 4, 2], [1, 5, 3], [4, 4, 4], [3, 3, 3]]


def same(spec: str, tasks: int, programs: oracle.Programs) -> None:
    own = oracle.programs_of(Application(spec, tasks))
    assert len(own) == len(programs)
    assert oracle.messages(own) == oracle.messages(programs)
    assert oracle.depths(own) == oracle.depths(programs)


@pytest.mark.parametrize("n", [2, 3, 8, 13])
def test_reduce_broadcast_and_all_to_all(n: int) -> None:
    same("reduce:size=100", n, oracle.reduce(n, 100))
    same("broadcast:size=100", n, oracle.broadcast(n, 100))
    same("alltoall:size=100,algorithm=pairwise", n, oracle.pairwise(n, 100))
    same("alltoall:size=100,algorithm=bruck", n, oracle.bruck(n, 100))
    same("allreduce:size=100,algorithm=ring", n, oracle.ring_allreduce(n, 100))
    same("nbodies:size=100,reading=inrflow", n, oracle.nbodies_inrflow(n, 100))


@pytest.mark.parametrize("n", [2, 8, 16])
def test_allreduce_on_powers_of_two(n: int) -> None:
    same("allreduce:size=100", n, oracle.recursive_doubling(n, 100))
    same("allreduce:size=101,algorithm=rabenseifner", n, oracle.rabenseifner(n, 101))


@pytest.mark.parametrize("n", [3, 4, 9])
def test_nbodies_in_the_papers_reading(n: int) -> None:
    same("nbodies:size=7", n, oracle.nbodies(n, 7))


@pytest.mark.parametrize("sides", SIDES)
def test_grids(sides: list[int]) -> None:
    grid, tasks = "x".join(map(str, sides)), int(np.prod(sides))
    same(f"sweep3d:size=9,grid={grid}", tasks, oracle.sweep3d(sides, 9))
    same(f"flood:size=9,grid={grid},waves=3", tasks, oracle.flood(sides, 9, 3))
    same(f"nearneighbors:size=9,grid={grid}", tasks, oracle.nearneighbors(sides, 9))


@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 99),
    algorithm=st.sampled_from(["recursive-doubling", "rabenseifner", "tree"]),
)
@settings(max_examples=25, deadline=None)
def test_every_allreduce_gathers_what_all_have(n: int, seed: int, algorithm: str) -> None:
    """Whoever has heard of all tasks, directly or not, at its end has the result."""
    application = Application(f"allreduce:algorithm={algorithm},size=4KiB", n)
    programs = oracle.programs_of(application)
    heard, place, carried = [{task} for task in range(n)], [0] * n, {}
    order = list(np.random.default_rng(seed).permutation(n))
    while any(place[task] < len(programs[task]) for task in range(n)):
        before = list(place)
        for task in order:
            while place[task] < len(programs[task]):
                op = programs[task][place[task]]
                if op[0] == "send":
                    carried[op[3]] = set(heard[task])
                elif op[2] in carried:
                    heard[task] |= carried[op[2]]
                else:
                    break
                place[task] += 1
        assert place != before, "it hangs"
    assert all(found == set(range(n)) for found in heard)


def test_random_applications_are_what_their_names_say() -> None:
    each = Application("unstructured:each=5,size=1KiB-4KiB,seed=3", 200).messages()
    assert Counter(each["source"]) == dict.fromkeys(range(200), 5)
    assert (each["source"] != each["target"]).all()
    assert each["bytes"].min() >= 1024
    assert each["bytes"].max() <= 4096
    assert len(set(each["bytes"])) > 500
    hot = Application("unstructured-hr:messages=40000", 800).messages()
    share = (hot["target"] < 100).mean()
    assert abs(share - (0.25 + 0.75 / 8)) < 0.01
    managed = Application("unstructured-mgmt:messages=40000", 800).messages()["bytes"]
    assert abs((managed <= 16).mean() - (0.8 + 0.2 / 1486)) < 0.01
    assert managed.min() == 1
    assert 1495 < managed.max() <= 1501
    pairs = Application("bisection:rounds=3", 64).messages()
    for round_ in np.split(pairs, 3):
        to = dict(zip(round_["source"], round_["target"], strict=True))
        assert sorted(to) == list(range(64))
        assert all(to[to[task]] == task != to[task] for task in to)
    shuffle = Application("mapreduce:partners=7", 100).messages()
    inner = shuffle[(shuffle["source"] > 0) & (shuffle["target"] > 0)]
    assert Counter(inner["source"]) == dict.fromkeys(range(1, 100), 7)
    assert len({(m["source"], m["target"]) for m in inner}) == len(inner)
    assert len(Application("mapreduce:share=0.25", 201).messages()) == pytest.approx(400 + 200 * 199 / 4, rel=0.03)
    one, other = (Application(f"permutation:seed={seed}", 99).messages() for seed in (1, 2))
    assert list(one) != list(other)


GOAL = """num_ranks 3  // a comment
rank 0 {
  a: calc 1000 cpu 0
  b: send 64b to 1 tag 7
  c: calc 500 cpu 1
  b requires a
  # a and c run side by side
}
rank 1 {
  x: recv 64b from 0 tag 7
  y: send 10b to 2 /* tag 0 */
  y requires x
}
rank 2
{
  recv 10b from 1
}
"""


def test_goal_schedules_are_read(tmp_path: Path) -> None:
    file = tmp_path / "chain.goal"
    file.write_text(GOAL)
    application = Application(f"goal:{file}", 8)
    assert application.tasks == 3
    assert [tuple(m) for m in application.messages()] == [(0, 1, 64), (1, 2, 10)]
    assert application.program(0) == [("compute", pytest.approx(1e-6)), ("send", 0), ("compute", pytest.approx(5e-7))]
    result = topoloom.workload("mesh:2x2", f"goal:{file}", engine="cycle", flit="1B", rate="8Gb/s").results[0]
    # 1 ns a cycle: a takes 1000, the first message 63 cycles more than a flit, the second 9.
    assert result.makespan_s is not None
    assert 1072e-9 < result.makespan_s < 1110e-9


def test_goal_is_free_in_its_lines(tmp_path: Path) -> None:
    """A rank on one line, a comment over several, a mark of the byte order: the same schedule."""
    plain, free = tmp_path / "plain.goal", tmp_path / "free.goal"
    plain.write_text(
        "num_ranks 2\nrank 0 {\nl1: send 64b to 1\n}\nrank 1 {\na: recv 64b from 0\nb: calc 5\nb requires a\n}\n"
    )
    free.write_text(
        "\ufeffnum_ranks 2 /* two\nranks */ rank 0 { l1: send 64b to 1 } # sends\n"
        "rank 1 { a: recv 64b from 0 // comes\n b: calc 5\n b requires a }",
        encoding="utf-8",
    )
    first, second = (Application(f"goal:{file}", 8) for file in (plain, free))
    assert [first.program(task) for task in (0, 1)] == [second.program(task) for task in (0, 1)]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tag 7\n  y", "tag 8\n  y", "line 10: rank 1 receives from rank 0 with tag 8 what no rank sends"),
        ("recv 10b from 1", "", "line 11: rank 1 sends to rank 2 with tag 0 what no rank receives"),
        ("b requires a", "a requires b\n  b requires a", "wait for each other without end: line 3 (a of rank 0)"),
        ("64b to 1", "-1b to 1", "line 4: the size is '-1b'"),
        ("calc 500", "calc", "line 5: '1' is not understood here; there may be: nic, cpu"),
        ("calc 500", "wait", "line 5: 'wait cpu 1' is no operation"),
        ("calc 500", "calc soon", "line 5: the time of calc is 'soon'"),
        ("b requires a", "b requires z", "line 6: no operation of the rank has the label z"),
        ("recv 10b", "recv 9b", "line 16: there is room for 9 bytes, but 10 are sent on line 11"),
        ("to 2", "to 3", "line 11: rank 3 does not exist; num_ranks is 3"),
        ("to 2", "to 1", "line 11: rank 1 has itself for a partner"),
        ("rank 2\n", "rank 1\n", "line 14: rank 1 is on line 9 already"),
        ("num_ranks 3", "ranks 3", "line 1: 'ranks 3' stands outside of any rank"),
        ("tag 7\n  c", "tag\n  c", "line 4: 'tag' is not understood here"),
        ("  recv 10b from 1\n}", "  recv 10b from 1", "the file ends before rank 2 does"),
        ("x: recv", "y: recv", "line 11: the label y is used twice in rank 1"),
        ("num_ranks 3", "num_ranks 9", "num_ranks asks for 9 tasks; there is room for 8"),
    ],
)
def test_mistakes_in_goal_are_told_with_their_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = tmp_path / "wrong.goal"
    assert old in GOAL
    file.write_text(GOAL.replace(old, new, 1))
    with pytest.raises(TopoloomError) as error:
        Application(f"goal:{file}", 8)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_message_lists_are_read_and_their_circles_named(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("source,target,bytes,after\n0,1,1KiB\n1,2,500,0\n2,0,1MB,1\n0,2,8,2\n")
    application = Application(f"messages:{file}", 8)
    assert [tuple(m) for m in application.messages()] == [(0, 1, 1024), (1, 2, 500), (2, 0, 10**6), (0, 2, 8)]
    for text, told in [
        ("0,1,8,1\n1,0,8,0\n", "wait for each other without end: line 1 (sends 0 to 1)"),
        ("0,1,0\n", "line 1: bytes is '0'"),
        ("0,0,8\n", "line 1: task 0 sends to itself"),
        ("0,1,8\n0,1,8,7\n", "line 2: after message 7: there are messages 0 to 1"),
        ("0,1,8\n0,1,8,0\n", "line 2: after message 0: that goes to task 1, but task 0 sends this one"),
        ("0,1\n", "line 1: 2 columns"),
        ("", "has no rows; each row must be source,"),
        ("0,99,8\n", "asks for 100 tasks; there is room for 8"),
    ]:
        file.write_text(text)
        with pytest.raises(TopoloomError, match=told.replace("(", r"\(").replace(")", r"\)")):
            Application(f"messages:{file}", 8)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("allreduse", "did you mean 'allreduce'"),
        ("allreduce:sise=8", "unknown key of allreduce 'sise' .did you mean 'size'"),
        ("allreduce:size=0", "size is '0'; it must be a number of bytes from 1 up"),
        ("allreduce:size=64Kb", "size is '64Kb'"),
        ("allreduce:algorithm=ring,size=10", "cuts the data into 64 blocks"),
        ("allreduce:algorithm=rign", "did you mean 'ring'"),
        ("reduce:tasks=65", "tasks asks for 65 tasks; there is room for 64"),
        ("reduce:tasks=1", "at least two"),
        ("reduce:tasks=0", "tasks is 0; it must be a whole number from 1 up"),
        ("sweep3d:grid=4x4", "grid has 2 dimensions; there must be 3"),
        ("sweep3d:grid=4x4x0", "grid is '4x4x0'"),
        ("sweep3d:grid=8x8x8", "grid asks for 512 tasks"),
        ("sweep3d:grid=2x2x2,tasks=8", "the grid sets the number of tasks"),
        ("mapreduce:partners=63", "partners is 63; each task has 62 others"),
        ("mapreduce:share=2", "share is '2'"),
        ("halo:grid=4x4,block=2", "block has 1 dimension, the grid 2"),
        ("halo:grid=4x4,compute=5", "compute is '5'; it must be a time with its unit"),
        ("allreduce:tasks=1", "tasks is 1; at least two are needed"),
        ("sweep3d:grid=4", "grid has 1 dimension; there must be 3"),
        ("goal", "needs a FILE"),
        ("goal:tasks=4", "goal: the FILE is missing; unknown key 'tasks'; there are: file, ranks-per-terminal"),
        ("chakra:tasks=100", "chakra: the FILE is missing; unknown key 'tasks' "),
        ("chakra:rank=4", r"the FILE is missing; unknown key 'rank' \(did you mean 'ranks'\?\)"),
        ("nccl:tasks=4", "nccl: the FILE is missing; unknown key 'tasks'"),
        ("messages:tasks=4", "messages: the FILE is missing; there is no key 'tasks'"),
        ("messages:no/such=file.csv", "messages: no/such=file.csv: No such file"),
        ("goal:/no/such/file", "/no/such/file: "),
        ("gpcnet:share=0", "0 of 64 tasks are canaries"),
    ],
)
def test_mistakes_are_sentences(spec: str, told: str) -> None:
    with pytest.raises(TopoloomError, match=told):
        Application(spec, 64)


def test_the_largest_cube_is_said() -> None:
    application = Application("sweep3d", 100)
    assert application.tasks == 64
    assert application.notes == ["sweep3d: the largest cube in 100 tasks is 4x4x4; 36 stay idle"]
    assert Application("sweep3d", 64).notes == []
