"""Optional packages, and errors that say which extra brings them."""

from __future__ import annotations

import importlib
from types import ModuleType


class MissingPackageError(ImportError, ValueError):
    """An optional package is not installed; a ValueError too, so that commands print its message and no traceback."""


def need(module: str, what: str, extra: str) -> ModuleType:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackageError(
            f"for {what} install the package {module!r}: pip install 'deddqn[{extra}]'"
        ) from error
