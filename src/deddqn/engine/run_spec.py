"""One run as a value: what is searched, by whom, with which settings and seed; and its arena."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from deddqn._jit import Record, address_of
from deddqn._utils.validation import check_whole_number
from deddqn.de.budget_rules import follow_budget
from deddqn.de.config import REPAIRS, DEConfig
from deddqn.de.constraint_handling import ASSESS_SIGNATURE, LEVEL_SIGNATURE, assess_point, update_level
from deddqn.de.discrete_operator import discrete_operator
from deddqn.de.discrete_state import MOST_POINTS
from deddqn.de.mutation import CMA
from deddqn.de.operators import OPERATOR_SIGNATURE, operator_kernel
from deddqn.de.portfolio import ADAPTS, PAPER, Portfolio
from deddqn.de.prescreening import CANDIDATES_SIGNATURE, make_candidates
from deddqn.de.searchers import SEARCHERS_SIGNATURE, searchers_kernel
from deddqn.de.selection import SELECTION_SIGNATURE, collect_cma_samples, select_paper, selection_kernel
from deddqn.de.state import DE_STATE, Counter, Scalar, archive_room, de_state_sizes
from deddqn.de.success_history import FIRST_RATE
from deddqn.engine.run_memory import EPISODE, OFFSETS, Link
from deddqn.features.buffers import OBSERVER, Tally, observer_sizes
from deddqn.features.landscape import LANDSCAPE_SIGNATURE
from deddqn.features.layout import PAPER_STATE, check_state
from deddqn.features.recording import END_RECORD_SIGNATURE, RECORD_SIGNATURE
from deddqn.features.states import state_kernels
from deddqn.policies.policy import CompiledPolicy, Policy, is_policy
from deddqn.policies.policy_kernels import (
    CHOOSE_SIGNATURE,
    END_SIGNATURE,
    LEARN_SIGNATURE,
    NO_SETUP,
    RENUMBER_SIGNATURE,
    RESET_SIGNATURE,
    SELECT_CANDIDATE_SIGNATURE,
)
from deddqn.problems.integrality import outer_bounds
from deddqn.problems.problem import Problem
from deddqn.rewards import NEEDS_OPTIMUM, NEEDS_SETUP, REWARD_SIGNATURE, reward_kernel
from deddqn.rng import streams_at

FEWEST_PENDING = 64
"""Points that may be pending in an asynchronous run before it needs more room."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Everything that determines a run. The same spec gives the same run, bit for bit, through every face.

    Parameters
    ----------
    problem, policy, portfolio, config : what, who, from which operators, how.
    seed, repeat : the run's identity: streams are named by seed, problem, dimension and repeat.
    reward : name of the reward that the policy and the recorder are given.
    reward_setup : the constants of the reward, for rewards that have some (see `deddqn.rewards.POTENTIAL`).
    observe : compute the features even if the policy does not need them.
    state : what they hold, a name in `deddqn.features.STATES`; by default that of a compiled policy, else the paper's.
    generations, window : gen and W of Table 2, the memory of the history features.
    trial_rows : of an asynchronous run: room for pending points and recorded trials, where more is needed than it
        begins with.
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
    state: str | None = None
    generations: int = 10
    window: int = 50
    trial_rows: int = 0

    def __post_init__(self) -> None:
        for argument, kind in (("problem", Problem), ("portfolio", Portfolio), ("config", DEConfig)):
            if not isinstance(getattr(self, argument), kind):
                raise ValueError(f"{argument} must be a {kind.__name__}, got {getattr(self, argument)!r}")
        object.__setattr__(self, "config", follow_budget(self._own_rules(), self.problem.dimension))
        if isinstance(self.policy, CompiledPolicy):
            self.policy.check_portfolio(self.portfolio)
        elif not is_policy(self.policy):
            raise ValueError(f"policy must be an object with the Policy methods (see load_policy), got {self.policy!r}")
        for argument, least in (("generations", 2), ("window", 1), ("seed", 0), ("repeat", 0), ("trial_rows", 0)):
            check_whole_number(argument, getattr(self, argument), least)
        if self.config.updating == "immediate" and selection_kernel(self.portfolio, self.config) is not select_paper:
            raise ValueError(
                "updating must not be 'immediate' where F or CR adapt, or with archive, restarts, surrogate"
            )
        self._check_hand_over()
        if self.asynchronous and self.problem.constraints is not None:
            raise ValueError("updating must not be 'asynchronous' with constraints")
        check_state(self.observed_state)
        reward_kernel(self.reward)
        if self.reward in NEEDS_SETUP and self.reward_setup.size == 0:
            raise ValueError(f"reward {self.reward!r} needs a reward_setup made for the problem, got none")
        if self.reward in NEEDS_OPTIMUM and self.problem.optimum is None:
            raise ValueError(f"reward {self.reward!r} needs a known optimum, but {self.problem.name!r} has none")

    def _own_rules(self) -> DEConfig:
        """The settings without the rules for CMA-ES and local search, where neither can search; who asks is refused."""
        if self.problem.constraints is None and not self.problem.integrality.any():
            return self.config
        names = [name for name in self.config.by_budget.split() if name not in ("cma_share", "local_share")]
        return replace(self.config, by_budget=" ".join(names))

    def _check_hand_over(self) -> None:
        shares = {"cma_share": self.config.cma_share, "local_share": self.config.local_share}
        asked = [f"{name} must be 0 {{}}, got {share}" for name, share in shares.items() if share > 0.0]
        for rule, broken in (
            ("with updating 'asynchronous'", self.asynchronous),
            ("with constraints", self.problem.constraints is not None),
            ("with integer coordinates", bool(self.problem.integrality.any())),
            ("with a first_population", self.config.first_population is not None),
            ("with restarts", self.config.restart_tolerance > 0.0),
        ):
            if broken and asked:
                raise ValueError(asked[0].format(rule))

    @property
    def observed(self) -> bool:
        """Whether somebody reads features."""
        return self.observe or self.policy.needs_features

    @property
    def observed_state(self) -> str:
        """What the features hold."""
        if self.state is not None:
            return self.state
        return self.policy.state if isinstance(self.policy, CompiledPolicy) else PAPER_STATE

    @property
    def remembers(self) -> bool:
        """Whether trials are recorded for the features: somebody reads history and window, or the authors' state."""
        if self.observed and self.observed_state != PAPER_STATE:
            return True
        return self.observe or bool(getattr(self.policy, "needs_history", self.policy.needs_features))

    @property
    def renumbers(self) -> bool:
        """Whether the population may shrink or be restarted."""
        return self.sizes()[1]["renumbered"] > 0

    @property
    def prescreens(self) -> bool:
        """Whether the policy pre-screens several candidates."""
        selects = isinstance(self.policy, CompiledPolicy) and self.policy.kernels.select_candidate is not None
        return selects and self.config.n_candidates > 1

    @property
    def memory_size(self) -> int:
        """float64 that the policy keeps in this run."""
        if not isinstance(self.policy, CompiledPolicy):
            return 0
        return self.policy.memory_size(len(self.portfolio), self.config.population_size)

    @property
    def state_rows(self) -> int:
        """States that wait to be recorded."""
        deferred = self.config.updating == "deferred"
        return self.config.population_size if deferred and self.observed else 0

    @property
    def rows(self) -> int:
        """Rows of the trials: NP, or in an asynchronous run those of a generation and of the pending points."""
        size = self.config.population_size
        return max(self.trial_rows, size + max(size, FEWEST_PENDING)) if self.asynchronous else size

    @property
    def asynchronous(self) -> bool:
        """Whether values may come in any order."""
        return self.config.updating == "asynchronous"

    @property
    def size(self) -> int:
        """float64 that the run needs in all."""
        core, de_state, observer = self.sizes()
        return EPISODE.size(**core) + DE_STATE.size(**de_state) + OBSERVER.size(**observer)

    def sizes(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The sizes of the fields of core, DE state and observer."""
        problem, work = self.problem, self.problem.objective.work_size
        n_constraints = problem.constraints.size if problem.constraints is not None else 0
        authors_dimension = problem.dimension if self.observed and self.observed_state != PAPER_STATE else 0
        return (
            {"NP": self.config.population_size, "memory": self.memory_size, "work": work},
            de_state_sizes(self.portfolio, self.config, problem.dimension, n_constraints, problem.points, self.rows),
            observer_sizes(
                len(self.portfolio),
                self.generations,
                self.window,
                self.state_rows,
                authors_dimension=authors_dimension,
            ),
        )


def write_run(spec: RunSpec, arena: np.ndarray) -> None:
    """Write a run that has not begun into `arena`, whatever was there before."""
    arena[:] = 0.0
    core_sizes, de_state_sizes, observer_sizes_ = spec.sizes()
    core = EPISODE.write(arena, 0, **core_sizes)
    core.links[Link.DE_STATE] = EPISODE.size(**core_sizes)
    core.links[Link.OBSERVER] = core.links[Link.DE_STATE] + DE_STATE.size(**de_state_sizes)
    de_state = DE_STATE.write(arena, core.links[Link.DE_STATE], **de_state_sizes)
    _write_de_state(spec, de_state)
    _write_constraints(spec, de_state)
    _write_observer(spec, OBSERVER.write(arena, core.links[Link.OBSERVER], **observer_sizes_))
    bind(spec, arena)


class Template:
    """A run written once, to begin it many times: only the random streams of another repeat are new."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.arena = np.zeros(spec.size)
        write_run(spec, self.arena)
        self._streams = DE_STATE.view(self.arena, EPISODE.view(self.arena, 0).links[Link.DE_STATE]).streams

    def write(self, arena: np.ndarray, repeat: int) -> RunSpec:
        """Write repeat number `repeat` into `arena`, which has room for it; return its spec."""
        spec, problem = replace(self.spec, repeat=repeat), self.spec.problem
        self._streams[:] = streams_at(spec.seed, problem.seed_name, problem.dimension, repeat)
        arena[: self.arena.size] = self.arena
        return spec


def bind(spec: RunSpec, arena: np.ndarray) -> None:
    """Write the addresses of objective, policy and reward: again after a run came from another process."""
    links = EPISODE.view(arena, 0).links
    offsets = links[list(OFFSETS)]
    links[:] = 0
    links[list(OFFSETS)] = offsets
    objective = spec.problem.objective
    links[Link.OBJECTIVE] = objective.address if spec.problem.evaluable else 0
    _link_array(links, Link.DATA, objective.data)
    discrete = spec.problem.integrality.any()
    operator = discrete_operator if discrete else operator_kernel(spec.portfolio, spec.config)
    links[Link.OPERATOR] = address_of(operator, OPERATOR_SIGNATURE)
    links[Link.SELECTION] = address_of(selection_kernel(spec.portfolio, spec.config), SELECTION_SIGNATURE)
    collects = spec.asynchronous and any(entry.strategy == CMA for entry in spec.portfolio)
    links[Link.COLLECT] = address_of(collect_cma_samples, SELECTION_SIGNATURE) if collects else 0
    searchers = searchers_kernel(spec.config)
    links[Link.SEARCHERS] = 0 if searchers is None else address_of(searchers, SEARCHERS_SIGNATURE)
    links[Link.REWARD] = address_of(reward_kernel(spec.reward), REWARD_SIGNATURE)
    _link_array(links, Link.REWARD_SETUP, spec.reward_setup)
    landscape, record, end_record = state_kernels(spec.observed_state)
    if spec.observed and landscape is not None:
        links[Link.LANDSCAPE] = address_of(landscape, LANDSCAPE_SIGNATURE)
    links[Link.RECORD] = address_of(record, RECORD_SIGNATURE) if spec.remembers else 0
    links[Link.END_RECORD] = address_of(end_record, END_RECORD_SIGNATURE) if spec.remembers else 0
    constrained = spec.problem.constraints is not None
    links[Link.ASSESS] = address_of(assess_point, ASSESS_SIGNATURE) if constrained else 0
    links[Link.LEVEL] = address_of(update_level, LEVEL_SIGNATURE) if constrained else 0
    _link_array(links, Link.SETUP, NO_SETUP)
    if isinstance(spec.policy, CompiledPolicy):
        kernels = spec.policy.kernels
        _link_array(links, Link.SETUP, spec.policy.setup)
        for link, kernel, signature in (
            (Link.CHOOSE, kernels.choose, CHOOSE_SIGNATURE),
            (Link.RESET, kernels.reset, RESET_SIGNATURE),
            (Link.LEARN, kernels.learn, LEARN_SIGNATURE),
            (Link.END_GENERATION, kernels.end_generation, END_SIGNATURE),
            (Link.CANDIDATES, make_candidates if spec.prescreens else None, CANDIDATES_SIGNATURE),
            (Link.SELECT_CANDIDATE, kernels.select_candidate, SELECT_CANDIDATE_SIGNATURE),
            (Link.RENUMBER, kernels.renumber if spec.renumbers else None, RENUMBER_SIGNATURE),
        ):
            links[link] = 0 if kernel is None else address_of(kernel, signature)


def _link_array(links: np.ndarray, link: Link, array: np.ndarray) -> None:
    links[link], links[link + 1] = array.ctypes.data, array.size


def _write_de_state(spec: RunSpec, de_state: Record) -> None:
    problem, config, counters = spec.problem, spec.config, de_state.counters
    counters[Counter.DIMENSION] = problem.dimension
    first = config.first_population or config.population_size
    counters[Counter.ALLOCATED], counters[Counter.POPULATION] = config.population_size, first
    counters[Counter.N_OPS] = len(spec.portfolio)
    counters[Counter.WHOLE_BUDGET], budget = config.budget, config.decision
    counters[Counter.BUDGET] = counters[Counter.HORIZON] = counters[Counter.DECISION] = budget
    counters[Counter.HAND_OVER] = config.hand_over
    counters[Counter.LOCAL_FROM], counters[Counter.LOCAL_DONE] = config.local_from, config.local_share == 0.0
    counters[Counter.GENERATION_SIZE] = min(first, budget)
    counters[Counter.DEFERRED] = config.updating == "deferred"
    counters[Counter.IMMEDIATE] = config.updating == "immediate"
    counters[Counter.EXPONENTIAL] = config.crossover_kind == "exponential"
    counters[Counter.ASYNCHRONOUS] = spec.asynchronous
    counters[Counter.REPAIR] = REPAIRS.index(config.repair)
    counters[Counter.NOISY] = problem.noisy
    counters[Counter.FIRST_POPULATION] = config.first_population or 0
    counters[Counter.NOISE_HANDLING] = config.noise_handling
    counters[Counter.FINAL_POPULATION] = config.final_population or first
    counters[Counter.FINAL_EVALUATIONS] = math.floor(config.restart_final_fraction * budget + 0.5)
    if spec.sizes()[1]["archive"]:
        counters[Counter.ARCHIVE_ROOM] = archive_room(config.archive, first)
    de_state.streams[:] = streams_at(spec.seed, problem.seed_name, problem.dimension, spec.repeat)
    de_state.lower[:], de_state.upper[:] = problem.lower, problem.upper
    low, high = outer_bounds(problem.lower, problem.upper, problem.integrality)
    de_state.search_lower[:] = low if problem.bounded else -np.inf
    de_state.search_upper[:] = high if problem.bounded else np.inf
    de_state.integrality[:] = problem.integrality[: de_state.integrality.size]
    if de_state.visited.size:
        counters[Counter.POINTS] = min(problem.points or 0, MOST_POINTS)
        counters[Counter.GENERATION_SIZE] = min(counters[Counter.GENERATION_SIZE], counters[Counter.POINTS])
    de_state.strategy[:], de_state.scale[:], de_state.crossover[:] = spec.portfolio.as_arrays()
    de_state.adapts[:] = [ADAPTS.index(entry.adapts) for entry in spec.portfolio]
    de_state.memory_f[:] = de_state.scale[:, None]
    de_state.memory_cr[:] = de_state.crossover[:, None]
    de_state.fitness[:] = np.inf
    scalars = de_state.scalars
    scalars[Scalar.F_BSF], scalars[Scalar.F_WSF] = np.inf, -np.inf
    scalars[Scalar.FEASIBLE_BSF] = scalars[Scalar.TO_BEAT] = np.inf
    scalars[Scalar.DIAGONAL] = np.linalg.norm(problem.upper - problem.lower)
    scalars[Scalar.OPTIMUM] = np.nan if problem.optimum is None else problem.optimum
    scalars[Scalar.TARGET_ERROR], scalars[Scalar.TARGET_VALUE] = config.target_error, config.target_value
    scalars[Scalar.PBEST], scalars[Scalar.ARCHIVE] = config.pbest, config.archive
    scalars[Scalar.RESTART_TOLERANCE] = config.restart_tolerance
    scalars[Scalar.DITHER], scalars[Scalar.CMA_EXTENT] = config.dither, config.cma_extent
    scalars[Scalar.RATE_SHARE], scalars[Scalar.SUCCESS_RATE] = config.rate_share, FIRST_RATE


def _write_constraints(spec: RunSpec, de_state: Record) -> None:
    constraints, scalars = spec.problem.constraints, de_state.scalars
    if constraints is None:
        return
    de_state.constraint_lower[:], de_state.constraint_upper[:] = constraints.lower, constraints.upper
    de_state.constraint_tolerance[:] = constraints.tolerance
    de_state.constraint_scale[:] = 1.0
    de_state.counters[Counter.STRICT] = constraints.strict
    de_state.parent_pairs[:] = np.inf
    scalars[Scalar.FIRST_LEVEL], scalars[Scalar.BEST_VALUE], scalars[Scalar.SPREAD] = np.nan, np.inf, 1.0


def _write_observer(spec: RunSpec, observer: Record) -> None:
    tallies = observer.tallies
    tallies[Tally.N_OPS] = len(spec.portfolio)
    tallies[Tally.GENERATIONS] = spec.generations
    tallies[Tally.OBSERVED] = spec.observed
    tallies[Tally.MAX_DIMENSION] = getattr(spec.policy, "max_dimension", 30)
    observer.window_op[:] = -1
