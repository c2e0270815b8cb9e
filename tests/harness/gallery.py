"""The pictures of the gallery, drawn by the commands beside them; a headless Chromium photographs parts of reports.

`make gallery` runs this as a program, which draws all of them again.
"""

import io
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageChops

from harness import browser

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/gallery.md"
ENTRY = re.compile(
    r"!\[[^]]+\]\((?P<image>images/gallery/[^)]+)\)\n+"
    r"```sh\n(?P<command>topoloom [^#\n]+?)(?: # (?P<part>\w+))?\n```"
)
WIDTH, SMALL = 1200, 48
"""The width of the pictures in pixels, and that at which they are compared."""
ALIKE = 0.005
"""The largest mean difference of two drawings of one picture, as a share of white."""
PHOTOGRAPH = """<style>
html, body { background: #fff !important }
nav, header, .scroll { display: none !important }
</style><script>
addEventListener("load", () => setTimeout(() => {
  const part = document.getElementById("PART");
  for (let node = part; node !== document.body; node = node.parentElement)
    for (const other of [...node.parentElement.children]) if (other !== node) other.style.display = "none";
  dispatchEvent(new Event("resize"));
}, 500));
</script></body>"""
"""Leaves one part of a page on it."""


class Entry(NamedTuple):
    """A picture of the page: its file, the command, and the part of a report that it shows."""

    image: Path
    command: list[str]
    part: str | None


ENTRIES = {
    Path(found["image"]).stem: Entry(PAGE.parent / found["image"], shlex.split(found["command"]), found["part"])
    for found in ENTRY.finditer(PAGE.read_text(encoding="utf-8"))
}


def drawn(entry: Entry, folder: Path) -> Image.Image:
    """Run the command of a picture in a folder, and return what it draws."""
    subprocess.run([sys.executable, "-m", *entry.command], cwd=folder, check=True, capture_output=True)
    file = folder / entry.command[-1]
    if entry.part:
        file = photographed(file, entry.part)
    return trimmed(Image.open(file).convert("RGB"))


def photographed(page: Path, part: str) -> Path:
    """Return a picture of one part of a report."""
    assert f'id="{part}"' in page.read_text(encoding="utf-8")
    alone = page.with_name("alone.html")
    alone.write_text(page.read_text(encoding="utf-8").replace("</body>", PHOTOGRAPH.replace("PART", part)))
    file = page.with_suffix(".png")
    command = browser.command(alone, f"--screenshot={file}", width=WIDTH, height=3000)
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return file


def trimmed(image: Image.Image) -> Image.Image:
    """Return a picture without its white border, as wide as all."""
    border = ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox()
    image = image.crop(border)
    return image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)


def difference(one: Image.Image, other: Image.Image) -> float:
    """Return the mean difference of two pictures as a share of white; fonts and smoothing hardly count."""
    size = (SMALL, SMALL)
    greys = [np.asarray(image.convert("L").resize(size, Image.Resampling.BOX), dtype=float) for image in (one, other)]
    return float(np.abs(greys[0] - greys[1]).mean() / 255)


def kept(image: Image.Image) -> bytes:
    """Return the file of a picture."""
    file = io.BytesIO()
    image.save(file, "WEBP", quality=80, method=6)
    return file.getvalue()


if __name__ == "__main__":
    for name in sys.argv[1:] or ENTRIES:
        with tempfile.TemporaryDirectory() as folder:
            ENTRIES[name].image.write_bytes(kept(drawn(ENTRIES[name], Path(folder))))
        print(name, ENTRIES[name].image.stat().st_size)
