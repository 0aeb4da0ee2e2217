"""A fixed set of runs and the SHA-256 of the memory that each leaves behind.

``python -m tests.parity.parity_runs`` prints the digests as JSON: to be run with and without the jit.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np
from numba import njit

from deddqn.de import EXTENDED, DEConfig, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.engine.run_memory import view_run
from deddqn.policies import CompiledPolicy, load_policy, softmax_policy
from deddqn.policies.softmax import N_INPUTS
from deddqn.problems import Objective, Problem
from deddqn.problems.constraints import Constraints, LinearPart, Part
from tests.policies.learning_policy import learning_policy

CROSSED = Portfolio(
    [("rand/1", 0.9, 0.2), ("rand/2", 0.4, 0.9), ("rand-to-best/2", 0.7, 0.0), ("curr-to-rand/1", 0.5, 1)]
)


@njit(error_model="numpy")
def bumpy(x, data, work, gauss):
    """A polynomial with a hole of NaN and a hole of huge values; reads data, uses work and noise."""
    total = 0.0
    for d in range(x.size):
        work[d] = x[d] - data[d % data.size]
        total += work[d] * work[d] * (1.0 + 0.01 * d) - 0.3 * work[d]
    if x[0] > 3.5:
        return np.nan
    if x[0] < -4.5:
        return 1e300 * total
    return total * (1.0 + 0.1 * gauss)


def problem(dimension: int, *, noisy: bool) -> Problem:
    lower = -5.0 + 0.1 * np.arange(dimension)
    objective = Objective(bumpy, np.array([0.5, -1.25, 2.0]), dimension)
    return Problem(f"bumpy/d{dimension}", lower, lower + 10.0, objective, noisy=noisy, optimum=-30.0)


def specs() -> list[RunSpec]:
    """Every policy in every mode, with the settings spread over them."""
    runs = []
    policies: list[CompiledPolicy] = [load_policy(name) for name in ("random", "de3", "mixture:0.1,0.2,0.3,0.4")]
    for k, policy in enumerate([*policies, learning_policy()]):
        for updating in ("sequential", "deferred"):
            for crossed in (False, True):
                runs.append(
                    RunSpec(
                        problem=problem(1 + 2 * k + crossed, noisy=crossed),
                        policy=policy,
                        portfolio=CROSSED if crossed else Portfolio(entry.strategy for entry in CROSSED),
                        config=DEConfig(
                            population_size=6 + k,
                            budget=90 + k,
                            updating=updating,
                            repair=("clip", "reflect", "midpoint")[(k + crossed) % 3],
                        ),
                        reward=("R1", "R2", "R3")[k % 3],
                        observe=True,
                        seed=3,
                        repeat=k,
                        window=7,
                        generations=4,
                    )
                )
    return runs + beyond_the_paper() + sampling() + foreseeing() + discrete() + constrained() + handed_over()


def beyond_the_paper() -> list[RunSpec]:
    """The richer portfolio with a shrinking population, and with restarts, in both modes."""
    weights = np.random.default_rng(2).normal(size=(len(EXTENDED), N_INPUTS))
    return [
        RunSpec(
            problem=problem(dimension, noisy=dimension == 3),
            policy=softmax_policy(weights, portfolio=EXTENDED),
            portfolio=EXTENDED,
            config=DEConfig(population_size=14, budget=161, updating=updating, final_population=7, **more),
            observe=True,
            seed=4,
        )
        for updating in ("sequential", "deferred")
        for dimension, more in (
            (1, {"restart_tolerance": 0.4, "restart_final_fraction": 0.4}),
            (3, {"archive": 2.6, "pbest": 0.3}),
        )
    ]


def sampling() -> list[RunSpec]:
    """A distribution that learns: alone, with noise and new populations, and beside others."""
    beside = Portfolio([("cma", 1.0, 1.0), ("rand/1", 0.5, 0.9), ("cma", 0.7, 0.5, "F+CR")])
    return [
        RunSpec(
            problem=problem(dimension, noisy=dimension == 2),
            policy=load_policy("random"),
            portfolio=portfolio,
            config=DEConfig(population_size=10, budget=150, updating=updating, final_population=6, **more),
            observe=True,
            seed=5,
        )
        for updating in ("sequential", "deferred")
        for dimension, portfolio, more in (
            (1, Portfolio([("cma", 1.0, 1.0)]), {}),
            (2, Portfolio([("cma", 1.0, 1.0)]), {"restart_tolerance": 0.4}),
            (5, beside, {"repair": "reflect"}),
        )
    ]


def foreseeing() -> list[RunSpec]:
    """Several trials of a move to pick from, with all that they may be made of, and with the paper's operators."""
    moves = Portfolio([("cma", 1.0, 1.0), ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("gauss", 1.0, 0.8)])
    weights = np.random.default_rng(3).normal(size=(12, N_INPUTS))
    return [
        RunSpec(
            problem=problem(dimension, noisy=dimension == 4),
            policy=softmax_policy(weights[: len(portfolio)], prescreening_gate=prescreening_gate, portfolio=portfolio),
            portfolio=portfolio,
            config=DEConfig(population_size=10, budget=121, updating=updating, **more),
            observe=True,
            seed=6,
        )
        for updating in ("sequential", "deferred")
        for dimension, portfolio, prescreening_gate, more in (
            (1, moves, None, {"n_candidates": 2, "final_population": 7, "restart_tolerance": 0.4}),
            (4, moves, weights[-1], {"n_candidates": 5, "final_population": 6, "repair": "midpoint"}),
            (3, CROSSED, 1e4 * weights[-2], {"n_candidates": 3}),
        )
    ]


