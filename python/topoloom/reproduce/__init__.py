"""Papers, reproduced: their tables, figures and claims, published beside measured, with a verdict on each claim.

A paper is a folder of data (:mod:`topoloom.reproduce.paper`). Its studies run through the ledger of all studies; its
formulas (:mod:`topoloom.reproduce.formulas`) look values up in the results (:mod:`topoloom.reproduce.lookups`), and
its claims are judged by them (:mod:`topoloom.reproduce.reproduction`).
"""

from topoloom.reproduce.paper import VERDICTS, Paper, names
from topoloom.reproduce.reproduction import Judged, Plan, Reproduction

__all__ = ["VERDICTS", "Judged", "Paper", "Plan", "Reproduction", "names"]
