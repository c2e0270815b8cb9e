"""Marks of long and external tests can be asked for without what single targets of make install."""

import subprocess
import sys

from harness.paths import ROOT

WITHOUT = """
import sys
sys.modules["tree_sitter"] = sys.modules["tree_sitter_rust"] = None
import pytest
sys.exit(pytest.main(["-q", "-m", "long or tools", "--collect-only", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
"""Runs pytest where the packages of `make mutants-rust` cannot be imported."""


def test_long_and_external_tests_are_found_without_the_packages_of_other_targets():
    folders = [str(ROOT / "tests" / name) for name in ("external", "long")]
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT, *folders], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "test_booksim_points.py" in ran.stdout
    assert "test_tools.py" in ran.stdout
