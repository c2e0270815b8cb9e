"""Tests of minutes, not seconds: `pytest tests -m long` (make test-long) runs them, nothing else does."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [item for item in items if HERE in item.path.parents]
    if "long" in config.option.markexpr:
        return
    config.hook.pytest_deselected(items=here)
    items[:] = [item for item in items if item not in here]
