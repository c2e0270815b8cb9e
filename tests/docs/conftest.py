"""What compiles the Rust of a page takes minutes: only `pytest tests/docs -m pages` (make test-pages) does it."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "pages: compiles the crate with what a page adds; run with -m pages")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "pages" in config.option.markexpr:
        return
    slow = [item for item in items if item.get_closest_marker("pages")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]
