"""One run, driven from Python: any policy, any source of values, on the same kernels as everything else."""

from __future__ import annotations

from operator import index

import numpy as np

from deddqn.de.discrete import enter_given_population
from deddqn.de.state import Counter, End, Outcome, Scalar, known_individuals
from deddqn.engine import asynchronous, stepping
from deddqn.engine.loop import advance, start
from deddqn.engine.pending_points import grown, pending_rows
from deddqn.engine.run_memory import view_run
from deddqn.engine.run_spec import RunSpec, bind, write_run
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.search_view import SearchView
from deddqn.rng import Stream


class Run:
    """A run that proposes points and takes values, or evaluates its problem itself.

    Parameters
    ----------
    spec : what to run.
    population : the initial population (NP, D), instead of a uniform one.
    """

    def __init__(self, spec: RunSpec, population: np.ndarray | None = None) -> None:
        self.move(spec)
        if population is not None:
            self.de_state.parents[: len(population)] = population
        start(self.address, population is None)
        if not self.compiled:
            generator = np.random.Generator(np.random.SFC64())
            state = generator.bit_generator.state
            state["state"]["state"] = self.de_state.streams[Stream.POLICY].copy()
            generator.bit_generator.state = state
            spec.policy.reset(len(spec.portfolio), len(self.population), generator)

    def move(self, spec: RunSpec) -> None:
        """Take memory for a run of `spec` that has not begun (see `deddqn.engine.extension` for one that has)."""
        self.spec = spec
        self.arena = np.zeros(spec.size)
        write_run(spec, self.arena)
        self._open()

    def _open(self) -> None:
        self.address = self.arena.ctypes.data
        self.core, self.de_state, self.observer = view_run(self.arena)
        self.compiled = isinstance(self.spec.policy, CompiledPolicy)

    @classmethod
    def resume(cls, spec: RunSpec, arena: np.ndarray) -> Run:
        """A run that goes on from the memory of another one with the same spec."""
        run = cls.__new__(cls)
        run.spec, run.arena = spec, np.array(arena, dtype=np.float64)
        if run.arena.shape != (spec.size,):
            raise ValueError(f"arena must hold {spec.size} numbers for this run, got shape {run.arena.shape}")
        bind(spec, run.arena)
        run._open()
        return run

    def replace_first(self, point: np.ndarray) -> None:
        """Let `point` be the first individual of the initial population, before anything is evaluated."""
        if self.de_state.counters[Counter.SAMPLING]:
            raise ValueError("cma_share must be below 1 with x0, which is an individual of DE, got 1")
        self.de_state.parents[0] = point
        enter_given_population(self.de_state.address)

    def rebind(self, spec: RunSpec) -> None:
        """Let the run evaluate another problem object of the same shape from now on."""
        self.spec = spec
        bind(spec, self.arena)

    # What is known about the run

    @property
    def evaluations(self) -> int:
        """Evaluations recorded so far."""
        return int(self.de_state.counters[Counter.EVALUATIONS])

    @property
    def generation(self) -> int:
        """Finished generations."""
        return int(self.de_state.counters[Counter.GENERATION])

    @property
    def ended(self) -> End:
        """Why the run ended, or `End.NOT_YET`."""
        return End(int(self.de_state.counters[Counter.ENDED]))

    @property
    def best_value(self) -> float:
        """f_bsf; with constraints the best value of a point that satisfies them, +inf while there is none."""
        return float(self.de_state.scalars[Scalar.FEASIBLE_BSF])

    @property
    def initialised(self) -> bool:
        """False while a new population is evaluated."""
        return bool(self.de_state.counters[Counter.INITIALISED])

    @property
    def searches_locally(self) -> bool:
        """True while points of the local search are evaluated, one or a gradient at a time."""
        return bool(self.de_state.counters[Counter.LOCAL_PHASE])

    @property
    def between_generations(self) -> bool:
        """True when nothing of the current generation has been told."""
        return int(self.de_state.counters[Counter.TOLD]) == 0

    # The steps

    def ask(self) -> tuple[int, int]:
        """Propose what can be evaluated now; return the range of point numbers (see `points`)."""
        counters = self.de_state.counters
        if self.compiled:
            count = int(stepping.ask_points(self.address))
            return (0 if counters[Counter.DEFERRED] else int(counters[Counter.TOLD])), count
        while (i := int(stepping.observe(self.address))) >= 0:
            stepping.act(self.address, self._decide(i))
        if self.ended:
            return 0, 0
        if counters[Counter.DEFERRED]:
            return 0, int(counters[Counter.GENERATION_SIZE])
        return int(counters[Counter.TOLD]), int(counters[Counter.TOLD]) + 1

    def _decide(self, i: int) -> int:
        """Ask the policy in Python for the operator of individual `i`, whose donors are drawn."""
        policy = self.spec.policy
        if hasattr(policy, "look"):
            policy.look(SearchView(self.de_state, i))
        chosen = policy.choose(self.observer.features.copy() if policy.needs_features else np.empty(0), i)
        try:
            op = index(chosen)
        except TypeError:
            op = -1
        if not 0 <= op < len(self.spec.portfolio):
            raise ValueError(f"policy must choose an operator in 0..{len(self.spec.portfolio) - 1}, got {chosen!r}")
        return op

    @property
    def points(self) -> np.ndarray:
        """(NP, D) view: a new population while it is evaluated, otherwise the trials of the generation."""
        return self.de_state.trials if self.de_state.counters[Counter.INITIALISED] else self.population

    @property
    def population(self) -> np.ndarray:
        """(NP, D) view: the parents."""
        return self.de_state.parents[: int(self.de_state.counters[Counter.POPULATION])]

    @property
    def individuals(self) -> int:
        """How many individuals the policy decides for: those of DE, which wait while somebody else searches."""
        return int(known_individuals(self.de_state.counters))

    @property
    def fitness(self) -> np.ndarray:
        """(NP,) view: the parents' values."""
        return self.de_state.fitness[: int(self.de_state.counters[Counter.POPULATION])]

    def latest_population(self) -> tuple[np.ndarray, np.ndarray]:
        """Copies of the parents and their values.

        While a local search asks for points: of those that wait, with the best point in the place of their best one.
        """
        waiting = int(self.de_state.counters[Counter.BEST_POPULATION_SIZE])
        if not (self.searches_locally and waiting):
            return self.population.copy(), self.fitness.copy()
        points = self.de_state.best_population[:waiting].copy()
        values = self.de_state.best_population_fitness[:waiting].copy()
        best = int(values.argmin())
        if self.de_state.scalars[Scalar.F_BSF] < values[best]:
            points[best], values[best] = self.de_state.best_point, self.de_state.scalars[Scalar.F_BSF]
        return points, values

    @property
    def told(self) -> np.ndarray:
        """(NP,) which points of the generation have their value."""
        return self.de_state.told != 0

    def tell(self, i: int, value: float, constraint_values: np.ndarray | None = None) -> None:
        """Enter the value of point `i`, and its constraint values (m,); record what can be recorded."""
        if constraint_values is not None:
            self.de_state.constraint_values[i] = constraint_values
        if self.compiled:
            stepping.tell_value(self.address, i, value)
        else:
            stepping.hold_value_of(self.address, i, value)
            self._record_in_python()

    def _record_in_python(self) -> None:
        initial = not self.de_state.counters[Counter.INITIALISED]
        recorded = False
        while (i := int(stepping.record_next(self.address))) >= 0:
            recorded = True
            if not initial:
                self._learn(i, i)
        if recorded and stepping.finish_if_over(self.address):
            self._end_generation_in_python(initial)

    def _learn(self, i: int, row: int) -> None:
        """Tell the policy what came of the trial of individual `i`, recorded in a row."""
        de_state = self.de_state
        parent, trial = float(de_state.outcome[Outcome.PARENT]), float(de_state.outcome[Outcome.TRIAL])
        best, worst = float(de_state.scalars[Scalar.F_BSF]), float(de_state.scalars[Scalar.F_WSF])
        op, reward = int(de_state.choices[row]), float(self.core.rewards[i])
        self.spec.policy.learn(i, op, parent, trial, best, worst, reward)

    def _end_generation_in_python(self, initial: bool) -> None:
        de_state, policy = self.de_state, self.spec.policy
        if not initial:
            policy.end_generation()
        if de_state.counters[Counter.RENUMBERED] and hasattr(policy, "renumber"):
            policy.renumber(de_state.origin[: self.individuals].copy())

    # Asynchronous runs: pending points are known by their rows, which change when values are told

    def ask_point(self) -> int:
        """Propose one more point and return its row; -1 when the run has ended or its budget is handed out."""
        counters = self.de_state.counters
        if int(counters[Counter.RECORDED] + counters[Counter.PENDING]) + 1 > len(self.de_state.trials):
            self.spec, self.arena = grown(self.spec, self.arena)
            self._open()
        if self.compiled:
            return int(asynchronous.ask_point(self.address))
        i = int(asynchronous.observe_point(self.address))
        if i == asynchronous.NOTHING_LEFT:
            return i
        if i == asynchronous.POINT_ADDED:
            return int(pending_rows(self.de_state)[-1])
        return int(asynchronous.act_point(self.address, self._decide(i)))

    @property
    def pending(self) -> np.ndarray:
        """Rows of the pending points, in the order in which they were asked for."""
        return pending_rows(self.de_state)

    def tell_point(self, row: int, value: float) -> bool:
        """Enter the value of the pending point in a row; return whether that was the last one of a generation."""
        i = int(asynchronous.record_point(self.address, row, value))
        if i >= 0 and not self.compiled:
            self._learn(i, int(self.de_state.counters[Counter.RECORDED]) - 1)
        return self._finish_due()

    def tell_foreign(self, point: np.ndarray, value: float) -> bool:
        """Enter the value of a point that was not asked for; it counts as no evaluation of the run."""
        asynchronous.record_foreign_point(self.address, np.ascontiguousarray(point), value)
        return self._finish_due()

    def _finish_due(self) -> bool:
        initial = not self.de_state.counters[Counter.INITIALISED]
        over = bool(asynchronous.finish_due(self.address))
        if over and not self.compiled:
            self._end_generation_in_python(initial)
        return over

    # On the run's own problem

    def advance(self, until: int) -> None:
        """Evaluate the problem until `until` evaluations are made in all, or the run ends."""
        if self.compiled:
            (asynchronous.advance_asynchronously if self.spec.asynchronous else advance)(self.address, until)
        elif self.spec.asynchronous:
            while self.evaluations < until and (row := self.ask_point()) >= 0:
                self.tell_point(row, float(stepping.evaluate_here(self.address, row)))
        else:
            self._advance_in_python(until)

    def _advance_in_python(self, until: int) -> None:
        while not self.ended and self.evaluations + int(self.de_state.counters[Counter.TOLD]) - self._cursor < until:
            self.ask()
            i = int(self.de_state.counters[Counter.TOLD])
            self.tell(i, stepping.evaluate_here(self.address, i))

    @property
    def _cursor(self) -> int:
        return int(self.de_state.counters[Counter.RECORDED])
