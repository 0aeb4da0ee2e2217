"""One call of `differential_evolution`: an `Optimizer` that is told, and answers, in scipy's words."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from deddqn._jit import is_jitted
from deddqn.de.config import SMALLEST_POPULATION
from deddqn.de.constraint_state import Pair
from deddqn.de.state import Counter, End, Scalar
from deddqn.optimize.arguments import choose_policy, number, population_of, split_bounds, whole_number
from deddqn.optimize.classical import TrialMaker, classical_search
from deddqn.optimize.constraint_arguments import constraints_of
from deddqn.optimize.optimizer import Optimizer
from deddqn.optimize.option_types import Updating
from deddqn.optimize.scipy_functions import MapLike, PointFunction, VectorizedFunction
from deddqn.optimize.scipy_polish import polished
from deddqn.policies import best_policy
from deddqn.problems.integrality import lattice_bounds

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
        mode, vectorized = _modes(updating, workers, vectorized)
        self.function = _wrapped(func, args if isinstance(args, tuple) else (args,), vectorized)
        self.original = func
        self.vectorized, self.workers = vectorized, MapLike(workers) if callable(workers) else workers
        box = split_bounds(bounds)
        self.integral = _integral(integrality, box[0].size)
        self.bounds = lattice_bounds(*box, self.integral.astype(np.int64))
        self.given_constraints = constraints
        self.constraints = constraints_of(constraints, 0.0, self.bounds, vectorized=vectorized, strict=True)
        self.feasible_evaluations = self.seen = 0
        self.tol, self.atol = number("tol", tol, 0.0), number("atol", atol, 0.0)
        self.to_the_end = named is None and self.tol == self.atol == 0.0
        self.asked_to_stop = False
        size = self._size(whole_number("popsize", popsize, 1), init)
        self.size, self.iterations = size, 0
        self.maxiter = 1000 if maxiter is None else whole_number("maxiter", maxiter, 0)
        self.budget = self.planned = max((self.maxiter + 1) * size, SMALLEST_POPULATION)
        settings = self._own_search() if named is None else classical_search(*named)
        if mode == "immediate" and named is None:
            mode = "sequential"
        self.optimizer = Optimizer(
            np.column_stack(self.bounds),
            **{
                "population_size": max(size, SMALLEST_POPULATION),
                "maxfun": self.budget,
                **settings,
            },
            updating=mode,
            integrality=self.integral,
            constraints=self.constraints,
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

    def _own_search(self) -> dict[str, Any]:
        """The arguments of `Optimizer` for our own search.

        Without tolerances only the evaluations end it, its plan is for all of them, and it restarts when it has
        converged. With them its plan is the same for every `maxiter`, so that a search that is stopped earlier is the
        beginning of a longer one, as in scipy.
        """
        self.planned = self.budget if self.to_the_end else PLANNED_ITERATIONS * self.size
        policy, _ = choose_policy(best_policy(planned=False), None, None, None)
        most = population_of(None, "uniform", policy, self.planned, dimension=len(self.bounds[0]))
        settings = {
            "policy": policy,
            "maxfun": self.planned,
            "population_size": max(min(self.size, most), SMALLEST_POPULATION),
        }
        return settings if self.to_the_end else {**settings, "restart_tolerance": 0.0}

    def _go_on(self) -> None:
        """Continue with the last population, as at the end of the plan, when that is used up and scipy's is not."""
        run = self.optimizer._run
        counters, left = run.de_state.counters, self.budget - run.evaluations
        if run.evaluations < self.planned or left <= 0 or run.ended == End.EXHAUSTED:
            return
        counters[Counter.ENDED] = End.NOT_YET
        counters[[Counter.BUDGET, Counter.WHOLE_BUDGET, Counter.HAND_OVER, Counter.DECISION, Counter.LOCAL_FROM]] = (
            self.budget
        )
        counters[Counter.GENERATION_SIZE] = min(int(counters[Counter.POPULATION]), left)
        counters[Counter.HORIZON] = run.evaluations + int(counters[Counter.GENERATION_SIZE])

    def solve(self, callback: Callable[..., Any] | None, disp: bool, polish: Any) -> OptimizeResult:
        """Search, polish, and describe what was found."""

        def watch(x: np.ndarray, convergence: float) -> bool:
            self._count_calls()
            self._go_on()
            if not self._ends_iteration():
                return self.maxiter == 0 or self._converged()
            self.iterations += 1
            now = self.result("in progress", True)
            if disp:
                print(f"differential_evolution step {now.nit}: f(x)= {now.fun}")
            self.asked_to_stop = callback is not None and _stopped_by(callback, now, self._convergence())
            return self.asked_to_stop or self._converged() or self.iterations >= self.maxiter

        self.optimizer.optimize(self.function, vectorized=self.vectorized, workers=self.workers, callback=watch)
        result = self._final()
        if polish and not self.integral.all():
            polished(result, self, polish, disp)
        if self.constraints is not None:
            self._describe_constraints(result)
            if result.maxcv > 0:
                result.message = f"The solution does not satisfy the constraints, MAXCV = {result.maxcv}"
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
        if not np.array_equal(population[0], found.x):  # replaced in a restart, or no individual is feasible
            population[0], energies[0] = found.x, found.fun if np.isfinite(found.fun) else np.inf
        result = OptimizeResult(
            x=population[0].copy(),
            fun=energies[0],
            nfev=self._calls(),
            nit=self.iterations,
            message=message,
            success=success,
            population=population,
            population_energies=energies,
        )
        if self.constraints is not None:
            self._describe_constraints(result)
        return result

    def _describe_constraints(self, result: OptimizeResult) -> None:
        """Write how far the constraints are violated at x; a violated one is no success."""
        assert self.constraints is not None
        beyond = self.constraints.excess(self.constraints.at(result.x))
        result.constr = self.constraints.split(beyond)
        result.constr_violation = result.maxcv = float(beyond.max())
        result.success = bool(result.success and result.maxcv == 0.0)

    def _calls(self) -> int:
        """Evaluations as scipy counts them: calls of a vectorised function, points that violate no constraint."""
        if isinstance(self.function, VectorizedFunction):
            return self.function.calls
        return self.optimizer._run.evaluations if self.constraints is None else self.feasible_evaluations

    def _count_calls(self) -> None:
        run = self.optimizer._run
        if self.constraints is not None:
            values = run.de_state.constraint_values[: run.evaluations - self.seen]
            self.feasible_evaluations += int(np.count_nonzero((self.constraints.excess(values) == 0.0).all(axis=1)))
        self.seen = run.evaluations

    def _final(self) -> OptimizeResult:
        if self.asked_to_stop:
            return self.result("callback function requested stop early", False)
        if self._converged() or self.optimizer._run.ended == End.EXHAUSTED:
            return self.result("Optimization terminated successfully.", True)
        return self.result("Maximum number of iterations has been exceeded.", False)

    def _convergence(self) -> float:
        """scipy's measure of convergence; 1 or more is converged."""
        energies = self.optimizer.result.population_energies
        if np.isinf(energies).any():
            return 0.0
        eps = np.finfo(np.float64).eps
        return float(self.tol / (np.std(energies) / (np.abs(np.mean(energies)) + eps) + eps))

    def _converged(self) -> bool:
        """scipy's criterion for stopping; or all points are the same, as far as scipy, with its unit box, can tell."""
        run = self.optimizer._run
        if self.to_the_end or run.generation == 0 or not np.isfinite(run.fitness).all():
            return False
        population, scalars = run.population, run.de_state.scalars
        if np.any(run.de_state.parent_pairs[: len(population), Pair.VIOLATION :] > 0.0):
            return False
        if scalars[Scalar.DEVIATION] <= self.atol + self.tol * abs(scalars[Scalar.MEAN]):
            return True
        least = np.finfo(np.float64).eps * (self.bounds[1] - self.bounds[0])
        two_agree = np.all(np.abs(population[0] - population[-1]) <= least)  # else there is no need to look at all
        return bool(two_agree and np.all(np.ptp(population, axis=0) <= least))


def _integral(integrality: Any, dimension: int) -> np.ndarray:
    """Which coordinates are integers (D,)."""
    given = False if integrality is None else integrality
    try:
        return np.broadcast_to(np.asarray(given, dtype=bool), dimension).copy()
    except ValueError:
        raise ValueError(f"integrality must be one truth value, or one for each coordinate, got {given!r}") from None


def _modes(updating: str, workers: Any, vectorized: bool) -> tuple[Updating, bool]:
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
    deferred = parallel or vectorized or updating == "deferred"
    return "deferred" if deferred else "immediate", bool(vectorized)


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
