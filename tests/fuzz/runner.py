"""Runs cases in this process, one after the other, and judges each: ``python runner.py TARGET --help``.

The case that is under way stands in the file ``case.json``: if the process is killed, that one did it.
A case is made from the target's name, the seed and its number alone, so that ``--only NUMBER`` runs it again.
"""

import argparse
import base64
import faulthandler
import json
import os
import resource
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random

from targets import TARGETS, Case

from topoloom.cli.command import run

LONGEST_S = 20.0
"""Seconds that a case may take, on a machine that has much else to do."""

MEMORY = 1_500_000_000
"""Bytes that cases may take beyond what the process has when it begins."""

LONGEST_LINE = 1_300
"""Characters of a line on standard error."""

ALLOWED = (0, 1, 2, 3)


def judged(status: int, out: str, err: str) -> str | None:
    """Return what is wrong with how a command ended, or None."""
    lines = err.split("\n")[:-1]
    mistakes = sum(line.startswith("topoloom: error: ") for line in lines)
    wrong = {
        f"status {status}": status not in ALLOWED,
        "standard error does not end in a line": err != "" and not err.endswith("\n"),
        "a message that nobody reads": any(len(line) > LONGEST_LINE for line in lines),
        "a message of more than one line": any(not line.startswith("topoloom: ") for line in lines),
        "a character that moves the cursor": any(not line.isprintable() for line in lines),
        f"{mistakes} mistakes at status {status}": mistakes != (status == 2),
        "results beside a mistake": mistakes > 0 and out != "",
    }
    return next((what for what, found in wrong.items() if found), None)


def executed(case: Case) -> tuple[int, str, str]:
    """Run a case; return its status, standard output and standard error."""
    for name, data in case.files.items():
        Path(name).write_bytes(data)
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = run(case.arguments)
        except SystemExit as ended:  # --help
            status = ended.code if isinstance(ended.code, int) else 0
    texts = (stream.buffer.getvalue().decode("utf-8", errors="replace") for stream in (out, err))  # type: ignore[attr-defined]
    return status, *texts


def described(number: int, case: Case) -> dict[str, object]:
    """Return a case as JSON holds it."""
    files = {name: base64.b64encode(data).decode() for name, data in case.files.items()}
    return {"number": number, "arguments": case.arguments, "files": files}


def fuzz(target: str, seed: int, numbers: range, seconds: float) -> tuple[int, int]:
    """Run cases until time is up; print each that fails, and return how many ran and how many failed."""
    began, ran, failed = time.monotonic(), 0, 0
    for number in numbers:
        if time.monotonic() - began > seconds:
            break
        case = TARGETS[target](Random(f"{target}/{seed}/{number}"))
        Path("case.json").write_text(json.dumps(described(number, case)))
        faulthandler.dump_traceback_later(LONGEST_S, exit=True)
        status, out, err = executed(case)
        faulthandler.cancel_dump_traceback_later()
        ran += 1
        if (what := judged(status, out, err)) is not None:
            failed += 1
            told = {"target": target, "seed": seed, "what": what, "stderr": err[-500:]} | described(number, case)
            print(json.dumps(told), flush=True)
    return ran, failed


def limit_memory() -> None:
    """Let this process take a bounded amount of memory: what asks for more fails here, not the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else None
    if pages is not None:
        most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> None:
    """Fuzz one target, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--only", type=int, help="run this case alone")
    given = parser.parse_args()
    limit_memory()
    numbers = range(given.cases) if given.only is None else range(given.only, given.only + 1)
    ran, failed = fuzz(given.target, given.seed, numbers, given.seconds)
    print(json.dumps({"ran": ran, "failed": failed}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
