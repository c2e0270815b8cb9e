"""Tests against other programs, each behind its own marker: make test-slurm, test-opensm, test-tools, test-wheel."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
MARKERS = {
    "slurm": "needs Slurm's daemons; run with -m slurm",
    "opensm": "needs OpenSM and ibsim; run with -m opensm",
    "tools": "needs Graphviz, METIS, SimGrid and CAMINOS; run with -m tools",
    "wheel": "builds the wheel and installs it; run with -m wheel",
}


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [item for item in items if HERE in item.path.parents]
    out = [
        item for item in here if not any(name in config.option.markexpr for name in MARKERS if name in item.keywords)
    ]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in out]
