"""`make mutants-rust` writes a source with its changes, each behind a switch, and leaves constants and tests alone."""

import importlib.util

import pytest

from harness.paths import ROOT

pytest.importorskip("tree_sitter_rust", reason="make mutants-rust installs it")
SPEC = importlib.util.spec_from_file_location("rust_mutants", ROOT / "tests/external/rust_mutants.py")
rust = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(rust)

SOURCE = """const LIMIT: u32 = 3 + 4;
fn most(a: u32, b: u32) -> u32 {
    if !a.is_power_of_two() && b < 2 {
        return a.max(b.min(1));
    }
    let mut sum = a;
    sum += 5;
    sum
}
#[cfg(test)]
mod tests {
    fn one() -> u32 { 1 + 1 }
}
"""


def test_a_source_without_a_change_is_the_same():
    assert rust.instrumented(SOURCE.encode(), {}) == SOURCE


def test_every_change_is_one_and_behind_its_own_switch():
    found = rust.mutants("a.rs", SOURCE.encode())
    shown = [rust.shown(own, SOURCE.encode()).rpartition(" -> ")[2] for own in found]
    assert sorted(shown) == sorted(
        ["returns 0 at once", "returns 1 at once", "condition negated", "operator ||", "without !", "operator <=", "3",
         ".min()", ".max()", "2", "deleted", "operator -=", "6"]
    )  # fmt: skip
    assert not any(own.rows[0] in (1, 11, 12) for own in found)
    for number, own in enumerate(found):
        text = rust.instrumented(SOURCE.encode(), {number: own})
        assert text.count(f"crate::mutant::on({number})") == 1
        assert text.count("\n") == SOURCE.count("\n"), "lines stay where they are"


def test_changes_within_a_change_are_all_there():
    found = rust.mutants("a.rs", SOURCE.encode())
    text = rust.instrumented(SOURCE.encode(), dict(enumerate(found)))
    assert all(f"crate::mutant::on({number})" in text for number in range(len(found)))
    only = {4: next(own for own in found if own.value == "<=")}
    assert "(if crate::mutant::on(4) { b <= 2 } else { b < 2 })" in rust.instrumented(SOURCE.encode(), only)
