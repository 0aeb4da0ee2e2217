"""Names of a package that are imported when they are first used (PEP 562), so that importing the package costs nothing.

A package writes its imports below ``if TYPE_CHECKING``, where type checkers read them, and takes the rest from here::

    if TYPE_CHECKING:
        from deddqn.engine.vectorized import VectorizedRuns
    else:
        __getattr__, __dir__ = lazy_names(__name__, {"deddqn.engine.vectorized": ("VectorizedRuns",)})

A name must not be that of a module of the package: importing the module would put it in the name's place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec


def lazy_names(
    package: str, homes: Mapping[str, tuple[str, ...]], before: Callable[[], object] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    homes : module -> names that the package exports from it. Modules of the package are attributes, too.
    before : called before a name is imported; it may raise, to say what is missing.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> object:
        if name in home_of:
            if before is not None:
                before()
            value = getattr(import_module(home_of[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, names
