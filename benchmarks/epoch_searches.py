"""Searches of the default whose settings may be changed while they run; for `benchmarks.epoch_decisions`.

At four `MOMENTS` of a search, while DE searches, one of `ACTIONS` is taken. The search moves to the new settings as
an extended one does (`deddqn.engine.extension`).

===================  ==================================================================================
``keep``             the settings stay what the rules of the default made them
``smaller``          the population, now and later, has 0.6 of its size; the worst leave
``larger``           it has 1.6 of its size; newcomers are drawn uniformly and evaluated
``fewer candidates`` one less per trial, at least one
``more candidates``  one more, at most four
``CMA-ES``           CMA-ES is tried now, for half of what is left; nothing more is decided
===================  ==================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.late_decisions import INPUTS, inputs_of
from deddqn.analysis.statistics import SOLVED
from deddqn.de.config import DEConfig, config_for
from deddqn.de.state import Counter
from deddqn.engine.extension import extend_run
from deddqn.engine.run import Run
from deddqn.engine.run_spec import RunSpec
from deddqn.policies import load_policy
from deddqn.problems import get
from deddqn.problems.made.recipes import recipe

POLICY = "softmax-budget"
MOMENTS = (0.1, 0.25, 0.4, 0.6)  # shares of the budget
ACTIONS = ("keep", "smaller", "larger", "fewer candidates", "more candidates", "CMA-ES")
KEEP, CMA = ACTIONS.index("keep"), ACTIONS.index("CMA-ES")
SMALLER, LARGER, MOST_CANDIDATES = 0.6, 1.6, 4
FEATURES = len(INPUTS) + 3  # and the moment, the size of the population, and the candidates
MARGIN = 0.02  # of the Q-value above that of ``keep``

Layers = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Network:
    """A Q-function: inputs are standardised, layers are (weight, bias) with ReLU between them."""

    layers: Layers
    shift: np.ndarray
    scale: np.ndarray

    def standardised(self, features: np.ndarray) -> np.ndarray:
        """The features as the first layer takes them."""
        return np.clip((features - self.shift) / self.scale, -3.0, 3.0)

    def values(self, features: np.ndarray) -> np.ndarray:
        """The Q-values of one state."""
        values = self.standardised(features)
        for k, (weight, bias) in enumerate(self.layers):
            values = weight @ (values if k == 0 else np.maximum(values, 0.0)) + bias
        return values


@dataclass(frozen=True)
class Chooser:
    """Who takes the actions of a search: `planned` ones first, then a network, which explores with `epsilon`."""

    planned: tuple[int, ...] = ()
    network: Network | None = None
    epsilon: float = 0.0

    def choose(self, features: np.ndarray, moment: int, rng: np.random.Generator) -> int:
        """The action at a moment. Half of what is explored is ``keep``."""
        if moment < len(self.planned):
            return self.planned[moment]
        if rng.random() < self.epsilon:
            return KEEP if rng.random() < 0.5 else int(rng.integers(1, len(ACTIONS)))
        if self.network is None:
            return KEEP
        values = self.network.values(features)
        values[KEEP] += MARGIN
        return int(values.argmax())


@dataclass(frozen=True, kw_only=True)
class Search:
    """A search to make: the problem, the seed, and who chooses."""

    family: str
    number: int
    seed: int
    chooser: Chooser = Chooser()

    @property
    def problem(self) -> tuple[str, int]:
        """Family and number of the problem."""
        return self.family, self.number


@dataclass(frozen=True)
class Episode:
    """A search that was made: the features and actions at its moments, and how it ended."""

    search: Search
    features: np.ndarray
    actions: list[int]
    error: float


def make(search: Search) -> Episode:
    """Make a search."""
    run, rng = begin(search), np.random.default_rng([search.seed, search.number])
    budget, first = run.spec.config.budget, run.spec.config.population_size
    run.advance(len(run.population))
    earlier, features, actions = [run.best_value] * 2, [], []
    for moment, share in enumerate(MOMENTS):
        run.advance(round(share * budget))
        while not run.between_generations and not run.ended:
            run.advance(run.evaluations + 1)
        if not decides(run):
            break
        features.append(features_of(run, earlier, moment, first))
        actions.append(search.chooser.choose(features[-1], moment, rng))
        act(run, actions[-1])
        earlier = [earlier[-1], run.best_value]
        if actions[-1] == CMA:
            break
    run.advance(budget)
    error = float(run.best_value - run.spec.problem.optimum)
    return Episode(search, np.array(features), actions, 0.0 if error < SOLVED else error)


def begin(search: Search) -> Run:
    """The search before its first evaluation."""
    policy, problem = load_policy(POLICY), get(f"{search.family}:{search.number}")
    config = config_for(policy.de, budget=recipe(*search.problem).budget)
    return Run(
        RunSpec(problem=problem, policy=policy, portfolio=policy.portfolio, config=config, seed=3, repeat=search.seed)
    )


def decides(run: Run) -> bool:
    """Whether DE searches, so that there is something to decide."""
    counters = run.de_state.counters
    return not (run.ended or not run.initialised or counters[Counter.SAMPLING] or counters[Counter.LOCAL_PHASE])


def features_of(run: Run, earlier: Sequence[float], moment: int, first: int) -> np.ndarray:
    """What is known of the run at a moment; `first` is the population that it began with."""
    config = run.spec.config
    own = (MOMENTS[moment], math.log2(config.population_size / first), config.n_candidates)
    return np.nan_to_num(np.array([*inputs_of(run, earlier), *own]))


def act(run: Run, action: int) -> None:
    """Take an action."""
    config, name = run.spec.config, ACTIONS[action]
    if name == "smaller":
        resize(run, SMALLER)
    elif name == "larger":
        resize(run, LARGER)
    elif name == "fewer candidates" and config.n_candidates > 1:
        extend_run(run, replace(config, n_candidates=config.n_candidates - 1))
    elif name == "more candidates" and config.n_candidates < MOST_CANDIDATES:
        extend_run(run, replace(config, n_candidates=config.n_candidates + 1))
    elif name == "CMA-ES" and not run.de_state.counters[Counter.TRIED]:
        now = (run.evaluations + 1) / config.budget
        extend_run(run, replace(config, cma_share=0.5 * (1.0 - now), cma_extent=math.inf))


def resize(run: Run, factor: float) -> None:
    """Let the population, now and by its schedule, have so many times its size; the worst individuals leave."""
    config, counters = run.spec.config, run.de_state.counters
    last = config.final_population or config.population_size
    changed = replace(config, population_size=max(round(factor * config.population_size), last))
    now, known = scheduled(changed, run), int(counters[Counter.POPULATION])
    if now < known:
        parents, fitness = run.de_state.parents, run.de_state.fitness
        kept = np.sort(np.argsort(fitness[:known], kind="stable")[:now])
        parents[:now], fitness[:now] = parents[kept], fitness[kept]
        fitness[now:known] = np.inf
        counters[Counter.POPULATION] = now
    extend_run(run, changed)


def scheduled(config: DEConfig, run: Run) -> int:
    """The individuals that the population has by now with these settings."""
    last = config.final_population or config.population_size
    spent = run.evaluations / run.de_state.counters[Counter.BUDGET]
    return math.floor(config.population_size + (last - config.population_size) * spent + 0.5)
