"""What an animation shows, as numbers: where the individuals are after every generation, and what made them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deddqn._utils.validation import check_whole_number
from deddqn.de.config import config_for
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.engine.run import Run
from deddqn.engine.run_spec import RunSpec
from deddqn.policies import CompiledPolicy, Policy, best_policy, load_policy
from deddqn.problems import Problem, get

DRAWN_AT_START = -1
"""The maker of an individual of the initial population."""

GRID = 241  # points of the contour per axis


@dataclass(frozen=True)
class Frame:
    """The population between two generations."""

    evaluations: int
    best: float  # error so far, or value where the optimum is unknown
    points: np.ndarray  # (NP, 2)
    makers: np.ndarray  # (NP,) the operator that made each individual, or `DRAWN_AT_START`
    shares: np.ndarray  # (K,) of the operators in the generation before; zeros at the start


@dataclass(frozen=True)
class Animation:
    """A whole run, generation by generation."""

    title: str
    policy: str
    measured: str  # what the best of a frame is: "best error", or "best value" where the optimum is unknown
    operators: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    heights: np.ndarray  # (GRID, GRID) values above the lowest, rows along the second coordinate
    frames: tuple[Frame, ...]


def record_animation(
    problem: str | Problem,
    policy: str | Policy | None = None,
    *,
    population_size: int = 60,
    generations: int = 40,
    seed: int = 0,
) -> Animation:
    """Run a policy on a problem of two dimensions, and keep every generation.

    NP stays as it is and nothing restarts, also where the policy's own settings say otherwise: every individual can
    then be followed from the first generation to the last.
    """
    where = get(problem) if isinstance(problem, str) else problem
    if where.dimension != 2:
        raise ValueError(f"problem must have 2 dimensions to be drawn (as cec2005:F10/d2), got {where!r}")
    check_whole_number("generations", generations, 1)
    chosen = load_policy(best_policy() if policy is None else policy)
    portfolio = (chosen.portfolio if isinstance(chosen, CompiledPolicy) else None) or PAPER
    config = config_for(
        getattr(chosen, "de", {}),
        population_size=population_size,
        final_population=None,
        restart_tolerance=0.0,
        budget=population_size * (generations + 1),
    )
    run = Run(RunSpec(problem=where, policy=chosen, portfolio=portfolio, config=config, seed=seed))
    return Animation(
        title=where.title or where.name,
        policy=chosen.name,
        measured="best value" if where.optimum is None else "best error",
        operators=portfolio.names,
        lower=where.lower,
        upper=where.upper,
        heights=_heights(where),
        frames=tuple(_frames(run, portfolio)),
    )


def _frames(run: Run, portfolio: Portfolio) -> list[Frame]:
    size, optimum = run.spec.config.population_size, run.spec.problem.optimum or 0.0
    run.advance(size)
    makers = np.full(size, DRAWN_AT_START)
    parents = run.de_state.parents[:size]  # the archive lies behind them
    frames = [Frame(run.evaluations, run.best_value - optimum, parents.copy(), makers, np.zeros(len(portfolio)))]
    while not run.ended:
        before, applied = parents.copy(), run.de_state.applications.copy()
        run.advance(run.evaluations + size)
        moved = (parents != before).any(axis=1)
        makers = np.where(moved, run.de_state.choices, makers)
        counts = run.de_state.applications - applied
        frames.append(
            Frame(
                run.evaluations,
                run.best_value - optimum,
                parents.copy(),
                makers,
                counts / max(int(counts.sum()), 1),
            )
        )
    return frames


def _heights(problem: Problem) -> np.ndarray:
    """The function on a grid over its box, above the lowest value of the grid."""
    axes = [np.linspace(problem.lower[d], problem.upper[d], GRID) for d in (0, 1)]
    across, down = np.meshgrid(*axes)
    values = problem(np.column_stack([across.ravel(), down.ravel()])).reshape(GRID, GRID)
    return np.asarray(values - np.nanmin(values))
