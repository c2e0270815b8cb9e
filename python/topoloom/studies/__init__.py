"""Studies: sweeps that resume, with a ledger that loses nothing.

A study describes many points (:mod:`topoloom.studies.study`), each with a key. The ledger
(:mod:`topoloom.studies.ledger`) knows which are done; the others go to an executor
(:mod:`topoloom.studies.executor`) and what comes back goes into the ledger (:mod:`topoloom.studies.running`).
"""

from topoloom.studies.executor import Executor, LocalExecutor
from topoloom.studies.ledger import Ledger
from topoloom.studies.points import StudyPoint
from topoloom.studies.results import Results
from topoloom.studies.running import Progress, run_points
from topoloom.studies.study import Study, Sweep

__all__ = [
    "Executor",
    "Ledger",
    "LocalExecutor",
    "Progress",
    "Results",
    "Study",
    "StudyPoint",
    "Sweep",
    "run_points",
]
