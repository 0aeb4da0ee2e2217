"""Libraries that are not needed to import the package."""

from __future__ import annotations

import importlib
from typing import Any


class MissingLibraryError(ImportError):
    """An optional library is not installed; the message says how to install it."""


def optional_import(library: str, extra: str) -> Any:
    """Import `library`, or say which extra brings it."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise MissingLibraryError(
            f"{library} is not installed ({error}); install the extra {extra!r}: pip install 'deddqn[{extra}]'"
        ) from error
