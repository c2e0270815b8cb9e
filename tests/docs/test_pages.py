"""The Rust of the pages: it compiles as it stands, and its own tests pass."""

import subprocess
from pathlib import Path

import pytest

from harness import pages

PAGES = {
    "adding-a-metric": ("test", "-p", "topoloom", "--lib", "metrics::concentration"),
    "adding-a-router-model": ("test", "-p", "topoloom", "--lib", "router::fifo"),
    "adding-a-routing": ("test", "-p", "topoloom", "--lib", "routing::westfirst"),
    "adding-a-topology": ("test", "-p", "topoloom", "--lib", "topology::"),
    "adding-a-traffic-pattern": ("test", "-p", "topoloom", "--lib", "traffic::"),
}
"""The command of cargo that checks each page."""


@pytest.mark.pages
@pytest.mark.parametrize("name", PAGES)
def test_the_rust_of(name: str, tmp_path: Path) -> None:
    folder = pages.sources(pages.ROOT / "docs" / f"{name}.md", tmp_path)
    done = pages.cargo(folder, *PAGES[name])
    assert done.returncode == 0, done.stdout[-4000:]
    assert "0 passed" not in done.stdout, "the page's tests have run"


@pytest.mark.parametrize("name", PAGES)
def test_what_is_changed_stands_in_the_sources(name: str, tmp_path: Path) -> None:
    page = pages.ROOT / "docs" / f"{name}.md"
    assert {block.language for block in pages.blocks(page)} == {"rust", "diff"}
    folder = pages.sources(page, tmp_path)
    for block in pages.blocks(page):
        if block.path.endswith(".py"):
            compile((folder / block.path).read_text(), block.path, "exec")


def test_a_change_of_what_is_not_there_is_told() -> None:
    assert pages.changed("a\nb\n", " a\n-b\n+c\n+d\n") == "a\nc\nd\n"
    with pytest.raises(ValueError, match="stands 0 times"):
        pages.changed("a\nb\n", " c\n+d\n")


@pytest.mark.parametrize("name", PAGES)
def test_new_files_are_formatted(name: str, tmp_path: Path) -> None:
    for number, block in enumerate(pages.blocks(pages.ROOT / "docs" / f"{name}.md")):
        if block.language == "rust":
            file = tmp_path / f"block{number}.rs"
            file.write_text(block.text)
            style = ("--check", "--edition", "2024", "--config-path", str(pages.ROOT / "rustfmt.toml"))
            done = subprocess.run(["rustfmt", *style, file], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout
