"""Papers as folders of data: what is run, what formulas find, and which verdicts come out."""

import json
import re
import shutil
import signal
import sqlite3
import tomllib

import pytest

from harness.paths import DATA, ROOT
from topoloom import TopoloomError
from topoloom._core import MODEL_VERSION
from topoloom.papers import Paper, Plan, names
from topoloom.papers.formulas import LOOKUPS, Formula
from topoloom.papers.mutations import mutants, unmoved
from topoloom.papers.paper import FILE, RESULTS, Claim, folder, margin, numbers
from topoloom.papers.reproduction import processor_s, shown, verdict_on
from topoloom.studies import LocalExecutor

TINY = DATA / "papers/tiny"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("tiny") / "results.store"


@pytest.fixture(scope="module")
def whole(store):
    """The tiny paper, run to its end."""
    return Plan(Paper.read(TINY)).run(store)


def test_workloads_of_papers_have_rates_of_their_own():
    """What links run at unless it is said may change; the results of papers may not."""
    for file in sorted((ROOT / "papers").glob("*/*.toml")):
        study = tomllib.loads(file.read_text())
        for sweep in study.get("sweep", []):
            own = study.get("defaults", {}) | sweep
            if own.get("kind") == "workload":
                options = study.get("defaults", {}).get("options", {}) | sweep.get("options", {})
                networks = [own["networks"]] if isinstance(own["networks"], str) else own["networks"]
                assert "rate" in options or all("rate=" in spec for spec in networks), file


def verdicts(found):
    return {claim.id: claim.verdict for claim in found.claims}


def test_every_verdict_comes_out(whole):
    assert verdicts(whole) == {
        "links-mesh": "reproduced",
        "links-torus": "close",
        "links-wrong": "not-reproduced",
        "radix-erratum": "erratum",
        "no-erratum": "not-reproduced",
        "secret": "not-testable",
        "hops-grow": "reproduced",
        "latency-half": "reproduced",
        "slow-one": "reproduced",
    }
    told = {claim.id: claim for claim in whole.claims}
    assert told["links-torus"].measured == 32
    assert told["secret"].measured == {"a-mesh": 24, "a-torus": 32}
    assert len(told["hops-grow"].evidence) == 2  # both seeds
    assert {row["seed"] for row in told["hops-grow"].evidence} == {1, 2}
    assert whole.items[0].tables[0][0][1].measured == "32"
    assert whole.items[0].tables[0][0][1].published == "31"


def test_a_quick_run_takes_other_points_and_leaves_some_out(topoloom, tmp_path):
    outcome = topoloom("reproduce", str(TINY), "--quick", "--out", str(tmp_path), "--json")
    assert outcome.status == 0
    found = outcome.json()
    assert found["quick"]
    assert [claim["id"] for claim in found["not_measured"]] == ["slow-one"]
    assert "8 of 8 points to run" in outcome.err  # two networks, three loads, two seeds
    page = (tmp_path / "tiny.html").read_text()
    assert "Quick run" in page
    assert "not measured" in page
    again = topoloom("reproduce", str(TINY), "--quick", "--out", str(tmp_path))
    assert "0 of 8 points to run" in again.err
    assert "not reproduced: links-wrong" in again.err


def test_only_what_is_asked_for_is_run(topoloom, tmp_path):
    outcome = topoloom("reproduce", str(TINY), "--only", "fig1", "--out", str(tmp_path), "--json")
    assert {claim["part"] for claim in outcome.json()["claims"]} == {"fig1"}
    assert "12 of 12 points to run" in outcome.err  # transpose is not needed
    assert "about" in outcome.err
    keys = {"paper", "version", "points", "seconds", "claims"}
    assert keys <= outcome.json().keys()
    assert {"id", "item", "published", "measured", "verdict", "note"} <= outcome.json()["claims"][0].keys()


