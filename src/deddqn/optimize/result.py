"""What a search returns: scipy's `OptimizeResult` for whoever has scipy.optimize, without importing it for the others.

Importing scipy.optimize takes several times as long as a short search, which needs nothing from it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ScipyResult(dict[str, Any]):
    """What type checkers may know about scipy's `OptimizeResult` of `differential_evolution`.

    `jac` is there if polishing has found the point, the last three if there were constraints.
    """

    __slots__ = ()

    x: Floats
    fun: float
    nfev: int
    nit: int
    success: bool
    message: str
    population: Floats
    population_energies: Floats
    jac: Floats
    constr: list[Floats]
    constr_violation: float
    maxcv: float


class Result(ScipyResult):
    """A dictionary whose keys are attributes, as scipy's `OptimizeResult`.

    It counts as one: ``isinstance(result, scipy.optimize.OptimizeResult)`` holds, it is shown as one, and pickles
    and copies are made of scipy's own class. The fields are those of a search; `constr_values` are there if it had
    constraints, `params` if it had named parameters, `history` if it was asked for.
    """

    __slots__ = ()

    strategies: list[str]
    strategy_counts: Integers
    non_finite: int
    policy: str
    seed: int
    constr_values: list[Floats]
    params: dict[str, Any]
    history: HistoryResult

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What isinstance asks for; nobody can ask for scipy's class before it is imported."""
        return getattr(sys.modules.get("scipy.optimize"), "OptimizeResult", Result)

    if not TYPE_CHECKING:  # type checkers know the fields above, and that there are no others

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        __setattr__ = dict.__setitem__
        __delattr__ = dict.__delitem__

    def __dir__(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return repr(_scipys(self))

    def _repr_html_(self) -> str | None:
        from deddqn.optimize.html_view import result_html

        return result_html(self) if "x" in self else None  # a history is none

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(_scipys({})), (dict(self),)


class HistoryResult(Result):
    """What happened in every generation: evaluations, best value, mean value, applications of the operators."""

    __slots__ = ()

    nfev: Integers  # type: ignore[assignment]
    fun: Floats  # type: ignore[assignment]
    mean: Floats


def _scipys(values: dict[str, Any]) -> Any:
    from scipy.optimize import OptimizeResult

    return OptimizeResult(values)
