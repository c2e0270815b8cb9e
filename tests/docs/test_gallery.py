"""The gallery: every picture is what the command beside it draws; `tests/long` draws those that take longer."""

import pytest
from PIL import Image

from harness.gallery import ALIKE, ENTRIES, PAGE, difference, drawn
from harness.paths import ROOT


def test_the_page_shows_its_pictures_and_they_are_small():
    assert len(ENTRIES) >= 6
    assert len(ENTRIES) == PAGE.read_text(encoding="utf-8").count("![")
    assert {entry.image for entry in ENTRIES.values()} == set((ROOT / "docs/images/gallery").iterdir())
    assert sum(entry.image.stat().st_size for entry in ENTRIES.values()) < 1_000_000


@pytest.mark.parametrize("name", ["networks"])
def test_the_command_draws_the_picture(name, tmp_path):
    assert difference(drawn(ENTRIES[name], tmp_path), Image.open(ENTRIES[name].image)) < ALIKE


def test_another_picture_is_another():
    images = [Image.open(entry.image) for entry in ENTRIES.values()]
    assert all(difference(a, b) > ALIKE for n, a in enumerate(images) for b in images[:n])
