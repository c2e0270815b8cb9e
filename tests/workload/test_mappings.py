"""Tables over networks, applications and mappings of tasks."""

import csv
import itertools
from pathlib import Path

import pytest

import topoloom
from topoloom import TopoloomError

NETWORKS = ["torus:4x4x4", "mesh:3x3"]
APPS = ["reduce", "halo:grid=3x3"]
MAPPINGS = ["linear", "random:seed=2"]


def found_alone(spec: str, app: str, mapping: str) -> float | None:
    """Return the makespan of nine tasks by themselves."""
    named = app if ":" in app else f"{app}:tasks=9"
    return topoloom.workload(spec, named, mapping=mapping).results[0].makespan_s


def test_every_application_runs_on_every_network_by_every_mapping() -> None:
    found = topoloom.workload(NETWORKS, APPS, mapping=MAPPINGS)
    told = [(own.app, own.spec, own.mapping) for own in found.results]
    assert told == list(itertools.product(APPS, NETWORKS, MAPPINGS))
    assert {own.tasks for own in found.results} == {9}
    assert any("9 tasks on every network" in said for said in found.assumptions)
    for own in found.results:
        alone = found_alone(own.spec, own.app, own.mapping)
        assert own.makespan_s == alone
        base = found.result(NETWORKS[0], own.app, MAPPINGS[0])
        assert base is not None
        assert own.makespan_s is not None
        assert base.makespan_s is not None
        assert found.relative(own.spec, own.app, own.mapping) == own.makespan_s / base.makespan_s
    assert found.relative(NETWORKS[0], APPS[1]) == 1.0


def test_the_baseline_is_a_network_with_the_first_mapping() -> None:
    networks, app = ["mesh:4x4", "torus:4x4"], "halo:grid=4x4"
    found = topoloom.workload(networks, app, mapping=MAPPINGS, baseline="torus:4x4")
    assert (found.baseline, found.reference) == ("torus:4x4", "torus:4x4, linear")
    told = [found.relative(*own) for own in itertools.product(networks, [app], MAPPINGS)]
    assert told == pytest.approx([1.0, 1.5, 1.0, 1.25])


def test_tables_are_written_as_csv_and_pages_name_mappings(tmp_path: Path) -> None:
    found = topoloom.workload(NETWORKS, APPS, mapping=MAPPINGS)
    found.write_table(tmp_path / "makespans.csv")
    with (tmp_path / "makespans.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["app"], row["spec"], row["mapping"]) for row in rows] == list(
        itertools.product(APPS, NETWORKS, MAPPINGS)
    )
    assert [float(row["makespan_s"]) for row in rows] == [own.makespan_s for own in found.results]
    assert {row["state"] for row in rows} == {"finished"}
    found.write_table(tmp_path / "makespans.csv")
    (tmp_path / "other.csv").write_text("a,b\n")
    with pytest.raises(TopoloomError, match=r"other.*--force"):
        found.write_table(tmp_path / "other.csv")
    page = found.to_html()
    assert page.count("<td>random:seed=2</td>") == 2 * len(NETWORKS) * len(APPS)
    assert "mesh:3x3, random:seed=2" in page
    found.write_plot(tmp_path / "makespans.svg")
    assert [bar.name for bar in found.plot().data] == [f"{spec}, {own}" for spec in NETWORKS for own in MAPPINGS]


def test_one_mapping_changes_nothing_of_a_page() -> None:
    found = topoloom.workload(NETWORKS, "reduce")
    assert "Mapping</th>" not in found.to_html()
    assert [bar.name for bar in found.plot().data] == NETWORKS


def test_training_steps_by_several_mappings_are_told_apart() -> None:
    app = "training:layers=2,hidden=64,sequence=32,tensor=2"
    found = topoloom.workload("torus:4x4", app, mapping=MAPPINGS)
    page = found.to_html()
    assert page.count(f"{app}, torus:4x4, random:seed=2") == 1
    assert set(found.events) == {("torus:4x4", app, own) for own in MAPPINGS}


def test_mistakes_in_mappings_come_before_runs() -> None:
    with pytest.raises(TopoloomError, match="unknown mapping 'randm'"):
        topoloom.workload("mesh:4", "reduce", mapping=["linear", "randm"])
    with pytest.raises(TopoloomError, match="one application on one network"):
        topoloom.workload("mesh:4", "reduce", mapping=["linear", "random"], timeline="t.json")
