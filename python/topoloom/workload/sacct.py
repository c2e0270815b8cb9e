"""Jobs as Slurm's accounting lists them: what ``sacct --parsable2`` prints, or a CSV with the same columns."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from topoloom._core import TopoloomError
from topoloom.files import read_text

NODES = ("NNodes", "AllocNodes", "ReqNodes")
NEVER = ("", "Unknown", "None", "N/A")
"""Times of what has not come about."""

_EPOCH = datetime(1970, 1, 1)
_ELAPSED = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?")
_DAY, _HOUR, _MINUTE = 86_400, 3600, 60


@dataclass(frozen=True)
class PastJob:
    """A job that ran on a machine.

    Attributes:
        name: Its id.
        number: A number that follows from its id.
        submit_s: When it was submitted, in seconds from the first time in the file on.
        start_s: When it began; None if the file does not give it.
        elapsed_s: How long it ran.
        limit_s: How long it was allowed to run; None if the file gives no limit.
        nodes: How many nodes it had.
    """

    name: str
    number: int
    submit_s: float
    start_s: float | None
    elapsed_s: float
    limit_s: float | None
    nodes: int


def read_jobs(path: str | Path) -> tuple[list[PastJob], list[str]]:
    r"""Return the jobs of a file that ran, and what is worth knowing of the others, a sentence each.

    The columns ``JobID``, ``NNodes`` (or ``AllocNodes``, ``ReqNodes``), ``Submit`` or ``Start``, and ``ElapsedRaw`` or
    ``Elapsed`` are read. So are ``JobIDRaw`` and ``TimelimitRaw`` or ``Timelimit``, where they are there. Others are
    passed over. Steps of jobs are no jobs.

    Args:
        path: What ``sacct --parsable2`` prints, or a CSV with the same columns.

    Raises:
        TopoloomError: A file that cannot be read; a column that is missing, or a value that is none, with its line.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = Path(folder, "jobs.csv").write_text("JobID,NNodes,Submit,ElapsedRaw\n1,2,2026-01-01T00:00:00,10\n")
    ...     jobs, notes = read_jobs(f"{folder}/jobs.csv")
    >>> [(job.name, job.nodes, job.elapsed_s) for job in jobs]
    [('1', 2, 10.0)]
    """
    path = str(path)
    text = read_text(path, "the accounting of jobs")
    first = text.partition("\n")[0]
    rows = csv.reader(text.splitlines(), delimiter="|" if "|" in first else ",")
    columns = {name.strip(): place for place, name in enumerate(next(rows, []))}
    _check_columns(path, columns)
    jobs, steps, idle = [], 0, 0
    for line, values in enumerate(rows, 2):
        if not any(values):
            continue
        row = _Row(path, line, columns, values)
        if "." in row.text("JobID"):
            steps += 1
        elif (job := row.job()) is None:
            idle += 1
        else:
            jobs.append(job)
    if not jobs:
        raise TopoloomError(f"{path} has no job that ran")
    told = ((steps, "rows are steps of jobs, and passed over"), (idle, "jobs never ran, and are passed over"))
    begin_s = min(time for job in jobs for time in (job.submit_s, job.start_s) if time is not None)
    return list(_from(begin_s, jobs)), [f"{path}: {count:,} {what}" for count, what in told if count]


def _from(begin_s: float, jobs: list[PastJob]) -> Iterator[PastJob]:
    """Yield jobs with times that count from another one on."""
    for job in jobs:
        start_s = None if job.start_s is None else job.start_s - begin_s
        yield replace(job, submit_s=job.submit_s - begin_s, start_s=start_s)


def _check_columns(path: str, columns: dict[str, int]) -> None:
    """Reject a file without a column that is needed."""
    for names in (("JobID",), NODES, ("Submit", "Start"), ("ElapsedRaw", "Elapsed")):
        if not any(name in columns for name in names):
            known = ", ".join(columns) or "none"
            raise TopoloomError(f"{path} has no column {' or '.join(names)}; its first line names {known}")


@dataclass(frozen=True)
class _Row:
    """A row of the file."""

    path: str
    line: int
    columns: dict[str, int]
    values: list[str]

    def text(self, *names: str) -> str:
        """Return the value of the first of these columns that is there."""
        place = next((self.columns[name] for name in names if name in self.columns), len(self.values))
        return self.values[place].strip() if place < len(self.values) else ""

    def job(self) -> PastJob | None:
        """Return the job; None if it never ran."""
        submit_s, start_s, elapsed_s = self.time("Submit"), self.time("Start"), self.elapsed()
        nodes, wanted = self.text(*NODES), "a whole number of nodes"
        if not nodes.isdecimal():
            raise self.mistake("NNodes", nodes, wanted)
        eligible_s = start_s if submit_s is None else submit_s
        if elapsed_s == 0 or int(nodes) == 0 or eligible_s is None:
            return None
        name = self.text("JobID")
        number = sum(map(int, re.findall(r"\d+", self.text("JobIDRaw") or name)))
        return PastJob(name, number, eligible_s, start_s, elapsed_s, self.limit(), int(nodes))

    def time(self, name: str) -> float | None:
        """Return a time in seconds; None if the file does not have it."""
        text = self.text(name)
        if text in NEVER:
            return None
        if text.isdecimal():
            return float(text)
        try:
            return (datetime.fromisoformat(text).replace(tzinfo=None) - _EPOCH).total_seconds()
        except ValueError:
            raise self.mistake(name, text, "a time, as in 2026-01-31T12:00:00") from None

    def elapsed(self) -> float:
        """Return how long the job ran, in seconds."""
        text = self.text("ElapsedRaw", "Elapsed")
        return float(text) if text.isdecimal() else self.span("Elapsed", text, "seconds")

    def limit(self) -> float | None:
        """Return how long the job was allowed to run, in seconds; None if the file gives no limit."""
        text = self.text("TimelimitRaw", "Timelimit")
        if text in (*NEVER, "UNLIMITED", "Partition_Limit"):
            return None
        return float(text) * _MINUTE if text.isdecimal() else self.span("Timelimit", text, "minutes")

    def span(self, name: str, text: str, unit: str) -> float:
        """Return a time as in 1-02:30:00, in seconds; `unit` is that of plain numbers."""
        if (found := _ELAPSED.fullmatch(text)) is None:
            raise self.mistake(name, text, f"{unit}, or a time as in 1-02:30:00")
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return float(days * _DAY + hours * _HOUR + minutes * _MINUTE + seconds)

    def mistake(self, name: str, text: str, wanted: str) -> TopoloomError:
        """Return the mistake in a value."""
        return TopoloomError(f"{self.path}, line {self.line}: {name} is '{text}'; it must be {wanted}")
