"""`differential_evolution`: scipy's function of that name, signature and result, on this package's search."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from deddqn.optimize.classical import StrategyFunction
from deddqn.optimize.option_types import (
    BoundsLike,
    IntegralityLike,
    PointLike,
    ScipyInitLike,
    ScipySeed,
    ScipyStrategy,
    WorkersLike,
)

if TYPE_CHECKING:
    from deddqn.optimize.result import ScipyResult


class _DefaultStrategy(str):
    """scipy's default, told apart from the same word when a user gives it: by default our search is meant."""


class _DefaultMutation(tuple[float, float]):
    """The same for F."""


class _DefaultRecombination(float):
    """The same for CR."""


OUR_STRATEGY: Any = _DefaultStrategy("best1bin")
OUR_MUTATION = _DefaultMutation((0.5, 1))
OUR_RECOMBINATION = _DefaultRecombination(0.7)


def differential_evolution(
    func: Callable[..., Any],
    bounds: BoundsLike,
    args: tuple[Any, ...] = (),
    strategy: ScipyStrategy | StrategyFunction = OUR_STRATEGY,
    maxiter: int = 1000,
    popsize: int = 15,
    tol: float = 0.01,
    mutation: float | tuple[float, float] = OUR_MUTATION,
    recombination: float = OUR_RECOMBINATION,
    rng: ScipySeed | None = None,
    callback: Callable[..., Any] | None = None,
    disp: bool = False,
    polish: bool | Callable[..., Any] = True,
    init: ScipyInitLike = "latinhypercube",
    atol: float = 0,
    updating: Literal["immediate", "deferred"] = "immediate",
    workers: WorkersLike = 1,
    constraints: Any = (),
    x0: PointLike | None = None,
    *,
    integrality: IntegralityLike | None = None,
    vectorized: bool = False,
    seed: ScipySeed | None = None,
) -> ScipyResult:
    """Minimise a function over a box: scipy's `differential_evolution`, with one import line changed.

    Parameters, result and the rules for stopping are scipy's, whose documentation holds for what is not said here.

    Parameters
    ----------
    func : ``func(x, *args) -> float``; a numba-jitted function without `args` runs inside of the compiled loop.
    strategy, mutation, recombination : whoever gives one of them gets Differential Evolution with that strategy, F and
        CR. Otherwise the search is that of `deddqn.minimize`: the best shipped policy chooses the operators.
    maxiter, popsize : there are at most ``(maxiter + 1) * popsize * N`` evaluations, N the number of coordinates that
        are not fixed by their bounds. A named strategy has so many individuals and generations; our own search begins
        with at most so many individuals, and a generation becomes smaller as it goes on.
    tol, atol : stop when the deviation of the population's values is at most ``atol + tol * abs(mean)``, or when all
        its points are the same as far as the width of the box can tell.
    rng, seed : int, Generator, RandomState, SeedSequence or None. Other numbers come out than from scipy.

    Returns
    -------
    scipy's OptimizeResult with x, fun, nfev, nit, message, success, population and population_energies (the best
    first); jac if polishing has found the result; constr, constr_violation and maxcv with constraints.

    Examples
    --------
    >>> from deddqn import differential_evolution
    >>> from scipy.optimize import rosen
    >>> result = differential_evolution(rosen, [(0, 2)] * 3, rng=1)
    >>> bool(result.fun < 1e-8)
    True
    """
    from deddqn.optimize.scipy_search import ScipySearch

    if rng is not None and seed is not None:
        raise TypeError("differential_evolution() got two seeds. Specify one of `rng` or `seed`.")
    named = (strategy, mutation, recombination)
    ours = named[0] is OUR_STRATEGY and named[1] is OUR_MUTATION and named[2] is OUR_RECOMBINATION
    search = ScipySearch(
        func,
        bounds,
        args,
        None if ours else named,
        maxiter=maxiter,
        popsize=popsize,
        tol=tol,
        atol=atol,
        rng=rng if seed is None else seed,
        init=init,
        updating=updating,
        workers=workers,
        constraints=constraints,
        x0=x0,
        integrality=integrality,
        vectorized=vectorized,
    )
    return search.solve(callback, disp, polish)