def test_a_run_that_was_stopped_goes_on(tmp_path):
    """Ctrl-C after some points: claims without results have no verdict, and the second run does the rest alone."""
    store = tmp_path / "store"

    def stop(progress):
        if progress.done:
            signal.raise_signal(signal.SIGINT)

    plan = Plan(Paper.read(TINY))
    first = plan.run(store, executor=LocalExecutor(1), on_progress=stop)
    assert not first.progress.finished
    assert any(claim.verdict is None for claim in first.claims)
    second = plan.run(store, executor=LocalExecutor(1))
    assert second.progress.before == first.progress.done > 0
    assert all(second.claims[place].verdict for place in range(len(second.claims)))


def test_results_of_another_version_are_told_and_not_used(topoloom, tmp_path):
    first = topoloom("reproduce", str(TINY), "--only", "table1", "--out", str(tmp_path), "--json").json()
    with sqlite3.connect(tmp_path / "results.store/ledger.sqlite") as ledger:
        ledger.execute(
            "UPDATE points SET model_version = CASE WHEN point LIKE '%mesh%' THEN 3 END, key = 'other' || key"
        )
        ledger.execute("UPDATE points SET result = (SELECT '{\"links\": 1}'), part = NULL")
    outcome = topoloom("reproduce", str(TINY), "--only", "table1", "--out", str(tmp_path), "--json")
    assert "2 of 2 points to run" in outcome.err
    for version in (0, 3):  # where a store says nothing of a result's version, it is one before the first
        assert f"1 result of version {version} of the models, which are not used" in outcome.err
        assert f"of version {version} of the models" in (tmp_path / "tiny.html").read_text()
    assert outcome.json()["claims"] == first["claims"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("flexx",), "flex"),
        ((str(TINY), "--only", "table2"), "table1"),
        (("./nowhere",), "no paper.toml"),
        ((), "there are"),
    ],
)
def test_mistakes_of_users(topoloom, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    outcome = topoloom("reproduce", *arguments)
    assert outcome.status == 2
    assert sentence in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('title = "A tiny', 'tilte = "A tiny', "line 1: unknown key 'tilte'"),
        ('kind = "bars"', 'kind = "pie"', "kind is 'pie'"),
        ("spec=mesh)", "spec=mush)", "unknown name 'mush'"),
        ("spec=mesh)", "sepc=mesh)", "unknown condition 'sepc'"),
        ("spec=mesh)", "spec='mesh:5x5')", "no study that it needs asks for spec=mesh:5x5"),
        ("value('links', spec=mesh)", "vaule('links', spec=mesh)", "unknown function 'vaule'"),
        ("value('links', spec=mesh)", "value('links')", "2 points of kind facts meet no condition; give more"),
        (
            "value('links', spec=mesh)",
            "value('links', kind='facts')",
            "2 points of kind facts meet kind=facts; give more",
        ),
        ("value('links', spec=mesh)", "__import__('os')", "unknown function '__import__'"),
        ("value('links', spec=mesh)", "mesh.upper()", "cannot be called"),
        ("value('links', spec=mesh)", "lambda: 1", "is not allowed in a formula"),
        ('needs = ["graphs"]', 'needs = ["grahps"]', "unknown study 'grahps'"),
        ('id = "fig1"', 'id = "table1"', "table1 is given twice"),
        ('id = "links-wrong"', 'id = "links-mesh"', "links-mesh is given twice"),
        ("within = 1\n", "", "give within"),
        ('close = "5 %"', 'close = "5 parts"', "it must be a number, or a part"),
        ('id = "links-wrong"', 'id = "links-wrung"', "no row of published.csv"),
        ('file = "graphs.toml"', 'file = "graph.toml"', "no file graph.toml"),
        ("measured = { a-mesh", "measured = { it", "'it' is measured here, and a name of the paper as well"),
        ("y = \"value('diameter', spec=it)", "y = \"value('diameter', spec=ti)", "table1, diameter: unknown name 'ti'"),
        ("published = [6, 4] }", 'published = [6, 4], x = "xx" }', "table1, diameter: unknown name 'xx'"),
        ("measured = \"value('links', spec=it)\", published", 'measured = "ti", published', "table1, links: unknown"),
        ('holds = "abs(hops', 'holds = "abs(hpos', "hops-grow: unknown name 'hpos'"),
        ('nearly = "abs(hops', 'nearly = "abs(hpos', "hops-grow: unknown name 'hpos'"),
        ("within = 0\nclose", 'target = "aim"\nwithin = 0\nclose', "links-mesh: unknown name 'aim'"),
    ],
)
def test_mistakes_in_a_paper(tmp_path, old, new, sentence):
    path = tmp_path / "tiny"
    shutil.copytree(TINY, path)
    text = (path / FILE).read_text()
    assert old in text
    (path / FILE).write_text(text.replace(old, new, 1))
    with pytest.raises(TopoloomError, match=re.escape(sentence)):
        Plan(Paper.read(path))


