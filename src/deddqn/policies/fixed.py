"""The non-adaptive policies of the paper: one strategy always (DE1-DE4), or one drawn at random (Random)."""

from __future__ import annotations

import numpy as np

from deddqn._jit import kernel
from deddqn.de.portfolio import Portfolio
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import (
    CHOOSE_SIGNATURE,
    PolicyKernels,
)
from deddqn.rng import integer_below, uniform


@kernel(CHOOSE_SIGNATURE)
def choose_fixed(setup, memory, features, stream, n_ops, i):
    """The operator written in the setup."""
    return np.int64(setup[0])


@kernel(CHOOSE_SIGNATURE)
def choose_uniform(setup, memory, features, stream, n_ops, i):
    """Any operator, all with the same probability."""
    return integer_below(stream, n_ops)


@kernel
def draw_operator(sums, first, n_ops, stream):
    """An operator drawn with the probabilities whose cumulative sums begin at ``sums[first]``."""
    drawn = uniform(stream)
    op = 0
    while op < n_ops - 1 and drawn >= sums[first + op]:
        op += 1
    return op


@kernel(CHOOSE_SIGNATURE)
def choose_mixture(setup, memory, features, stream, n_ops, i):
    """An operator drawn with the probabilities whose cumulative sums are the setup."""
    return draw_operator(setup, 0, n_ops, stream)


class SizedPolicy(CompiledPolicy):
    """A policy that needs at least, or exactly, so many operators."""

    least = 1
    exactly: int | None = None

    def check_portfolio(self, portfolio: Portfolio) -> None:
        """Raise ValueError if the portfolio is too small, or not of the right size."""
        super().check_portfolio(portfolio)
        if len(portfolio) < self.least:
            raise ValueError(f"policy {self.name!r} needs at least {self.least} operators, got {len(portfolio)}")
        if self.exactly is not None and len(portfolio) != self.exactly:
            raise ValueError(
                f"policy {self.name!r} gives {self.exactly} probabilities, the portfolio has {len(portfolio)} entries"
            )


def fixed(op: int) -> CompiledPolicy:
    """Always operator `op` (from 0): ``de1`` is ``fixed(0)``."""
    if op < 0:
        raise ValueError(f"op must be 0 or more, got {op}")
    policy = SizedPolicy(f"de{op + 1}", PolicyKernels(choose_fixed), setup=np.array([float(op)]))
    policy.least = op + 1
    return policy


def uniform_policy() -> CompiledPolicy:
    """Any operator with the same probability: the paper's Random."""
    return CompiledPolicy("random", PolicyKernels(choose_uniform))


def mixture(probabilities: list[float] | np.ndarray) -> CompiledPolicy:
    """Operators drawn with fixed probabilities."""
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or p.size == 0 or not np.all(np.isfinite(p)) or np.any(p < 0) or not p.sum() > 0:
        raise ValueError(f"mixture probabilities must be finite, not negative and not all zero, got {probabilities}")
    if abs(p.sum() - 1.0) > 1e-6:
        raise ValueError(f"mixture probabilities must sum to 1, got {list(map(float, p))} with sum {p.sum():g}")
    name = "mixture:" + ",".join(f"{value:g}" for value in p)
    policy = SizedPolicy(name, PolicyKernels(choose_mixture), setup=np.cumsum(p / p.sum()))
    policy.exactly = p.size
    return policy
