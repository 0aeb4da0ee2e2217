"""One run as a value: what is searched, by whom, with which settings and seed; and its arena."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from deddqn._jit import Record, address_of
from deddqn._utils.validation import check_whole_number
from deddqn.de.config import REPAIRS, DEConfig
from deddqn.de.generation import CLOSE_SIGNATURE, closing_of
from deddqn.de.operators import MOVE_SIGNATURE, move_of
from deddqn.de.portfolio import ADAPTS, PAPER, Portfolio
from deddqn.de.prescreening import FORESEE_SIGNATURE, foresee
from deddqn.de.state import SEARCH, Count, Mark, search_sizes
from deddqn.engine.run_memory import EPISODE, Link
from deddqn.features.buffers import OBSERVER, Tally, observer_sizes
from deddqn.features.recording import FINISH_SIGNATURE, NOTE_SIGNATURE, finish_outcomes, note_outcome
from deddqn.policies.kernels import (
    CHOOSE_SIGNATURE,
    END_SIGNATURE,
    LEARN_SIGNATURE,
    NO_SETUP,
    PICK_SIGNATURE,
    RENUMBER_SIGNATURE,
    RESET_SIGNATURE,
)
from deddqn.policies.policy import CompiledPolicy, Policy, is_policy
from deddqn.problems.problem import Problem
from deddqn.rewards import NEEDS_OPTIMUM, NEEDS_SETUP, REWARD_SIGNATURE, reward_kernel
from deddqn.rng import streams_at


@dataclass(frozen=True, kw_only=True)
class EpisodeSpec:
    """Everything that determines a run. The same spec gives the same run, bit for bit, through every face.

    Parameters
    ----------
    problem, policy, portfolio, config : what, who, from which moves, how.
    seed, repeat : the run's place among others: streams are named by seed, problem, dimension and repeat.
    reward : name of the reward that the policy and the recorder are given.
    reward_setup : the constants of the reward, for rewards that have some (see `deddqn.rewards.POTENTIAL`).
    observe : compute the features even if the policy does not need them.
    generations, window : gen and W of Table 2, the memory of the history features.
    """

    problem: Problem
    policy: Policy
    portfolio: Portfolio = PAPER
    config: DEConfig = field(default_factory=DEConfig)
    seed: int = 0
    repeat: int = 0
    reward: str = "R2"
    reward_setup: np.ndarray = field(default_factory=lambda: NO_SETUP, compare=False, repr=False)
    observe: bool = False
    generations: int = 10
    window: int = 50

    def __post_init__(self) -> None:
        for argument, kind in (("problem", Problem), ("portfolio", Portfolio), ("config", DEConfig)):
            if not isinstance(getattr(self, argument), kind):
                raise ValueError(f"{argument} must be a {kind.__name__}, got {getattr(self, argument)!r}")
        if isinstance(self.policy, CompiledPolicy):
            self.policy.check_portfolio(self.portfolio)
        elif not is_policy(self.policy):
            raise ValueError(f"policy must be an object with the Policy methods (see load_policy), got {self.policy!r}")
        for argument, least in (("generations", 2), ("window", 1), ("seed", 0), ("repeat", 0)):
            check_whole_number(argument, getattr(self, argument), least)
        reward_kernel(self.reward)
        if self.reward in NEEDS_SETUP and self.reward_setup.size == 0:
            raise ValueError(f"reward {self.reward!r} needs a reward_setup made for the problem, got none")
        if self.reward in NEEDS_OPTIMUM and self.problem.optimum is None:
            raise ValueError(f"reward {self.reward!r} needs a known optimum, but {self.problem.name!r} has none")

    @property
    def observed(self) -> bool:
        """Whether somebody reads features."""
        return self.observe or self.policy.needs_features

    @property
    def remembers(self) -> bool:
        """Whether somebody reads the features of history and window; else they stay 0."""
        return self.observe or bool(getattr(self.policy, "needs_history", self.policy.needs_features))

    @property
    def renumbers(self) -> bool:
        """Whether the population may shrink or begin anew."""
        return search_sizes(self.portfolio, self.config, self.problem.dimension)["renumbered"] > 0

    @property
    def picks(self) -> bool:
        """Whether the policy picks from several trials of a move."""
        picks = isinstance(self.policy, CompiledPolicy) and self.policy.kernels.pick is not None
        return picks and self.config.foresight > 1

    @property
    def memory_size(self) -> int:
        """float64 that the policy keeps in this run."""
        if not isinstance(self.policy, CompiledPolicy):
            return 0
        return self.policy.memory_size(len(self.portfolio), self.config.population_size)

    @property
    def state_rows(self) -> int:
        """States that wait to be settled."""
        deferred = self.config.updating == "deferred"
        return self.config.population_size if deferred and self.observed else 0

    @property
    def size(self) -> int:
        """float64 that the run needs in all."""
        core, search, observer = self.sizes()
        return EPISODE.size(**core) + SEARCH.size(**search) + OBSERVER.size(**observer)

    def sizes(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The sizes of the fields of core, search and observer."""
        work = self.problem.objective.work_size
        return (
            {"NP": self.config.population_size, "memory": self.memory_size, "work": work},
            search_sizes(self.portfolio, self.config, self.problem.dimension),
            observer_sizes(len(self.portfolio), self.generations, self.window, self.state_rows),
        )


