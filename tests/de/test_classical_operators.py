"""Classical Differential Evolution in the engine, beside a plain second implementation that replays its random numbers.

F with dither, exponential crossover, the repair "random", and parents that are replaced at once.
"""

from __future__ import annotations

import numpy as np
import pytest

from deddqn import Problem, RunSpec
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import Portfolio
from deddqn.engine.run import Run
from deddqn.policies.fixed import fixed
from deddqn.rng import Stream
from tests.reference.raw_stream import RawStream

DIMENSION, SIZE, BUDGET = 4, 9, 60
LOWER, UPPER = np.array([-1.0, 0.0, -3.0, 2.0]), np.array([1.0, 0.5, 5.0, 2.5])
SCALE, RATE = 0.8, 0.6


def bowl(x: np.ndarray) -> float:
    return float(((x - [0.9, 0.1, 4.9, 2.0]) ** 2).sum())


def mutant(strategy: str, x: np.ndarray, i: int, best: int, r: list[int], scale: float) -> np.ndarray:
    return {
        "rand/1": lambda: x[r[0]] + scale * (x[r[1]] - x[r[2]]),
        "rand/2": lambda: x[r[0]] + scale * (x[r[1]] - x[r[2]] + x[r[3]] - x[r[4]]),
        "best/1": lambda: x[best] + scale * (x[r[0]] - x[r[1]]),
        "best/2": lambda: x[best] + scale * (x[r[0]] - x[r[1]] + x[r[2]] - x[r[3]]),
        "rand-to-best/1": lambda: x[r[0]] + scale * (x[best] - x[r[0]] + x[r[1]] - x[r[2]]),
        "curr-to-best/1": lambda: x[i] + scale * (x[best] - x[i] + x[r[0]] - x[r[1]]),
    }[strategy]()


def expected_points(stream: RawStream, population: np.ndarray, strategy: str, config: DEConfig) -> list[np.ndarray]:
    """Every point that a run evaluates after its initial population."""
    x, f = population.copy(), [bowl(point) for point in population]
    points: list[np.ndarray] = []
    while len(points) < BUDGET - SIZE:
        best, dithered, new_x, new_f = int(np.argmin(f)), 0.0, x.copy(), list(f)
        for i in range(min(SIZE, BUDGET - SIZE - len(points))):
            r = stream.donors(i, SIZE)
            if i == 0 and config.dither:
                dithered = stream.uniform() * config.dither
            trial = mutant(strategy, x, i, best, r, SCALE + dithered)
            for d in range(DIMENSION) if config.repair == "random" else ():
                if not LOWER[d] <= trial[d] <= UPPER[d]:
                    trial[d] = LOWER[d] + stream.uniform() * (UPPER[d] - LOWER[d])
            trial = np.where(crossover_mask(stream, config), trial, x[i]).clip(LOWER, UPPER)
            points.append(trial)
            if (value := bowl(trial)) <= f[i]:
                new_x[i], new_f[i] = trial, value
            if config.updating == "immediate":
                x, f = new_x.copy(), list(new_f)
                best = i if value <= f[best] and f[i] == value else best
        x, f = new_x, new_f
    return points


def crossover_mask(stream: RawStream, config: DEConfig) -> np.ndarray:
    if config.crossover_kind == "binomial":
        return np.array(stream.mask(RATE, DIMENSION))
    mask, at = np.zeros(DIMENSION, bool), stream.integer_below(DIMENSION)
    mask[at] = True
    for k in range(1, DIMENSION):
        if stream.uniform() >= RATE:
            break
        mask[(at + k) % DIMENSION] = True
    return mask


@pytest.mark.parametrize("strategy", ["rand/1", "rand/2", "best/1", "best/2", "rand-to-best/1", "curr-to-best/1"])
@pytest.mark.parametrize("updating", ["sequential", "deferred", "immediate"])
@pytest.mark.parametrize(
    "options",
    [
        {"repair": "random"},
        {"crossover_kind": "exponential"},
        {"dither": 0.4},
        {"repair": "random", "crossover_kind": "exponential", "dither": 0.3},
    ],
)
def test_every_point(strategy: str, updating: str, options: dict[str, object]) -> None:
    seen: list[np.ndarray] = []
    problem = Problem.from_function(lambda x: (seen.append(x), bowl(x))[1], np.column_stack([LOWER, UPPER]))
    config = DEConfig(population_size=SIZE, budget=BUDGET, updating=updating, **options)  # type: ignore[arg-type]
    run = Run(
        RunSpec(problem=problem, policy=fixed(0), portfolio=Portfolio([(strategy, SCALE, RATE)]), config=config, seed=3)
    )
    stream, population = RawStream(run.de_state.streams[Stream.SEARCH]), run.population.copy()
    run.advance(BUDGET)
    np.testing.assert_allclose(seen[SIZE:], expected_points(stream, population, strategy, config), rtol=0, atol=1e-12)
    assert run.best_value == min(map(bowl, seen)) and run.evaluations == BUDGET


@pytest.mark.parametrize("changes", [{"restart_tolerance": 0.1}, {"final_population": 7}])
def test_immediate_is_for_plain_selection(changes: dict[str, float]) -> None:
    problem = Problem.from_function(bowl, np.column_stack([LOWER, UPPER]))
    for portfolio, options in ((["rand/1"], changes), ([("rand/1", 0.5, 0.9, "F")], {})):
        config = DEConfig(population_size=SIZE, updating="immediate", **options)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="updating must not be 'immediate'"):
            RunSpec(problem=problem, policy=fixed(0), portfolio=Portfolio(portfolio), config=config)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"crossover_kind": "exp"}, "crossover_kind must be one of 'binomial', 'exponential'"),
        ({"dither": -0.1}, "dither must be a finite number of 0 or more, got -0.1"),
    ],
)
def test_settings_are_checked(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DEConfig(**options)  # type: ignore[arg-type]
