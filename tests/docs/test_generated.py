"""What Python mirrors of the engine is generated from the crate, and `make lint` says where it is out of date."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.paths import ROOT

GENERATED = ("_core.pyi", "engine/results.py", "simulation/run_options.py")


def lint(mirror: Path) -> subprocess.CompletedProcess[str]:
    """Compare what `mirror` has with what the crate says."""
    command = ["make", "--silent", "lint-generated", f"MIRROR={mirror}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.pages
def test_what_is_generated_is_up_to_date_or_lint_fails(tmp_path: Path) -> None:
    for name in GENERATED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "python/topoloom" / name, tmp_path / name)
    same = lint(tmp_path)
    assert (same.returncode, same.stderr) == (0, "")
    for name in GENERATED:
        file = tmp_path / name
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(": int", ": str", 1).replace(": U32", ": str", 1), encoding="utf-8")
        done = lint(tmp_path)
        file.write_text(text, encoding="utf-8")
        assert done.returncode != 0
        assert f"{file} is out of date; run make generate" in done.stderr
