"""One call of `differential_evolution`: an `Optimizer` that is told, and answers, in scipy's words."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from deddqn._jit import is_jitted
from deddqn.de.config import SMALLEST_POPULATION
from deddqn.de.state import Counter, End
from deddqn.optimize.arguments import choose_policy, population_of, split_bounds, whole_number
from deddqn.optimize.classical import TrialMaker, classical_search
from deddqn.optimize.optimizer import Optimizer
from deddqn.optimize.scipy_functions import MapLike, PointFunction, VectorizedFunction
from deddqn.optimize.scipy_polish import polished

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

INITS = {"latinhypercube": "latinhypercube", "sobol": "sobol", "halton": "halton", "random": "uniform"}
SMALLEST = 5  # population in scipy
PLANNED_ITERATIONS = 200
"""Our search plans for as many evaluations as so many of scipy's iterations have: 3000 per coordinate by default."""

Named = tuple[Any, Any, Any]  # strategy, mutation, recombination


class ScipySearch:
    """Parameters are those of `differential_evolution`; `named` is None for our own search."""

    def __init__(
        self,
        func: Callable[..., Any],
        bounds: Any,
        args: Any,
        named: Named | None,
        *,
        maxiter: int | None,
        popsize: int,
        tol: float,
        atol: float,
        rng: Any,
        init: Any,
        updating: str,
        workers: Any,
        constraints: Any,
        x0: Any,
        integrality: Any,
        vectorized: bool,
    ) -> None:
        for argument, value in (("constraints", constraints), ("integrality", integrality)):
            if np.any(np.asarray(value, dtype=object)):
                raise NotImplementedError(f"{argument} are not supported yet, got {value!r}")
        updating, vectorized = _modes(updating, workers, vectorized)
        self.function = _wrapped(func, args if isinstance(args, tuple) else (args,), vectorized)
        self.original = func
        self.vectorized, self.workers = vectorized, MapLike(workers) if callable(workers) else workers
        self.bounds = split_bounds(bounds)
        self.tol = tol
        self.asked_to_stop = False
        size = self._size(whole_number("popsize", popsize, 1), init)
        self.size, self.iterations = size, 0
        self.maxiter = 1000 if maxiter is None else whole_number("maxiter", maxiter, 0)
        self.budget = max((self.maxiter + 1) * size, SMALLEST_POPULATION)
        settings = self._own_search(tol == 0 and atol == 0) if named is None else classical_search(*named)
        if updating == "immediate" and named is None:
            updating = "sequential"
        self.optimizer = Optimizer(
            np.column_stack(self.bounds),
            **{
                "population_size": max(size, SMALLEST_POPULATION),
                "maxfun": self.budget,
                **settings,
            },
            tol=tol,
            atol=atol,
            updating=updating,
            x0=x0,
            init=self._init(init),
            rng=_seed(rng),
        )
        if named is not None and callable(named[0]):
            self._maker = TrialMaker(named[0], self.optimizer._run)

    @property
    def free(self) -> int:
        """Coordinates that the bounds do not fix, but at least one."""
        return max(1, int(np.count_nonzero(self.bounds[0] < self.bounds[1])))

    def _size(self, popsize: int, init: Any) -> int:
        """The population that scipy would have."""
        if not isinstance(init, str):
            return len(self._init(init))
        size = max(SMALLEST, popsize * self.free)
        return 1 << (size - 1).bit_length() if init == "sobol" else size

    def _init(self, init: Any) -> Any:
        """scipy's words for an initial population, or an array (S, D) that is clipped to the bounds."""
        if isinstance(init, str):
            if init not in INITS:
                raise ValueError(f"init must be one of {', '.join(INITS)} or an array of shape (S, N), got {init!r}")
            return INITS[init]
        points = np.asarray(init, dtype=np.float64)
        dimension = self.bounds[0].size
        if points.ndim != 2 or points.shape[1] != dimension or len(points) < SMALLEST:
            raise ValueError(f"init must have shape (S, {dimension}) with S of at least 5, got {points.shape}")
        inside = np.clip(points, *self.bounds)
        if len(inside) == SMALLEST:  # scipy makes do with five: here their mean is the sixth
            inside = np.vstack([inside, inside.mean(axis=0)])
        return inside

    def _own_search(self, to_the_end: bool) -> dict[str, Any]:
        """The arguments of `Optimizer` for our own search.

        Its plan is for all evaluations if only they end it (`to_the_end`). Otherwise it is the same for every
        `maxiter`, so that a search that is stopped earlier is the beginning of a longer one, as in scipy.
        """
        planned = self.budget if to_the_end else PLANNED_ITERATIONS * self.size
        policy, _ = choose_policy(None, None, None, None)
        most = population_of(None, "uniform", policy, planned)
        return {"maxfun": planned, "population_size": max(min(self.size, most), SMALLEST_POPULATION)}

    def _go_on(self) -> None:
        """Continue with the last population when the plan is used up, and scipy's evaluations are not."""
        run = self.optimizer._run
        counters, left = run.de_state.counters, self.budget - run.evaluations
        if run.ended == End.BUDGET and left > 0:
            counters[Counter.ENDED] = End.NOT_YET
            counters[Counter.BUDGET] = self.budget
            counters[Counter.GENERATION_SIZE] = min(int(counters[Counter.POPULATION]), left)

    def solve(self, callback: Callable[..., Any] | None, disp: bool, polish: Any) -> OptimizeResult:
        """Search, polish, and describe what was found."""

        def watch(intermediate_result: OptimizeResult) -> bool:
            self._go_on()
            if self.maxiter == 0:
                return True
            if not self._ends_iteration():
                return self._collapsed()
            self.iterations += 1
            now = self.result("in progress", True)
            if disp:
                print(f"differential_evolution step {now.nit}: f(x)= {now.fun}")
            self.asked_to_stop = callback is not None and _stopped_by(callback, now, self._convergence())
            return self.asked_to_stop or self._collapsed() or self.iterations >= self.maxiter

        self.optimizer.optimize(self.function, vectorized=self.vectorized, workers=self.workers, callback=watch)
        result = self._final()
        if polish:
            polished(result, self, polish, disp)
        return result

    def _ends_iteration(self) -> bool:
        """Whether one of scipy's iterations, which have `size` evaluations, ends with this generation.

        It does if the next generation would not fit into it; so there are never more evaluations than in scipy.
        """
        counters = self.optimizer._run.de_state.counters
        after = int(counters[Counter.EVALUATIONS]) + int(counters[Counter.GENERATION_SIZE])
        begun = bool(counters[Counter.GENERATION])
        return begun and (after > (self.iterations + 2) * self.size or bool(counters[Counter.ENDED]))

    def result(self, message: str, success: bool) -> OptimizeResult:
        """What is known now, in scipy's form: the best individual is the first one."""
        from scipy.optimize import OptimizeResult

        found = self.optimizer.result
        population, energies = found.population, found.population_energies
        best = int(np.argmin(energies))
        population[[0, best]], energies[[0, best]] = population[[best, 0]], energies[[best, 0]]
        if found.fun < energies[0]:  # the population with the best point was replaced in a restart
            population[0], energies[0] = found.x, found.fun
        calls = self.function.calls if isinstance(self.function, VectorizedFunction) else found.nfev
        return OptimizeResult(
            x=population[0].copy(),
            fun=energies[0],
            nfev=calls,
            nit=self.iterations,
            message=message,
            success=success,
            population=population,
            population_energies=energies,
        )

    def _final(self) -> OptimizeResult:
        if self.asked_to_stop:
            return self.result("callback function requested stop early", False)
        if "tol" in self.optimizer.stop() or self._collapsed():
            return self.result("Optimization terminated successfully.", True)
        return self.result("Maximum number of iterations has been exceeded.", False)

    def _convergence(self) -> float:
        """scipy's measure of convergence; 1 or more is converged."""
        energies = self.optimizer.result.population_energies
        if np.isinf(energies).any():
            return 0.0
        eps = np.finfo(np.float64).eps
        return float(self.tol / (np.std(energies) / (np.abs(np.mean(energies)) + eps) + eps))

    def _collapsed(self) -> bool:
        """Whether all points are the same, as far as scipy can tell, which keeps them in widths of the box."""
        population = self.optimizer.result.population
        spread, width = np.ptp(population, axis=0), self.bounds[1] - self.bounds[0]
        return bool(np.all(spread <= np.finfo(np.float64).eps * width))


