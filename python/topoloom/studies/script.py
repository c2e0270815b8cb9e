"""A study as one array of jobs: a file for ``sbatch``, for sites that want nothing else."""

import shlex
import sys
from pathlib import Path

from topoloom._core import TopoloomError
from topoloom.studies.clusters import Jobs
from topoloom.studies.job_array import FOLDER
from topoloom.wording import counted


def array_script(study: Path, store: Path, jobs: Jobs, *, keep_going: bool = False) -> str:
    """Return a script that runs the shares 0 to ``jobs.jobs - 1`` of a study.

    The jobs run in the folder in which topoloom runs now, as the study may name files, with the same interpreter.

    Args:
        study: The study file.
        store: The store that holds the shares.
        jobs: What to ask Slurm for.
        keep_going: Jobs skip points that cannot be run, instead of rejecting the share.

    Raises:
        TopoloomError: A path that would end its line of the script.

    >>> script = array_script(Path("s.toml"), Path("s.store"), Jobs("slurm", jobs=4, cores=8))
    >>> [line for line in script.splitlines() if "array" in line or "cpus" in line]
    ['#SBATCH --array=0-3', '#SBATCH --cpus-per-task=8']
    """
    for path in (study.absolute(), store.absolute(), Path.cwd()):
        if len(str(path).splitlines()) != 1:
            raise TopoloomError(f"{str(path)!r} holds a line break; a job script cannot name it")
    asks = {
        "job-name": "topoloom",
        "array": f"0-{jobs.jobs - 1}",
        "ntasks": "1",
        "cpus-per-task": str(jobs.cores),
        "mem": _slurm_memory(jobs.memory),
        "partition": jobs.queue,
        "account": jobs.account,
        "time": jobs.walltime,
        "output": str(store.absolute() / FOLDER).replace("%", "%%") + "/%a.log",
        "open-mode": "append",
        "requeue": "",
    }
    run = ["run", str(study.absolute()), "--store", str(store.absolute())] + ["--keep-going"] * keep_going
    lines = [
        "#!/bin/sh",
        f"# Runs the study {study.name} in {counted(jobs.jobs, 'job')}. Afterwards this takes in the results:",
        f"# {shlex.join(['topoloom', *run])}",
    ]
    given = {name: value for name, value in asks.items() if value is not None}
    lines += [f"#SBATCH --{name}" + (f"={shlex.quote(value)}" if value else "") for name, value in given.items()]
    command = shlex.join([sys.executable, "-m", "topoloom", *run])
    lines += [
        f"cd {shlex.quote(str(Path.cwd()))} || exit 1",
        f'exec {command} --share "$SLURM_ARRAY_TASK_ID" --workers {jobs.cores}',
    ]
    return "\n".join(lines) + "\n"


def _slurm_memory(memory: str) -> str:
    """Return an amount of memory as Slurm writes it: ``4GB`` is ``4G``.

    >>> _slurm_memory("4GB"), _slurm_memory("512 MiB")
    ('4G', '512M')
    """
    return memory.replace(" ", "").removesuffix("B").removesuffix("i").upper()
