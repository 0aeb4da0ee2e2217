"""scipy's tests carry scipy's own marks, which pytest has to know here."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    for mark in ("fail_slow: of scipy's tests", "xslow: of scipy's tests"):
        config.addinivalue_line("markers", mark)
