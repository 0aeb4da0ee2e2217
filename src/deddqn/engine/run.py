"""One run, driven from Python: any policy, any source of values, on the same kernels as everything else."""

from __future__ import annotations

import numpy as np

from deddqn.de.state import Count, End, Fact, Mark
from deddqn.engine import stepping
from deddqn.engine.loop import advance, start
from deddqn.engine.run_memory import view_episode
from deddqn.engine.run_spec import EpisodeSpec, bind, write_episode
from deddqn.policies.policy import CompiledPolicy
from deddqn.rng import Stream


class Run:
    """A run that proposes points and takes values, or evaluates its problem itself.

    Parameters
    ----------
    spec : what to run.
    population : the initial population (NP, D), instead of a uniform one.
    """

    def __init__(self, spec: EpisodeSpec, population: np.ndarray | None = None) -> None:
        self.spec = spec
        self.arena = np.zeros(spec.size)
        write_episode(spec, self.arena)
        self._open()
        if population is not None:
            self.search.parents[: len(population)] = population
        start(self.address, population is None)
        if not self.compiled:
            generator = np.random.Generator(np.random.SFC64())
            state = generator.bit_generator.state
            state["state"]["state"] = self.search.streams[Stream.POLICY].copy()
            generator.bit_generator.state = state
            spec.policy.reset(len(spec.portfolio), spec.config.population_size, generator)

    def _open(self) -> None:
        self.address = self.arena.ctypes.data
        self.core, self.search, self.observer = view_episode(self.arena)
        self.compiled = isinstance(self.spec.policy, CompiledPolicy)

    @classmethod
    def resume(cls, spec: EpisodeSpec, arena: np.ndarray) -> Run:
        """A run that goes on from the memory of another one with the same spec."""
        run = cls.__new__(cls)
        run.spec, run.arena = spec, np.array(arena, dtype=np.float64)
        if run.arena.shape != (spec.size,):
            raise ValueError(f"arena must hold {spec.size} numbers for this run, got shape {run.arena.shape}")
        bind(spec, run.arena)
        run._open()
        return run

    def rebind(self, spec: EpisodeSpec) -> None:
        """Let the run evaluate another problem object of the same shape from now on."""
        self.spec = spec
        bind(spec, self.arena)

    # What is known about the run

    @property
    def evaluations(self) -> int:
        """Evaluations settled so far."""
        return int(self.search.counts[Count.EVALUATIONS])

    @property
    def generation(self) -> int:
        """Finished generations."""
        return int(self.search.counts[Count.GENERATION])

    @property
    def ended(self) -> End:
        """Why the run ended, or `End.NOT_YET`."""
        return End(int(self.search.counts[Count.ENDED]))

    @property
    def best_value(self) -> float:
        """f_bsf."""
        return float(self.search.marks[Mark.F_BSF])

    @property
    def between_generations(self) -> bool:
        """True when nothing of the current generation has been told."""
        return int(self.search.counts[Count.TOLD]) == 0

    # The steps

    def ask(self) -> tuple[int, int]:
        """Propose what can be evaluated now; return the range of point numbers (see `points`)."""
        counts = self.search.counts
        if self.compiled:
            count = int(stepping.ask_points(self.address))
            return (0 if counts[Count.DEFERRED] else int(counts[Count.TOLD])), count
        policy = self.spec.policy
        while (i := int(stepping.observe(self.address))) >= 0:
            features = self.observer.features.copy() if policy.needs_features else np.empty(0)
            stepping.act(self.address, self._checked(policy.choose(features, i)))
        if self.ended:
            return 0, 0
        if counts[Count.DEFERRED]:
            return 0, int(counts[Count.GENERATION_SIZE])
        return int(counts[Count.TOLD]), int(counts[Count.TOLD]) + 1

    def _checked(self, op: int) -> int:
        if not 0 <= op < len(self.spec.portfolio):
            raise ValueError(f"policy must choose an operator in 0..{len(self.spec.portfolio) - 1}, got {op}")
        return int(op)

    @property
    def points(self) -> np.ndarray:
        """(NP, D) view: a new population while it is evaluated, otherwise the trials of the generation."""
        return self.search.trials if self.search.counts[Count.INITIALISED] else self.population

    @property
    def population(self) -> np.ndarray:
        """(NP, D) view: the parents."""
        return self.search.parents[: int(self.search.counts[Count.POPULATION])]

    @property
    def fitness(self) -> np.ndarray:
        """(NP,) view: the parents' values."""
        return self.search.fitness[: int(self.search.counts[Count.POPULATION])]

    @property
    def told(self) -> np.ndarray:
        """(NP,) which points of the generation have their value."""
        return self.search.told != 0

    def tell(self, i: int, value: float) -> None:
        """Enter the value of point `i`; settle what can be settled."""
        if self.compiled:
            stepping.tell_value(self.address, i, value)
        else:
            stepping.note_value(self.address, i, value)
            self._settle_in_python()

    def _settle_in_python(self) -> None:
        search, policy = self.search, self.spec.policy
        initial = not search.counts[Count.INITIALISED]
        settled = False
        while (i := int(stepping.settle_next(self.address))) >= 0:
            settled = True
            if not initial:
                parent, trial = float(search.facts[Fact.PARENT]), float(search.facts[Fact.TRIAL])
                best, worst = float(search.marks[Mark.F_BSF]), float(search.marks[Mark.F_WSF])
                policy.learn(i, int(search.choices[i]), parent, trial, best, worst, float(self.core.rewards[i]))
        if settled and stepping.finish_if_over(self.address) and not initial:
            policy.end_generation()
            if search.counts[Count.RENUMBERED] and hasattr(policy, "renumber"):
                policy.renumber(search.origin[: int(search.counts[Count.POPULATION])].copy())

    def advance(self, until: int) -> None:
        """Evaluate the problem until `until` evaluations are made in all, or the run ends."""
        if self.compiled:
            advance(self.address, until)
        else:
            self._advance_in_python(until)

    def _advance_in_python(self, until: int) -> None:
        while not self.ended and self.evaluations + int(self.search.counts[Count.TOLD]) - self._cursor < until:
            self.ask()
            i = int(self.search.counts[Count.TOLD])
            self.tell(i, stepping.evaluate_here(self.address, i))

    @property
    def _cursor(self) -> int:
        return int(self.search.counts[Count.CURSOR])
