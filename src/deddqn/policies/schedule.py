"""Shares played at random: a table of probabilities, one row per generation, and nothing else is looked at.

With the shares that another policy had in its runs this is the control that tells whether its state matters: the
same moves, equally often, at the same time, but not chosen for the individual and the moment.
"""

from __future__ import annotations

import numpy as np

from deddqn._jit import kernel
from deddqn._jit.contents import COUNT
from deddqn.de.portfolio import Portfolio
from deddqn.policies.fixed import SizedPolicy, draw_operator
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import (
    CHOOSE_SIGNATURE,
    END_SIGNATURE,
    RESET_SIGNATURE,
    PolicyKernels,
)

ROWS, TABLE = 0, 1  # the setup: number of rows, then the cumulative sums of every row
GENERATION = 0  # the memory: finished generations


@kernel(RESET_SIGNATURE)
def reset(setup, memory, n_ops, n_pop):
    """Begin with the first row."""
    memory[GENERATION] = 0.0
    return 0


@kernel(CHOOSE_SIGNATURE)
def choose(setup, memory, features, stream, n_ops, i):
    """An operator drawn with the probabilities of the generation; after the last row, of that one."""
    row = min(memory[GENERATION], setup[ROWS] - 1.0)
    return draw_operator(setup, TABLE + np.int64(row) * n_ops, n_ops, stream)


@kernel(END_SIGNATURE)
def end_generation(setup, memory):
    """Go on to the next row."""
    memory[GENERATION] += 1.0
    return 0


def schedule_policy(table: np.ndarray, *, name: str = "schedule", portfolio: Portfolio | None = None) -> CompiledPolicy:
    """Operators drawn with the probabilities ``table[generation]``; its last row also serves all later generations.

    Parameters
    ----------
    table : (generations, operators), rows that sum to 1.
    portfolio : the portfolio that it is meant for; None if any of that size will do.
    """
    rows = np.asarray(table, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"table must have the shape (generations, operators), got {rows.shape}")
    if not np.all(np.isfinite(rows)) or np.any(rows < 0) or np.any(np.abs(rows.sum(axis=1) - 1.0) > 1e-6):
        raise ValueError(f"table must hold probabilities, every row with sum 1, got sums {rows.sum(axis=1)}")
    sums = np.cumsum(rows / rows.sum(axis=1, keepdims=True), axis=1)
    policy = SizedPolicy(
        name,
        PolicyKernels(choose, reset, None, end_generation),
        setup=np.concatenate([[float(len(rows))], sums.ravel()]),
        memory_size=lambda n_ops, n_pop: 1,
        memory_parts=lambda setup, n_ops, n_pop: [("generation", 1, COUNT)],
        portfolio=portfolio,
    )
    policy.exactly = rows.shape[1]
    return policy
