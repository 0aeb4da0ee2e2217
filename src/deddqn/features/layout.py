"""Table 1 as data: which feature stands where, when it changes, and in which range it lies.

Rows are numbered as in the paper, for its four operators. For a portfolio of K operators the history blocks
hold 4 K features each (metric-major: all operators of OM_1, then of OM_2, ...), so there are 19 + 20 K in all.
"""

from __future__ import annotations

from dataclasses import dataclass

from deddqn._utils.validation import choice_error

LAYOUT_VERSION = 1
"""Stored with every policy; a policy of another version is refused."""

PAPER_STATE, AUTHORS_STATE = STATES = ("paper", "authors")
"""What stands in the rows: Table 1 as it is printed, or as the authors' released code computes it."""

METRICS = 4  # OM_1 .. OM_4
PAPER_OPERATORS = 4


@dataclass(frozen=True)
class Block:
    """Consecutive rows of Table 1 with one meaning."""

    name: str
    rows: tuple[int, int]
    changes: str  # "step", "generation" or "window"
    signed: bool  # in [-1, 1] instead of [0, 1]
    meaning: str

    @property
    def per_operator(self) -> bool:
        """True for the history blocks, whose length grows with the portfolio."""
        return self.changes != "step"


TABLE_1 = (
    Block("parent_fitness", (1, 1), "step", False, "f(x_i) above f_bsf, over f_wsf - f_bsf"),
    Block("mean_fitness", (2, 2), "step", False, "mean of the parents' f above f_bsf, over f_wsf - f_bsf"),
    Block("fitness_deviation", (3, 3), "step", False, "std of the parents' f over (f_wsf - f_bsf) / 2"),
    Block("remaining_budget", (4, 4), "step", False, "(FE^max - t) / FE^max"),
    Block("dimension", (5, 5), "step", False, "dim / dim^max, at most 1"),
    Block("stagnation", (6, 6), "step", False, "evaluations without improving f_bsf / FE^max"),
    Block("donor_distance", (7, 11), "step", False, "distance x_i to x_r1..x_r5 over the box diagonal"),
    Block("best_distance", (12, 12), "step", False, "distance x_i to x_best over the box diagonal"),
    Block("donor_fitness", (13, 17), "step", True, "f(x_i) - f(x_r1)..f(x_r5), over f_wsf - f_bsf"),
    Block("best_fitness", (18, 18), "step", False, "f(x_i) - f(x_best), over f_wsf - f_bsf"),
    Block("bsf_distance", (19, 19), "step", False, "distance x_i to x_bsf over the box diagonal"),
    Block("success_rate", (20, 35), "generation", False, "sum of N_succ_m / N_tot over the generations"),
    Block("mean_improvement", (36, 51), "generation", False, "sum of OM_m over sum of N_tot"),
    Block("best_change", (52, 67), "generation", True, "relative change of the best OM_m per application"),
    Block("best_improvement", (68, 83), "generation", False, "sum of the best OM_m of the generations"),
    Block("window_improvement", (84, 99), "window", False, "sum of OM_m in the window"),
)

LANDSCAPE = sum(b.rows[1] - b.rows[0] + 1 for b in TABLE_1 if not b.per_operator)
"""Rows 1-19: the features that do not depend on the portfolio."""

HISTORY_BLOCKS = [b.name for b in TABLE_1 if b.per_operator]

AT = {b.name: b.rows[0] - 1 for b in TABLE_1 if not b.per_operator}
"""Position of every landscape feature in the state."""


def check_state(state: str) -> str:
    """The name of a state (see `STATES`), or the error for another one."""
    if state not in STATES:
        raise choice_error("state", state, STATES)
    return state


def n_features(n_ops: int) -> int:
    """19 + 20 n_ops."""
    return LANDSCAPE + len(HISTORY_BLOCKS) * METRICS * n_ops


def feature_names(n_ops: int) -> list[str]:
    """One name per feature, in the order of the state: ``success_rate[OM_2, op 3]``."""
    names: list[str] = []
    for block in TABLE_1:
        if block.per_operator:
            names += [f"{block.name}[OM_{m + 1}, op {op}]" for m in range(METRICS) for op in range(n_ops)]
        else:
            first, last = block.rows
            names += [block.name] if first == last else [f"{block.name}[r{k + 1}]" for k in range(last - first + 1)]
    return names


def signed_mask(n_ops: int) -> list[bool]:
    """True where a feature may be negative."""
    return [
        block.signed
        for block in TABLE_1
        for _ in range(METRICS * n_ops if block.per_operator else block.rows[1] - block.rows[0] + 1)
    ]