def _modes(updating: str, workers: Any, vectorized: bool) -> tuple[str, bool]:
    """What `workers` and `vectorized` make of one another and of `updating`, with scipy's warnings."""
    if updating not in ("immediate", "deferred"):
        raise ValueError(f"updating must be 'immediate' or 'deferred', got {updating!r}")
    parallel = callable(workers) or workers != 1
    if parallel and updating == "immediate":
        _warn("the 'workers' keyword has overridden updating='immediate' to updating='deferred'")
    if parallel and vectorized:
        _warn("the 'workers' keyword overrides the 'vectorized' keyword")
        vectorized = False
    if vectorized and updating == "immediate":
        _warn("the 'vectorized' keyword has overridden updating='immediate' to updating='deferred'")
    return ("deferred" if parallel or vectorized else updating), bool(vectorized)


def _warn(text: str) -> None:
    warnings.warn(f"differential_evolution: {text}", UserWarning, stacklevel=5)


def _wrapped(func: Any, args: tuple[Any, ...], vectorized: bool) -> Any:
    if not callable(func):
        raise ValueError(f"func must be callable, got {func!r}")
    if vectorized:
        return VectorizedFunction(func, args)
    return func if is_jitted(func) and not args else PointFunction(func, args)


def _seed(rng: Any) -> Any:
    """What `Optimizer` takes from all that scipy takes."""
    if rng is None or isinstance(rng, int | np.integer | np.random.Generator | np.random.SeedSequence):
        return rng
    if rng is np.random or isinstance(rng, np.random.RandomState):
        return int(rng.randint(2**31))
    return np.random.default_rng(rng)


def _stopped_by(callback: Callable[..., Any], result: OptimizeResult, convergence: float) -> bool:
    """Call a callback of either style of scipy's."""
    try:
        names = set(inspect.signature(callback).parameters)
    except (TypeError, ValueError):
        names = set()
    try:
        if names == {"intermediate_result"}:
            result.convergence = convergence
            return bool(callback(intermediate_result=result))
        return bool(callback(result.x, convergence=convergence))
    except StopIteration:
        return True