def write_episode(spec: EpisodeSpec, arena: np.ndarray) -> None:
    """Write a run that has not begun into `arena`, whatever was there before."""
    arena[:] = 0.0
    core_sizes, search_sizes, observer_sizes_ = spec.sizes()
    core = EPISODE.write(arena, 0, **core_sizes)
    core.links[Link.SEARCH] = EPISODE.size(**core_sizes)
    core.links[Link.OBSERVER] = core.links[Link.SEARCH] + SEARCH.size(**search_sizes)
    _write_search(spec, SEARCH.write(arena, core.links[Link.SEARCH], **search_sizes))
    _write_observer(spec, OBSERVER.write(arena, core.links[Link.OBSERVER], **observer_sizes_))
    bind(spec, arena)


class Template:
    """A run written once, to begin it many times: only the random streams of another repeat are made anew."""

    def __init__(self, spec: EpisodeSpec) -> None:
        self.spec = spec
        self.arena = np.zeros(spec.size)
        write_episode(spec, self.arena)
        self._streams = SEARCH.view(self.arena, EPISODE.view(self.arena, 0).links[Link.SEARCH]).streams

    def write(self, arena: np.ndarray, repeat: int) -> EpisodeSpec:
        """Write repeat number `repeat` into `arena`, which has room for it; return its spec."""
        spec, problem = replace(self.spec, repeat=repeat), self.spec.problem
        self._streams[:] = streams_at(spec.seed, problem.seed_name, problem.dimension, repeat)
        arena[: self.arena.size] = self.arena
        return spec


