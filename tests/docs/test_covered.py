"""The number of `make coverage` is that of the reports that it reads."""

import importlib.util

from harness.paths import ROOT

SPEC = importlib.util.spec_from_file_location("covered", ROOT / "tests/external/covered.py")
covered = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(covered)

LCOV = "SF:/a.rs\nDA:1,4\nDA:2,0\nDA:3,0\nDA:2,1\nend_of_record\nSF:/b.rs\nDA:7,0\nend_of_record\n"
OTHER_BUILD = "SF:/a.rs\nDA:2,0\nDA:4,0\nDA:3,2\nend_of_record\n"
PYTHON = {"files": {"a.py": {"summary": {"num_statements": 6}, "missing_lines": [2, 3, 4, 9]}}}


def test_both_reports_make_one_number():
    files = [*covered.from_lcov(LCOV), *covered.from_coverage(PYTHON)]
    assert [(file.lines, file.missing) for file in files] == [(3, [3]), (1, [7]), (6, [2, 3, 4, 9])]
    assert covered.share(files) == "40.0 % of 10 lines"
    assert covered.ranges(files[2].missing) == "2-4, 9"


def test_a_line_counts_if_one_build_ran_it():
    """Rust's tests and Python's run engines of two builds, which have some lines alone."""
    assert [(file.path, file.lines, file.missing) for file in covered.from_lcov(LCOV + OTHER_BUILD)] == [
        ("/a.rs", 4, [4]), ("/b.rs", 1, [7])
    ]  # fmt: skip


def test_a_file_and_the_copy_that_runs_count_once():
    missing = {"python/topoloom/a.py": [1, 2, 3, 4], "target/coverage/python/topoloom/a.py": [3, 5]}
    files = {path: {"summary": {"num_statements": 5}, "missing_lines": lines} for path, lines in missing.items()}
    found = covered.from_coverage({"files": files})
    assert [tuple(file) for file in found] == [("python/topoloom/a.py", 5, [3])]
