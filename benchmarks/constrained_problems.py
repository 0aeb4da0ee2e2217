"""Constrained problems of the literature: five of engineering design, and g01-g13 of Michalewicz, Runarsson and Yao.

Formulas and optima as in: C. A. Coello Coello, "Use of a self-adaptive penalty approach for engineering optimization
problems" (2000); J. Golinski (1973) for the speed reducer; J. J. Liang et al., "Problem definitions and evaluation
criteria for the CEC 2006 special session on constrained real-parameter optimization" (2006). All variables are
continuous, and constraint values lie between `lower` and `upper`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy import cos, exp, pi, prod, sin, sqrt

EQUALITY = 1e-4  # how far an equality may be missed


@dataclass(frozen=True)
class Constrained:
    """A problem: ``fun(x) -> (value, constraint values)``, its box, the limits of these values, its optimum."""

    name: str
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]]
    low: np.ndarray
    high: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    optimum: float
    budget: int

    @property
    def equal(self) -> np.ndarray:
        """Which constraints are equalities."""
        return self.lower == self.upper

    def excess(self, values: np.ndarray) -> np.ndarray:
        """How far constraint values are beyond what is allowed."""
        slack = np.where(self.equal, EQUALITY, 0.0)
        return np.maximum(np.maximum(self.lower - slack - values, values - self.upper - slack), 0.0)


PROBLEMS: dict[str, Constrained] = {}


def problem(
    name: str, box: list[tuple[float, float]], optimum: float, upper: list[float], lower: list[float] | None = None
):
    """Register a function; without `lower` constraint values have no lower limit."""
    low, high = np.array(box, dtype=float).T
    limits = np.array(upper, dtype=float)
    least = np.full(len(limits), -np.inf) if lower is None else np.array(lower, dtype=float)

    def register(
        fun: Callable[[np.ndarray], tuple[float, list[float]]],
    ) -> Callable[[np.ndarray], tuple[float, list[float]]]:
        def packed(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, values = fun(x)
            return float(value), np.array(values, dtype=float)

        budget = 5000 if len(box) < 8 else 10_000
        PROBLEMS[name] = Constrained(name, packed, low, high, least, limits, optimum, budget)
        return fun

    return register


@problem("welded beam", [(0.1, 2), (0.1, 10), (0.1, 10), (0.1, 2)], 1.724852309, [0.0] * 7)
def welded_beam(x):
    h, length, t, b = x
    load, span, young, shear = 6000.0, 14.0, 30e6, 12e6
    direct = load / (sqrt(2) * h * length)
    radius = sqrt(length**2 / 4 + ((h + t) / 2) ** 2)
    inertia = 2 * sqrt(2) * h * length * (length**2 / 12 + ((h + t) / 2) ** 2)
    bending = load * (span + length / 2) * radius / inertia
    stress = sqrt(direct**2 + direct * bending * length / radius + bending**2)
    buckling = 4.013 * young * sqrt(t**2 * b**6 / 36) / span**2 * (1 - t / (2 * span) * sqrt(young / (4 * shear)))
    cost = 0.04811 * t * b * (14 + length)
    return 1.10471 * h**2 * length + cost, [
        stress - 13600, 6 * load * span / (b * t**2) - 30000, h - b, 0.10471 * h**2 + cost - 5, 0.125 - h,
        4 * load * span**3 / (young * t**3 * b) - 0.25, load - buckling,
    ]  # fmt: skip


@problem("pressure vessel", [(0.0625, 6.1875), (0.0625, 6.1875), (10, 200), (10, 200)], 5885.3327736, [0.0] * 4)
def pressure_vessel(x):
    shell, head, radius, length = x
    value = 0.6224 * shell * radius * length + 1.7781 * head * radius**2
    value += 3.1661 * shell**2 * length + 19.84 * shell**2 * radius
    volume = pi * radius**2 * length + 4 / 3 * pi * radius**3
    return value, [0.0193 * radius - shell, 0.00954 * radius - head, 1_296_000 - volume, length - 240]


@problem("spring", [(0.05, 2), (0.25, 1.3), (2, 15)], 0.0126652328, [0.0] * 4)
def spring(x):
    wire, coil, turns = x
    bend = (4 * coil**2 - wire * coil) / (12566 * (coil * wire**3 - wire**4)) + 1 / (5108 * wire**2) - 1
    return (turns + 2) * coil * wire**2, [
        1 - coil**3 * turns / (71785 * wire**4), bend, 1 - 140.45 * wire / (coil**2 * turns), (wire + coil) / 1.5 - 1,
    ]  # fmt: skip


@problem(
    "speed reducer",
    [(2.6, 3.6), (0.7, 0.8), (17, 28), (7.3, 8.3), (7.3, 8.3), (2.9, 3.9), (5, 5.5)], 2994.4710661, [0.0] * 11,
)  # fmt: skip
def speed_reducer(x):
    a, b, c, d, e, f, g = x
    value = 0.7854 * a * b**2 * (3.3333 * c**2 + 14.9334 * c - 43.0934) - 1.508 * a * (f**2 + g**2)
    value += 7.4777 * (f**3 + g**3) + 0.7854 * (d * f**2 + e * g**2)
    return value, [
        27 / (a * b**2 * c) - 1, 397.5 / (a * b**2 * c**2) - 1,
        1.93 * d**3 / (b * c * f**4) - 1, 1.93 * e**3 / (b * c * g**4) - 1,
        sqrt((745 * d / (b * c)) ** 2 + 16.9e6) / (110 * f**3) - 1,
        sqrt((745 * e / (b * c)) ** 2 + 157.5e6) / (85 * g**3) - 1,
        b * c / 40 - 1, 5 * b / a - 1, a / (12 * b) - 1, (1.5 * f + 1.9) / d - 1, (1.1 * g + 1.9) / e - 1,
    ]  # fmt: skip


@problem("three-bar truss", [(1e-6, 1), (1e-6, 1)], 263.8958434, [0.0] * 3)
def three_bar_truss(x):
    a, b = x
    whole = sqrt(2) * a**2 + 2 * a * b
    return 100 * (2 * sqrt(2) * a + b), [
        2 * (sqrt(2) * a + b) / whole - 2, 2 * b / whole - 2, 2 / (sqrt(2) * b + a) - 2
    ]  # fmt: skip


@problem("g01", [(0, 1)] * 9 + [(0, 100)] * 3 + [(0, 1)], -15.0, [10, 10, 10, 0, 0, 0, 0, 0, 0])
def g01(x):
    value = 5 * x[:4].sum() - 5 * (x[:4] ** 2).sum() - x[4:].sum()
    return value, [
        2 * x[0] + 2 * x[1] + x[9] + x[10], 2 * x[0] + 2 * x[2] + x[9] + x[11], 2 * x[1] + 2 * x[2] + x[10] + x[11],
        -8 * x[0] + x[9], -8 * x[1] + x[10], -8 * x[2] + x[11],
        -2 * x[3] - x[4] + x[9], -2 * x[5] - x[6] + x[10], -2 * x[7] - x[8] + x[11],
    ]  # fmt: skip


@problem("g02", [(1e-6, 10)] * 20, -0.8036191, [0.0, 150.0])
def g02(x):
    top = (cos(x) ** 4).sum() - 2 * prod(cos(x) ** 2)
    return -abs(top / sqrt((np.arange(1, 21) * x**2).sum())), [0.75 - prod(x), x.sum()]


@problem("g03", [(0, 1)] * 10, -1.0005001, [1.0], [1.0])
def g03(x):
    return -(sqrt(10.0) ** 10) * prod(x), [(x**2).sum()]


@problem("g04", [(78, 102), (33, 45), (27, 45), (27, 45), (27, 45)], -30665.5386718, [92, 110, 25], [0, 90, 20])
def g04(x):
    a, b, c, d, e = x
    return 5.3578547 * c**2 + 0.8356891 * a * e + 37.293239 * a - 40792.141, [
        85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e,
        80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c**2,
        9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d,
    ]


@problem(
    "g05", [(0, 1200), (0, 1200), (-0.55, 0.55), (-0.55, 0.55)], 5126.4967140,
    [0.55, 0.55, 0, 0, 0], [-np.inf, -np.inf, 0, 0, 0],
)  # fmt: skip
def g05(x):
    a, b, c, d = x
    return 3 * a + 1e-6 * a**3 + 2 * b + 2e-6 / 3 * b**3, [
        c - d, d - c,
        1000 * sin(-c - 0.25) + 1000 * sin(-d - 0.25) + 894.8 - a,
        1000 * sin(c - 0.25) + 1000 * sin(c - d - 0.25) + 894.8 - b,
        1000 * sin(d - 0.25) + 1000 * sin(d - c - 0.25) + 1294.8,
    ]  # fmt: skip


@problem("g06", [(13, 100), (0, 100)], -6961.8138756, [0.0, 0.0])
def g06(x):
    a, b = x
    return (a - 10) ** 3 + (b - 20) ** 3, [100 - (a - 5) ** 2 - (b - 5) ** 2, (a - 6) ** 2 + (b - 5) ** 2 - 82.81]


@problem("g07", [(-10, 10)] * 10, 24.3062091, [0.0] * 8)
def g07(x):
    a, b, c, d, e, f, g, h, i, j = x
    value = a**2 + b**2 + a * b - 14 * a - 16 * b + (c - 10) ** 2 + 4 * (d - 5) ** 2 + (e - 3) ** 2 + 2 * (f - 1) ** 2
    value += 5 * g**2 + 7 * (h - 11) ** 2 + 2 * (i - 10) ** 2 + (j - 7) ** 2 + 45
    return value, [
        -105 + 4 * a + 5 * b - 3 * g + 9 * h, 10 * a - 8 * b - 17 * g + 2 * h, -8 * a + 2 * b + 5 * i - 2 * j - 12,
        3 * (a - 2) ** 2 + 4 * (b - 3) ** 2 + 2 * c**2 - 7 * d - 120, 5 * a**2 + 8 * b + (c - 6) ** 2 - 2 * d - 40,
        a**2 + 2 * (b - 2) ** 2 - 2 * a * b + 14 * e - 6 * f, 0.5 * (a - 8) ** 2 + 2 * (b - 4) ** 2 + 3 * e**2 - f - 30,
        -3 * a + 6 * b + 12 * (i - 8) ** 2 - 7 * j,
    ]  # fmt: skip


@problem("g08", [(1e-6, 10), (1e-6, 10)], -0.0958250414, [0.0, 0.0])
def g08(x):
    a, b = x
    return -(sin(2 * pi * a) ** 3) * sin(2 * pi * b) / (a**3 * (a + b)), [a**2 - b + 1, 1 - a + (b - 4) ** 2]


@problem("g09", [(-10, 10)] * 7, 680.6300574, [127, 282, 196, 0])
def g09(x):
    a, b, c, d, e, f, g = x
    value = (a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2 + 10 * e**6 + 7 * f**2 + g**4
    return value - 4 * f * g - 10 * f - 8 * g, [
        2 * a**2 + 3 * b**4 + c + 4 * d**2 + 5 * e, 7 * a + 3 * b + 10 * c**2 + d - e,
        23 * a + b**2 + 6 * f**2 - 8 * g, 4 * a**2 + b**2 - 3 * a * b + 2 * c**2 + 5 * f - 11 * g,
    ]  # fmt: skip


@problem("g10", [(100, 10_000)] + [(1000, 10_000)] * 2 + [(10, 1000)] * 5, 7049.2480205, [0.0] * 6)
def g10(x):
    a, b, c, d, e, f, g, h = x
    return a + b + c, [
        -1 + 0.0025 * (d + f), -1 + 0.0025 * (e + g - d), -1 + 0.01 * (h - e),
        -a * f + 833.33252 * d + 100 * a - 83333.333, -b * g + 1250 * e + b * d - 1250 * d,
        -c * h + 1_250_000 + c * e - 2500 * e,
    ]  # fmt: skip


@problem("g11", [(-1, 1), (-1, 1)], 0.7499, [0.0], [0.0])
def g11(x):
    return x[0] ** 2 + (x[1] - 1) ** 2, [x[1] - x[0] ** 2]


@problem("g12", [(0, 10)] * 3, -1.0, [0.0625])
def g12(x):
    nearest = np.clip(np.round(x), 1, 9)
    return -(100 - ((x - 5) ** 2).sum()) / 100, [((x - nearest) ** 2).sum()]


@problem("g13", [(-2.3, 2.3)] * 2 + [(-3.2, 3.2)] * 3, 0.0539415, [10, 0, -1], [10, 0, -1])
def g13(x):
    return exp(prod(x)), [(x**2).sum(), x[1] * x[2] - 5 * x[3] * x[4], x[0] ** 3 + x[1] ** 3]
