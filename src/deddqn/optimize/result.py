"""What a search returns: scipy's `OptimizeResult` for whoever has scipy.optimize, without importing it for the others.

Importing scipy.optimize takes several times as long as a short search, which needs nothing from it.
"""

from __future__ import annotations

import sys
from typing import Any


class Result(dict[str, Any]):
    """A dictionary whose keys are attributes, as scipy's `OptimizeResult`.

    It counts as one: ``isinstance(result, scipy.optimize.OptimizeResult)`` holds, it is shown as one, and pickles
    and copies are made of scipy's own class.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What isinstance asks for; nobody can ask for scipy's class before it is imported."""
        return getattr(sys.modules.get("scipy.optimize"), "OptimizeResult", Result)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__  # type: ignore[assignment]
    __delattr__ = dict.__delitem__  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return repr(_scipys(self))

    def _repr_html_(self) -> str | None:
        from deddqn.optimize.html_view import result_html

        return result_html(self) if "x" in self else None  # a history is none

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(_scipys({})), (dict(self),)


def _scipys(values: dict[str, Any]) -> Any:
    from scipy.optimize import OptimizeResult

    return OptimizeResult(values)
