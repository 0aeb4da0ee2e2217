"""Modules of the user's, which lie in the folder where a command is started."""

from __future__ import annotations

import os
import sys


def find_own_modules() -> None:
    """Let modules be imported from the working folder, as ``python -m`` does."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
