"""Line coverage of Python and Rust in one number, and the lines that no test runs: `make coverage`.

Arguments are those of pytest, such as folders of tests; without any, all tests run. Python's lines count if a Python
test runs them, also in another process. Rust's count if a test in the engine's sources runs them, not if only Python's
tests do. Status 3: a language could not be measured, and the number is that of the other.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
OUT = ROOT / "target/coverage"


class File(NamedTuple):
    """What is covered of a file."""

    path: str
    lines: int
    missing: list[int]


def of_python(tests: list[str]) -> list[File]:
    """Run Python's tests, and return what they cover."""
    report = OUT / "python.json"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "--cov=topoloom",
         f"--cov-config={ROOT / 'tests/external/coverage.toml'}", f"--cov-report=json:{report}", *tests],
        cwd=ROOT, check=False,
    )  # fmt: skip
    return from_coverage(json.loads(report.read_text(encoding="utf-8")))


def from_coverage(report: dict) -> list[File]:
    """Return the files of a report of coverage.py."""
    return [File(path, own["summary"]["num_statements"], own["missing_lines"]) for path, own in report["files"].items()]


def of_rust() -> list[File] | None:
    """Run Rust's tests, and return what they cover; None without cargo-llvm-cov."""
    if subprocess.run(["cargo", "llvm-cov", "--version"], capture_output=True, check=False).returncode:
        return None
    report = OUT / "rust.info"
    command = ["cargo", "llvm-cov", "--package", "topoloom", "--lib", "--lcov", "--output-path", str(report)]
    subprocess.run(command, cwd=ROOT, check=True)
    return list(from_lcov(report.read_text(encoding="utf-8")))


def from_lcov(report: str) -> Iterator[File]:
    """Yield the files of a report in the format of lcov, lines of unit tests included."""
    path, lines = "", {}
    for entry in report.splitlines():
        key, _, value = entry.partition(":")
        if key == "SF":
            path, lines = value, {}
        elif key == "DA":
            number, count = map(int, value.split(",")[:2])
            lines[number] = lines.get(number, 0) + count
        elif key == "end_of_record":
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
    measured = {"Python": of_python(tests), "Rust": of_rust()}
    for files in measured.values():
        for file in sorted(files or [], key=lambda file: -len(file.missing)):
            if file.missing:
                print(f"{Path(file.path).resolve().relative_to(ROOT)}: {ranges(file.missing)}")
    for language, files in measured.items():
        print(f"{language}: {share(files)}" if files else f"{language}: NOT MEASURED: cargo llvm-cov is not installed")
    print(f"coverage: {share([file for files in measured.values() for file in files or []])}")
    return 0 if all(measured.values()) else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
