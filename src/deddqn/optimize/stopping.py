"""When a search stops, and what it says about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deddqn.de.state import Counter, End, Scalar
from deddqn.engine.run import Run

MESSAGES = {
    "maxfun": "All {maxfun} evaluations are used{early}.",
    "ftarget": "The target value {ftarget:g} is reached.",
    "optimum": "The known optimum is reached.",
    "exhausted": "All {points} points of the space are evaluated.",
    "maxiter": "All {maxiter} generations are done.",
    "tol": "The population has converged.",
    "maxtime": "The time is up.",
    "callback": "The callback asked to stop.",
    "interrupted": "Interrupted.",
}
NOISE_HINT = "The function gave two values at one point: if it is noisy, say noisy=True."
FAILURES = ("interrupted",)


@dataclass(frozen=True)
class Limits:
    """When to stop, beside the evaluations."""

    maxiter: int | None
    ftarget: float | None
    tol: float
    atol: float

    def __post_init__(self) -> None:
        if self.maxiter is not None and not self.maxiter >= 1:
            raise ValueError(f"maxiter must be at least 1, got {self.maxiter}")
        for name, value, least in (
            ("ftarget", self.ftarget, -np.inf),
            ("tol", self.tol, 0.0),
            ("atol", self.atol, 0.0),
        ):
            if value is not None and not value >= least:
                raise ValueError(f"{name} must be a number of at least {least:g}, got {value}")


def reasons_to_stop(run: Run, limits: Limits, outside: Iterable[str]) -> dict[str, str]:
    """Reason -> message; `outside` are reasons that the run does not know: a callback, the clock, Ctrl-C."""
    reasons = set(outside)
    if run.ended == End.BUDGET:
        reasons.add("maxfun")
    if run.ended == End.EXHAUSTED:
        reasons.add("exhausted")
    if run.ended == End.TARGET:
        hit = limits.ftarget is not None and run.best_value <= limits.ftarget
        reasons.add("ftarget" if hit else "optimum")
    if limits.maxiter is not None and run.generation >= limits.maxiter:
        reasons.add("maxiter")
    if run.de_state.counters[Counter.INITIALISED] and run.between_generations and has_converged(run, limits):
        reasons.add("tol")
    early = f", after {run.generation} of {limits.maxiter} generations" if falls_short(run, limits) else ""
    values: dict[str, Any] = {
        "maxfun": run.spec.config.budget,
        "ftarget": limits.ftarget or 0.0,
        "maxiter": limits.maxiter,
        "early": early,
        "points": int(run.de_state.counters[Counter.POINTS]),
    }
    return {reason: text.format(**values) for reason, text in MESSAGES.items() if reason in reasons}


def falls_short(run: Run, limits: Limits) -> bool:
    """Whether the evaluations are used up before all generations are done that were asked for."""
    return run.ended == End.BUDGET and limits.maxiter is not None and run.generation < limits.maxiter


def has_converged(run: Run, limits: Limits) -> bool:
    """scipy's criterion: the standard deviation of the values is at most atol + tol |mean|."""
    if limits.tol == 0.0 and limits.atol == 0.0:
        return False
    scalars = run.de_state.scalars
    finite = bool(np.isfinite(run.fitness).all())
    return finite and bool(scalars[Scalar.DEVIATION] <= limits.atol + limits.tol * abs(scalars[Scalar.MEAN]))


def convergence(run: Run, limits: Limits) -> float:
    """scipy's measure: `tol` over the relative spread of the population; 1 or more is converged.

    The points of a local search are no population that could have converged.
    """
    if run.searches_locally:
        return 0.0
    scalars = run.de_state.scalars
    spread = scalars[Scalar.DEVIATION] / (abs(scalars[Scalar.MEAN]) + np.finfo(float).eps)
    return float(limits.tol / spread) if spread > 0 else np.inf


def final_message(run: Run, stopped: dict[str, str]) -> str:
    """The message of a result."""
    parts = list(stopped.values()) or ["The search is not finished."]
    bad = int(run.de_state.counters[Counter.NON_FINITE])
    if bad:
        parts.append(f"{bad} of {run.evaluations} evaluations gave NaN or an infinity.")
    if not np.isfinite(run.best_value):
        constrained = run.spec.problem.constraints is not None
        parts.append("No feasible point was found." if constrained else "No finite value was found.")
    if gave_two_values(run):
        parts.append(NOISE_HINT)
    return " ".join(parts)


def gave_two_values(run: Run) -> bool:
    """Whether two parents are the same point and have different values, in a search that was not told of noise."""
    if run.spec.problem.noisy or run.spec.problem.constraints is not None or run.spec.config.noise_handling:
        return False
    values: dict[bytes, float] = {}
    pairs = zip(run.population, run.fitness.tolist(), strict=True)
    return any(values.setdefault((point + 0.0).tobytes(), value) != value for point, value in pairs)
