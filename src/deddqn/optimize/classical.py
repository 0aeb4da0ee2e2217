"""Differential Evolution by the names of Storn and Price, as scipy has it: what ``strategy="best1bin"`` means.

A strategy may also be a Python function that makes the trials, ``strategy(candidate, population, rng=None)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deddqn._utils.validation import choice_error
from deddqn.de.state import Counter
from deddqn.engine.run import Run
from deddqn.policies.fixed import fixed
from deddqn.rng import Stream

MUTATIONS = {
    "best1": "best/1",
    "rand1": "rand/1",
    "rand2": "rand/2",
    "randtobest1": "rand-to-best/1",
    "currenttobest1": "curr-to-best/1",
    "best2": "best/2",
}
CROSSOVERS = {"bin": "binomial", "exp": "exponential"}
STRATEGY_NAMES = tuple(mutation + crossover for crossover in CROSSOVERS for mutation in MUTATIONS)
"""Scipy's names: the mutation strategy and the kind of crossover."""

StrategyFunction = Callable[..., Any]
"""``strategy(candidate, population (S, D), rng=Generator) -> trial (D,)``; ``population[0]`` is the best."""

WRONG_TRIAL = (
    "strategy must have signature f(candidate: int, population: np.ndarray, rng=None) returning an array of shape (N,)"
)


def classical_search(strategy: str | StrategyFunction, mutation: Any, recombination: Any) -> dict[str, Any]:
    """The arguments of `Optimizer` for one strategy with constant F and CR, as scipy searches with it."""
    if not callable(strategy) and strategy not in STRATEGY_NAMES:
        raise choice_error("strategy", strategy, STRATEGY_NAMES)
    lowest, highest = _scales(mutation)
    if not 0.0 <= float(recombination) <= 1.0:
        raise ValueError(f"recombination must lie in [0, 1], got {recombination!r}")
    name, kind = ("best1", "bin") if callable(strategy) else (strategy[:-3], strategy[-3:])
    policy = fixed(0)
    policy.de = {"repair": "random", "crossover_kind": CROSSOVERS[kind], "dither": highest - lowest}
    return {"policy": policy, "portfolio": [(MUTATIONS[name], lowest, float(recombination))]}


def _scales(mutation: Any) -> tuple[float, float]:
    """The least and the largest F: one number, or the two ends of what it is drawn from in every generation."""
    try:
        scales = np.sort(np.atleast_1d(np.asarray(mutation, dtype=np.float64)))
    except (TypeError, ValueError):
        scales = np.full(1, np.nan)
    if scales.ndim != 1 or scales.size not in (1, 2) or not np.all((scales >= 0.0) & (scales < 2.0)):
        raise ValueError(f"mutation must be a number in [0, 2), or (min, max) of such numbers, got {mutation!r}")
    return float(scales[0]), float(scales[-1])


class TrialMaker:
    """Lets a Python function make the trials of a run, whose memory it then has to outlive.

    The function sees the population with the best individual first, as in scipy, where it always lies there.
    """

    def __init__(self, strategy: StrategyFunction, run: Run) -> None:
        self._strategy = strategy
        self._counters, self._trials = run.de_state.counters, run.de_state.trials
        self._run = run
        self._rng = np.random.default_rng([int(word) for word in run.de_state.streams[Stream.SEARCH]])
        self._counters[Counter.PYTHON_STRATEGY] = id(self)

    def __call__(self, address: int) -> float:
        """Write the trial that lies at `address`; return the crossover rate: the trial is taken as it is."""
        i = (address - self._trials.ctypes.data) // self._trials.strides[0]
        population, best = self._run.population.copy(), int(self._counters[Counter.BEST])
        population[[0, best]] = population[[best, 0]]
        candidate = {0: best, best: 0}.get(i, i)
        trial = np.asarray(self._strategy(candidate, population, rng=self._rng), dtype=np.float64)
        if trial.shape != self._trials[i].shape:
            raise RuntimeError(WRONG_TRIAL)
        self._trials[i] = trial
        return 1.0
