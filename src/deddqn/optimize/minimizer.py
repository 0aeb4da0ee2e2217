"""`minimize`: one call, a good answer. The signature follows scipy's `differential_evolution`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from deddqn._utils.validation import suggests_keywords
from deddqn.optimize import option_types
from deddqn.optimize.arguments import (
    choose_policy,
    flag,
    is_planned,
    number,
    population_of,
    split_bounds,
    whole_number,
)
from deddqn.optimize.constrained_polish import ConstrainedPolish
from deddqn.optimize.constraint_arguments import EQUALITY_TOLERANCE, constraints_of, problem_of
from deddqn.optimize.noisy import check_noisy
from deddqn.optimize.optimizer import Optimizer
from deddqn.optimize.parallel import is_parallel
from deddqn.optimize.planning import MOST_UNPLANNED
from deddqn.optimize.polish import SEARCH_SHARE, Polish, polishing_bounds, polishing_limits, polishing_share
from deddqn.optimize.result import Result
from deddqn.optimize.space import Space
from deddqn.optimize.space_search import encoded_arguments, of_point
from deddqn.problems.constraints import ConstrainedFunction, Constraints
from deddqn.problems.problem import Problem
from deddqn.problems.python_callback import as_value


@suggests_keywords
def minimize(
    fun: Callable[..., Any] | Problem,
    bounds: option_types.BoundsLike | None = None,
    *,
    space: Space | None = None,
    args: tuple[Any, ...] = (),
    policy: option_types.PolicyLike | None = None,
    portfolio: option_types.PortfolioLike | None = None,
    maxfun: int | None = None,
    maxiter: int | None = None,
    maxtime: float | None = None,
    ftarget: float | None = None,
    tol: float = 0.0,
    atol: float = 0.0,
    population_size: int | None = None,
    final_population: int | None = None,
    scale: float | None = None,
    crossover: float | None = None,
    repair: option_types.Repair | None = None,
    updating: option_types.Updating | None = None,
    restart_tolerance: float | None = None,
    restart_final_fraction: float | None = None,
    n_candidates: int | None = None,
    cma_share: float | None = None,
    local_share: float | None = None,
    integrality: option_types.IntegralityLike | None = None,
    vectorized: bool = False,
    workers: option_types.WorkersLike = 1,
    x0: option_types.PointLike | Mapping[str, Any] | None = None,
    init: option_types.InitLike = "uniform",
    rng: option_types.Seed | None = None,
    seed: option_types.Seed | None = None,
    callback: Callable[..., Any] | None = None,
    history: bool = False,
    polish: bool | None = None,
    disp: bool = False,
    constraints: Any = None,
    constraint_tolerance: float = EQUALITY_TOLERANCE,
    progress: bool | Literal["always"] = False,
    noisy: bool = False,
) -> Result:
    """Minimise a black-box function over a box with Differential Evolution, its operators chosen by a policy.

    Parameters
    ----------
    fun : ``fun(x, *args) -> float`` with x of shape (D,). A numba-jitted function runs inside of the compiled
        loop. Also a `Problem`, whose bounds are then taken.
    bounds : (lower, upper) pairs, or scipy's ``Bounds``; finite.
    space : named parameters instead of bounds, a `Space`. `fun`, and functions of constraints, get a dictionary of
        Python values; `x0` is one, and `init` may be a list of them; the result has `params` beside x.
    policy : who chooses the operators: a name (see ``deddqn policies``), the path of a policy file, or an object with
        the methods of `deddqn.policies.Policy`. By default ``softmax-budget``, whose settings follow `maxfun`; with
        constraints, integers, a tolerance, `maxtime` alone or asynchronous values ``softmax-x``.
    portfolio : the operators to choose from: strategy names, (strategy, F, CR), or (strategy, F, CR, adapts); or
        "paper" or "extended". The policy's own by default.
    maxfun : the most evaluations, exactly respected; the initial population counts. The search plans with it. 10,000 by
        default; with a `callback`, which may stop the search at any moment, their schedule is one for an unknown end,
        and with `maxtime` there is no other limit, and the search plans by the measured cost of an evaluation.
    maxiter : the most generations.
    maxtime : seconds after which no further evaluation begins (with vectorized or a map-like: no generation);
        compiling the loop, once per installation, does not count.
    ftarget : stop when a value is not above this.
    tol, atol : stop when the deviation of the population's values is at most ``atol + tol * abs(mean)``; then there are
        no restarts, unless `restart_tolerance` is given.
    population_size, scale, crossover : NP, F and CR; by default the policy's (by `maxfun`, and the entries' own).
    final_population : let the population shrink linearly over `maxfun` to this size.
    repair : "clip", "reflect" or "midpoint", for coordinates that leave the bounds; by default the policy's own way.
    updating : "sequential" (the default); "deferred", which vectorised and parallel functions get; or "asynchronous",
        which keeps all processes of `workers` busy: then the result depends on the order in which values come.
    restart_tolerance : restart with another population when values and coordinates are this close together,
        relative to the range of all values and to the bounds; 0 never does. The policy's own by default.
    restart_final_fraction : the last share of `maxfun`, for which the search returns to the best population that a
        restart replaced. Then a restart is made only if as much is left before the reserve as the population has lived.
    n_candidates : candidates per trial, of which a surrogate model pre-screens the one to evaluate; for policies that
        pre-screen (the softmax ones). The policy's own number by default, three times that when asynchronous, else 1.
    cma_share : share of `maxfun`, below one half, that CMA-ES is tried for, before a last part of the same length that
        belongs to whichever of DE and CMA-ES is ahead then; 0 is DE alone, 1 CMA-ES alone. The policy's own by default
        (`softmax-budget`: in long searches, if the population has contracted half-way), but 0 with constraints,
        integers, restarts, tolerances or asynchronous values.
    local_share : last share of `maxfun`, below one half and at most a `cma_share` below 1, for a local search (BFGS
        with finite differences) from the best point; what it leaves when it has converged is searched as before. The
        policy's own by default, but 0 with `polish`, constraints, integers, restarts, tolerances, and where values
        come several at a time.
    integrality : as in scipy: True (or 1) where a coordinate is an integer, for all or for each; `fun` gets floats that
        hold integers. 2 is for numbers of categories, without an order. Where no coordinate is continuous no point is
        evaluated twice, and the search ends when all have been.
    vectorized : `fun` takes (D, S) and returns (S,), as in scipy.
    workers : number of processes (-1: all cores), or a map-like. The result does not depend on it, unless `updating`
        is "asynchronous".
    x0 : a point to include in the initial population.
    init : "uniform", "latinhypercube", "sobol", "halton", or the population itself as an array (S, D).
    rng, seed : int, Generator or SeedSequence; the same seed gives the same run.
    callback : ``callback(xk, convergence=...)`` or ``callback(intermediate_result)`` after every generation; stops
        the search by returning True or raising StopIteration.
    history : keep evaluations, best, mean and strategy counts of every generation in ``result.history``.
    polish : improve the result with scipy's L-BFGS-B, or SLSQP with constraints; a tenth of `maxfun`, else of
        `maxtime`, is kept for it. By default only with constraints, where it gains most.
    disp : print a line per generation; Ctrl-C then returns the best so far instead of raising.
    constraints : scipy's ``LinearConstraint``, ``NonlinearConstraint`` and ``Bounds``, or `ReturnedConstraint` where
        `fun` returns ``(value, constraint values)``; one or a sequence. Vectorised constraints as in scipy.
    constraint_tolerance : how far equalities (equal limits) may be missed.
    progress : show a bar with evaluations, best value and time left, on a terminal (standard error) or in a notebook;
        "always" prints a line now and then where there is neither.
    noisy : `fun` gives other values when a point is evaluated again. The search follows the mean of many points instead
        of the best one, and the last 2% of `maxfun` (10 to 200) evaluate the answer again: ``fun`` is the mean of
        ``reevaluations`` values, ``fun_error`` its standard error. Not with `policy`, `portfolio`, constraints,
        integers or settings of the population.

    Returns
    -------
    OptimizeResult with x, fun, nfev, nit, success, message, population, population_energies, strategies,
    strategy_counts, non_finite, policy, seed, and history if asked for; with constraints also constr, constr_values,
    constr_violation and maxcv.

    Examples
    --------
    >>> import deddqn
    >>> result = deddqn.minimize(lambda x: ((x - 1) ** 2).sum(), [(-5, 5)] * 4, maxfun=5000, rng=1)
    >>> bool(result.fun < 1e-3)
    True
    """
    box: option_types.BoundsLike | Problem | None = bounds
    if isinstance(fun, Problem):
        if bounds is not None:
            raise ValueError(f"bounds must be left out when fun is a Problem, which has its own, got {bounds!r}")
        box = fun
    elif not callable(fun):
        by_name = " (a problem by its name: deddqn.problems.get(name))" if isinstance(fun, str) else ""
        raise ValueError(f"fun must be callable or a Problem{by_name}, got {fun!r}")
    vectorized, disp = flag("vectorized", vectorized), flag("disp", disp)
    evaluations = None if maxfun is None else whole_number("maxfun", maxfun, 1)
    if noisy:
        check_noisy(polish=polish)
    if maxfun is None and maxtime is None and callback is None:
        evaluations = MOST_UNPLANNED
    total = evaluations
    given = {"bounds": box, "integrality": integrality, "constraints": constraints, "x0": x0, "init": init}
    encoded = encoded_arguments(space, given)
    limited = _constraints(encoded["constraints"], constraint_tolerance, encoded["bounds"], vectorized)
    polish = limited is not None if polish is None else flag("polish", polish)
    in_box = problem_of(encoded["bounds"], None, 0.0, encoded["integrality"])[0]
    if polish and in_box.integrality.all():
        polish = False  # integers have no slope
    if polish and evaluations is not None:
        planned = limited is None and is_planned(in_box, evaluations, updating, tol, atol)
        chosen, _ = choose_policy(policy, portfolio, scale, crossover, planned=planned)
        size = population_of(population_size, init, chosen, evaluations, final_population, dimension=in_box.dimension)
        evaluations -= polishing_share(evaluations, size)
    if updating is None:
        updating = "deferred" if is_parallel(vectorized, workers) else "sequential"
    optimizer = Optimizer(
        box,
        space=space,
        policy=policy,
        portfolio=portfolio,
        maxfun=evaluations,
        maxiter=maxiter,
        ftarget=ftarget,
        tol=tol,
        atol=atol,
        population_size=population_size,
        final_population=final_population,
        scale=scale,
        crossover=crossover,
        repair=repair,
        updating=updating,
        restart_tolerance=restart_tolerance,
        restart_final_fraction=restart_final_fraction,
        n_candidates=n_candidates,
        cma_share=cma_share,
        local_share=0.0 if polish and local_share is None else local_share,
        integrality=integrality,
        x0=x0,
        init=init,
        rng=rng,
        seed=seed,
        history=history,
        constraints=limited,
        constraint_tolerance=constraint_tolerance,
        noisy=noisy,
    )
    result = optimizer.optimize(
        None if isinstance(fun, Problem) else fun,
        args=args,
        vectorized=vectorized,
        workers=workers,
        callback=callback,
        maxtime=SEARCH_SHARE * number("maxtime", maxtime, 0.0)
        if polish and maxtime is not None and total is None
        else maxtime,
        disp=disp,
        progress=progress,
    )
    stopped = set(optimizer.stop())
    if maxfun is None and maxiter is not None and stopped == {"maxfun"}:
        warnings.warn(f"maxiter={maxiter} generations need more evaluations: give maxfun", stacklevel=3)
    late = "interrupted" in stopped or (total is not None and "maxtime" in stopped)
    if polish and np.isfinite(result.fun) and not late:
        inside = polishing_bounds(optimizer.search_bounds, optimizer.problem.integrality, result.x)
        settings = (inside, *polishing_limits(total, maxtime, result.nfev, optimizer.deadline))
        result = _polish(of_point(space, fun), args, vectorized, limited, settings).improve(result, stoppable=disp)
        if space is not None:
            result["params"] = space.decode(result.x)
    return result


def _constraints(constraints: Any, tolerance: Any, box: Any, vectorized: bool) -> Constraints | None:
    limits = (box.lower, box.upper) if isinstance(box, Problem) else split_bounds(box)
    return constraints_of(constraints, tolerance, limits, vectorized=vectorized)


def _polish(
    fun: Callable[..., Any], args: tuple[Any, ...], vectorized: bool, constraints: Constraints | None, settings: Any
) -> Polish:
    if constraints is None:
        return Polish(_one_point(fun, args, vectorized), *settings)
    together = ConstrainedFunction(lambda x: fun(x, *args), constraints)
    many = vectorized and not isinstance(fun, Problem)
    return ConstrainedPolish(
        (lambda x: together.batch(x[:, None])[0]) if many else together, *settings, constraints=constraints
    )


def _one_point(fun: Callable[..., Any], args: tuple[Any, ...], vectorized: bool) -> Callable[[np.ndarray], float]:
    if vectorized and not isinstance(fun, Problem):
        return lambda x: as_value(np.asarray(fun(x[:, None], *args))[0])
    return lambda x: as_value(fun(x, *args))
