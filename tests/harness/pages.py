"""Compiles the Rust of a page: its blocks become files of a copy of the crate, and changes to files that are there.

A block ` ```rust file=PATH ` is a new file. A block ` ```diff file=PATH ` is a change: its lines that begin with a
blank or `-` stand in the file, once and one after the other; those that begin with a blank or `+` take their place. All
pages share one directory of what is compiled, `target/pages`, so that only the crate itself is compiled again for each.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.paths import ROOT

BLOCK = re.compile(r"^```(\w+) file=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COPIED = ("Cargo.toml", "Cargo.lock", "crates", "python/topoloom/network")
PAGES = {
    "CARGO_TARGET_DIR": str(ROOT / "target" / "pages"),
    # What a page tests is small: compiling it is what takes time.
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "RUSTFLAGS": "-D warnings",
}


@dataclass(frozen=True)
class Block:
    """A block of a page that is a file, or a change of one."""

    language: str
    path: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that name a file, in order."""
    return [Block(*found.groups()) for found in BLOCK.finditer(page.read_text())]


def changed(text: str, diff: str) -> str:
    """Return `text` with a change as the page writes it.

    Raises:
        ValueError: What the change is for does not stand in the text, or more than once.
    """
    lines = [(line[:1], line[1:]) for line in diff.splitlines()]
    before = "".join(f"{line}\n" for sign, line in lines if sign != "+")
    after = "".join(f"{line}\n" for sign, line in lines if sign != "-")
    if text.count(before) != 1:
        raise ValueError(f"this stands {text.count(before)} times in the file:\n{before}")
    return text.replace(before, after)


def sources(page: Path, folder: Path) -> Path:
    """Return a copy of the workspace's sources in `folder` with what the page adds and changes."""
    for name in COPIED:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, folder / name, ignore=shutil.ignore_patterns("target", "__pycache__"))
        else:
            shutil.copy(place, folder / name)
    for block in blocks(page):
        file = folder / block.path
        if block.language == "diff":
            file.write_text(changed(file.read_text(), block.text))
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
    return folder


def cargo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cargo on the sources in `folder`; what it prints is in the result."""
    return subprocess.run(
        ["cargo", *arguments],
        cwd=folder,
        env=os.environ | PAGES,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
