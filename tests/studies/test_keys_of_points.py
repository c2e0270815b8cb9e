"""What identifies a point of a study: what its result depends on, and nothing else."""

import hashlib

import pytest

from topoloom.studies.points import StudyPoint, files_of

POINT = StudyPoint("simulate", "mesh:4x4", "dor", "uniform", 0.5, {"options": {"seed": 7, "warmup": 100}})
BASE = {
    "kind": "simulate", "spec": "mesh:4x4", "routing": "dor", "traffic": "uniform", "load": 0.5,
    "settings": {"options": {"seed": 7, "warmup": 100}},
}  # fmt: skip


def test_stored_results_are_found_by_the_same_keys():
    """A store would seem empty if the keys of a version of the models changed."""
    assert POINT.key_of(dict, 1) == "46c5f98b63262fcc929759ea1d7b62e1"
    assert len(POINT.key) == 32
    assert POINT.key_of(dict, 1) != POINT.key_of(dict, 2)


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "saturation"},
        {"spec": "mesh:4x5"},
        {"routing": "val"},
        {"traffic": "tornado"},
        {"load": 0.25},
        {"load": None},
        {"settings": {"options": {"seed": 8, "warmup": 100}}},
        {"settings": {"options": {"seed": 7, "warmup": 100}, "near": 0.5}},
        {"settings": {}},
    ],
)
def test_what_a_result_depends_on_makes_another_key(changed):
    other = StudyPoint(**BASE | changed)
    assert other.key != POINT.key
    assert other != POINT
    assert POINT.among({other.key: "other"}) is None
    assert len({POINT, other, StudyPoint(**BASE)}) == 2


@pytest.mark.parametrize(
    "same",
    [
        {"settings": {"options": {"warmup": 100, "seed": 7}}},
        {"settings": {"options": {"seed": 7, "warmup": 100, "threads": 3}}},
        {"origin": "own.toml, line 3"},
        {"role": "minimal"},
    ],
)
def test_what_a_result_does_not_depend_on_makes_none(same):
    """The order of options, threads, where the point stands and which role its routing has."""
    other = StudyPoint(**BASE | same)
    assert other.key == POINT.key
    assert other == POINT
    assert POINT.among({"1": "one", other.key: "other"}) == "other"
    assert other != POINT.key


def test_names_in_another_order_have_the_key_of_before_behind_their_own():
    plain, loose = (StudyPoint("facts", f"dragonfly:{keys}") for keys in ("a=4,h=2,p=2", "h=2,a=4,p=2"))
    assert loose.key == plain.key
    assert plain.keys == (plain.key,)
    assert loose.keys == (plain.key, loose.key_of(dict, as_written=True))
    assert loose.keys[1] != plain.key
    assert [loose.among({key: key}) for key in loose.keys] == list(loose.keys)
    assert loose.among({key: place for place, key in enumerate(loose.keys)}) == 0, "that of its own first"
    apps = ("allreduce:tasks=4,size=8", "allreduce:size=8,tasks=4")
    assert len({StudyPoint("workload", "mesh:4x4", "dor", app).key for app in apps}) == 1
    traffics = ("hotspot:nodes=0,5,share=0.2", "hotspot:share=0.2,nodes=0,5")
    assert len({StudyPoint("saturation", "mesh:4x4", "dor", traffic).key for traffic in traffics}) == 1


def test_files_that_a_point_reads_count_by_what_they_hold(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("0,1\n1,0\n")
    point = StudyPoint("simulate", "mesh:2", "dor", f"pairs:{file}", 0.5)
    told = {str(file): hashlib.sha256(file.read_bytes()).hexdigest()}
    assert point.files == [str(file)]
    assert point.contents == files_of(point.to_json()) == told
    assert point.changed_files() == []
    assert StudyPoint.from_json(point.to_json()).key == point.key
    file.write_text("1,0\n0,1\n")
    assert point.changed_files() == [str(file)]
    later = StudyPoint.from_json(point.to_json())
    assert later.key != point.key
    assert later.changed_files() == []
    assert point.key_of(later.contents.get) == later.key
    other = {str(file): "00"}
    assert files_of(point.to_json(other)) == other
    assert "files" not in POINT.to_json()
    assert files_of(POINT.to_json()) == {}
    assert files_of('{"files": ["own.csv"]}') == {}


@pytest.mark.parametrize(
    ("point", "label"),
    [
        (POINT, "simulate mesh:4x4 dor uniform load 0.5 seed 7"),
        (StudyPoint("facts", "mesh:4x4"), "facts mesh:4x4"),
        (StudyPoint("simulate", "mesh:4x4", "dor", "uniform", 0.0), "simulate mesh:4x4 dor uniform load 0"),
    ],
)
def test_points_are_told_in_a_line(point, label):
    assert point.label() == label
    assert StudyPoint.from_json(point.to_json()) == point
    assert list(point.named) == ["kind", "spec", "routing", "role", "traffic", "load", "seed"]


@pytest.mark.parametrize("text", ["[]", "7", '{"kind": "facts"}', '{"kind": "facts", "spec": "mesh:2", "own": 1}', "{"])
def test_what_is_no_point_is_an_error(text):
    with pytest.raises(ValueError):  # noqa: PT011 - JSON has errors of its own
        StudyPoint.from_json(text)


def test_kinds_that_are_not_known_read_no_files():
    point = StudyPoint("guess", "file:none.csv")
    assert (point.files, point.contents, len(point.key)) == ([], {}, 32)