@njit(error_model="numpy")
def slope(x):
    """A linear function, with a hole of NaN."""
    return np.nan if x[0] > 3.5 else x.sum()


@njit(error_model="numpy")
def ring(x):
    """The square of the distance to 0, NaN far away."""
    total = 0.0
    for value in x:
        total += value * value
    return np.nan if total > 60.0 else total


def constrained() -> list[RunSpec]:
    """Inequalities, and equalities with their level, with all that stores keys: restarts, samples, candidates."""
    operators = Portfolio([("cma", 1.0, 1.0), ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("rand/1", 0.5, 0.9)])
    weights = np.random.default_rng(5).normal(size=(4, N_INPUTS))
    inside = Part(np.array([-np.inf]), np.array([9.0]), ring)
    on_it = Part(np.array([9.0]), np.array([9.0]), ring)
    rows = Part(
        np.array([-1.0, 0.5]), np.array([1.0, np.inf]), LinearPart(np.array([[1.0, -1.0, 0.5], [0.3, 0.2, 1.0]]))
    )
    return [
        RunSpec(
            problem=Problem.from_function(slope, [(-5.0, 5.0)] * 3, name=name, constraints=Constraints(parts, 1e-4)),
            policy=softmax_policy(weights[:3], prescreening_gate=weights[3], portfolio=operators),
            portfolio=operators,
            config=DEConfig(
                population_size=12, budget=200, updating=updating, final_population=7, n_candidates=2,
                restart_tolerance=0.3, restart_final_fraction=0.3,
            ),
            observe=True,
            seed=7,
        )
        for updating in ("sequential", "deferred")
        for name, parts in (("inside", [rows, inside]), ("on the ring", [on_it, rows]))
    ]  # fmt: skip


def discrete() -> list[RunSpec]:
    """Integers and categories, beside numbers and alone, and until all points are evaluated."""
    operators = Portfolio([("cma", 1.0, 1.0), ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("rand/1", 0.5, 0.9)])
    weights = np.random.default_rng(4).normal(size=(4, N_INPUTS))
    made = []
    for updating in ("sequential", "deferred"):
        for dimension, integrality in ((4, [0, 1, 2, 0]), (5, 1), (2, [1, 2])):
            box = problem(dimension, noisy=dimension == 5)
            lattice = Problem(box.name, box.lower, box.upper, box.objective, noisy=box.noisy, integrality=integrality)
            made.append(
                RunSpec(
                    problem=lattice,
                    policy=softmax_policy(weights[:3], prescreening_gate=weights[3], portfolio=operators),
                    portfolio=operators,
                    config=DEConfig(
                        population_size=10,
                        budget=160,
                        updating=updating,
                        final_population=7,
                        restart_tolerance=0.3,
                        n_candidates=2,
                    ),
                    seed=7,
                )
            )
    return made


def handed_over() -> list[RunSpec]:
    """CMA-ES alone; and tried, with and without going on."""
    operators = Portfolio([("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("rand/1", 0.5, 0.9)])
    weights = np.random.default_rng(3).normal(size=(3, N_INPUTS))
    return [
        RunSpec(
            problem=problem(dimension, noisy=False),
            policy=softmax_policy(weights[:2], prescreening_gate=weights[2], portfolio=operators),
            portfolio=operators,
            config=DEConfig(
                population_size=12, budget=240, updating=updating, final_population=7, n_candidates=2, cma_share=share
            ),
            seed=7,
        )
        for updating in ("sequential", "deferred")
        for dimension in (2, 5)
        for share in (0.2, 0.4, 1.0)
    ]


def digest(arena: np.ndarray, spec: RunSpec) -> str:
    """Of all the memory of a run but its links, which hold addresses."""
    memory = arena[: spec.size].copy()
    view_run(memory).core.links[:] = 0
    return hashlib.sha256(memory.tobytes()).hexdigest()


def digests(threads: int) -> list[str]:
    lanes = VectorizedRuns(specs(), threads=threads)
    lanes.advance(40)
    lanes.advance()
    assert lanes.ended.all()
    return [digest(arena, spec) for arena, spec in zip(lanes.arenas, lanes.specs, strict=True)]


if __name__ == "__main__":
    print(json.dumps(digests(1)))
