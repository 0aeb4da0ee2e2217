"""Every policy of the package with every portfolio that it accepts, in both modes, on compiled and Python functions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import deddqn
from deddqn.problems import get
from tests.digests import functions, names
from tests.digests.case import EXACT, MACHINE, MATH, Case, facts

SETTINGS: dict[int, dict[str, Any]] = {
    2: {"maxfun": 240, "population_size": 10, "restart_tolerance": 0.4, "restart_final_fraction": 0.2},
    10: {"maxfun": 900},
    30: {"maxfun": 1300, "population_size": 40, "final_population": 9, "repair": "reflect"},
}
"""By dimension: short with new populations; as the policy wants it; with a population that shrinks."""

WITHOUT_MATH = ("random", "de1", "de2", "de3", "de4", "pm-adapss")
"""Policies that use neither exp nor log; nor does the paper's portfolio."""

BENCHMARKS = ("cec2005:F9/d10", "cec2005:F4/d10", "cec2005:F7/d10", "cec2005:F16/d30")
"""Rugged, noisy, unbounded, composed."""


def accepts(label: str, portfolio: str) -> bool:
    """Whether the policy can choose from the portfolio."""
    try:
        deddqn.Optimizer(functions.box(2), policy=names.policy(label), portfolio=names.PORTFOLIOS[portfolio])
    except ValueError:
        return False
    return True


def group_of(label: str, portfolio: str) -> str:
    """How far a digest of such a run travels, if the function is exact."""
    if label in names.NETWORKS:
        return MACHINE
    return EXACT if label in WITHOUT_MATH and portfolio == "paper" else MATH


def run(label: str, portfolio: str, function: Any, dimension: int, updating: str) -> dict[str, Any]:
    """One run on a function of ours."""
    result = deddqn.minimize(
        function,
        functions.box(dimension),
        policy=names.policy(label),
        portfolio=names.PORTFOLIOS[portfolio],
        updating=updating,
        rng=dimension,
        history=True,
        **SETTINGS[dimension],
    )
    return facts(result)


def run_benchmark(label: str, name: str, updating: str) -> dict[str, Any]:
    """One run on a function of CEC2005, with the policy's own portfolio."""
    return facts(deddqn.minimize(get(name), policy=names.policy(label), maxfun=700, updating=updating, rng=3))


def cases() -> Iterator[Case]:
    """All of them."""
    modes = ("sequential", "deferred")
    for label in names.policy_labels():
        for portfolio, dimension, updating in product(names.PORTFOLIOS, SETTINGS, modes):
            if accepts(label, portfolio):
                group = group_of(label, portfolio)
                for kind in ("jitted", "plain"):
                    compute = partial(run, label, portfolio, getattr(functions, kind), dimension, updating)
                    name = f"policy/{label}/{portfolio}/d{dimension}/{updating}/{kind}"
                    quick = group != MACHINE and dimension == 2 and kind == "plain"
                    yield Case(name, group, compute, quick)
        for name, updating in product(BENCHMARKS, modes):
            yield Case(f"policy/{label}/{name}/{updating}", MACHINE, partial(run_benchmark, label, name, updating))
