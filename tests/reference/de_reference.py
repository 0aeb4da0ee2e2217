"""One DE run with operator selection, written as plainly as possible: state, features and rewards.

The reference has no randomness: donors, operators, crossover masks and objective values are handed in.
Nothing is updated incrementally: the run keeps the full list of past applications of every generation and
recomputes each feature from these lists whenever it is asked.  Section and table numbers are the paper's
(GECCO 2019, "Deep Reinforcement Learning Based Parameter Control in Differential Evolution").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
Metrics = tuple[float, float, float, float]  # OM_1 .. OM_4 of one application
Application = tuple[int, Metrics]  # operator, metrics
WindowElement = tuple[int, float, float, float, float, float]  # operator, OM_1 .. OM_4, f(u)

METRIC_COUNT = 4
DONOR_COUNT = 5
LARGEST_VALUE = 1e300  # cap of OM, of R3 and of the raw quotients of rows 52-67
SMALLEST_ERROR = 1e-8  # lower limit of the denominator of R3
MIRRORING_LIMIT = 100


# ---------------------------------------------------------------------------------------------------------
# Small numbers


def clipped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def stored_value(value: float) -> float:
    """An objective value as it is stored: NaN, +inf and -inf all become +inf."""
    return float(value) if math.isfinite(value) else math.inf


def finite_members(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def median_of_finite(values: Sequence[float]) -> float:
    """The median of the finite values, correctly rounded; +inf where there is none."""
    ordered = sorted(finite_members(values))
    if not ordered:
        return math.inf
    middle = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[middle]
    return float((Fraction(ordered[middle - 1]) + Fraction(ordered[middle])) / 2)


def index_of_best(values: Sequence[float]) -> int:
    """The index of the lowest value, the lowest index on ties (so 0 where all are +inf)."""
    best = 0
    for index in range(1, len(values)):
        if values[index] < values[best]:
            best = index
    return best


def relative_difference(first: float, second: float, best: float, worst: float) -> float:
    """(first - second) / (worst - best) in [-1, 1], computed exactly and rounded once (rows 1, 13-18)."""
    if first == math.inf and second == math.inf:
        return 0.0
    if first == math.inf:
        return 1.0
    if second == math.inf:
        return -1.0
    if not math.isfinite(best) or not math.isfinite(worst) or worst == best:
        return 0.0
    quotient = (Fraction(first) - Fraction(second)) / (Fraction(worst) - Fraction(best))
    return float(min(max(quotient, Fraction(-1)), Fraction(1)))


def normalised(values: Sequence[float]) -> list[float]:
    """The values divided by the sum of their absolute values; all 0 where that sum is 0."""
    total = math.fsum(abs(value) for value in values)
    if total == 0.0:
        return [0.0 for _ in values]
    return [value / total for value in values]


def distance_over_diagonal(first: FloatArray, second: FloatArray, diagonal: float) -> float:
    """The Euclidean distance over the box diagonal, in [0, 1] (rows 7-12 and 19)."""
    if diagonal == 0.0:
        return 0.0
    differences = [float(a) - float(b) for a, b in zip(first, second, strict=True)]
    quotient = math.hypot(*differences) / diagonal
    if not math.isfinite(quotient):
        return 1.0
    return clipped(quotient, 0.0, 1.0)


# ---------------------------------------------------------------------------------------------------------
# Trials (Sect. 2.1)


def mutant(
    strategy: str, scaling: float, parent: FloatArray, best: FloatArray, donors: Sequence[FloatArray]
) -> FloatArray:
    first, second, third, fourth, fifth = donors
    with np.errstate(over="ignore", invalid="ignore"):
        if strategy == "rand/1":
            return first + scaling * (second - third)
        if strategy == "rand/2":
            return first + scaling * (second - third + fourth - fifth)
        if strategy == "rand-to-best/2":
            return first + scaling * (best - first + second - third + fourth - fifth)
        if strategy == "curr-to-rand/1":
            return parent + scaling * (first - parent + second - third)
    raise ValueError(f"unknown strategy {strategy!r}")


def mirrored(value: float, lower: float, upper: float) -> float:
    for _ in range(MIRRORING_LIMIT):
        if value < lower:
            value = lower + (lower - value)
        elif value > upper:
            value = upper - (value - upper)
        else:
            return value
    return clipped(value, lower, upper)


def repaired_coordinate(value: float, parent: float, lower: float, upper: float, repair: str) -> float:
    if not math.isfinite(value):
        value = parent
    if repair == "clip":
        return clipped(value, lower, upper)
    if repair == "reflect":
        return mirrored(value, lower, upper)
    if repair == "midpoint":
        if value < lower:
            return lower / 2 + parent / 2
        if value > upper:
            return upper / 2 + parent / 2
        return value
    raise ValueError(f"unknown repair {repair!r}")


# ---------------------------------------------------------------------------------------------------------
# Operator metrics (Sect. 4.1) and rewards (Sect. 4.2)


def improvement(reference: float, value: float, worst_before: float) -> float:
    """max(0, reference - f(u)); an infinite reference counts as the worst finite value known before."""
    if not math.isfinite(value):
        return 0.0
    if reference == math.inf:
        reference = worst_before
    if not math.isfinite(reference):
        return 0.0
    return clipped(reference - value, 0.0, LARGEST_VALUE)


def relative_reward(parent_improvement: float, value: float, optimum: float) -> float:
    """R3 = OM_1 / max(f(u) - f_opt, 1e-8), capped."""
    if not math.isfinite(value):
        return 0.0
    denominator = max(Fraction(value) - Fraction(optimum), Fraction(SMALLEST_ERROR))
    return float(min(Fraction(parent_improvement) / denominator, Fraction(LARGEST_VALUE)))


# ---------------------------------------------------------------------------------------------------------
# History of one generation: a list of applications


def metric_values(applications: Sequence[Application], operator: int, metric: int) -> list[float]:
    return [metrics[metric] for used, metrics in applications if used == operator]


def success_rate(applications: Sequence[Application], operator: int, metric: int) -> float:
    values = metric_values(applications, operator, metric)
    if not values:
        return 0.0
    return sum(1 for value in values if value > 0.0) / len(values)


def best_improvement(applications: Sequence[Application], operator: int, metric: int) -> float:
    return max(metric_values(applications, operator, metric), default=0.0)


def change_of_best(last: Sequence[Application], before: Sequence[Application], operator: int, metric: int) -> float:
    """Rows 52-67 before normalisation; zero factors of the denominator are left out."""
    best_before = Fraction(best_improvement(before, operator, metric))
    quotient = Fraction(best_improvement(last, operator, metric)) - best_before
    if best_before != 0:
        quotient = quotient / best_before
    total_last = len(metric_values(last, operator, metric))
    total_before = len(metric_values(before, operator, metric))
    if total_last != total_before:
        quotient = quotient / abs(total_last - total_before)
    limit = Fraction(LARGEST_VALUE)
    return float(min(max(quotient, -limit), limit))


# ---------------------------------------------------------------------------------------------------------
# The run


class ReferenceRun:
    """The state of one DE run; the caller hands in donors, operators, crossover masks and values.

    Sequential mode: for each parent i in order, ``features``, ``trial``, ``commit``.  Deferred mode:
    ``features`` and ``trial`` for all parents of the generation first, then ``commit`` for all, in order.
    """

    def __init__(
        self,
        *,
        lower: ArrayLike,
        upper: ArrayLike,
        search_lower: ArrayLike | None = None,
        search_upper: ArrayLike | None = None,
        portfolio: list[tuple[str, float, float]],
        population_size: int,
        budget: int,
        max_dimension: int = 30,
        optimum: float | None = None,
        target_error: float = 1e-8,
        window_size: int = 50,
        generations: int = 10,
        repair: str = "clip",
        deferred: bool = False,
    ) -> None:
        self.lower: FloatArray = np.array(lower, dtype=np.float64)
        self.upper: FloatArray = np.array(upper, dtype=np.float64)
        self.search_lower: FloatArray = self._bounds(search_lower, self.lower)
        self.search_upper: FloatArray = self._bounds(search_upper, self.upper)
        self.portfolio = list(portfolio)
        self.population_size = population_size
        self.budget = budget
        self.max_dimension = max_dimension
        self.optimum = optimum
        self.target_error = target_error
        self.window_size = window_size
        self.generations = generations
        self.repair = repair
        self.deferred = deferred

        self.dimension = len(self.lower)
        self.evaluations = 0
        self.f_bsf = math.inf
        self.f_wsf = -math.inf
        self.stagnation = 0
        self.generation = 0
        self.non_finite = 0
        self.ended = False
        self.window: list[WindowElement] = []
        self.counters = [0 for _ in self.portfolio]
        self.finished_generations: list[list[Application]] = []
        self.current_generation: list[Application] = []
        self.accepted: list[tuple[int, FloatArray, float]] = []

    @staticmethod
    def _bounds(given: ArrayLike | None, otherwise: FloatArray) -> FloatArray:
        return otherwise.copy() if given is None else np.array(given, dtype=np.float64)

    # -- the initial population

    def initialise(self, population: ArrayLike, values: Sequence[float] | FloatArray) -> None:
        """Take the initial points and their values, in order, until the budget or the target is reached.

        In deferred mode the initial points are one generation: the target ends the run only after all of them.
        Members that were not evaluated any more keep the value +inf.
        """
        self.population: FloatArray = np.array(population, dtype=np.float64)
        if self.population.shape != (self.population_size, self.dimension):
            raise ValueError(f"population has shape {self.population.shape}")
        self.fitness: FloatArray = np.full(self.population_size, math.inf)
        self.x_bsf: FloatArray = self.population[0].copy()
        for index, value in enumerate(values):
            if self._budget_is_spent() or (self._target_is_reached() and not self.deferred):
                break
            self.fitness[index] = stored_value(float(value))
            self._count_evaluation(self.population[index], float(value))
        self.ended = self._budget_is_spent() or self._target_is_reached()
        if not self.ended and self.evaluations < self.population_size:
            raise ValueError("too few initial values")

    # -- what is known about the parents and the run

    @property
    def operator_count(self) -> int:
        return len(self.portfolio)

    @property
    def best_index(self) -> int:
        """The best parent of the current generation."""
        return index_of_best(self._parent_values())

    @property
    def decisions_left(self) -> int:
        """How many decisions remain in the current generation."""
        left = self.population_size - len(self.current_generation)
        return 0 if self.ended else min(left, self.budget - self.evaluations)

    def _parent_values(self) -> list[float]:
        return [float(value) for value in self.fitness]

    def _diagonal(self) -> float:
        return math.hypot(*[float(high) - float(low) for low, high in zip(self.lower, self.upper, strict=True)])

    def _budget_is_spent(self) -> bool:
        return self.evaluations >= self.budget

    def _target_is_reached(self) -> bool:
        return self.optimum is not None and self.f_bsf - self.optimum < self.target_error

    # -- features (Table 1)

    def features(self, i: int, donors: Sequence[int]) -> FloatArray:
        """The 19 + 20 n_ops features of parent i at this moment, before its decision."""
        if len(donors) != DONOR_COUNT:
            raise ValueError("five donors are needed")
        rows = self._rows_1_to_6(i)
        rows += self._rows_7_to_12(i, donors)
        rows += self._rows_13_to_18(i, donors)
        rows += [distance_over_diagonal(self.population[i], self.x_bsf, self._diagonal())]
        rows += self._by_metric_and_operator(self._sum_of_success_rates)
        rows += self._by_metric_and_operator(self._improvement_per_application)
        rows += self._by_metric_and_operator(self._change_of_best)
        rows += self._by_metric_and_operator(self._sum_of_bests)
        rows += self._by_metric_and_operator(self._sum_in_window)
        return np.array(rows, dtype=np.float64)

    def _relative(self, first: float, second: float) -> float:
        return relative_difference(first, second, self.f_bsf, self.f_wsf)

    def _rows_1_to_6(self, i: int) -> list[float]:
        parents = self._parent_values()
        return [
            clipped(self._relative(parents[i], self.f_bsf), 0.0, 1.0),
            self._relative_mean(finite_members(parents)),
            self._relative_deviation(finite_members(parents)),
            clipped((self.budget - self.evaluations) / self.budget, 0.0, 1.0),
            clipped(self.dimension / self.max_dimension, 0.0, 1.0),
            clipped(self.stagnation / self.budget, 0.0, 1.0),
        ]

    def _relative_mean(self, finite_values: list[float]) -> float:
        """Row 2: the mean of (f - f_bsf) / (f_wsf - f_bsf), which is the mean f in these units."""
        if not finite_values:
            return 0.0
        relative_values = [self._relative(value, self.f_bsf) for value in finite_values]
        return clipped(math.fsum(relative_values) / len(relative_values), 0.0, 1.0)

    def _relative_deviation(self, finite_values: list[float]) -> float:
        """Row 3: the standard deviation in the units of row 2, over one half (its largest value)."""
        if not finite_values:
            return 0.0
        relative_values = [self._relative(value, self.f_bsf) for value in finite_values]
        mean = math.fsum(relative_values) / len(relative_values)
        variance = math.fsum((value - mean) ** 2 for value in relative_values) / len(relative_values)
        return clipped(math.sqrt(variance) / 0.5, 0.0, 1.0)

    def _rows_7_to_12(self, i: int, donors: Sequence[int]) -> list[float]:
        others = [*donors, self.best_index]
        diagonal = self._diagonal()
        return [distance_over_diagonal(self.population[i], self.population[j], diagonal) for j in others]

    def _rows_13_to_18(self, i: int, donors: Sequence[int]) -> list[float]:
        parents = self._parent_values()
        differences = [self._relative(parents[i], parents[j]) for j in donors]
        to_best = clipped(self._relative(parents[i], parents[self.best_index]), 0.0, 1.0)
        return [*differences, to_best]

    def _by_metric_and_operator(self, value_of: Callable[[int, int], float]) -> list[float]:
        """All operators of OM_1, then of OM_2, ...; each metric normalised over the operators."""
        rows: list[float] = []
        for metric in range(METRIC_COUNT):
            rows += normalised([value_of(operator, metric) for operator in range(self.operator_count)])
        return rows

    def _recent_generations(self) -> list[list[Application]]:
        return self.finished_generations[-self.generations :]

    def _sum_of_success_rates(self, operator: int, metric: int) -> float:
        """Rows 20-35."""
        return math.fsum(success_rate(record, operator, metric) for record in self._recent_generations())

    def _improvement_per_application(self, operator: int, metric: int) -> float:
        """Rows 36-51."""
        values: list[float] = []
        for record in self._recent_generations():
            values += metric_values(record, operator, metric)
        return math.fsum(values) / len(values) if values else 0.0

    def _change_of_best(self, operator: int, metric: int) -> float:
        """Rows 52-67."""
        if len(self.finished_generations) < 2:
            return 0.0
        before, last = self.finished_generations[-2:]
        return change_of_best(last, before, operator, metric)

    def _sum_of_bests(self, operator: int, metric: int) -> float:
        """Rows 68-83."""
        return math.fsum(best_improvement(record, operator, metric) for record in self._recent_generations())

    def _sum_in_window(self, operator: int, metric: int) -> float:
        """Rows 84-99."""
        return math.fsum(element[1 + metric] for element in self.window if element[0] == operator)

    # -- trials (Sect. 2.1)

    def trial(
        self, i: int, donors: Sequence[int], op: int, crossover_mask: Sequence[bool] | NDArray[np.bool_]
    ) -> FloatArray:
        """The repaired trial of parent i; where the mask is True the coordinate comes from the mutant."""
        if not any(crossover_mask):
            raise ValueError("at least one coordinate comes from the mutant")
        strategy, scaling, _ = self.portfolio[op]
        parent = self.population[i]
        best = self.population[self.best_index]
        mutated = mutant(strategy, scaling, parent, best, [self.population[j] for j in donors])
        return self._crossed_and_repaired(parent, mutated, crossover_mask)

    def _crossed_and_repaired(
        self, parent: FloatArray, mutated: FloatArray, crossover_mask: Sequence[bool] | NDArray[np.bool_]
    ) -> FloatArray:
        point: FloatArray = parent.copy()
        for coordinate in range(self.dimension):
            if crossover_mask[coordinate]:
                point[coordinate] = mutated[coordinate]
        for coordinate in range(self.dimension):
            point[coordinate] = repaired_coordinate(
                float(point[coordinate]),
                float(parent[coordinate]),
                float(self.search_lower[coordinate]),
                float(self.search_upper[coordinate]),
                self.repair,
            )
        return point

    # -- evaluation of a trial

    def commit(self, i: int, op: int, trial_point: ArrayLike, value: float) -> dict[str, float | None]:
        """Take the value of the trial of parent i; returns its rewards."""
        if self.ended:
            raise RuntimeError("the run has ended")
        if i != len(self.current_generation):
            raise ValueError(f"parent {len(self.current_generation)} is next, not {i}")
        point = np.array(trial_point, dtype=np.float64)
        offspring_value = stored_value(float(value))
        metrics = self._metrics(i, offspring_value)
        rewards = self._rewards(i, offspring_value, metrics[0])

        self.counters[op] += 1
        self.current_generation.append((op, metrics))
        if offspring_value < self.fitness[i]:
            self._add_to_window((op, *metrics, offspring_value))
        if offspring_value <= self.fitness[i]:
            self.accepted.append((i, point, offspring_value))
        self.stagnation = 0 if offspring_value < self.f_bsf else self.stagnation + 1
        self._count_evaluation(point, float(value))

        generation_is_complete = i == self.population_size - 1
        target_ends_run = self._target_is_reached() and (generation_is_complete or not self.deferred)
        self.ended = self._budget_is_spent() or target_ends_run
        if generation_is_complete or self.ended:
            self._finish_generation()
        return rewards

    def _metrics(self, i: int, value: float) -> Metrics:
        """OM_1 .. OM_4: over the parent, the best parent, f_bsf before this trial, the parents' median."""
        parents = self._parent_values()
        return (
            improvement(parents[i], value, self.f_wsf),
            improvement(parents[self.best_index], value, self.f_wsf),
            improvement(self.f_bsf, value, self.f_wsf),
            improvement(median_of_finite(parents), value, self.f_wsf),
        )

    def _rewards(self, i: int, value: float, parent_improvement: float) -> dict[str, float | None]:
        """R1, R2, R3 (Sect. 4.2)."""
        if value < self.f_bsf:
            fixed_reward = 10.0
        elif value < self.fitness[i]:
            fixed_reward = 1.0
        else:
            fixed_reward = 0.0
        relative = None if self.optimum is None else relative_reward(parent_improvement, value, self.optimum)
        return {"R1": parent_improvement, "R2": fixed_reward, "R3": relative}

    def _add_to_window(self, element: WindowElement) -> None:
        """The window is in the order of arrival, the oldest element first."""
        if len(self.window) >= self.window_size:
            del self.window[self._position_to_replace(element[0])]
        self.window.append(element)

    def _position_to_replace(self, operator: int) -> int:
        """The oldest of the same operator; if there is none, the highest f(u), the oldest on ties."""
        for position, element in enumerate(self.window):
            if element[0] == operator:
                return position
        worst = 0
        for position, element in enumerate(self.window):
            if element[-1] > self.window[worst][-1]:
                worst = position
        return worst

    def _count_evaluation(self, point: FloatArray, value: float) -> None:
        self.evaluations += 1
        if not math.isfinite(value):
            self.non_finite += 1
            return
        if value < self.f_bsf:
            self.f_bsf = value
            self.x_bsf = point.copy()
        if value > self.f_wsf:
            self.f_wsf = value

    def _finish_generation(self) -> None:
        for index, point, value in self.accepted:
            self.population[index] = point
            self.fitness[index] = value
        self.finished_generations.append(self.current_generation)
        self.current_generation = []
        self.accepted = []
        self.generation += 1
