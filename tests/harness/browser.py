"""Chromium without a window, as tests and the gallery start it."""

import shutil
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
"""The program, or None where it is not installed; `.ci/run` installs it."""

ALONE = ("disable-background-networking", "disable-component-update", "disable-sync", "disable-quic", "no-first-run")
"""Flags by which it asks the network for nothing of its own."""
ANYWHERE = ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars")
"""Flags with which it runs as root, without a display, and in containers with little shared memory."""
DARK = "--blink-settings=preferredColorScheme=0"
"""The flag of a reader who prefers dark pages."""


def command(page: Path, *flags: str, width: int, height: int) -> list[str]:
    """Return the command that opens a page in a window of that many pixels; its profile is beside the page."""
    assert CHROMIUM is not None
    own = ("virtual-time-budget=6000", f"window-size={width},{height}", f"user-data-dir={page.parent / 'profile'}")
    return [CHROMIUM, *(f"--{flag}" for flag in (*ANYWHERE, *ALONE, *own)), *flags, page.as_uri()]
