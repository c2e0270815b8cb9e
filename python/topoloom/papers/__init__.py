"""Papers, reproduced: their tables, figures and claims, published beside measured, with a verdict on each claim.

A paper is a folder of data (:mod:`topoloom.papers.paper`). Its studies run through the ledger of all studies; its
formulas (:mod:`topoloom.papers.formulas`) look values up in the results (:mod:`topoloom.papers.lookups`), and
its claims are judged by them (:mod:`topoloom.papers.reproduction`).
"""

from topoloom.papers.paper import VERDICTS, Paper, names
from topoloom.papers.reproduction import Judgement, Plan, Reproduction

__all__ = ["VERDICTS", "Judgement", "Paper", "Plan", "Reproduction", "names"]
