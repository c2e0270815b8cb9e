"""What files that the program writes may replace, and that a run that fails leaves the old ones."""

import contextlib
import errno
import os
import re
import shutil
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topoloom
from topoloom import TopoloomError, _core, files
from topoloom.cli.command import run

STUDY = """
name = "tiny"
[[sweep]]
networks = "mesh:2x2"
loads = 0.1
options = { warmup = 10, measure = 20 }
"""
CABLING = "switch_a,port_a,cabinet_a,switch_b,port_b,cabinet_b\n" + "".join(
    f"s{a},{port},{a // 4},s{(a + step) % 8},{port + 2},{(a + step) % 8 // 4}\n"
    for a in range(8)
    for port, step in ((0, 1), (1, 3))
)

SHORT = ["--load", "0.3:0.9:0.3", "--warmup", "10", "--measure", "200"]
OUTPUTS = {
    "compare": ["compare", "mesh:4x4", "--routing", "minimal", *SHORT, "--out", "x.html"],
    "workload": ["workload", "mesh:2x2", "--app", "alltoall", "--out", "x.html"],
    "workload plot": ["workload", "mesh:2x2", "--app", "alltoall", "--plot", "x.svg"],
    "faults": ["faults", "mesh:2x2", "--trials", "2", "--plot", "x.png"],
    "show": ["show", "mesh:2x2", "--edges", "x.csv"],
    "show plot": ["show", "mesh:2x2", "--plot", "x.pdf"],
    "layout cables": ["layout", "mesh:2x2", "--cables", "x.csv"],
    "layout bill": ["layout", "mesh:2x2", "--bill", "x.csv"],
    "layout plot": ["layout", "mesh:2x2", "--plot", "x.svg"],
    "export": ["export", "mesh:2x2", "--out", "x.graphml"],
    "export tables": ["export", "mesh:2x2", "--routing", "dor", "--format", "lft", "--out", "x.lft"],
    "import-lft": ["import-lft", "mesh:2x2", "d.lft", "--out", "x.csv"],
    "permute moves": ["permute", "cabling.csv", "--allow-less-bandwidth", "--out", "x.csv"],
    "permute after": ["permute", "cabling.csv", "--allow-less-bandwidth", "--after", "x.csv"],
    "run": ["run", "s.toml", "--out", "x.html"],
    "run script": ["run", "t.toml", "--script", "x.sh"],
    "results csv": ["results", "s.store", "--out", "x.csv"],
    "results parquet": ["results", "s.store", "--out", "x.parquet"],
}  # fmt: skip
"""Every option that writes a file."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a study, its store, and files that commands read."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "s.toml").write_text(STUDY)
    (folder / "t.toml").write_text(STUDY)
    (folder / "cabling.csv").write_text(CABLING)
    with contextlib.chdir(folder):
        assert run(["run", "s.toml"]) == 0
        assert run(["export", "mesh:2x2", "--routing", "dor", "--format", "lft", "--out", "d.lft"]) == 0
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: Any) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", OUTPUTS.values(), ids=OUTPUTS)
def test_only_files_of_the_own_kind_are_overwritten(
    command: list[str], place: Path, topoloom: Callable[..., Any]
) -> None:
    file = place / command[-1]
    for precious in ("my notes\n", "a,b\n1,2\n"):
        file.write_text(precious)
        told = topoloom(*command)
        assert (told.status, file.read_text()) == (2, precious), told.err
        assert f"{command[-1]} exists and is no " in told.err
        assert "--force" in told.err
    assert topoloom(*command, "--force").status == 0
    made = file.read_bytes()
    assert b"my notes" not in made
    assert topoloom(*command).status == 0, "a file of the own kind is overwritten"
    assert [path.name for path in place.iterdir() if path.name.startswith(".")] == []
    # A study and what lies in a store are kept whatever is said.
    file.write_text(STUDY)
    for more in ([], ["--force"]):
        told = topoloom(*command, *more)
        assert (told.status, file.read_text()) == (2, STUDY)
        assert "is a study or another TOML file, which is never overwritten" in told.err
        before = {path: path.read_bytes() for path in (place / "s.store").rglob("*") if path.is_file()}
        told = topoloom(*command[:-1], f"s.store/{command[-1]}", *more)
        assert told.status == 2
        assert f"s.store/{command[-1]} lies in the store {place}/s.store" in told.err
        assert {path: path.read_bytes() for path in (place / "s.store").rglob("*") if path.is_file()} == before
        told = topoloom(*command[:-1], "s.store/../s.store", *more)
        assert told.status == 2


def test_a_directory_a_link_and_a_name_of_a_study(place: Path, topoloom: Callable[..., Any]) -> None:
    call = ["show", "mesh:2x2", "--edges"]
    (place / "folder").mkdir()
    told = topoloom(*call, "folder", "--force")
    assert (told.status, told.err) == (
        2,
        "topoloom: error: folder is a directory; a file in the format csv is written to a file\n",
    )
    (place / "empty.toml").write_text("# to be written\n")
    assert topoloom(*call, "empty.toml", "--force").status == 2
    # A link is followed: what it leads to counts, and the link stays.
    (place / "link.csv").symlink_to("s.toml")
    assert topoloom(*call, "link.csv", "--force").status == 2
    assert (place / "s.toml").read_text() == STUDY
    (place / "there").mkdir()
    (place / "good.csv").symlink_to("there/links.csv")
    for _ in range(2):
        assert topoloom(*call, "good.csv").status == 0
        assert (place / "good.csv").is_symlink()
        assert (place / "there" / "links.csv").read_text().startswith("router_a,")
    (place / "loop.csv").symlink_to("loop.csv")
    assert topoloom(*call, "loop.csv").status == 2


def test_what_is_written_to_as_it_stands(place: Path, topoloom: Callable[..., Any]) -> None:
    call = ["show", "mesh:2x2", "--edges"]
    assert topoloom(*call, "/dev/null").status == 0
    assert "router_a,port_a" in topoloom(*call, "/dev/stdout").out
    assert Path("/dev/null").is_char_device()
    os.mkfifo(place / "pipe")
    told = topoloom(*call, "pipe")
    assert (told.status, told.err) == (2, "topoloom: error: no program reads from pipe\n")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((place / "pipe").read_text()))
    reader.start()
    while topoloom(*call, "pipe").status != 0:
        assert reader.is_alive()
    reader.join(10)
    assert read[0].startswith("router_a,")
    assert (place / "pipe").is_fifo()
    told = topoloom(*call, "/dev/full")
    assert (told.status, told.err) == (2, "topoloom: error: /dev/full cannot be written: No space left on device\n")


WRITERS: dict[str, Callable[[Path], object]] = {
    "file": lambda path: files.write_file(path, "at,destination,port\n", files.TABLES["csv"]),
    "check": lambda path: files.check_writable(path, files.BILL),
    "network": lambda path: topoloom.network("mesh:2x2").write(path, "csv"),
    "picture": lambda path: topoloom.network("mesh:2x2").draw(path.with_name(f"{path.name}.svg")),
    "bill": lambda path: topoloom.Layout(topoloom.network("mesh:2x2")).write_bill(path),
    "report": lambda path: topoloom.workload("mesh:2x2", "reduce").write_report(path),
    "goal": lambda path: topoloom.Application("reduce", 4).write_goal(path),
    "chakra": lambda path: topoloom.Application("reduce", 4).write_chakra(path),
    "chakra of rank 0": lambda path: topoloom.Application("reduce", 4).write_chakra(path.with_name(f"{path.name}.et")),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("missing/deeper/x", "No such file or directory"),
        ("notes/deeper/x", "Not a directory"),
        ("x" * 256, "File name too long"),
        ("a\0b", "embedded null byte"),
    ],
    ids=["no folder", "a file for a folder", "a long name", "no name"],
)
def test_a_place_that_cannot_be_written_is_a_mistake(
    write: Callable[[Path], object], place: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(TopoloomError) as told:
        write(tmp_path / place)
    assert re.fullmatch(rf"{re.escape(str(tmp_path / place))}\S* cannot be written: {why}", str(told.value))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("notes", "mine")]


def test_a_full_disk_is_a_mistake_and_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("at,destination,port\n")
    full = pytest.raises(TopoloomError, match=r"r\.csv cannot be written: No space left on device")
    with full, files.replacing(file, files.TABLES["csv"]):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.csv", "at,destination,port\n")]


def test_a_file_without_the_right_to_write_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own.goal"
    file.write_text("num_ranks 4\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(TopoloomError, match=r"own\.goal cannot be written: Permission denied"):
        topoloom.Application("reduce", 4).write_goal(file)
    assert file.read_text() == "num_ranks 4\n"


def test_a_pipe_whose_reader_has_left_is_no_mistake(tmp_path: Path) -> None:
    """The command line ends there as other programs do, without a message."""
    read, write = os.pipe()
    os.close(read)
    with pytest.raises(BrokenPipeError):
        files.write_file(f"/dev/fd/{write}", "at", files.TABLES["csv"])
    os.close(write)


def test_a_run_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("at,destination,port\n")
    file.chmod(0o640)
    kind = files.TABLES["csv"]

    def fail() -> None:
        with files.replacing(file, kind) as half:
            half.write(b"at,dest")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert file.read_text() == "at,destination,port\n"
    assert list(tmp_path.iterdir()) == [file]
    files.write_file(file, "at,destination,port\n0,0,0\n", kind)
    assert file.read_text().endswith("0,0,0\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_new_files_have_the_rights_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_file(tmp_path / "new.csv", "x", files.BILL)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o640


FORMATS = [item["name"] for item in _core.formats() if item["write"]]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_known_by_how_it_begins(name: str, tmp_path: Path) -> None:
    network = topoloom.network("fattree:k=4,levels=2" if name.startswith("slurm") else "mesh:3x3,p=1")
    kind = files.graph(name)
    text, _ = network.text(name)
    assert kind.begins(text.encode()), text[:200]
    for foreign in ("my notes\n", "a,b\n1,2\n", "<html>\n", "#!/bin/sh\necho\n", "secret\n", STUDY):
        assert not kind.begins(foreign.encode())
    file = tmp_path / "x"
    file.write_text("my notes\n")
    with pytest.raises(TopoloomError, match=f"is no file in the format {name}"):
        network.write(file, name)


def test_a_page_of_a_paper(place: Path, topoloom: Callable[..., Any]) -> None:
    folder = place / "out"
    folder.mkdir()
    page = folder / "flex-sc25.html"
    names = topoloom_names()
    page = folder / f"{names[0]}.html"
    page.write_text("mine\n")
    told = topoloom("reproduce", names[0], "--quick", "--out", str(folder))
    assert (told.status, page.read_text()) == (2, "mine\n")
    assert not (folder / "results.store").exists()


def topoloom_names() -> list[str]:
    from topoloom.papers import names  # noqa: PLC0415 - the fixture has the package's name

    return list(names())


@pytest.mark.parametrize(
    ("command", "one", "other"),
    [
        (["layout", "mesh:2x2"], "--cables", "--bill"),
        (["layout", "mesh:2x2"], "--bill", "--plot"),
        (["show", "mesh:2x2"], "--edges", "--plot"),
        (["workload", "mesh:2x2", "--app", "alltoall"], "--out", "--plot"),
        (["workload", "mesh:2x2", "--app", "alltoall"], "--table", "--timeline"),
        (["workload", "mesh:2x2", "--app", "alltoall"], "--timeline", "--goal"),
        (["calibrate"], "--out", "--predictions"),
    ],
)
@pytest.mark.parametrize("forced", [[], ["--force"]])
def test_two_outputs_do_not_share_a_file(command, one, other, forced, topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = topoloom(*command, one, "x.csv", other, "./x.csv", *forced)
    assert found.status == 2
    assert f"{one} and {other} are the same file, x.csv; what is in it would be lost" in found.err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "mesh:2x2", "--load", "0.1"],
        ["workload", "mesh:2x2", "--app", "reduce"],
        ["design", "--terminals", "4", "--radix", "4"],
        ["run", "s.toml"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize(("name", "hint"), [("x.pdf", "'.pdf'"), ("x.htlm", "(did you mean '.html'?)")])
def test_a_report_is_html_by_its_name(command, name, hint, place, topoloom):
    told = topoloom(*command, "--out", name)
    assert (told.status, told.out, (place / name).exists()) == (2, "", False)
    assert f"{name}: unknown ending of a report " in told.err
    assert hint in told.err
    assert "there are: .html, .htm\n" in told.err


def test_a_report_needs_no_ending(place, topoloom):
    told = topoloom("compare", "mesh:2x2", "--routing", "minimal", *SHORT, "--out", "report")
    assert (told.status, (place / "report").read_bytes()[:15]) == (0, b"<!doctype html>")


def test_a_dash_is_no_name_of_a_file(topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (
        ["layout", "mesh:4", "--bill"],
        ["show", "mesh:4", "--edges"],
        ["export", "mesh:4", "--format", "csv", "--out"],
    ):
        told = topoloom(*command, "-")
        assert (told.status, told.out) == (2, "")
        assert "'-' is no name of a " in told.err
        assert "/dev/stdout stands for standard output" in told.err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["-", "notes"])
@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        (["workload", "mesh:2x2", "--app", "reduce", "--chakra"], "give a folder, or the file of rank 0"),
        (["reproduce", "hardware", "--only", "limits", "--out"], "page and results go to a folder"),
        (["run", "s.toml", "--store"], "a store of results is a folder"),
        (["run", "s.toml", "--script", "x.sh", "--store"], "a store of results is a folder"),
        (["compare", "mesh:2x2", *SHORT, "--store"], "a store of results is a folder"),
        (["saturation", "mesh:2x2", *SHORT[2:], "--store"], "a store of results is a folder"),
        (["design", "--terminals", "4", "--radix", "4", "--store"], "a store of results is a folder"),
    ],
    ids=lambda item: " ".join(item) if isinstance(item, list) else "",
)
def test_a_dash_and_a_file_are_no_folder(command, allowed, name, place, topoloom):
    (place / "notes").write_text("mine")
    before = sorted(place.iterdir())
    told = topoloom(*command, name)
    why = {"-": "'-' is no name of a folder", "notes": "notes is a file"}[name]
    assert (told.status, told.out) == (2, "")
    assert f"topoloom: error: {why}; {allowed}" in told.err
    assert sorted(place.iterdir()) == before
    assert (place / "notes").read_text() == "mine"
