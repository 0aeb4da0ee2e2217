"""``noisy=True``: a search that no lucky value misleads, and an answer whose value is estimated from evaluations of it.

The search is that of the strategy cma under noise (`deddqn.de.noise`). For the last part of the evaluations its last
mean and the average of its means are evaluated again and again, each half of the time, as points of a population; the
better one on average is the answer. Its value is the mean of its values, with the standard error of that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deddqn.de.cma_state import Model, fewest_samples
from deddqn.de.config import SMALLEST_POPULATION, DEConfig
from deddqn.de.noise import FIRST_FACTOR
from deddqn.de.state import Counter
from deddqn.engine.extension import extend_run
from deddqn.engine.run import Run

STRATEGY = (("cma", 1.0, 1.0),)
SHARE = 0.02  # of the evaluations, for evaluating the answer
FEWEST, MOST = 10, 200


def reserve(maxfun: int) -> int:
    """Evaluations that are kept for the answer: an even number."""
    return min(max(FEWEST, 2 * int(0.5 * SHARE * maxfun)), MOST)


def noisy_config(config: DEConfig, dimension: int, maxfun: int) -> DEConfig:
    """The settings of a search under noise: as many individuals as the first lambda, and nothing that needs values."""
    size = max(SMALLEST_POPULATION, FIRST_FACTOR * int(fewest_samples(dimension)))
    if maxfun < size + reserve(maxfun):
        raise ValueError(f"maxfun must be at least {size + reserve(maxfun)} with noisy, got {maxfun}")
    return replace(
        config,
        budget=maxfun - reserve(maxfun),
        population_size=size,
        final_population=None,
        first_population=None,
        restart_tolerance=0.0,
        restart_final_fraction=0.0,
        n_candidates=1,
        noise_handling=True,
    )


def check_noisy(**others: Any) -> None:
    """Refuse what does not go together with ``noisy=True``."""
    for name, value in others.items():
        if value is not None and value is not False:
            raise ValueError(f"{name} must be left out with noisy=True, got {value!r}")


def noisy_policy(policy: Any, portfolio: Any, **others: Any) -> tuple[Any, Any]:
    """Policy and portfolio of a search under noise; None may be given."""
    check_noisy(policy=policy, portfolio=portfolio, **others)
    return "random", STRATEGY


def candidates(run: Run) -> np.ndarray:
    """(2, D): the last mean of the distribution, and the average of its means; the best point before there is one."""
    de_state = run.de_state
    if not de_state.model[Model.UPDATES]:
        return np.array([de_state.best_point, de_state.best_point])
    average = de_state.model_average if de_state.model[Model.AVERAGED] else de_state.model_mean
    return np.clip([de_state.model_mean, average], run.spec.problem.lower, run.spec.problem.upper)


def begin_reevaluation(run: Run, maxfun: int) -> None:
    """Let the candidates be the population of a run that has ended, to be evaluated with all that is left."""
    points, left = candidates(run), maxfun - run.evaluations
    extend_run(run, replace(run.spec.config, budget=maxfun, population_size=max(left, len(run.population))))
    de_state, counters = run.de_state, run.de_state.counters
    de_state.parents[:left] = np.resize(points, (left, points.shape[1]))
    de_state.fitness[:left] = np.inf
    de_state.told[:] = 0
    counters[Counter.POPULATION] = counters[Counter.GENERATION_SIZE] = left
    counters[Counter.INITIALISED] = counters[Counter.TOLD] = counters[Counter.RECORDED] = 0


def answer(run: Run, judged: bool) -> dict[str, Any]:
    """x, fun, fun_error and reevaluations of a result; what is known so far until a candidate has been `judged`."""
    model = run.de_state.model
    if not judged or run.evaluations == run.spec.config.budget - len(run.population):  # none of them has a value yet
        window = model[Model.WINDOW]
        near = model[Model.WINDOW_SUM] / window if window else model[Model.LAST_MEDIAN]
        begun = bool(model[Model.UPDATES])
        value = float(near) if begun else run.best_value
        return {"x": candidates(run)[0].copy(), "fun": value, "fun_error": np.inf, "reevaluations": 0}
    groups = [run.fitness[first::2] for first in (0, 1)]
    groups = [group[np.isfinite(group)] for group in groups]
    best = min((0, 1), key=lambda k: groups[k].mean() if groups[k].size else np.inf)
    values = groups[best]
    return {
        "x": run.population[best].copy(),
        "fun": float(values.mean()) if values.size else np.inf,
        "fun_error": standard_error(values),
        "reevaluations": int(values.size),
    }


def standard_error(values: np.ndarray) -> float:
    """Of the mean of the values; infinite if there are fewer than two."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else np.inf
