"""The pictures of the gallery whose commands take longer."""

import pytest
from PIL import Image

from harness.browser import CHROMIUM
from harness.gallery import ALIKE, ENTRIES, difference, drawn


@pytest.mark.long
@pytest.mark.parametrize("name", ENTRIES)
def test_the_command_draws_the_picture(name, tmp_path):
    if ENTRIES[name].part and CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    assert difference(drawn(ENTRIES[name], tmp_path), Image.open(ENTRIES[name].image)) < ALIKE