@pytest.mark.usefixtures("whole")
def test_a_formula_of_a_table_is_that_of_its_rows(store, tmp_path):
    """One formula for all rows that have none, and its own first."""
    path = tmp_path / "tiny"
    shutil.copytree(TINY, path)
    text, old = (path / FILE).read_text(), """row = [{ label = "links", measured = "value('links', spec=it)","""
    assert old in text
    for new, cells in (
        ("""measured = "value('links', spec=it)"\nrow = [{ label = "links",""", ["24", "32"]),
        ("""measured = "1"\n""" + old, ["24", "32"]),
        ("""row = [{ label = "links", measured = "1",""", ["1", "1"]),
    ):
        (path / FILE).write_text(text.replace(old, new))
        (item,) = Plan(Paper.read(path), ["table1"]).run(store).items
        assert [cell.measured for cell in item.tables[0][0]] == cells


def test_points_take_their_share_of_the_seconds_of_their_study():
    """Fig. 1 needs half of the study's points, which take 30 seconds, and 3 with --quick; the others are not noted."""
    for quick, seconds in ((False, 15), (True, 1.5)):
        plan = Plan(Paper.read(TINY), ["fig1"], quick=quick)
        assert plan.seconds({}) == pytest.approx(seconds)
        light, heavy = ([p for p in plan.points if (p.load > 0.25) == more] for more in (False, True))
        assert 0 < plan.seconds(dict.fromkeys((p.key for p in light), "done")) < seconds
        left = [plan.seconds(dict.fromkeys((p.key for p in some), "done")) for some in (light, heavy)]
        assert sum(left) == pytest.approx(seconds)
        assert plan.seconds(dict.fromkeys((p.key for p in plan.points), "done")) == 0
    assert Plan(Paper.read(TINY), ["table1"]).seconds({}) == 0


def test_a_field_that_no_result_has_is_a_mistake(tmp_path):
    path = tmp_path / "tiny"
    shutil.copytree(TINY, path)
    text = (path / FILE).read_text().replace("value('links', spec=it)", "value('linsk', spec=it)")
    (path / FILE).write_text(text)
    with pytest.raises(TopoloomError, match="has a 'linsk'"):
        Plan(Paper.read(path), ["table1"]).run(tmp_path / "store")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("[a - b for a, b in [[5, 3], [4, 4]] if a > b]", [2]),
        ("max(x for x in range(4))", 3),
        ("1 < 2 <= 2 and not 3 != 3", True),
        ("1 < 2 <= 1", False),
        ("1 < 2 and 2 < 1", False),
        ("1 < 2 or 2 < 1", True),
        ("mean([1, 2, 6])", 3),
        ("sorted([1, 2], reverse=True)", [2, 1]),
        ("len(range(100000))", 100000),
        ("100 * moore(3, 2)", 1000),
        ("'a' if 1 > 2 else 'b'", "b"),
        ("-len([1, 2])", -2),
    ],
)
def test_arithmetic(text, value):
    assert Formula.parse(text).evaluate({}) == value


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "max([])",
        "[1][3]",
        "range(10**9)",
        "range(100001)",
        "mean([])",
        "sqrt(-1)",
        "'a' - 1",
        "[a for a, b in [[1, 2, 3]]]",
    ],
)
def test_arithmetic_without_an_answer(text):
    with pytest.raises(TopoloomError):
        Formula.parse(text.replace("10**9", "1000000000")).evaluate({})


