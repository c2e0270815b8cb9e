"""What README and the paper count and compare is what the program lists and what the pages measured."""

import re

import pytest

from harness.paths import ROOT
from topoloom import _core

BUILT_OF_OTHERS = {"cluster", "rails", "machine", "permuted", "faulty", "file"}
"""Topologies that hold another network, or read one."""
TEXTS = [ROOT / "README.md", ROOT / "paper/paper.md"]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_the_families_and_machines_of(path):
    text = path.read_text()
    names = {family["name"] for family in _core.families()}
    assert set(re.findall(r"(\d+) families", text)) == {str(len(names - BUILT_OF_OTHERS))}
    assert set(re.findall(r"(\d+) (?:existing )?machines", text)) == {str(len(_core.machines()))}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_the_speed_beside_booksim_of(path):
    page = (ROOT / "docs/cycle-model.md").read_text().partition("## Speed beside BookSim2")[2]
    rows = re.findall(r"^\|[^|]+\| [\d,]+ \| [\d,]+ \| ([\d.]+) \([^|]+\| ([\d.]+), ([\d.]+) \|", page, re.MULTILINE)
    ratios = [float(ratio) for ratio, _, _ in rows]
    assert len(ratios) == 4
    assert f"{min(ratios):.0f} to {max(ratios):.0f} times" in path.read_text()
    worst = max(abs(float(own) - float(peer)) / float(peer) for _, own, peer in rows)
    assert worst <= float(re.search(r"latencies (?:agree )?within ([\d.]+) %", path.read_text())[1]) / 100
