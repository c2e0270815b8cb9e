"""What the site generates: its page on citing, and its reference."""

import importlib.util
import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

import topoloom
from harness.paths import ROOT
from topoloom.cli.app import COMMANDS


@pytest.fixture
def site(monkeypatch):
    """The hook of the site, also where mkdocs is not installed: what is tested here needs none of it."""
    for name, own in {
        "config.defaults": "MkDocsConfig",
        "structure.files": "File Files",
        "structure.pages": "Page",
    }.items():
        module = ModuleType(f"mkdocs.{name}")
        module.__dict__.update(dict.fromkeys(own.split(), SimpleNamespace))
        monkeypatch.setitem(sys.modules, f"mkdocs.{name}", module)
        monkeypatch.setitem(sys.modules, f"mkdocs.{name.partition('.')[0]}", ModuleType(name.partition(".")[0]))
    monkeypatch.setitem(sys.modules, "mkdocs", ModuleType("mkdocs"))
    spec = importlib.util.spec_from_file_location("site_hook", ROOT / "docs/hooks/site.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    return hook


def test_the_reference_has_the_year_of_the_release(site, monkeypatch, tmp_path):
    """A site that is built years later cites the same release."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    (tmp_path / "CITATION.cff").write_text(re.sub(r"(?<=date-released: \")\d+", "2019", text), encoding="utf-8")
    assert "year    = {2019}" in site.cite()


def test_every_command_and_every_public_name_is_in_the_reference(site):
    assert set(re.findall(r"^## topoloom (\S+)$", site.commands(), re.MULTILINE)) >= set(COMMANDS)
    text = site.api()
    for home, names in topoloom._HOMES.items():
        if home not in {"topoloom.network.families", "topoloom._core"}:
            assert not [name for name in names if not re.search(rf"^::: topoloom\.\S*\b{name}$", text, re.MULTILINE)]
    assert "`topoloom.TopoloomError`" in text


def test_the_page_of_a_paper_has_its_verdicts_and_figures(site):
    text = site.paper("twin-torus")
    assert text.startswith("# The twin torus on EXTOLL cards, reproduced\n")
    for claim in site.kept_run(site.Paper.named("twin-torus")).claims:
        assert claim.item.replace("|", r"\|") in text
        assert claim.verdict in text
    drawn = {row[:2] for row in site.kept_values(site.Paper.named("twin-torus")) if row[1].startswith("figure")}
    assert text.count("<img ") == len(drawn) > 0