@pytest.mark.parametrize("text", ["max(*it)", "max(**it)", "max(1, *it)", "sorted(it, reverse=True, **it)"])
def test_a_formula_has_no_stars(text):
    with pytest.raises(TopoloomError, match=r"no \* before an argument"):
        Formula.parse(text)


def test_what_a_formula_may_not_have_is_quoted():
    with pytest.raises(TopoloomError, match="'lambda: 1' is not allowed in a formula"):
        Formula.parse("(lambda: 1)")


@pytest.mark.parametrize("name", sorted(LOOKUPS))
def test_results_are_looked_up_only_where_there_are_some(name):
    with pytest.raises(TopoloomError, match=f"{name} looks results up; there are none here"):
        Formula.parse(f"{name}('links')").evaluate({})


def test_names_of_comprehensions_are_their_own():
    assert Formula.parse("[i + n for i in range(k)]").names() == {"n", "k"}


def test_numbers_in_texts_and_tolerances():
    assert numbers("1,056/264/15") == [1056, 264, 15]
    assert numbers("5490000.0 and 3.05e6") == [5490000, 3050000]
    assert margin("5 %", -200) == 10
    assert margin(0.5, 200) == 0.5


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (7.0, None, "7"),
        (1234.0, None, "1,234"),
        (1234.5, None, "1234"),
        (12.34567, None, "12.35"),
        (9999.4, None, "9999"),
        (9999.5, None, "10,000"),
        (17_740.8, None, "17,741"),
        (-123_456.7, None, "-123,457"),
        (2.346, 1, "2.3"),
        (12_345, 2, "12,345.00"),
        (True, 3, "yes"),
        (False, None, "no"),
        (None, None, "–"),
        ("par", None, "par"),
        ([1, 2.5, True], None, "1, 2.5, yes"),
        ([1, 2.5], 1, "1.0, 2.5"),
        ({"a_b": 1.25, "c": [2]}, None, "a b 1.25, c 2"),
    ],
)
def test_values_are_shown_as_people_read_them(value, decimals, text):
    assert shown(value, decimals) == text


@pytest.mark.parametrize(
    ("result", "wall_s", "seconds"),
    [
        ({"cpu_s": 2.5}, 9.0, 2.5),
        ({"points": [{"cpu_s": 1.5}, {"cpu_s": 2.0}, 7]}, 9.0, 3.5),
        ({"cpu_s": None, "points": [{"cpu_s": None}]}, 9.0, 9.0),
        ({}, 9.0, 9.0),
        ({}, None, 0.0),
    ],
)
def test_seconds_of_a_point_are_those_of_processors_where_they_were_measured(result, wall_s, seconds):
    assert processor_s({"result": json.dumps(result), "wall_s": wall_s}) == seconds


# The papers themselves.


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("quick", [False, True])
def test_a_paper_is_whole(name, quick):
    """Every study reads, every formula asks for points that there are, and every row of published.csv is a claim."""
    paper = Paper.named(name)
    plan = Plan(paper, quick=quick)
    assert plan.points or paper.comparison
    claimed = {claim for item in paper.item for claim, _, _ in paper.claims(item)}
    assert set(paper.rows) <= claimed


def test_papers_are_found_in_a_checkout():
    assert folder().resolve() == ROOT / "papers"
    assert set(names()) == {path.parent.name for path in (ROOT / "papers").glob(f"*/{FILE}")}


# Whether claims can fail.


def test_mutants_of_measured_values():
    told = [(mutant.mutation, dict(mutant.values)) for mutant in mutants({"a": 4, "b": 0, "c": [1, 2], "d": True})]
    assert ("halved", {"a": 2, "b": 0, "c": [1, 2], "d": True}) in told
    assert ("doubled", {"a": 4, "b": 1, "c": [1, 2], "d": True}) in told
    assert ("doubled", {"a": 4, "b": 0, "c": [2, 4], "d": True}) in told
    assert ("exchanged", {"a": 4, "b": 0, "c": [2, 1], "d": True}) in told
    assert ("exchanged", {"a": 0, "b": 4, "c": [1, 2], "d": True}) in told
    assert ("halved", {"a": 4, "b": 0, "c": [1, 2], "d": False}) in told


