"""The wheel in fresh environments: the core without extras, what an extra adds, and what each costs."""

import os
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from harness.paths import ROOT

pytestmark = pytest.mark.wheel

SECONDS = 60
"""From the wheel to the first report, compilers hidden."""

MEGABYTES = 140
"""What the core may take on the disk with its dependencies, pip aside; NumPy alone takes 75."""

COMMANDS = (
    "show torus:4x4",
    "simulate torus:4x4 --load 0.2",
    "verify torus:4x4",
    "workload torus:4x4 --app allreduce:size=1KiB",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "maturin", "build", "--release", "--out", folder], check=True, cwd=ROOT)
    (found,) = folder.glob("*.whl")
    return found


class Fresh:
    """An environment that has pip alone, in which no compiler is found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=True)
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")

    def run(self, *words: str, status: int = 0) -> str:
        # Proxies and package indexes are configured by the environment: it stays, but for the path.
        done = subprocess.run(
            [self.bin / words[0], *words[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=self.folder,
            env=os.environ | {"PATH": str(self.bin)},
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def install(self, what: str) -> None:
        self.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what)

    def megabytes(self) -> float:
        """Return the size of what is installed besides pip and setuptools."""
        files = (path for path in self.folder.rglob("site-packages/**/*") if path.is_file() and not path.is_symlink())
        tools = {"pip", "setuptools", "pkg_resources", "_distutils_hack"}
        return sum(path.stat().st_size for path in files if not tools & set(path.parts)) / 1e6


def test_the_core_of_the_wheel(wheel, tmp_path):
    fresh = Fresh(tmp_path / "core")
    fresh.install(str(wheel))
    size = fresh.megabytes()
    print(f"\nthe core takes {size:.0f} MB on the disk, the wheel {wheel.stat().st_size / 1e6:.1f} MB")
    assert size < MEGABYTES
    for command in COMMANDS:
        fresh.run("topoloom", *command.split())
    said = fresh.run("topoloom", "compare", "mesh:3", "--out", "r.html", status=2)
    assert "pip install 'topoloom[report]'" in said


def test_the_first_report_of_a_fresh_environment(wheel, tmp_path):
    begun = time.monotonic()
    fresh = Fresh(tmp_path / "report")
    fresh.install(f"{wheel}[report]")
    fresh.run("topoloom", "compare", "mesh:4x4", "torus:4x4", "--out", "report.html")
    took = time.monotonic() - begun
    print(f"\nfrom the wheel to the first report: {took:.0f} s, {fresh.megabytes():.0f} MB")
    assert took < SECONDS
