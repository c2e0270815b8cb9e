"""Tables of NCCL's calls: what they mean, beside the same collectives by name and closed forms; mistakes."""

from pathlib import Path

import pytest

import topoloom as package
from topoloom import TopoloomError

NETWORK = "hyperx:8"
# Bytes per second of the default rate, 400 Gb/s.
RATE = 50e9


def makespan(app: str) -> float:
    (result,) = package.workload(NETWORK, app).results
    assert result.makespan_s is not None
    return result.makespan_s


def table(folder: Path, text: str) -> str:
    path = folder / "calls.csv"
    path.write_text(text)
    return f"nccl:{path}"


def calls(rows: list[str], head: str = "rank,collective,count,datatype,comm") -> str:
    return "\n".join([head, *rows]) + "\n"


@pytest.mark.parametrize(
    ("name", "count", "datatype", "same"),
    [
        # The whole vector of 8 ranks is 1 MiB in each.
        ("AllReduce", 2**18, "float32", "allreduce:size=1MiB,algorithm=ring"),
        ("ncclAllReduce", 2**19, "9", "allreduce:size=1MiB,algorithm=ring"),
        ("AllGather", 2**16, "half", "all-gather:size=1MiB,algorithm=ring"),
        ("ReduceScatter", 2**17, "int8", "reduce-scatter:size=1MiB,algorithm=ring"),
        ("ncclAllToAll", 2**14, "double", "alltoall:size=128KiB,algorithm=direct"),
    ],
)
def test_counts_mean_what_they_mean_to_nccl(name: str, count: int, datatype: str, same: str, tmp_path: Path) -> None:
    rows = [f"{rank},{name},{count},{datatype},world" for rank in range(8)]
    assert makespan(table(tmp_path, calls(rows))) == pytest.approx(makespan(same), rel=1e-12)


def test_one_table_for_all_ranks(tmp_path: Path) -> None:
    one = table(tmp_path, "bytes,collective,compute_us\n1048576,AllReduce,100\n")
    assert makespan(f"{one},ranks=8") == pytest.approx(1e-4 + makespan("allreduce:size=1MiB,algorithm=ring"))


def test_calls_of_a_stream_follow_each_other_and_groups_begin_together(tmp_path: Path) -> None:
    """Two messages of 5 MB by one link take 200 us together; one there and one back 100 us in one group."""
    head = "rank,collective,bytes,peer,stream,opcount,compute_us"
    size = 5_000_000
    alone = size / RATE

    def run(rows: list[str]) -> float:
        return makespan(table(tmp_path, calls(rows, head)))

    there = [f"0,Send,{size},1,,1,", f"1,Recv,{size},0,,1,"]
    assert run(there) == pytest.approx(alone)
    assert run([*there, f"0,Send,{size},1,,2,", f"1,Recv,{size},0,,2,"]) == pytest.approx(2 * alone)
    back = [f"0,Recv,{size},1,,1,", f"1,Send,{size},0,,1,"]
    assert run([*there, *back]) == pytest.approx(alone)
    # Ungrouped, rank 1 sends once it has received.
    ungrouped = [f"{row.rsplit(',', 2)[0]},," for row in (*there, *back)]
    assert run(ungrouped) == pytest.approx(2 * alone)
    # Computing comes first, on one accelerator a rank, whatever the stream.
    assert run([f"0,Send,{size},1,,,70", f"1,Recv,{size},0,,,"]) == pytest.approx(70e-6 + alone)
    streams = [f"0,Send,{size},1,a,,70", f"0,Send,{size},2,b,,70"]
    streams += [f"1,Recv,{size},0,,,", f"2,Recv,{size},0,,,"]
    assert run(streams) == pytest.approx(max(2 * 70e-6 + alone, 70e-6 + 2 * alone), rel=0.3)


def test_communicators_are_groups(tmp_path: Path) -> None:
    rows = [f"{rank},AllReduce,{2**18},float,{'ab'[rank // 4]}" for rank in range(8)]
    both = makespan(table(tmp_path, calls(rows)))
    assert both == pytest.approx(makespan("allreduce:size=1MiB,algorithm=ring,tasks=4"), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the table is empty"),
        ("rank,collective,count,datatype\n", "line 1: there are no rows behind the columns' names"),
        ("rank,count,datatype\n0,1,int8\n", "line 1: the column collective is missing"),
        ("rank,collective,count\n0,AllReduce,1\n", "line 1: the column bytes is missing, or count and datatype"),
        ("rank,rank,collective,bytes\n0,0,AllReduce,1\n", "line 1: the column 'rank' is listed twice"),
        (
            "rank,collective,bytes\n0,AllRedoce,8\n",
            "line 2: unknown collective 'allredoce' (did you mean 'allreduce'?)",
        ),
        (
            "rank,collective,count,datatype\n0,AllReduce,8,flot\n",
            "line 2: unknown datatype 'flot' (did you mean 'float'?)",
        ),
        ("rank,collective,bytes\nx,AllReduce,8\n", "line 2: rank is 'x'; it must be a whole number"),
        ("rank,collective,bytes\n0,AllReduce,-8\n", "line 2: bytes is '-8'; it must be a whole number"),
        ("rank,collective,bytes\n,AllReduce,8\n", "line 2: it names no rank"),
        ("rank,collective,bytes\n0,Send,8\n", "line 2: Send needs a peer"),
        ("rank,collective,bytes,compute_us\n0,AllReduce,8,-1\n", "line 2: compute_us is -1; it must be microseconds"),
        ("collective,bytes\nAllReduce,8\n", "line 1: there is no column rank; give it, or ranks=8"),
        ("rank,collective,bytes\n0,AllReduce,8\n1,AllGather,8\n", "line 3 (AllGather) of rank 1 meets line 2"),
        ("rank,collective,bytes,comm\n0,AllReduce,8,a\n1,AllReduce,8,a\n1,AllReduce,8,a\n", "rank 0 never comes"),
        ("rank,collective,bytes,peer\n0,Send,8,1\n1,AllReduce,8,\n0,AllReduce,8,\n", "rank 1 never receives"),
        ("rank,collective,bytes,peer\n0,Send,8,9\n1,Recv,8,0\n", "names rank 9; there are ranks 0 to 1"),
        ("rank,collective,bytes\n4294967295,AllReduce,8\n", "the table asks for 4294967295 tasks; there is room for 8"),
    ],
)
def test_mistakes(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(TopoloomError) as refused:
        makespan(table(tmp_path, text))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_ranks_are_for_tables_without_them(tmp_path: Path) -> None:
    app = table(tmp_path, "rank,collective,bytes\n0,AllReduce,8\n1,AllReduce,8\n")
    with pytest.raises(TopoloomError, match="ranks is for a table without the column rank"):
        makespan(f"{app},ranks=4")