def told_of(found, published="about 2", **claim):
    paper = Paper.read(TINY)
    one = Claim(id="one", says="something", published=published, **claim)
    return unmoved(paper, "one", one, None, found)


def test_claims_that_can_fail_and_claims_that_cannot():
    ratio = {"lbr": "1.0", "minimal": "0.5"}
    values = {"lbr": 0.8, "minimal": 0.4}
    assert told_of(values, measured=ratio, holds="1.7 <= lbr / minimal <= 2.3") == []
    # No upper limit: twice as much again would be called about twice.
    assert told_of(values, measured=ratio, holds="1.7 <= lbr / minimal") == ["doubled"]
    assert told_of(values, measured=ratio, holds="1.7 <= lbr / minimal", unmoved={"doubled": "a lower limit"}) == []
    assert told_of(values, "higher", measured=ratio, holds="lbr > minimal") == []
    # A value that plays no part, a limit wider than what is claimed, and nothing measured at all.
    assert told_of(values, "higher", measured=ratio, holds="lbr > 0.5") == ["doubled", "minimal"]
    assert told_of(2, measured="2", within=3) == ["halved", "doubled", "measured"]
    assert told_of(None, holds="2 + 2 == 4") == ["it measures nothing"]
    # What is not reproduced has failed, and what is ours is not held against the paper.
    assert told_of(4, measured="4", within=1) == []
    assert told_of(None, holds="2 + 2 == 4", whose="constant") == []


def test_a_verdict_rests_on_what_was_measured():
    with pytest.raises(TopoloomError, match="there are none here"):
        told_of(24, measured="value('links', spec=mesh)", holds="value('links', spec=mesh) == 24")


def test_a_reason_for_no_such_mutation_is_a_mistake():
    with pytest.raises(ValueError, match="doubled"):
        Claim(id="one", measured="1", within=0, unmoved={"duobled": "a lower limit"})


KEPT = [name for name in names() if (folder() / name / RESULTS).is_file()]


@pytest.mark.parametrize("name", KEPT)
def test_claims_of_papers_can_fail(name):
    """What a run measured, judged again: the same verdicts, and others once it is halved, doubled, exchanged."""
    paper = Paper.named(name)
    kept = {claim["id"]: claim for claim in json.loads((paper.folder / RESULTS).read_text())["claims"]}
    found = {}
    for item in paper.item:
        for one, claim, it in paper.claims(item):
            if (told := kept.get(one)) is None:
                continue  # the run left it out
            published = claim.published or paper.rows.get(one, {}).get("published", "")
            if claim.whose == "paper":
                measured = told["measured"]
                assert verdict_on(claim, measured, paper.names | {"it": it}, published) == told["verdict"], one
                found[one] = unmoved(paper, one, claim, it, measured)
            assert (told["whose"], told["reading"]) == (claim.whose, claim.reading)
    assert {one: why for one, why in found.items() if why} == {}


def test_results_that_come_with_papers_are_printed(topoloom):
    outcome = topoloom("reproduce", "--kept")
    assert outcome.status == 0
    assert [line.split()[0] for line in outcome.out.splitlines()[2:]] == KEPT
    runs = {run["paper"]: run for run in topoloom("reproduce", "--kept", "--json").json()}
    for name in KEPT:
        kept = topoloom("reproduce", name, "--kept", "--json").json()
        assert kept == json.loads((folder() / name / RESULTS).read_text())
        assert runs[name]["totals"] == kept["totals"]
        told = topoloom("reproduce", name, "--kept").out
        for claim in kept["claims"]:
            shown = claim["whose"] != "ours" and (claim["whose"], claim["verdict"]) not in (
                ("paper", "reproduced"),
                ("paper", "erratum"),
            )
            assert (claim["id"] in told.split()) == shown, claim["id"]


