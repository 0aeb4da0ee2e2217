"""`Optimizer`: the search as an object, by ask and tell or on a function; stopped, saved and continued at will."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from deddqn._utils.validation import suggests_keywords
from deddqn.de.state import Counter
from deddqn.engine.run import Run
from deddqn.engine.run_spec import RunSpec
from deddqn.optimize import asked_points, option_types
from deddqn.optimize.arguments import (
    check_start,
    choose_policy,
    flag,
    floats,
    init_array,
    initial_population,
    is_planned,
    number,
    root_seed,
    whole_number,
)
from deddqn.optimize.callbacks import asks_to_stop
from deddqn.optimize.constraint_arguments import EQUALITY_TOLERANCE, problem_of, renew_constraints
from deddqn.optimize.constraint_results import constraint_fields, told_constraints
from deddqn.optimize.function_runner import Drive
from deddqn.optimize.noisy import answer, noisy_policy
from deddqn.optimize.planning import Plan, carry_out, extended, plan_by_clock
from deddqn.optimize.progress import check_progress, display, generation_line
from deddqn.optimize.result import Result
from deddqn.optimize.search_history import History
from deddqn.optimize.settings import limits_of, plan_search, shares_of
from deddqn.optimize.space import Space
from deddqn.optimize.space_search import decoded, encoded_arguments, of_point, saved_space, told_rows
from deddqn.optimize.stopping import FAILURES, Limits, convergence, final_message, reasons_to_stop
from deddqn.policies.policy import Policy
from deddqn.problems.integrality import on_lattice
from deddqn.problems.problem import Problem


class Optimizer:
    """Differential Evolution with a policy, one step at a time.

    Parameters are those of `deddqn.minimize`. With ``updating="sequential"`` `ask` gives one point at a time; with
    ``"deferred"`` a generation, which may be evaluated in any order and in parallel; with ``"asynchronous"`` as many
    points as are wanted at any time.

    Examples
    --------
    >>> import deddqn
    >>> optimizer = deddqn.Optimizer([(-5, 5)] * 3, maxfun=1000, rng=1)
    >>> while not optimizer.stop():
    ...     points = optimizer.ask()
    ...     optimizer.tell(points, [(x**2).sum() for x in points])
    >>> optimizer.result.nfev
    1000
    """

    @suggests_keywords
    def __init__(
        self,
        bounds: option_types.BoundsLike | Problem | None = None,
        *,
        space: Space | None = None,
        policy: option_types.PolicyLike | None = None,
        portfolio: option_types.PortfolioLike | None = None,
        maxfun: int | None = None,
        maxiter: int | None = None,
        ftarget: float | None = None,
        tol: float = 0.0,
        atol: float = 0.0,
        population_size: int | None = None,
        final_population: int | None = None,
        scale: float | None = None,
        crossover: float | None = None,
        repair: option_types.Repair | None = None,
        updating: option_types.Updating = "sequential",
        restart_tolerance: float | None = None,
        restart_final_fraction: float | None = None,
        n_candidates: int | None = None,
        cma_share: float | None = None,
        local_share: float | None = None,
        integrality: option_types.IntegralityLike | None = None,
        x0: option_types.PointLike | Mapping[str, Any] | None = None,
        init: option_types.InitLike = "uniform",
        rng: option_types.Seed | None = None,
        seed: option_types.Seed | None = None,
        history: bool = False,
        constraints: Any = None,
        constraint_tolerance: float = EQUALITY_TOLERANCE,
        noisy: bool = False,
    ) -> None:
        given = {"bounds": bounds, "integrality": integrality, "constraints": constraints, "x0": x0, "init": init}
        bounds, integrality, constraints, x0, init = encoded_arguments(space, given).values()
        problem, box = problem_of(bounds, constraints, constraint_tolerance, integrality)
        if flag("noisy", noisy):
            policy, portfolio = noisy_policy(policy, portfolio, constraints=constraints, integrality=integrality)
        planned = is_planned(problem, maxfun, updating, tol, atol)
        chosen, operators = choose_policy(policy, portfolio, scale, crossover, planned=planned)
        self._limits = limits_of(maxiter, ftarget, tol, atol)
        self._plan, config = plan_search(
            chosen,
            problem.dimension,
            self._limits,
            given_size=None if isinstance(init, str) else len(init_array(init, *box)),
            maxfun=maxfun,
            population_size=population_size,
            final_population=final_population,
            restart_tolerance=restart_tolerance,
            restart_final_fraction=restart_final_fraction,
            n_candidates=n_candidates,
            **shares_of(planned or noisy, cma_share=cma_share, local_share=local_share),
            repair=repair,
            updating=updating,
            noisy=noisy,
        )
        size, root = config.first_population or config.population_size, root_seed(rng, seed)
        spec = RunSpec(problem=problem, policy=chosen, portfolio=operators, config=config, seed=root)
        start = check_start(x0, *box)
        run = Run(spec, initial_population(init, size, problem, box, root))
        if start is not None:
            run.replace_first(on_lattice(start, problem.lower, problem.upper, problem.integrality))
        self._adopt(run, History() if flag("history", history) else None, space)

    def _adopt(self, run: Run, history: History | None, space: Space | None) -> None:
        self._run = run
        self.space = space  # the named parameters that coordinates stand for, or None
        self._history = history
        self._asked: set[int] = set()  # points of this generation whose values are expected
        self._handed: set[int] = set()  # ... that are not handed out again: after loading, others may need them
        self._reasons: set[str] = set()  # why the last call of `optimize` ended before the search did
        self.deadline: float | None = None  # of the last call of `optimize` with maxtime
        self.label = ""
        """A name for what is searched, which is saved with the search."""

    @property
    def seed(self) -> int:
        """The seed of the run; the same seed and settings give the same run."""
        return self._run.spec.seed

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds."""
        return self._run.spec.problem.lower, self._run.spec.problem.upper

    @property
    def search_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds that points keep to; infinite for a problem whose bounds are only there to begin in."""
        problem, free = self._run.spec.problem, np.full(self._run.spec.problem.dimension, np.inf)
        return (problem.lower.copy(), problem.upper.copy()) if problem.bounded else (-free, free)

    @property
    def problem(self) -> Problem:
        """What is searched: the problem given, or the box of the bounds."""
        return self._run.spec.problem

    @property
    def maxfun(self) -> int:
        """The most evaluations; where they are not known, as many as are made or planned without being told."""
        return self._plan.waiting or self._plan.maxfun or self._run.spec.config.budget

    # Ask and tell

    def ask(self, n: int | None = None) -> Any:
        """The points (k, D) to evaluate next: one in sequential mode, what is left of a generation in deferred mode.

        With `n` at most so many. Points that were handed out are not handed out again until they are told. With a
        space they are a list of dictionaries.

        In asynchronous mode `n` points (1 unless given), whatever is pending; fewer only when `maxfun` leaves no more.
        """
        return decoded(self.space, self._ask(None if n is None else whole_number("n", n, 1)))

    def _ask(self, wanted: int | None) -> np.ndarray:
        self._reasons.clear()
        if self._run.spec.asynchronous:
            return asked_points.hand_out(self._run, self._handed, wanted or 1, self._note_history)
        first, last = self._run.ask()
        waiting = [i for i in range(first, last) if i not in self._handed and not self._run.told[i]]
        if last > first and not waiting:
            raise ValueError("ask: all points that can be evaluated now are handed out; tell their values first")
        chosen = waiting[:wanted]
        self._handed.update(chosen)
        self._asked.update(chosen)
        return self._run.points[chosen]

    def tell(self, points: Any, values: Any, constraints: Any = None) -> None:
        """Enter the values of asked points, in any order and in parts.

        With constraints also the constraint values (k, m), those of all constraints side by side; they may be left out
        where all constraints have functions, which are then called.

        In asynchronous mode also those of points from elsewhere, inside of the bounds: they are no evaluations of this
        search, but count for the best so far, and the points join the population if they are good enough.
        """
        given = told_rows(self.space, points, asked_points.expected(self._run, self._asked | self._handed))
        rows = np.atleast_2d(floats("points", given, "points that ask gave, (D,) or (k, D)"))
        told = np.atleast_1d(floats("values", values, "one number per point"))
        if told.shape != (len(rows),):
            raise ValueError(f"values must be one per point ({len(rows)}), got shape {told.shape}")
        limited = told_constraints(self._run.spec.problem.constraints, rows, constraints)
        if self._run.spec.asynchronous:
            asked_points.tell(self._run, self._handed, rows, told, self._note_history)
            return
        for i, value, row in zip(asked_points.match_asked(self._run, self._asked, rows), told, limited, strict=True):
            self._asked.discard(i)
            self._handed.discard(i)
            self._run.tell(i, float(value), row)
            if self._run.between_generations:
                self._note_generation()

    def _note_generation(self) -> None:
        self._asked.clear()
        self._handed.clear()
        self._note_history()

    def _note_history(self) -> None:
        if self._history is not None:
            self._history.note(self._run)
        self._plan = carry_out(self._plan, self._run)

    def extend(self, *, maxfun: int) -> None:
        """Continue with another number of evaluations in all, whether the search is finished or not.

        The population grows to the size that a plan for so many has by now; a generation that has begun ends first.
        """
        waiting = extended(self._plan, self._run, maxfun)
        self._reasons.clear()
        self._plan = waiting if self._asked else carry_out(waiting, self._run)

    # Stopping and results

    def stop(self) -> dict[str, str]:
        """Why the search is over, as {reason: message}; empty while it continues.

        That a callback, the clock or Ctrl-C ended `optimize` counts until the search continues or is loaded again.
        """
        return reasons_to_stop(self._run, self._limits, self._reasons)

    @property
    def convergence(self) -> float:
        """scipy's measure: `tol` over the relative spread of the population; 1 or more is converged."""
        return convergence(self._run, self._limits)

    @property
    def result(self) -> Result:
        """What is known now, as scipy's `OptimizeResult`."""
        de_state, stopped = self._run.de_state, self.stop()
        found = bool(np.isfinite(self._run.best_value))
        population, energies = self._run.latest_population()
        result = Result(
            x=(de_state.best_point if self._run.evaluations or found else de_state.parents[0]).copy(),
            fun=self._run.best_value,
            nfev=self._run.evaluations,
            nit=self._run.generation,
            success=found and bool(stopped) and not any(reason in FAILURES for reason in stopped),
            message=final_message(self._run, stopped),
            population=population,
            population_energies=energies,
            strategies=list(self._run.spec.portfolio.names),
            strategy_counts=de_state.applications.copy(),
            non_finite=int(de_state.counters[Counter.NON_FINITE]),
            policy=self._run.spec.policy.name,
            seed=self.seed,
        )
        result.update(answer(self._run, self._plan.judged) if self._plan.noisy else constraint_fields(self._run))
        result |= {} if self.space is None else {"params": self.space.decode(result.x)}
        if de_state.counters[Counter.FOREIGN]:
            result["foreign"] = int(de_state.counters[Counter.FOREIGN])
        if self._history is not None:
            result["history"] = self._history.result()
        return result

    # On a function

    def optimize(
        self,
        fun: Callable[..., Any] | None = None,
        *,
        args: tuple[Any, ...] = (),
        vectorized: bool = False,
        workers: option_types.WorkersLike = 1,
        callback: Callable[..., Any] | None = None,
        maxtime: float | None = None,
        disp: bool = False,
        progress: bool | Literal["always"] = False,
        maxfun: int | None = None,
        constraints: Any = None,
    ) -> Result:
        """Search on `fun` until something says stop; `maxfun` extends a search that was begun. See `minimize`.

        A search that was loaded needs its `constraints` again, if they have functions.
        """
        show, shown = flag("disp", disp), check_progress(progress)
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be callable, got {callback!r}")
        seconds = None if maxtime is None else number("maxtime", maxtime, 0.0)
        renew_constraints(self._run, self.space, constraints, flag("vectorized", vectorized))
        function = of_point(self.space, fun, vectorized)
        drive = Drive(self._run, function, args=args, vectorized=vectorized, workers=workers, maxtime=seconds)
        self._reasons.clear()
        if maxfun is not None and maxfun != self.maxfun:
            self.extend(maxfun=maxfun)
        by_clock = seconds is not None and self._plan.maxfun is None and self._plan.waiting is None
        if by_clock and self._run.ended:
            plan_by_clock(self._plan, self._run, 2 * self._run.evaluations)
        try:
            known = self._plan.waiting or self._plan.maxfun
            with drive, display(shown, self._run, known, drive.deadline, alone=drive.alone) as bar:
                while not self.stop():
                    if not drive.generation():
                        self._reasons.add("maxtime")
                        break
                    self._note_generation()
                    if by_clock:
                        plan_by_clock(self._plan, self._run, drive.affordable())
                    bar.note()
                    if show and not self._run.searches_locally:
                        print(generation_line(self._run))
                    if callback is not None and asks_to_stop(callback, self):
                        self._reasons.add("callback")
        except KeyboardInterrupt:
            if not show:
                raise
            self._reasons.add("interrupted")
        self.deadline = drive.deadline
        result = self.result
        if show:
            print(result.message)
        return result

    def _repr_html_(self) -> str:
        from deddqn.optimize.html_view import optimizer_html

        return optimizer_html(self)

    # Saving

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the search at any moment; `load` continues it bit for bit, here or elsewhere."""
        from deddqn.optimize.saved_search import save_state

        save_state(path, self.__getstate__())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, policy: Policy | None = None) -> Optimizer:
        """A saved search.

        `policy` is needed, and allowed, only if the search was made with an object of yours: then it is that object,
        as it was when the search was saved.
        """
        from deddqn._utils.reading import refusing
        from deddqn.optimize.saved_search import WHAT, check_given, load_state

        optimizer = cls.__new__(cls)
        with refusing(path, WHAT):
            state = load_state(path)
        check_given(state["policy"], policy)
        with refusing(path, WHAT):
            optimizer._restore(state, policy)
        return optimizer

    def __getstate__(self) -> dict[str, Any]:
        from deddqn.optimize.saved_search import state_of

        history = None if self._history is None else self._history.arrays()
        return {
            **state_of(self._run),
            "limits": asdict(self._limits),
            "history": history,
            "asked": sorted(self._asked),
            "label": self.label,
            "space": None if self.space is None else self.space.to_dict(),
            "plan": asdict(self._plan),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._restore(state, None)

    def _restore(self, state: dict[str, Any], policy: Policy | None) -> None:
        from deddqn.engine.memory_check import check_arena
        from deddqn.optimize.saved_search import check_against_memory, spec_of

        spec = spec_of(state, policy)
        self._limits = Limits(**state["limits"])
        self._plan = Plan(**state["plan"])
        history = None if state["history"] is None else History.from_arrays(state["history"], len(spec.portfolio))
        check_arena(spec, state["arena"])
        space = saved_space(state["space"], spec.problem)
        self._adopt(Run.resume(spec, state["arena"]), history, space)
        self._asked = set(state["asked"])
        check_against_memory(state, self._run)
        self.label = state["label"]
