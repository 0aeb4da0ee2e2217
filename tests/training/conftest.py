"""Training needs torch; without it these tests are skipped, with the reason."""

from __future__ import annotations

import importlib.util

import pytest

WITHOUT_TORCH = {"test_config.py", "test_search.py"}


def pytest_ignore_collect(collection_path, config):
    """Modules that import torch cannot even be collected without it."""
    needs = collection_path.name.startswith("test_") and collection_path.name not in WITHOUT_TORCH
    if needs and importlib.util.find_spec("torch") is None:
        config.issue_config_time_warning(
            pytest.PytestWarning(f"{collection_path.name} skipped: training needs torch (the extra 'train')"), 2
        )
        return True
    return None
