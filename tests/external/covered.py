"""Line coverage of Python and Rust in one number, and the lines that no test runs: `make coverage`.

Arguments are those of pytest, such as folders of tests; without any, all tests run. A line of Rust counts if a test of
Rust or a test of Python runs it: both run an engine that counts its lines. What other processes run counts as well,
unless they are killed. Status 3: Rust could not be measured, and the number is that of Python.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
OUT = ROOT / "target/coverage"
PACKAGE = OUT / "python/topoloom"
"""A copy of the package with the engine that counts its lines."""


class File(NamedTuple):
    """What is covered of a file."""

    path: str
    lines: int
    missing: list[int]


def counting() -> dict[str, str] | None:
    """Return the environment in which cargo builds what counts its lines; None without cargo-llvm-cov."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(OUT / "build"), "PYO3_PYTHON": sys.executable}
    shown = subprocess.run(
        ["cargo", "llvm-cov", "show-env"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if shown.returncode:
        return None
    own = dict(word.split("=", 1) for word in shlex.split(shown.stdout) if "=" in word)
    # One file for all processes, which add to it, not one for each.
    return environment | own | {"LLVM_PROFILE_FILE": own["LLVM_PROFILE_FILE"].replace("-%p", "")}


def build(environment: dict[str, str]) -> None:
    """Run Rust's tests, and copy the package with the engine that counts its lines."""
    for command in (
        ["llvm-cov", "clean", "--profraw-only"],
        ["test", "--package", "topoloom", "--lib", "--no-fail-fast"],
        ["build", "--release", "--package", "topoloom-python", "--features", "pyo3/extension-module"],
    ):
        subprocess.run(["cargo", *command], cwd=ROOT, env=environment, check=command[0] == "build")
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(ROOT / "python/topoloom", PACKAGE, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    suffix = "dylib" if sys.platform == "darwin" else "so"
    shutil.copyfile(OUT / f"build/release/lib_core.{suffix}", PACKAGE / "_core.abi3.so")
    environment["PYTHONPATH"] = str(PACKAGE.parent)


def of_python(tests: list[str], environment: dict[str, str]) -> list[File]:
    """Run Python's tests, and return what they cover."""
    report = OUT / "python.json"
    report.unlink(missing_ok=True)
    # Examples in docstrings are those of the package that runs: of one name, pytest imports one file.
    where = tests or [str(ROOT / "tests"), str(PACKAGE if PACKAGE.exists() else ROOT / "python")]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "--cov=topoloom",
         f"--cov-config={ROOT / 'tests/external/coverage.toml'}", f"--cov-report=json:{report}", *where],
        cwd=ROOT, env=environment, check=False,
    )  # fmt: skip
    return from_coverage(json.loads(report.read_text(encoding="utf-8")))


def from_coverage(report: dict) -> list[File]:
    """Return the files of a report of coverage.py, a file and its copy once: a line counts if one of them ran."""
    found: dict[str, File] = {}
    for path, own in report["files"].items():
        name, missing = path.replace("target/coverage/python/", "python/"), own["missing_lines"]
        if name in found:
            missing = sorted(set(missing) & set(found[name].missing))
        found[name] = File(name, own["summary"]["num_statements"], missing)
    return list(found.values())


def of_rust(environment: dict[str, str]) -> list[File]:
    """Return what the tests of both languages cover of Rust, after they have run."""
    text = ""
    for profile in ([], ["--release"]):
        report = OUT / "rust.info"
        command = ["cargo", "llvm-cov", "report", "--lcov", "--output-path", str(report), *profile]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        text += report.read_text(encoding="utf-8")
    return list(from_lcov(text))


def from_lcov(report: str) -> Iterator[File]:
    """Yield each file of reports in the format of lcov once, lines of unit tests included.

    A line that several builds have counts if one of them ran it.
    """
    found: dict[str, dict[int, int]] = {}
    path = ""
    for entry in report.splitlines():
        key, _, value = entry.partition(":")
        if key == "SF":
            path = value
        elif key == "DA":
            number, count = map(int, value.split(",")[:2])
            lines = found.setdefault(path, {})
            lines[number] = lines.get(number, 0) + count
    for path, lines in found.items():
        yield File(path, len(lines), sorted(number for number, count in lines.items() if not count))


def ranges(numbers: list[int]) -> str:
    """Return numbers as text, those that follow each other as a range."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in found)


def share(files: list[File]) -> str:
    """Return the covered share of the lines of files, in a sentence."""
    lines, missing = sum(file.lines for file in files), sum(len(file.missing) for file in files)
    return f"{100 * (lines - missing) / max(lines, 1):.1f} % of {lines:,} lines"


def main(tests: list[str]) -> int:
    """Measure, and print what is not covered and the number."""
    OUT.mkdir(parents=True, exist_ok=True)
    environment = counting()
    if environment:
        build(environment)
    measured = {
        "Python": of_python(tests, environment or dict(os.environ)),
        "Rust": of_rust(environment) if environment else [],
    }
    for files in measured.values():
        for file in sorted(files, key=lambda file: -len(file.missing)):
            if file.missing:
                print(f"{Path(file.path).resolve().relative_to(ROOT)}: {ranges(file.missing)}")
    for language, files in measured.items():
        print(f"{language}: {share(files)}" if files else f"{language}: NOT MEASURED: cargo llvm-cov is not installed")
    print(f"coverage: {share([file for files in measured.values() for file in files])}")
    return 0 if all(measured.values()) else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