def test_a_paper_without_results(topoloom):
    outcome = topoloom("reproduce", str(TINY), "--kept")
    assert outcome.status == 2
    assert "no results are kept" in outcome.err


def test_verdicts_of_a_run_take_the_place_of_those_that_were_kept(topoloom, tmp_path):
    """Each claim says which models judged it; a claim that the run did not measure keeps its verdict."""
    path = tmp_path / "tiny"
    shutil.copytree(TINY, path)
    assert topoloom("reproduce", str(path), "--quick", "--keep", "--out", str(tmp_path / "out")).status == 0
    first = json.loads((path / RESULTS).read_text())
    assert {claim["quick"] for claim in first["claims"]} == {True}
    assert [one["id"] for one in first["not_measured"]] == ["slow-one"]
    assert first["totals"]["paper"]["not measured"] == 1
    assert not any("evidence" in claim for claim in first["claims"])
    # Results of other models, and a claim that the paper no longer makes.
    older = first | {"model_version": 1, "claims": [claim | {"model_version": 1} for claim in first["claims"]]}
    older["claims"].append(first["claims"][0] | {"id": "withdrawn"})
    (path / RESULTS).write_text(json.dumps(older))
    text = (path / FILE).read_text()
    (path / FILE).write_text(text.replace('within = 1\nclose = "10 %"', 'within = 99\nwhose = "ours"'))
    assert topoloom("reproduce", str(path), "--only", "fig1", "--keep", "--out", str(tmp_path / "out")).status == 0
    kept = json.loads((path / RESULTS).read_text())
    versions = {claim["id"]: (claim["model_version"], claim["quick"]) for claim in kept["claims"]}
    assert versions["links-mesh"] == (1, True)
    assert versions["hops-grow"] == (MODEL_VERSION, False)
    assert "withdrawn" not in versions
    assert [one["id"] for one in kept["not_measured"]] == ["slow-one"]
    assert kept["totals"]["ours"] == {"reproduced": 1}, "judged again by what was measured before"
    assert sum(kept["totals"]["paper"].values()) == len(kept["claims"])
    assert (first["points"], kept["points"]) == (2 + 6, 2 + 12)
    assert topoloom("reproduce", str(path), "--kept", "--json").json() == kept


@pytest.mark.parametrize("damaged", ["", "{", '{"paper": "tiny"}', "[1]"])
def test_results_that_do_not_read_are_reported_before_the_run(topoloom, tmp_path, damaged):
    path = tmp_path / "tiny"
    shutil.copytree(TINY, path)
    (path / RESULTS).write_text(damaged)
    outcome = topoloom("reproduce", str(path), "--quick", "--keep", "--out", str(tmp_path / "out"))
    assert outcome.status == 2
    assert f"{path / RESULTS} holds no results of a paper" in outcome.err
    assert not (tmp_path / "out").exists()
    assert (path / RESULTS).read_text() == damaged


def _kept_again(topoloom, path, only, *, quick=True):
    """Return the results that come with a paper after one more run of it."""
    run = topoloom("reproduce", str(path), *(["--quick"] * quick), "--only", only, "--keep", "--out", str(path / "out"))
    assert run.status == 0
    return json.loads((path / RESULTS).read_text())


@pytest.fixture
def sharing(tmp_path):
    """Return the tiny paper, of whose quick run table 1 needs 2 points alone, Fig. 1 4 alone, and both 2; text none."""
    path = tmp_path / "tiny"
    shutil.copytree(TINY, path)
    shared = '{ study = "loads", traffic = ["uniform"], load = 0.1 }'
    text = (path / FILE).read_text().replace('needs = ["graphs"]', f'needs = ["graphs", {shared}]')
    (path / FILE).write_text(f'{text}\n[[item]]\nid = "text"\ntitle = "Text"\n')
    return path


