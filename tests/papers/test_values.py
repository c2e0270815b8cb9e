"""The values of tables and figures that are kept with the papers."""

import csv
import io
import json
from pathlib import Path

import pytest

from topoloom.papers import Paper, Plan, names
from topoloom.papers.values import COLUMNS, VALUES, kept_values, values_with


def numbers(part: str) -> int:
    return int(part.rpartition(" ")[2]) - 1


@pytest.mark.parametrize("name", names())
def test_kept_values_belong_to_what_the_paper_draws(name):
    paper = Paper.named(name)
    items = {item.id: item for item in paper.item}
    seen = set()
    for item, part, title, series, _, y, published in kept_values(paper):
        seen.add((item, part))
        kind = part.partition(" ")[0]
        own = (items[item].table if kind == "table" else items[item].figure)[numbers(part)]
        assert title == own.title
        assert y or published
        if kind == "table":
            assert series in {row.label for row in own.row}
        elif not own.where:
            assert series in {one.label for one in own.series}
    drawn = {(item.id, f"figure {n}") for item in paper.item for n in range(1, len(item.figure) + 1)}
    assert drawn <= seen


def test_kept_values_are_those_that_claims_were_judged_by():
    paper = Paper.named("twin-torus")
    claims = {
        claim["id"]: claim["measured"] for claim in json.loads((paper.folder / "results.json").read_text())["claims"]
    }
    at_full_load = {
        (item, series): float(y)
        for item, _, title, series, x, y, _ in kept_values(paper)
        if x == "1" and "hroughput" in title
    }
    for item, claim in {"fig5": "256-pes-throughput", "fig6": "512-pes-throughput"}.items():
        assert at_full_load[item, "5DT, TS-DOR"] == pytest.approx(claims[claim]["five"], rel=1e-5)
        assert at_full_load[item, "3D, DOR"] == pytest.approx(claims[claim]["three"], rel=1e-5)


def test_a_run_of_some_items_leaves_the_values_of_the_others(tmp_path):
    paper = Paper.named("flex")
    before = (paper.folder / VALUES).read_text()
    found = Plan(paper, only=["table2"]).run(tmp_path / "results.store")
    head, *rows = csv.reader(io.StringIO(values_with(paper, found)))
    assert tuple(head) == COLUMNS
    assert rows == [list(row) for row in kept_values(paper)]
    # Without the file, the values of the run alone are there.
    bare = copy_of(paper, tmp_path / "flex")
    _, *alone = csv.reader(io.StringIO(values_with(bare, found)))
    assert {row[0] for row in alone} == {"table2"}
    assert (paper.folder / VALUES).read_text() == before


def copy_of(paper: Paper, folder: Path) -> Paper:
    folder.mkdir()
    for file in paper.folder.iterdir():
        if file.name != VALUES:
            (folder / file.name).write_bytes(file.read_bytes())
    return Paper.read(folder)
