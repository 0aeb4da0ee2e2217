"""Cycles (Sect. 5.1): every training problem is run once per cycle, in a random order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deddqn._utils.plain_json import Mapped
from deddqn._utils.validation import check_whole_number

ORDER_STREAM = 77  # distinguishes the generator of the orders from others of the same seed


@dataclass(frozen=True)
class FinishedRun:
    """A run that ended, and the slot of the vectorised runs that it used."""

    number: int
    problem: int
    total_reward: float
    best_value: float
    evaluations: int
    slot: int = 0


@dataclass(frozen=True)
class Cycle:
    """A cycle of which all runs ended: their mean summed reward decides which weights are kept."""

    number: int
    mean_return: float
    runs: int


class Curriculum:
    """The problem of every run: run number n belongs to cycle n // problems. A function of n: nothing to save."""

    def __init__(self, problems: int, seed: int) -> None:
        self.problems, self.seed = problems, seed
        self._orders: dict[int, list[int]] = {}

    def cycle_of(self, number: int) -> int:
        """The cycle of a run."""
        return number // self.problems

    def problem_of(self, number: int) -> int:
        """The problem of a run."""
        cycle = self.cycle_of(number)
        if cycle not in self._orders:
            if len(self._orders) > 1000:
                self._orders.clear()
            rng = np.random.default_rng([self.seed, ORDER_STREAM, cycle])
            self._orders[cycle] = rng.permutation(self.problems).tolist()
        return self._orders[cycle][number % self.problems]


@dataclass
class CycleReturns:
    """The returns of the cycles that are under way, and the learning curve of those that are finished."""

    problems: int
    open: dict[int, list[float]] = field(default_factory=dict)
    curve: list[tuple[int, float]] = field(default_factory=list)
    best: float = -np.inf
    best_cycle: int = -1

    def add(self, run: FinishedRun) -> Cycle | None:
        """Add a run; return its cycle if this was the last run of it."""
        number = run.number // self.problems
        returns = self.open.setdefault(number, [])
        returns.append(run.total_reward)
        if len(returns) < self.problems:
            return None
        del self.open[number]
        cycle = Cycle(number, float(np.mean(returns)), len(returns))
        self.curve.append((number, cycle.mean_return))
        return cycle

    def update_best(self, cycle: Cycle) -> bool:
        """Remember the cycle if none was better, and say whether it is."""
        if not cycle.mean_return > self.best:
            return False
        self.best, self.best_cycle = cycle.mean_return, cycle.number
        return True

    @property
    def finished(self) -> int:
        """How many cycles are finished."""
        return len(self.curve)

    @property
    def total(self) -> float:
        """The mean returns of all finished cycles, summed: the reward accumulated in training."""
        return float(sum(mean for _, mean in self.curve))

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "problems": self.problems,
            "open": {str(number): returns for number, returns in self.open.items()},
            "curve": [list(point) for point in self.curve],
            "best": self.best if self.best_cycle >= 0 else None,
            "best_cycle": self.best_cycle,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> CycleReturns:
        """What `to_json` gave; it must have the form `RETURNS`."""
        check_whole_number("problems", values["problems"], 1)
        return cls(
            values["problems"],
            {int(number): list(returns) for number, returns in values["open"].items()},
            [(int(number), float(mean)) for number, mean in values["curve"]],
            -np.inf if values["best"] is None else float(values["best"]),
            int(values["best_cycle"]),
        )


RETURNS = {
    "problems": int,
    "open": Mapped([float]),
    "curve": [[float]],
    "best": (float, None),
    "best_cycle": int,
}
"""The form of `CycleReturns.to_json`."""