def test_points_that_several_runs_have_count_once(topoloom, sharing, monkeypatch):
    for only, took, points, seconds in (
        ("table1", 10, 4, 4 * 10),
        ("fig1", 20, 8, 2 * 10 + 6 * 20),
        ("fig1", 20, 8, 2 * 10 + 6 * 20),
        ("table1", 5, 8, 4 * 5 + 4 * 20),
    ):
        monkeypatch.setattr("topoloom.papers.kept.processor_s", lambda _, took=took: float(took))
        kept = _kept_again(topoloom, sharing, only)
        assert (kept["points"], kept["seconds"]) == (points, seconds)
    assert sorted((part["items"], part["points"]) for part in kept["parts"]) == [
        (["fig1"], 4),
        (["table1"], 2),
        (["table1", "fig1"], 2),
    ]


def test_sums_that_earlier_versions_kept_lose_what_is_run_again(topoloom, sharing, monkeypatch):
    """Its seconds are not known one by one: they are lost by the number of points. Three points of Fig. 2 stay."""
    monkeypatch.setattr("topoloom.papers.kept.processor_s", lambda _: 5.0)
    kept = _kept_again(topoloom, sharing, "table1,fig1")
    del kept["parts"]
    (sharing / RESULTS).write_text(json.dumps(kept | {"points": 8 + 3, "seconds": 110}))
    for only, seconds in (("table1", 4 * 5 + 7 * 10), ("fig1", 8 * 5 + 3 * 10)):
        kept = _kept_again(topoloom, sharing, only)
        assert (kept["points"], kept["seconds"]) == (8 + 3, seconds)


def test_points_of_items_that_a_run_leaves_out_stay(topoloom, sharing):
    """A quick run has none for Fig. 2; nothing stays of an item that the paper no longer has, nor of a whole run."""
    for file, old, new in (
        ("slow.toml", '"torus:4x4"', '["torus:4x4", "torus:5x5"]'),
        ("loads.toml", '"1:2"', '"1:8"'),
        (FILE, "quick = { loads", 'quick = { seeds = "1:2", loads'),
    ):
        (sharing / file).write_text((sharing / file).read_text().replace(old, new))
    every = "table1,fig1,fig2,text"
    kept = _kept_again(topoloom, sharing, every, quick=False)
    assert kept["points"] == 2 + 48 + 1
    kept["parts"].append({"items": ["fig9"], "points": 3, "seconds": 30})
    (sharing / RESULTS).write_text(json.dumps(kept))
    assert _kept_again(topoloom, sharing, "fig1")["points"] == 2 + 6 + 1, "both items are counted by the last run"
    assert _kept_again(topoloom, sharing, every)["points"] == 2 + 6 + 1
    del kept["parts"]
    (sharing / RESULTS).write_text(json.dumps(kept | {"points": 100}))
    assert _kept_again(topoloom, sharing, every, quick=False)["points"] == 2 + 48 + 1


def test_totals_tell_the_papers_claims_and_ours_apart(tmp_path):
    path = tmp_path / "tiny"
    shutil.copytree(TINY, path)
    text = (path / FILE).read_text()
    text = text.replace('id = "links-wrong"', 'id = "links-wrong"\nwhose = "ours"\nreading = "links are cables"')
    (path / FILE).write_text(text)
    found = Plan(Paper.read(path), ["table1"]).run(tmp_path / "store")
    assert found.totals()["ours"] == {"not-reproduced": 1}
    assert sum(found.totals()["paper"].values()) == len(found.claims) - 1
    told = next(claim for claim in found.to_dict()["claims"] if claim["id"] == "links-wrong")
    assert (told["whose"], told["reading"]) == ("ours", "links are cables")
    assert "under this reading: links are cables" in found.to_html()


def test_the_page_holds_its_charts_and_every_claim(whole):
    from topoloom.papers.page import render_paper  # noqa: PLC0415 - loads slowly

    page = render_paper(whole)
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    bars, curves = data["figures"]
    assert bars["series"][0]["x"] == ["mesh", "torus"]
    assert bars["series"][0]["y"] == [6, 4] == bars["series"][0]["published"]
    assert curves["series"][0]["latency"][0]["offered"] == 0.1
    for claim in whole.claims:
        assert f'id="claim-{claim.id}"' in page
    assert page == render_paper(whole)