def bind(spec: EpisodeSpec, arena: np.ndarray) -> None:
    """Write the addresses of objective, policy and reward: again after a run came from another process."""
    links = EPISODE.view(arena, 0).links
    objective = spec.problem.objective
    links[Link.OBJECTIVE] = objective.address if spec.problem.evaluable else 0
    _link_array(links, Link.DATA, objective.data)
    links[Link.MOVE] = address_of(move_of(spec.portfolio), MOVE_SIGNATURE)
    links[Link.CLOSE] = address_of(closing_of(spec.portfolio, spec.config), CLOSE_SIGNATURE)
    links[Link.REWARD] = address_of(reward_kernel(spec.reward), REWARD_SIGNATURE)
    _link_array(links, Link.REWARD_SETUP, spec.reward_setup)
    links[Link.NOTE] = address_of(note_outcome, NOTE_SIGNATURE) if spec.remembers else 0
    links[Link.FINISH] = address_of(finish_outcomes, FINISH_SIGNATURE) if spec.remembers else 0
    _link_array(links, Link.SETUP, NO_SETUP)
    if isinstance(spec.policy, CompiledPolicy):
        kernels = spec.policy.kernels
        _link_array(links, Link.SETUP, spec.policy.setup)
        for link, kernel, signature in (
            (Link.CHOOSE, kernels.choose, CHOOSE_SIGNATURE),
            (Link.RESET, kernels.reset, RESET_SIGNATURE),
            (Link.LEARN, kernels.learn, LEARN_SIGNATURE),
            (Link.END_GENERATION, kernels.end_generation, END_SIGNATURE),
            (Link.FORESEE, foresee if spec.picks else None, FORESEE_SIGNATURE),
            (Link.PICK, kernels.pick, PICK_SIGNATURE),
            (Link.RENUMBER, kernels.renumber if spec.renumbers else None, RENUMBER_SIGNATURE),
        ):
            links[link] = 0 if kernel is None else address_of(kernel, signature)


def _link_array(links: np.ndarray, link: Link, array: np.ndarray) -> None:
    links[link], links[link + 1] = array.ctypes.data, array.size


def _write_search(spec: EpisodeSpec, search: Record) -> None:
    problem, config, counts = spec.problem, spec.config, search.counts
    counts[Count.DIMENSION] = problem.dimension
    counts[Count.ALLOCATED] = counts[Count.POPULATION] = config.population_size
    counts[Count.N_OPS] = len(spec.portfolio)
    counts[Count.BUDGET] = config.budget
    counts[Count.GENERATION_SIZE] = min(config.population_size, config.budget)
    counts[Count.DEFERRED] = config.updating == "deferred"
    counts[Count.REPAIR] = REPAIRS.index(config.repair)
    counts[Count.NOISY] = problem.noisy
    counts[Count.FINAL_POPULATION] = config.final_population or config.population_size
    counts[Count.RESERVE] = math.floor(config.restart_reserve * config.budget + 0.5)
    counts[Count.ARCHIVE_ROOM] = len(search.parents) - config.population_size
    search.streams[:] = streams_at(spec.seed, problem.seed_name, problem.dimension, spec.repeat)
    search.lower[:], search.upper[:] = problem.lower, problem.upper
    search.search_lower[:] = problem.lower if problem.bounded else -np.inf
    search.search_upper[:] = problem.upper if problem.bounded else np.inf
    search.strategy[:], search.scale[:], search.crossover[:] = spec.portfolio.as_arrays()
    search.adapts[:] = [ADAPTS.index(entry.adapts) for entry in spec.portfolio]
    search.scale_means[:] = search.scale[:, None]
    search.crossover_means[:] = search.crossover[:, None]
    search.fitness[:] = np.inf
    marks = search.marks
    marks[Mark.F_BSF], marks[Mark.F_WSF] = np.inf, -np.inf
    marks[Mark.DIAGONAL] = np.linalg.norm(problem.upper - problem.lower)
    marks[Mark.OPTIMUM] = np.nan if problem.optimum is None else problem.optimum
    marks[Mark.TARGET_ERROR], marks[Mark.TARGET_VALUE] = config.target_error, config.target_value
    marks[Mark.PBEST], marks[Mark.ARCHIVE] = config.pbest, config.archive
    marks[Mark.RESTART_TOLERANCE] = config.restart_tolerance


def _write_observer(spec: EpisodeSpec, observer: Record) -> None:
    tallies = observer.tallies
    tallies[Tally.N_OPS] = len(spec.portfolio)
    tallies[Tally.GENERATIONS] = spec.generations
    tallies[Tally.OBSERVED] = spec.observed
    tallies[Tally.MAX_DIMENSION] = getattr(spec.policy, "max_dimension", 30)
    observer.window_op[:] = -1
